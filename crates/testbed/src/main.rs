//! `testbed`: private machines for scripts, and for tests in other languages than Rust.
#![forbid(unsafe_code)]

mod bed;
mod words;

use std::io::Write;
use std::process::ExitCode;
use words::Arguments;

const USAGE: &str = "\
usage: eval \"$(testbed up [HOSTS] [--prefix FOLDER] [--home own|callers] [--for PID])\"
       eval \"$(testbed hosts COUNT [RATE] [--for PID])\"
       testbed env|clear|down

up     makes a private folder with HOME, TMPDIR and PVM_TMP, starts a machine of HOSTS hosts of
       this computer in it (1; 0: none), of the installation in FOLDER, and prints the environment
       as lines for a shell
hosts  makes hosts h1 .. hCOUNT with networks of their own (root; xtask/hosts.sh) and prints
       HOSTS_DIR; RATE such as 100mbit shapes their cables
env    prints the lines again
clear  kills all processes that were started in the environment; the folder stays
down   halts the machine and removes all. Status 1 if the machine has left a process or a file

All ends with the process PID too, however that ends: the caller of testbed, if it is not named.
Status 77: this computer cannot have such hosts.";

/// Exit status of wrong use.
const USE: u8 = 2;

fn wrong_use(words: String) -> bed::Failure {
    bed::Failure { status: USE, words }
}

fn main() -> ExitCode {
    let mut words = Arguments::of_this_process();
    if words.asks_for_help() {
        let _ = writeln!(std::io::stdout(), "{USAGE}");
        return ExitCode::SUCCESS;
    }
    let done = match words.next().as_deref() {
        Some("up") => bed::begin("up", words),
        Some("hosts") => bed::begin("hosts", words),
        Some("env") => bed::show(),
        Some("clear") => bed::clear(),
        Some("down") => bed::down(),
        Some(testbed::keeper::KEEP) => bed::keep(words),
        None => Err(wrong_use(USAGE.to_owned())),
        Some(other) => Err(wrong_use(format!("testbed: {other} is not a command\n{USAGE}"))),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            let _ = writeln!(std::io::stderr(), "{}", failure.words);
            ExitCode::from(failure.status)
        }
    }
}
