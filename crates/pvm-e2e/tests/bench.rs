//! `pvm bench`: what it measures, what it says of systems that crash and hang, and whether a
//! browser can show its report. How fast anything is stands nowhere here.
#![forbid(unsafe_code)]

use pvm_e2e::{Output, Place, Running, prefix};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The limit of a short run on a computer where sixteen other processes want the processors.
const LIMIT: Duration = Duration::from_secs(600);

/// The programs' sources in a folder of the place's own, so that they can be changed.
fn sources(place: &Place) -> PathBuf {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benchmarks/suites");
    let to = place.home().join("suites");
    for folder in ["", "calls", "java", "two-nodes"] {
        fs::create_dir_all(to.join(folder)).expect("a folder");
        for entry in fs::read_dir(from.join(folder)).expect("sources").flatten() {
            if entry.path().is_file() {
                fs::copy(entry.path(), to.join(folder).join(entry.file_name())).expect("a copy");
            }
        }
    }
    to
}

fn change(file: &Path, old: &str, new: &str) {
    let text = fs::read_to_string(file).expect("a source");
    assert!(text.contains(old), "{} has no {old:?}", file.display());
    fs::write(file, text.replacen(old, new, 1)).expect("a source");
}

fn bench(place: &Place, arguments: &[&str]) -> Output {
    let mut command = place.installed("pvm");
    command.arg("bench").args(arguments).arg("--out").arg(place.home().join("out"));
    // As a user's shell has it: the original's programs die of it where they get it.
    command.env("LD_LIBRARY_PATH", prefix().join("lib"));
    Running::start(command).finish(LIMIT)
}

fn measured(place: &Place, suite: &str, rounds: &str, limit: &str) -> Output {
    let sources = place.home().join("suites");
    let sources = sources.to_str().expect("a path");
    bench(place, &[suite, "--quick", "--rounds", rounds, "--sources", sources, "--limit", limit])
}

fn figures(place: &Place) -> Value {
    let text = fs::read_to_string(place.home().join("out/figures.json")).expect("figures");
    serde_json::from_str(&text).expect("JSON")
}

/// The rows of a system and a way.
fn rows<'a>(figures: &'a Value, system: &str, variant: &str) -> Vec<&'a Value> {
    let all = figures["rows"].as_array().expect("rows").iter();
    all.filter(|row| row["system"] == system && row["variant"] == variant).collect()
}

#[test]
fn a_program_that_crashes_and_one_that_hangs_are_named_and_the_rest_is_measured() {
    let place = Place::new();
    let sources = sources(&place);
    // NeoPVM's echo crashes where messages are sent in place and never ends through the daemons;
    // that of PVM 3.4.6 the other way round. MPI has neither way.
    change(
        &sources.join("echo.c"),
        "    if (me == 0)\n        measure_clock();",
        "#ifdef NEOPVM\n    int crashes = mode == IN_PLACE, hangs = route == DAEMONS;\n#else\n    \
         int crashes = route == DAEMONS, hangs = mode == IN_PLACE;\n#endif\n    if (crashes && me \
         == 0) {\n        \
         fprintf(stderr, \"it is broken\\n\");\n        abort();\n    }\n    while \
         (hangs)\n        \
         calls_receive(RAW, !me, &i, 4);\n    if (me == 0)\n        measure_clock();",
    );
    let output = measured(&place, "echo", "1", "25");
    assert_eq!(output.code(), 5, "{output:?}");
    assert!(output.err.contains("measured in part: "), "{}", output.err);
    assert!(output.err.contains("crashed by SIGABRT\n    it is broken"), "{}", output.err);
    assert!(output.err.contains("hung: no end after 25 s"), "{}", output.err);
    let figures = figures(&place);
    // On a busy computer tasks of MPICH that spin may need longer than the limit, too.
    let problems = figures["problems"].as_array().expect("problems");
    let ends = |system: &str, how: &str| {
        let of_system = problems.iter().filter(|one| one["what"].to_string().contains(system));
        of_system.filter(|one| one["how"].to_string().contains(how)).count()
    };
    for system in ["NeoPVM", "PVM 3.4.6"] {
        assert_eq!((ends(system, "crashed"), ends(system, "hung")), (1, 1), "{}", output.err);
        assert_eq!(rows(&figures, system, "direct raw").len(), 9, "{system}: {}", output.err);
        assert!(rows(&figures, system, "direct inplace").is_empty(), "{system}");
        assert!(rows(&figures, system, "daemons raw").is_empty(), "{system}");
    }
    let report = fs::read_to_string(place.home().join("out/report.html")).expect("a report");
    assert!(report.contains("it is broken") && report.contains("hung: no end after 25 s"));
    place.assert_nothing_left();
}

