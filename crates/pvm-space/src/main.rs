//! `pvmtuples`: the server of tuple spaces on a host. The library starts it when it is needed.
//!
//! `--start` starts the server in a process group of its own and ends. `--behind PID` is the
//! server, which begins when that process is its parent no more.

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
    // Of this start, which is over: the server is a task of its own. What a task leaves in its
    // group ends with it.
    server.env_remove("PVMEPID").current_dir("/").process_group(0);
    server.arg("--behind").arg(std::process::id().to_string());
    server.spawn().map(drop)
}

/// A process that has a task among its ancestors enrols as that task. The starter is one, and its
/// end would be taken for the server's.
fn await_end_of(starter: &str) {
    while parent_id().to_string() == starter {
        std::thread::sleep(Duration::from_millis(1));
    }
}
