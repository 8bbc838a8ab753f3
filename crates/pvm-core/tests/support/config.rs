//! A host's configuration, as all these tests use it.

use pvm_core::io::HostFacts;
use pvm_core::{Config, Rules, Setup};
use pvm_quorum::Core;
use pvm_wire::{Blob, HostIndex};

/// The configuration of `host` at its first start, where host 1 is the first one.
pub(crate) fn config(host: HostIndex, facts: HostFacts) -> Config {
    Config {
        host,
        first: HostIndex(1),
        facts,
        version: "1".to_owned(),
        parent_pid: 1,
        daemon_pid: 2,
        restarts: 0,
        debugger: Blob::default(),
    }
}

/// A log of its own, and no rules of a user.
pub(crate) fn setup() -> Setup {
    Setup { quorum: Box::new(Core::new(1)), rules: Rules::plain() }
}
