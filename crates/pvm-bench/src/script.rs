//! `pvm bench script NAME`: a measurement that is a script of the source tree.
//!
//! Such a script is a part of NeoPVM's own development: it compares with tools that a user does not
//! have, or needs hosts that root makes of namespaces (`testbed hosts`). It gets the installation
//! that this program lies in and a folder for what it writes.

use clap::Args;
use pvm_cli::failure::{Failure, Status};
use std::path::{Path, PathBuf};
use std::process::Command;

/// One measurement.
struct Script {
    name: &'static str,
    /// The command, run in the source tree. `PREFIX` and `OUT` stand for folders.
    line: &'static str,
    what: &'static str,
}

impl Script {
    fn words(&self) -> impl Iterator<Item = &'static str> {
        self.line.split(' ')
    }

    fn program(&self) -> &'static str {
        self.words().next().unwrap_or_default()
    }
}

const fn script(name: &'static str, line: &'static str, what: &'static str) -> Script {
    Script { name, line, what }
}

const ALL: [Script; 11] = [
    script(
        "spawn",
        "bash benchmarks/run.sh PREFIX OUT",
        "many trivial tasks, and single messages, beside the original",
    ),
    script(
        "messages",
        "cargo xtask bench-messages PREFIX OUT",
        "messages beside Open MPI, MPICH and the original; -- --write puts the table into \
         documents",
    ),
    script(
        "modes",
        "bash benchmarks/messages/modes.sh PREFIX OUT",
        "whether small messages stay fast, left alone and disturbed",
    ),
    script(
        "traces",
        "bash benchmarks/traces/run.sh PREFIX OUT",
        "what recording costs: a call, a message, a million records a second",
    ),
    script(
        "java",
        "bash benchmarks/java/run.sh PREFIX OUT",
        "Java beside C, and beside the tables of the PBJ document",
    ),
    script(
        "links",
        "bash benchmarks/links/run.sh PREFIX OUT",
        "links between two hosts (root): TCP, the original, ours",
    ),
    script(
        "groups",
        "bash benchmarks/groups/run.sh PREFIX OUT",
        "groups over 2 to 8 hosts (root): times, and what crosses the network",
    ),
    script(
        "environments",
        "bash benchmarks/environments/run.sh PREFIX OUT",
        "the comparison of 1997 over NX, Express and PVM",
    ),
    script(
        "interfaces",
        "bash benchmarks/interfaces/run.sh PREFIX OUT",
        "the other interfaces beside PVM's calls and beside TCGMSG over MPI",
    ),
    script("tuples", "bash benchmarks/tuples/run.sh PREFIX OUT", "tuple spaces beside Redis"),
    script(
        "faults",
        "cargo run --quiet --package pvm-e2e --bin faults -- --out OUT/faults.jsonl",
        "what tasks see while hosts, daemons and links fail (root); -- --times N repeats it",
    ),
];

/// The arguments.
#[derive(Debug, Args)]
pub(crate) struct ScriptOptions {
    /// The script to run; without it they are listed
    name: Option<String>,
    /// NeoPVM's source tree
    #[arg(long, value_name = "DIR", default_value = ".")]
    sources: PathBuf,
    /// The folder for the measurements; made if it is not there [target/bench/NAME of the source
    /// tree]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Further arguments of the script
    #[arg(last = true)]
    more: Vec<String>,
}

/// Becomes the script; returns only if that fails, or after listing them.
pub(crate) fn run(options: &ScriptOptions) -> Result<(), Failure> {
    let Some(name) = &options.name else { return Ok(pvm_cli::show::show(list())?) };
    let script = find(name)?;
    let (tree, prefix) = (tree(&options.sources)?, crate::system::prefix()?);
    let default = || tree.join("target/bench").join(script.name);
    let out = options.out.clone().unwrap_or_else(default);
    let out = std::fs::create_dir_all(&out)
        .and_then(|()| out.canonicalize())
        .map_err(|error| Failure::new(Status::Refused, format!("{}: {error}", out.display())))?;
    let mut command = command(script, &tree, &prefix, &out, &options.more);
    let error = std::os::unix::process::CommandExt::exec(&mut command);
    Err(Failure::new(Status::Daemon, format!("{}: {error}", script.program())))
}

