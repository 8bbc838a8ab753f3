//! Messages between daemons and the tasks that take over one of their jobs, as `pvmsdpro.h` tells
//! programs: a *hoster* starts daemons, a *tasker* starts the tasks of its host, a *manager*
//! answers what the tasks of its host ask about hosts and tasks.
//!
//! All of them are ordinary messages in the default encoding. They are few, so they go through the
//! daemons ([`crate::request::Request::Post`]), which see the sender and the receiver of each
//! answer. What is in them was asked of PVM 3.4.6 (`conformance/facts.md`).

const FIRST: i32 = 0x8004_0001_u32.cast_signed();

/// A task spawns.
pub const SPAWN: i32 = FIRST;
/// A manager has a daemon start tasks.
pub const EXEC: i32 = FIRST + 1;
/// Their outcomes; also, unasked, that a task has enrolled.
pub const EXEC_ACK: i32 = FIRST + 2;
/// A task asks for the list of tasks.
pub const TASK: i32 = FIRST + 3;
/// A task asks for the hosts.
pub const CONFIG: i32 = FIRST + 4;
/// A task adds hosts.
pub const ADD_HOST: i32 = FIRST + 5;
/// A task deletes hosts.
pub const DEL_HOST: i32 = FIRST + 6;
/// A manager has a daemon add hosts.
pub const ADD: i32 = FIRST + 7;
/// Their outcomes.
pub const ADD_ACK: i32 = FIRST + 8;
/// A task wants notices.
pub const NOTIFY: i32 = FIRST + 9;
/// A task has ended.
pub const TASK_END: i32 = FIRST + 10;
/// A host has left.
pub const HOST_END: i32 = FIRST + 11;
/// A task wants to be the manager.
pub const SCHED: i32 = FIRST + 13;
/// A hoster is to start daemons.
pub const START_HOST: i32 = FIRST + 14;
/// Their outcomes.
pub const START_HOST_ACK: i32 = FIRST + 15;
/// A tasker is to start a task.
pub const START_TASK: i32 = FIRST + 16;

/// True for a tag of these messages.
pub const fn is_plug_tag(tag: i32) -> bool {
    FIRST <= tag && tag <= START_TASK
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_header() {
        assert_eq!((SPAWN, START_TASK), (-2_147_221_503, -2_147_221_487));
        assert!(is_plug_tag(SCHED) && !is_plug_tag(7) && !is_plug_tag(START_TASK + 1));
        assert!(!is_plug_tag(-1));
    }
}