#[test]
fn a_run_is_the_same_as_itself_and_its_report_is_shown_by_a_browser() {
    let place = Place::new();
    sources(&place);
    let output = measured(&place, "two-nodes", "2", "100");
    assert_eq!(output.code(), 0, "{output:?}");
    let measured = figures(&place);
    let ours = rows(&measured, "NeoPVM", "direct, packed");
    let sizes: Vec<u64> = ours.iter().filter_map(|row| row["size"].as_u64()).collect();
    assert_eq!(sizes, [100, 400, 1000, 4000, 10_000, 40_000, 100_000, 400_000, 1_000_000]);
    for row in ours {
        assert_eq!(row["rounds"][0].as_array().map(Vec::len), Some(100), "{row}");
    }
    let file = place.home().join("out/figures.json");
    let file = file.to_str().expect("a path");
    let compared = bench(&place, &["--compare", file, file]);
    assert_eq!(compared.code(), 0, "{compared:?}");
    assert!(compared.out.starts_with("nothing changed beyond noise"), "{}", compared.out);
    place.assert_nothing_left();
    shown_by_a_browser(&place);
}

/// Without a network: the browser is told a name server that does not exist.
fn shown_by_a_browser(place: &Place) {
    let (page, picture) = (place.home().join("out/report.html"), place.home().join("page.png"));
    let mut browser = Command::new("chromium");
    browser.args([
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--hide-scrollbars",
    ]);
    browser.args(["--host-resolver-rules=MAP * ~NOTFOUND", "--window-size=1200,1600"]);
    browser.arg(format!("--user-data-dir={}", place.home().join("browser").display()));
    browser.arg(format!("--screenshot={}", picture.display()));
    browser.arg(format!("file://{}", page.display())).env("HOME", place.home());
    let shown = Running::start(browser).finish(LIMIT);
    let picture = fs::read(&picture).unwrap_or_default();
    assert!(picture.starts_with(b"\x89PNG"), "{shown:?}");
    // A page without plots and tables is a tenth of that.
    assert!(picture.len() > 60_000, "{} bytes: {shown:?}", picture.len());
}

const PAIRINGS: [&str; 4] = ["C to C", "C to Java", "Java to C", "Java to Java"];

/// The rows of a test of the suite of Java.
fn of_test<'a>(figures: &'a Value, test: &str, system: &str, variant: &str) -> Vec<&'a Value> {
    rows(figures, system, variant).into_iter().filter(|row| row["test"] == test).collect()
}

