//! Facts about hosts, and outcomes of requests about hosts.

use crate::{Blob, HostIndex, Tid, record};

/// A flag of `pvm_spawn` that is ours (`NEOPVM_LEAST_LOADED` in `neopvm.h`): among the hosts that
/// fit, those with the fewest tasks for their cores and speed.
pub const LEAST_LOADED: i32 = 1 << 16;

/// The stages of joining, in their order. [`Failure::stage`] names the first that failed.
pub const STAGES: [&str; 9] =
    ["name", "route", "port", "key", "shell", "pvmd", "version", "callback", "join"];

record! {
    /// A host as `pvm_config` shows it, and what commands show beside.
    #[derive(Default)]
    pub struct HostInfo {
        /// The host's id.
        pub tid: Tid,
        /// Its name.
        pub name: Blob,
        /// Its architecture name, such as `LINUX64`.
        pub arch: Blob,
        /// Relative speed: `sp=`, or as measured beside the first host, which has 1000.
        pub speed: i32,
        /// The signature of its data layout.
        pub signature: i32,
        /// Cores, as found.
        pub cores: u32,
        /// True while it is drained: no new task is placed there, and it leaves with its last.
        pub draining: bool,
        /// True while the host that answers has no link to this host. The daemon of this host may
        /// be back in a moment; if the host is dead, the machine removes it.
        pub suspected: bool,
        /// The addresses at which other daemons reach it, `ADDRESS:PORT`, in the order in which
        /// they try.
        pub addresses: Vec<String>,
        /// NeoPVM's version there.
        pub version: String,
    }

    /// For people: what failed, where, and what to do.
    #[derive(Default)]
    pub struct Failure {
        /// The first stage of joining that failed: one of [`STAGES`], or empty for none of them.
        pub stage: String,
        /// The fault and its place, in one sentence.
        pub detail: String,
        /// The next command, empty where there is none.
        pub remedy: String,
    }

    /// The outcome for one host name in an add, a delete or a drain.
    #[derive(Default)]
    pub struct HostResult {
        /// The host's id, or a code.
        pub outcome: i32,
        /// The failure; none on success.
        pub failure: Option<Failure>,
    }

    /// The load of a host.
    pub struct HostLoad {
        /// The host.
        pub host: HostIndex,
        /// Tasks that run or are being started there; consoles and the like are left out.
        pub tasks: u32,
        /// Its cores.
        pub cores: u32,
        /// Its relative speed, as in [`HostInfo`].
        pub speed: i32,
    }
}

impl Failure {
    /// A failure outside of the stages of joining, without a remedy.
    pub fn of(detail: impl Into<String>) -> Self {
        Self { detail: detail.into(), ..Self::default() }
    }
}

impl HostResult {
    /// For people: why it failed; empty on success.
    pub fn why(&self) -> String {
        self.failure.as_ref().map(ToString::to_string).unwrap_or_default()
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.detail)?;
        if !self.remedy.is_empty() {
            write!(f, "\ntry: {}", self.remedy)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_for_bindings_has_our_spawn_flag() {
        let header = include_str!("../../../../include/neopvm.h");
        let defined = format!("#define NEOPVM_LEAST_LOADED {LEAST_LOADED} ");
        assert!(header.contains(&defined), "{defined}");
    }
}
