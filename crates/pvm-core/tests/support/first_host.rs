//! A machine as these tests begin with it.

#[path = "config.rs"]
mod config;

use config::{config, setup};
use pvm_core::Machine;
use pvm_core::io::HostFacts;
use pvm_wire::HostIndex;

/// The facts of a host with one core, whose key is its name.
pub(crate) fn facts(name: &str) -> HostFacts {
    HostFacts { name: name.into(), key: name.into(), cores: 1, ..HostFacts::default() }
}

/// The machine of the first host, `a`, at its first start.
pub(crate) fn first_host() -> Machine {
    Machine::new(config(HostIndex(1), facts("a")), setup())
}
