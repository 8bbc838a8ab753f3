//! `pvmtuples`: the server of tuple spaces on a host. The library starts it when it is needed.
//!
//! `--start` starts the server in a process group of its own and ends. `--behind PID` is the server
//! itself; it begins when the process PID is no longer its parent.

#![forbid(unsafe_code)]

use std::os::unix::process::{CommandExt as _, parent_id};
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let done = match arguments.as_slice() {
        [word] if word == "--start" => start().map_err(|error| error.to_string()),
        [word, starter] if word == "--behind" => {
            await_end_of(&starter.to_string_lossy());
            pvm_space::server::run().map_err(|error| error.to_string())
        }
        _ => Err("this program is for the library of NeoPVM to start".to_owned()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(text) => {
            eprintln!("pvmtuples: {text}");
            ExitCode::FAILURE
        }
    }
}

fn start() -> std::io::Result<()> {
    let mut server = Command::new(std::env::current_exe()?);
    server.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // The variable names the task that the starter is. The server is a task of its own, in a
    // process group of its own, because the machine ends what a task leaves in its group.
    server.env_remove("PVMEPID").current_dir("/").process_group(0);
    server.arg("--behind").arg(std::process::id().to_string());
    server.spawn().map(drop)
}

/// Waits until the starter has ended. A process with a task among its ancestors enrols as that
/// task; so a server that enrolled earlier would become the starter, and would count as ended
/// together with it.
fn await_end_of(starter: &str) {
    while parent_id().to_string() == starter {
        std::thread::sleep(Duration::from_millis(1));
    }
}
