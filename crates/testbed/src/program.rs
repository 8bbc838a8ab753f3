//! Programs that a test makes itself.
//!
//! A process of their own opens them for writing. If the test did so, a child that another of its
//! threads forks meanwhile would hold the open file until its exec, and until then no process
//! could start the program ("Text file busy").

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// Writes a program that can be started at once, like a script.
pub fn write_program(path: &Path, text: impl AsRef<[u8]>) {
    let mut install = install(Path::new("/dev/stdin"), path);
    let mut child = install.stdin(Stdio::piped()).spawn().expect("install is there");
    let mut input = child.stdin.take().expect("piped");
    input.write_all(text.as_ref()).expect("install reads");
    drop(input);
    let status = child.wait().expect("our child");
    assert!(status.success(), "{install:?}: {status}");
}

/// Copies a program; the copy can be started at once.
pub fn copy_program(from: &Path, to: &Path) {
    let mut install = install(from, to);
    let status = install.status().expect("install is there");
    assert!(status.success(), "{install:?}: {status}");
}

fn install(from: &Path, to: &Path) -> Command {
    let mut command = Command::new("install");
    command.args(["-m", "755", "--"]).args([from, to]);
    command
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Place;
    use std::sync::atomic::{AtomicBool, Ordering};

    #[test]
    fn a_program_could_not_be_started_while_another_thread_started_one() {
        let place = Place::new();
        let is_done = AtomicBool::new(false);
        let failed = std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    while !is_done.load(Ordering::Relaxed) {
                        Command::new("true").status().expect("true is there");
                    }
                });
            }
            let path = |round: u32| place.home().join(format!("script-{round}"));
            let failed = (0..200).find_map(|round| {
                write_program(&path(round), "#!/bin/sh\n");
                Command::new(path(round)).status().err()
            });
            is_done.store(true, Ordering::Relaxed);
            failed
        });
        assert!(failed.is_none(), "{failed:?}");
    }
}
