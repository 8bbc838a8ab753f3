//! A machine as these tests begin with it.

use pvm_core::io::HostFacts;
use pvm_core::{Config, Machine, Rules, Setup};
use pvm_quorum::Core;
use pvm_wire::{Blob, HostIndex};

/// The facts of a host with one core, whose key is its name.
pub(crate) fn facts(name: &str) -> HostFacts {
    HostFacts { name: name.into(), key: name.into(), cores: 1, ..HostFacts::default() }
}

/// The machine of the first host, `a`, at its first start.
pub(crate) fn first_host() -> Machine {
    let host = HostIndex(1);
    let config = Config {
        host,
        first: host,
        facts: facts("a"),
        version: "1".to_owned(),
        parent_pid: 1,
        daemon_pid: 2,
        restarts: 0,
        debugger: Blob::default(),
    };
    Machine::new(config, Setup { quorum: Box::new(Core::new(1)), rules: Rules::plain() })
}
