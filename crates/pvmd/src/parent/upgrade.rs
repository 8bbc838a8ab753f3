//! Another program takes the daemon's place while the tasks go on. If it cannot go on with what
//! the host has, or ends before it is ready, the old one comes back.

use super::Parent;
use crate::parent::program::{Program, Upgrade};
use crate::processes;
use pvm_core::io::Event;
use pvm_wire::Blob;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

/// The time that the new program has to be ready. It is shorter than the five seconds after which a
/// host without a daemon counts as dead. A host without a daemon for five seconds counts as dead,
/// so it is shorter.
const READY_TIME: Duration = Duration::from_secs(3);

const SIGKILL: i32 = 9;

impl Parent {
    /// The daemon is to be another program from now on.
    pub(super) fn upgrade(&mut self, mark: Blob, program: &Blob) {
        let path = match program.0.as_slice() {
            [] => self.own_path.as_path(),
            path => Path::new(OsStr::from_bytes(path)),
        };
        let from = self.daemon_version.clone();
        let (Some(daemon), None) = (&self.daemon, &self.upgrade) else {
            let failure = "another upgrade is under way".to_owned();
            return self.tell(Event::Upgraded { mark, to: from.clone(), from, failure });
        };
        let program = match Program::at(path) {
            Ok(program) => program,
            Err(error) => {
                let failure = format!("{}: {error}", path.display());
                return self.tell(Event::Upgraded { mark, to: from.clone(), from, failure });
            }
        };
        self.log.line(&format!("the daemon becomes {}", path.display()));
        processes::signal(daemon.pid, SIGKILL);
        let old = std::mem::replace(&mut self.program, program);
        let reason = String::new();
        self.upgrade = Some(Upgrade { mark, old, from, until: None, reason });
    }

    /// The first daemon of the new program was started.
    pub(super) fn upgrade_started(&mut self) {
        if let Some(upgrade) = &mut self.upgrade {
            upgrade.until = Some(Instant::now() + READY_TIME);
        }
    }

    /// The new program says that it cannot go on.
    pub(super) fn upgrade_unfit(&mut self, reason: &str) {
        self.log.line(&format!("the daemon is unfit: {reason}"));
        if let Some(upgrade) = &mut self.upgrade {
            reason.clone_into(&mut upgrade.reason);
        }
    }

    /// A daemon is ready.
    pub(super) fn upgrade_ready(&mut self) {
        let started = |upgrade: &mut Upgrade| upgrade.is_started();
        let Some(Upgrade { mark, from, .. }) = self.upgrade.take_if(started) else { return };
        let to = self.daemon_version.clone();
        self.log.line(&format!("the daemon is version {to} now, and was {from}"));
        self.tell(Event::Upgraded { mark, from, to, failure: String::new() });
    }

    /// The new program ended before it was ready: the old one comes back.
    pub(super) fn upgrade_failed(&mut self, how: &str) {
        let Some(Upgrade { mark, old, from, reason, .. }) = self.upgrade.take() else { return };
        let path = self.program.path().display();
        let failure = match reason.as_str() {
            "" => format!("{path} ended before it was ready ({how})"),
            reason => format!("{path}: {reason}"),
        };
        self.log.line(&format!("the daemon stays version {from}: {failure}"));
        self.program = old;
        self.tell(Event::Upgraded { mark, to: from.clone(), from, failure });
    }

    /// When the new program must be ready.
    pub(super) fn upgrade_deadline(&self) -> Option<Instant> {
        self.upgrade.as_ref().and_then(|upgrade| upgrade.until)
    }

    /// Ends a new program that does not get ready.
    pub(super) fn end_slow_upgrade(&mut self) {
        if self.upgrade_deadline().is_none_or(|until| until > Instant::now()) {
            return;
        }
        if let Some(upgrade) = &mut self.upgrade {
            upgrade.until = Some(Instant::now() + READY_TIME);
            if upgrade.reason.is_empty() {
                upgrade.reason = format!("not ready within {} s", READY_TIME.as_secs());
            }
        }
        if let Some(daemon) = &self.daemon {
            processes::signal(daemon.pid, SIGKILL);
        }
    }
}
