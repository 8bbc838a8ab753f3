//! `make bench-messages`: the same measured loops on NeoPVM and its peers, in turns.
//!
//! `benchmarks/compare/compare.c` is compiled once for each system that is installed. The systems
//! take turns, case by case and round by round, so that a busy moment of the computer meets all of
//! them. The best of the rounds is shown and compared (a single round in which a peer had bad luck
//! tells nothing), and all of them are kept in OUT/messages.json. Beside them stands what the
//! computer itself takes to hand a cache line to the other core (`line.c`), which no message can
//! undercut. `--write` writes the table into the documents.

mod tables;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tables::Table;

const ROUNDS: usize = 5;

/// A case, and the ratio to Open MPI that is the goal for it.
struct Case {
    name: &'static str,
    tasks: u32,
    words: &'static [&'static str],
    goal: f64,
    /// True for rates, where more is better.
    rate: bool,
}

const fn case(name: &'static str, tasks: u32, words: &'static [&'static str], goal: f64) -> Case {
    Case { name, tasks, words, goal, rate: false }
}

const CASES: [Case; 18] = [
    case("8 B one way, us", 2, &["pingpong", "8", "packed", "0.5"], 0.50),
    case("100 B one way, us", 2, &["pingpong", "100", "packed", "0.5"], 0.50),
    case("1 kB one way, us", 2, &["pingpong", "1000", "packed", "0.5"], 0.75),
    case("10 kB one way, us", 2, &["pingpong", "10000", "packed", "0.5"], 0.80),
    case("100 kB packed, us", 2, &["pingpong", "100000", "packed", "0.5"], 1.00),
    case("100 kB in place, us", 2, &["pingpong", "100000", "inplace", "0.5"], 0.75),
    case("1 MB packed, us", 2, &["pingpong", "1000000", "packed", "0.5"], 1.05),
    case("1 MB in place, us", 2, &["pingpong", "1000000", "inplace", "0.5"], 0.70),
    case("4 MB in place, us", 2, &["pingpong", "4000000", "inplace", "1"], 0.95),
    Case {
        name: "8 B messages/s, millions",
        tasks: 2,
        words: &["rate", "0.5"],
        goal: 1.4,
        rate: true,
    },
    // As a multiple of the same without them; the goal is absolute.
    case("8 B, 100 000 queued, x", 2, &["queued", "100000", "0.5"], 2.0),
    case("8 tasks in pairs, us", 8, &["crowd", "0.5"], 0.60),
    case("barrier of 4, us", 4, &["barrier", "0", "0.5"], 1.0),
    case("broadcast 8 B to 4, us", 4, &["broadcast", "8", "0.5"], 2.0),
    case("broadcast 1 MB to 4, us", 4, &["broadcast", "1000000", "0.5"], 1.0),
    case("sum 8 B of 4, us", 4, &["sum", "8", "0.5"], 2.0),
    case("sum 1 MB of 4, us", 4, &["sum", "1000000", "0.5"], 1.0),
    // In us for each task; the goal is absolute.
    case("spawn 64, us a task", 1, &["spawn", "64"], 600.0),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Ours,
    Original,
    OpenMpi,
    Mpich,
}

struct System {
    kind: Kind,
    name: &'static str,
    needs: &'static str,
}

const SYSTEMS: [System; 4] = [
    System { kind: Kind::Ours, name: "NeoPVM", needs: "" },
    System { kind: Kind::OpenMpi, name: "Open MPI", needs: "/usr/bin/mpicc.openmpi" },
    System { kind: Kind::Mpich, name: "MPICH", needs: "/usr/bin/mpicc.mpich" },
    System { kind: Kind::Original, name: "PVM 3.4.6", needs: "/usr/lib/libpvm3.so" },
];

struct Bench<'a> {
    root: &'a Path,
    prefix: &'a Path,
    out: &'a Path,
}

