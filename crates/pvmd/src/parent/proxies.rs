//! Proxies: processes that hold the shared memory of tasks which can hold none.
//!
//! A task that says [`pvm_wire::request::Role::Remote`] is handed, with its socket, to a process of its own
//! (`pvm proxy`), which enrols like any other. For the host that process *is* the task's: the task's exit,
//! signals and lines in lists are those of the process that said hello.

use super::Parent;
use pvm_wire::request::Reply;
use pvm_wire::{Blob, Code};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::process::{Command, Stdio};

/// Which process speaks for which other one.
#[derive(Debug, Default)]
pub(crate) struct Proxies {
    tasks: BTreeMap<u32, u32>,
}

impl Proxies {
    /// The process that is meant when this one speaks.
    pub(crate) fn stands_for(&self, pid: u32) -> u32 {
        self.tasks.get(&pid).copied().unwrap_or(pid)
    }

    /// A process is gone.
    pub(crate) fn gone(&mut self, pid: u32) {
        self.tasks.remove(&pid);
    }
}

impl Parent {
    /// Starts the proxy of a task and gives it the task's socket.
    pub(super) fn start_proxy(
        &mut self,
        (number, id): (u64, u32),
        program: &Blob,
        reset: bool,
        cookie: u32,
    ) {
        let Some(mut connection) = self.connections.remove(number) else { return };
        self.poll.remove(&connection.stream);
        let pid = connection.pid;
        if let Err(reason) = self.hand_over(&connection.stream, (id, pid), program, (reset, cookie))
        {
            self.log.line(&format!("no proxy for process {pid}: {reason}"));
            connection.stream.push(id, &Reply::Refused { code: Code::NotImpl, reason });
            // A stranger that does not even read this has lost nothing.
            let _ = connection.stream.flush();
        }
    }

    fn hand_over(
        &mut self,
        stream: &crate::parent::stream::Stream,
        (id, pid): (u32, u32),
        program: &Blob,
        (reset, cookie): (bool, u32),
    ) -> Result<(), String> {
        let path = self.own_path.with_file_name("pvm");
        let failed =
            |error: std::io::Error| format!("cannot start {} proxy: {error}", path.display());
        let socket = stream.duplicate().map_err(failed)?;
        let mut command = Command::new(&path);
        command
            .arg("proxy")
            .arg(format!("--id={id}"))
            .arg(format!("--host={}", std::process::id()));
        if !reset {
            command.arg("--no-reset");
        }
        command.arg("--").arg(OsStr::from_bytes(&program.0));
        command.env("PVMSOCK", self.folder.socket());
        match cookie {
            0 => command.env_remove("PVMEPID"),
            cookie => command.env("PVMEPID", cookie.to_string()),
        };
        command.stdin(Stdio::from(socket)).stdout(Stdio::null());
        let child = command.spawn().map_err(failed)?;
        self.proxies.tasks.insert(child.id(), pid);
        Ok(())
    }
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
