//! `pvmtuples`: the server of tuple spaces on a host. The library starts it when it is needed.
//!
//! `--start` starts the server in a process group of its own and ends. `--behind PID` is the server
//! itself; it begins when the process PID is no longer its parent.

#![forbid(unsafe_code)]

use pvm::Task;
use signal_hook::consts::{SIGTERM, SIGXFSZ};
use signal_hook::flag;
use signal_hook::iterator::Signals;
use std::os::unix::process::{CommandExt as _, parent_id};
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let done = match arguments.as_slice() {
        [word] if word == "--start" => start().map_err(|error| error.to_string()),
        [word, starter] if word == "--behind" => {
            await_end_of(&starter.to_string_lossy());
            pvm_space::server::run(listen).map_err(|error| error.to_string())
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

/// Handles signals from now on; the flag says whether the server was asked to end.
///
/// `pvm halt` sends `SIGTERM` and waits before it kills, so the server has the time to sync what
/// durable spaces have answered before the disk had it. `SIGXFSZ` comes with a write beyond the
/// user's limit for files: that write fails, and the server keeps its other spaces.
fn listen(task: &'static Task) -> std::io::Result<Arc<AtomicBool>> {
    flag::register(SIGXFSZ, Arc::default())?;
    let asked = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&asked);
    let mut signals = Signals::new([SIGTERM])?;
    let listen = move || {
        for _ in signals.forever() {
            // PAIRS WITH: the load in the server's loop, whose wait the nudge ends.
            told.store(true, Ordering::Release);
            task.nudge();
        }
    };
    std::thread::Builder::new().name("signals".to_owned()).spawn(listen)?;
    Ok(asked)
}
