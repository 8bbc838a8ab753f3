//! Numbers of names in records: a name is noted once, when it is first used.

use pvm_wire::record::Class;

use crate::session;

/// The number of a name, 0 in a process that is no task.
pub(crate) fn number(class: Class, text: &[u8]) -> u32 {
    session::current().map_or(0, |task| task.number_of(class, text))
}