/// Builds and runs everything; what is installed in `prefix` is measured, results go to `out`.
pub(crate) fn messages(root: &Path, prefix: &Path, out: &Path, write: bool) -> Result<(), String> {
    fs::create_dir_all(out).map_err(|e| format!("{}: {e}", out.display()))?;
    let bench = Bench { root, prefix, out };
    let mut systems = Vec::new();
    for system in &SYSTEMS {
        if system.needs.is_empty() || found(system.needs) {
            bench.compile(system)?;
            systems.push(system);
        } else {
            eprintln!("{} is not installed: it is left out", system.name);
        }
    }
    let line = bench.compile_line()?;
    let mut figures = vec![vec![Vec::new(); systems.len()]; CASES.len()];
    let mut hand_overs = Vec::new();
    for round in 1..=ROUNDS {
        hand_overs.push(median_told(Command::new(&line).arg("0.5")));
        for (case, row) in CASES.iter().zip(&mut figures) {
            eprintln!("round {round} of {ROUNDS}: {}", case.name);
            for (system, cell) in systems.iter().zip(row) {
                cell.push(bench.measure(system, case));
            }
        }
    }
    let table = table(&systems, &figures);
    print!("{}", table.text(true));
    if let Some(least) = hand_overs.iter().flatten().copied().min_by(f64::total_cmp) {
        println!(
            "\na cache line handed over, nothing else: {least:.3} us, in 8 B one way of every \
             system"
        );
    }
    let json = out.join("messages.json");
    fs::write(&json, to_json(&systems, &figures, &hand_overs))
        .map_err(|e| format!("{}: {e}", json.display()))?;
    println!("\nevery figure: {}", json.display());
    if write { tables::write(root, &table) } else { Ok(()) }
}

fn found(file: &str) -> bool {
    let multiarch = file.replace("/usr/lib/", "/usr/lib/x86_64-linux-gnu/");
    Path::new(file).exists() || Path::new(&multiarch).exists()
}

impl Bench<'_> {
    fn program(&self, system: &System) -> PathBuf {
        self.out.join(format!("compare-{}", system.name.replace(' ', "-").to_lowercase()))
    }

    fn compile(&self, system: &System) -> Result<(), String> {
        let folder = self.root.join("benchmarks/compare");
        let (compiler, calls) = match system.kind {
            Kind::Ours | Kind::Original => ("cc", "calls_pvm.c"),
            Kind::OpenMpi => ("mpicc.openmpi", "calls_mpi.c"),
            Kind::Mpich => ("mpicc.mpich", "calls_mpi.c"),
        };
        let mut command = Command::new(compiler);
        command.arg("-O2").arg("-o").arg(self.program(system));
        command.arg(folder.join("compare.c")).arg(folder.join(calls));
        if system.kind == Kind::Ours {
            let lib = self.prefix.join("lib");
            command.arg("-DNEOPVM").arg(format!("-I{}", self.prefix.join("include").display()));
            command
                .arg(format!("-L{}", lib.display()))
                .arg(format!("-Wl,-rpath,{}", lib.display()));
            command.arg("-lpvm3");
        } else if system.kind == Kind::Original {
            command.args(["-lgpvm3", "-lpvm3"]);
        }
        crate::outside::status(&mut command)
    }

    fn compile_line(&self) -> Result<PathBuf, String> {
        let program = self.out.join("line");
        let source = self.root.join("benchmarks/compare/line.c");
        crate::outside::status(
            Command::new("cc").args(["-O2", "-std=c11", "-o"]).arg(&program).arg(source),
        )?;
        Ok(program)
    }

    /// The median that the program tells, or none if it failed or has no such case.
    fn measure(&self, system: &System, case: &Case) -> Option<f64> {
        let program = self.program(system);
        let spawn = case.words[0] == "spawn";
        let mut command = Command::new("timeout");
        command.args(["-k", "1", "60"]);
        match system.kind {
            Kind::OpenMpi | Kind::Mpich if spawn => return None,
            Kind::OpenMpi => {
                command.env("OMPI_ALLOW_RUN_AS_ROOT", "1");
                command.env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
                command.args(["mpirun.openmpi", "--oversubscribe", "-n", &case.tasks.to_string()]);
            }
            Kind::Mpich => {
                command.args(["mpirun.mpich", "-n", &case.tasks.to_string()]);
            }
            Kind::Ours | Kind::Original => {
                let kind = if system.kind == Kind::Ours { "ours" } else { "original" };
                let machine = self.root.join("conformance/machine.sh");
                // In one session, as a user's: `mpirun` has its tasks in one, too.
                command.env("MACHINE_HERE", "1");
                let script = ". \"$1\"; machine_init \"$2\" \"$3\"; trap machine_end EXIT; \
                              machine_start || exit 1; \
                              shift 3; machine_run 50 \"$@\"";
                command.args(["bash", "-c", script, "bash"]);
                command.arg(machine).arg(kind).arg(self.prefix);
            }
        }
        median_told(command.arg(program).args(case.words))
    }
}