fn command(script: &Script, tree: &Path, prefix: &Path, out: &Path, more: &[String]) -> Command {
    let filled = |word: &str| match word.strip_prefix("OUT") {
        Some(below) => out.join(below.trim_start_matches('/')).into_os_string(),
        None if word == "PREFIX" => prefix.as_os_str().to_owned(),
        None => word.into(),
    };
    let mut command = Command::new(script.program());
    command.args(script.words().skip(1).map(filled)).args(more).current_dir(tree);
    command.env("NEOPVM_PREFIX", prefix);
    command
}

fn find(name: &str) -> Result<&'static Script, Failure> {
    ALL.iter().find(|script| script.name == name).ok_or_else(|| {
        let near = pvm_cli::nearest::to(name, ALL.iter().map(|script| script.name));
        let meant = near.map_or_else(String::new, |near| format!(" (did you mean {near}?)"));
        Failure::new(Status::Usage, format!("no such script: {name}{meant}\n{}", list().trim_end()))
    })
}

fn list() -> String {
    ALL.iter().map(|script| format!("  {:<13} {}\n", script.name, script.what)).collect()
}

/// The source tree, which has what the scripts use.
fn tree(given: &Path) -> Result<PathBuf, Failure> {
    let is_tree = given.join("benchmarks/run.sh").is_file() && given.join("xtask").is_dir();
    let found = given.canonicalize().ok().filter(|_| is_tree);
    found.ok_or_else(|| {
        let text = format!(
            "{}: this is not NeoPVM's source tree, which holds the scripts\n  \
             name it: `pvm bench script NAME --sources DIR`",
            given.display()
        );
        Failure::new(Status::Refused, text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source_tree() -> PathBuf {
        tree(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")).unwrap()
    }

    #[test]
    fn every_script_is_in_the_source_tree_and_the_makefile_calls_it() {
        let tree = source_tree();
        let makefile = std::fs::read_to_string(tree.join("Makefile")).unwrap();
        for script in &ALL {
            if let Some(path) = script.words().nth(1).filter(|_| script.program() == "bash") {
                assert!(tree.join(path).is_file(), "{}", script.name);
            }
            let called = makefile.contains(&format!("$(BENCH) script {} ", script.name));
            assert!(called, "there is no make bench-{}", script.name);
        }
    }

    #[test]
    fn a_script_gets_the_installation_its_folder_and_what_is_behind_two_dashes() {
        let more = ["--times".to_owned(), "8".to_owned()];
        let faults = find("faults").unwrap();
        let command = command(faults, Path::new("/tree"), Path::new("/p"), Path::new("/o"), &more);
        let words: Vec<_> = command.get_args().collect();
        assert_eq!(words[words.len() - 3..], ["/o/faults.jsonl", "--times", "8"]);
        let links = find("links").unwrap();
        let command = super::command(links, Path::new("/t"), Path::new("/p"), Path::new("/o"), &[]);
        let words: Vec<_> = command.get_args().collect();
        assert_eq!(words, ["benchmarks/links/run.sh", "/p", "/o/"]);
    }

    #[test]
    fn an_unknown_script_and_a_folder_that_is_no_source_tree_say_what_to_do() {
        let text = find("linsk").err().unwrap().text().to_owned();
        assert!(text.contains("did you mean links?") && text.contains("  spawn"), "{text}");
        let text = tree(Path::new("/nowhere")).unwrap_err().text().to_owned();
        assert!(text.contains("/nowhere") && text.contains("--sources DIR"), "{text}");
    }
}
