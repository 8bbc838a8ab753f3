//! Proxies: processes that hold the shared memory of tasks which can hold none.
//!
//! A task that says [`pvm_wire::request::Role::Remote`] is handed, with its socket, to a process of
//! its own (`pvm proxy`), which enrols like any other. For the host that process *is* the task's:
//! the task's exit, signals and lines in lists are those of the process that said hello.

use pvm_wire::Blob;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// The proxy process of each process that has one.
#[derive(Debug, Default)]
pub(crate) struct Proxies {
    tasks: BTreeMap<u32, u32>,
}

impl Proxies {
    /// The process that is meant when this one speaks.
    pub(crate) fn stands_for(&self, pid: u32) -> u32 {
        self.tasks.get(&pid).copied().unwrap_or(pid)
    }

    /// Starts the proxy of a task and gives it the task's socket; `pvmd` is where this daemon lies,
    /// and `local` where its own socket does.
    pub(crate) fn start(
        &mut self,
        hello: &Hello,
        socket: OwnedFd,
        (pvmd, local): (&Path, &Path),
    ) -> Result<(), String> {
        let path = pvmd.with_file_name("pvm");
        let mut command = Command::new(&path);
        let (id, host) = (hello.id, std::process::id());
        command.arg("proxy").arg(format!("--id={id}")).arg(format!("--host={host}"));
        if !hello.reset {
            command.arg("--no-reset");
        }
        command.arg("--").arg(OsStr::from_bytes(&hello.program.0));
        command.env("PVMSOCK", local);
        match hello.cookie {
            0 => command.env_remove("PVMEPID"),
            cookie => command.env("PVMEPID", cookie.to_string()),
        };
        command.stdin(Stdio::from(socket)).stdout(Stdio::null());
        let failed = |error| format!("cannot start {} proxy: {error}", path.display());
        let child = command.spawn().map_err(failed)?;
        self.tasks.insert(child.id(), hello.pid);
        Ok(())
    }

    /// A process is gone.
    pub(crate) fn gone(&mut self, pid: u32) {
        self.tasks.remove(&pid);
    }
}

/// The facts that a remote task has told of itself.
#[derive(Debug)]
pub(crate) struct Hello {
    /// The number of the frame.
    pub(crate) id: u32,
    /// Its process.
    pub(crate) pid: u32,
    /// Its program.
    pub(crate) program: Blob,
    /// True if `reset` may kill it.
    pub(crate) reset: bool,
    /// By which a tasker's child is known.
    pub(crate) cookie: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxy_stands_for_its_task_until_it_is_gone() {
        let mut proxies = Proxies::default();
        proxies.tasks.insert(7, 3);
        assert_eq!((proxies.stands_for(7), proxies.stands_for(3)), (3, 3));
        proxies.gone(7);
        assert_eq!(proxies.stands_for(7), 7);
    }
}