/// The first of the four numbers that a measured program tells.
fn median_told(command: &mut Command) -> Option<f64> {
    let output = command.output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().rfind(|line| line.split('\t').count() == 4)?;
    line.split('\t').next()?.parse().ok()
}

/// The figures of one case: for each system, one for each round.
type Row = Vec<Vec<Option<f64>>>;

/// The figure that the goal is about: the ratio of our best round to Open MPI's, or our best round
/// itself.
fn reached(case: &Case, systems: &[&System], row: &Row) -> Option<f64> {
    let of = |kind| {
        let at = systems.iter().position(|system| system.kind == kind)?;
        best(case, &row[at])
    };
    let ours = of(Kind::Ours)?;
    if ["spawn", "queued"].contains(&case.words[0]) {
        return Some(ours);
    }
    Some(ours / of(Kind::OpenMpi)?)
}

fn best(case: &Case, cell: &[Option<f64>]) -> Option<f64> {
    let all = cell.iter().flatten().copied();
    if case.rate { all.max_by(f64::total_cmp) } else { all.min_by(f64::total_cmp) }
}

fn table(systems: &[&System], figures: &[Row]) -> Table {
    let names = systems.iter().map(|system| system.name);
    let head = std::iter::once("").chain(names).chain(["to Open MPI", "goal"]);
    let shown = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), number);
    let row = |case: &Case, row: &Row| {
        let unit = if case.rate { 1e6 } else { 1.0 };
        let cells = row.iter().map(|cell| shown(best(case, cell).map(|value| value / unit)));
        let reached = reached(case, systems, row);
        let sign = if case.rate { ">=" } else { "<=" };
        let met = match reached {
            Some(reached) if (reached <= case.goal) != case.rate => ", met",
            Some(_) => ", missed",
            None => "",
        };
        let goal = format!("{sign} {}{met}", number(case.goal));
        let name = std::iter::once(case.name.to_owned());
        name.chain(cells).chain([shown(reached), goal]).collect()
    };
    let rows = CASES.iter().zip(figures).map(|(case, cells)| row(case, cells));
    Table { head: head.map(str::to_owned).collect(), rows: rows.collect() }
}

fn number(value: f64) -> String {
    match value.abs() {
        small if small < 10.0 => format!("{value:.2}"),
        middle if middle < 1000.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

fn to_json(systems: &[&System], figures: &[Row], hand_overs: &[Option<f64>]) -> String {
    let rounds = |cell: &[Option<f64>]| -> String {
        let figures: Vec<String> =
            cell.iter().map(|f| f.map_or("null".to_owned(), |f| f.to_string())).collect();
        figures.join(",")
    };
    let row = |case: &str, system: &str, cell: &[Option<f64>]| {
        format!("  {{\"case\":\"{case}\",\"system\":\"{system}\",\"rounds\":[{}]}}", rounds(cell))
    };
    let mut rows = vec![row("a cache line, us", "the computer", hand_overs)];
    for (case, cells) in CASES.iter().zip(figures) {
        rows.extend(
            systems.iter().zip(cells).map(|(system, cell)| row(case.name, system.name, cell)),
        );
    }
    format!("[\n{}\n]\n", rows.join(",\n"))
}
