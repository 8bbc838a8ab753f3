//! Task identifiers.
//!
//! The layout is PVM 3's, because programs take ids apart (`tid & 0x3ffff`, `tid % n`):
//!
//! ```text
//!  bit 31     30      29 ........ 18   17 ........ 0
//! +-------+-------+-----------------+----------------+
//! | daemon| group |  host (12 bits) | local (18 bits)|
//! +-------+-------+-----------------+----------------+
//! ```
//!
//! Host 0 does not exist; the first host of a machine is 1, so its first task is `t40001`.

use std::fmt;

/// Marks the id of a daemon.
const DAEMON_BIT: u32 = 0x8000_0000;
/// Marks an id that names many tasks.
const GROUP_BIT: u32 = 0x4000_0000;
const HOST_SHIFT: u32 = 18;
const HOST_MASK: u32 = 0x3ffc_0000;
const LOCAL_MASK: u32 = 0x0003_ffff;

/// The index of a host in the host table, 1 to 4095.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct HostIndex(pub u16);

impl HostIndex {
    /// The largest index that fits a task id.
    pub const MAX: Self = Self(0xfff);
}

impl fmt::Display for HostIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// The id of a task, of a host (local part 0) or of a host's daemon.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Tid(pub u32);

impl Tid {
    /// No task, for instance as the parent of a task that was not spawned. It is never a wildcard.
    pub const NONE: Self = Self(0);
    /// The source of notices (`pvm_notify`), as programs see it.
    pub const NOTICE_SOURCE: Self = Self(DAEMON_BIT);
    /// The largest local number. After it the numbers start again with 1.
    pub const LOCAL_MAX: u32 = LOCAL_MASK;

    /// The task with number `local` on `host`.
    pub const fn task(host: HostIndex, local: u32) -> Self {
        Self(((host.0 as u32) << HOST_SHIFT) & HOST_MASK | local & LOCAL_MASK)
    }

    /// The id of a host, `dtid` in PVM's words: local part 0.
    pub const fn host_id(host: HostIndex) -> Self {
        Self::task(host, 0)
    }

    /// The id of the daemon of a host.
    pub const fn daemon(host: HostIndex) -> Self {
        Self(Self::host_id(host).0 | DAEMON_BIT)
    }

    /// The host part.
    pub const fn host(self) -> HostIndex {
        HostIndex(((self.0 & HOST_MASK) >> HOST_SHIFT) as u16)
    }

    /// The local part.
    pub const fn local(self) -> u32 {
        self.0 & LOCAL_MASK
    }

    /// True for an id that can name a task: a host, a local number, no flag.
    pub const fn is_task(self) -> bool {
        self.0 & (DAEMON_BIT | GROUP_BIT) == 0 && self.local() != 0 && self.host().0 != 0
    }

    /// True for a number that has the form of a task id. Ids of host 0 have it, too; as in PVM,
    /// they are treated like ids of tasks that have ended.
    pub const fn may_be_task(self) -> bool {
        self.0 & (DAEMON_BIT | GROUP_BIT) == 0 && self.local() != 0
    }

    /// True for the id of a daemon, [`Tid::NOTICE_SOURCE`] included.
    pub const fn is_daemon(self) -> bool {
        self.0 & DAEMON_BIT != 0
    }

    /// True for the id of a host (a `dtid`).
    pub const fn is_host(self) -> bool {
        self.0 & (DAEMON_BIT | GROUP_BIT | LOCAL_MASK) == 0 && self.host().0 != 0
    }

    /// The number that C programs use.
    pub const fn as_c_int(self) -> i32 {
        self.0.cast_signed()
    }

    /// Makes an id from the number that a C program has passed.
    pub const fn from_c_int(value: i32) -> Self {
        Self(value.cast_unsigned())
    }
}

impl fmt::Display for Tid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "t{:x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_have_the_layout_of_pvm_3() {
        assert_eq!(Tid::task(HostIndex(1), 1).0, 0x40001);
        assert_eq!(Tid::host_id(HostIndex(3)).0, 0xc0000);
        assert_eq!(Tid::daemon(HostIndex(1)).0, 0x8004_0000);
        assert!(Tid(0x40001).is_task() && !Tid(0x80000).is_task() && Tid(0x80000).is_host());
        assert!(Tid(0x3ffff).may_be_task() && !Tid(0x3ffff).is_task());
        assert!(!Tid(0x40000).may_be_task() && !Tid(0x4004_0001).may_be_task());
        assert!(Tid::NOTICE_SOURCE.is_daemon() && !Tid::from_c_int(-1).is_task());
        assert_eq!(Tid(0x40001).to_string(), "t40001");
    }
}