#[test]
fn messages_go_between_c_and_java_in_each_pairing() {
    let place = Place::new();
    sources(&place);
    let output = measured(&place, "java", "1", "200");
    assert_eq!(output.code(), 0, "{output:?}");
    let figures = figures(&place);
    let peers = figures["peers"].as_array().expect("peers");
    let java = peers.iter().find(|peer| peer["system"] == "Java").expect("Java is named");
    // Without a JDK there is no more than the next test looks at.
    let pairings = if java["missing"].is_null() { &PAIRINGS[..] } else { &PAIRINGS[..1] };
    for pairing in pairings {
        for part in ["send", "receive", "verify", "total"] {
            let all = of_test(&figures, part, "NeoPVM", pairing);
            assert_eq!(all.len(), 2, "{pairing}: {}", output.err);
            for row in all {
                assert_eq!(row["rounds"][0].as_array().map(Vec::len), Some(10), "{row}");
            }
        }
    }
    assert_eq!(of_test(&figures, "total", "PVM 3.4.6", "C to C").len(), 2, "{}", output.err);
    let report = fs::read_to_string(place.home().join("out/report.html")).expect("a report");
    assert!(report.contains("Table 5.2 again: 1 MB, same host"));
    place.assert_nothing_left();
}

#[test]
fn without_the_classes_for_java_they_are_named_and_c_is_measured() {
    let place = Place::new();
    sources(&place);
    // An installation like the one at hand, but for share/java.
    let (whole, part) = (pvm_e2e::prefix(), place.home().join("part"));
    for folder in ["bin", "share", "libexec/neopvm"] {
        fs::create_dir_all(part.join(folder)).expect("a folder");
    }
    for program in ["bin/pvm", "libexec/neopvm/pvm-bench"] {
        pvm_e2e::copy_program(&whole.join(program), &part.join(program));
    }
    for same in ["bin/pvmd", "include", "lib", "share/neopvm"] {
        std::os::unix::fs::symlink(whole.join(same), part.join(same)).expect("a link");
    }
    let mut command = place.command(part.join("bin/pvm"));
    command.args(["bench", "java", "--quick", "--rounds", "1", "--limit", "200", "--out"]);
    command.arg(place.home().join("out")).arg("--sources").arg(place.home().join("suites"));
    let output = Running::start(command).finish(LIMIT);
    assert_eq!(output.code(), 0, "{output:?}");
    let figures = figures(&place);
    let peers = figures["peers"].as_array().expect("peers");
    let java = peers.iter().find(|peer| peer["system"] == "Java").expect("Java is named");
    let missing = java["missing"].as_str().expect("it is missing");
    assert!(missing.contains("JDK") || missing.contains("neopvm.jar"), "{missing}");
    assert!(output.err.contains("Java is not there: "), "{}", output.err);
    assert_eq!(of_test(&figures, "total", "NeoPVM", "C to C").len(), 2);
    assert!(of_test(&figures, "total", "NeoPVM", "Java to C").is_empty());
    place.assert_nothing_left();
}

#[test]
fn wrong_use_is_explained() {
    let place = Place::new();
    let unknown = bench(&place, &["ehco"]);
    assert_eq!(unknown.code(), 2, "{unknown:?}");
    assert!(unknown.err.contains("no such suite: ehco (did you mean echo?)"), "{}", unknown.err);
    let missing = bench(&place, &["--compare", "none.json", "none.json"]);
    assert_eq!(missing.code(), 1, "{missing:?}");
    assert!(missing.err.contains("give the figures.json of a `pvm bench`"), "{}", missing.err);
    let empty = bench(&place, &["echo", "--sources", "/"]);
    assert!(empty.err.contains("no sources of measured programs are there"), "{}", empty.err);
}

#[test]
fn a_host_that_cannot_be_reached_is_named() {
    let place = Place::new();
    sources(&place);
    let sources = place.home().join("suites");
    let sources = sources.to_str().expect("a path");
    let arguments =
        ["two-nodes", "--quick", "--rounds", "1", "--limit", "20", "--sources", sources];
    let output = bench(&place, &[&arguments[..], &["--hosts", "no-such-host.invalid"]].concat());
    assert_eq!(output.code(), 5, "{output:?}");
    assert!(
        output.err.contains("NeoPVM") && output.err.contains("hosts could not be added"),
        "{}",
        output.err
    );
    assert!(output.err.contains("no-such-host.invalid"), "{}", output.err);
    place.assert_nothing_left();
}
