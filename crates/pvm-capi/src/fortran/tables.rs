//! Tables for Fortran, one line per call: hosts, tasks, siblings, named messages.
//!
//! The calls go round: after the last line comes the first of a fresh table. A count of -1 begins
//! anew at once; so does an `info` of -1 for the names.

use std::cell::RefCell;
use std::ffi::{c_char, c_int};

use pvm_wire::Code;
use pvm_wire::request::{HostInfo, TaskInfo};

use super::number::{In, Out};
use super::text::{Length, input, output};
use crate::guard::call;
use crate::own::{Own, ThreadOwned as _};
use crate::{machine, process, registry};

/// A table and the next line of it.
struct Round<T> {
    lines: Vec<T>,
    next: usize,
}

impl<T: Clone> Default for Round<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Clone> Round<T> {
    const fn new() -> Self {
        Self { lines: Vec::new(), next: 0 }
    }

    /// The next line and the number of lines; reads the table at the beginning of a round.
    fn turn(
        &mut self,
        again: bool,
        read: impl FnOnce() -> Result<Vec<T>, Code>,
    ) -> Result<(Option<T>, usize), Code> {
        if again || self.next >= self.lines.len() {
            self.lines = read()?;
            self.next = 0;
        }
        let line = self.lines.get(self.next).cloned();
        self.next += 1;
        Ok((line, self.lines.len()))
    }
}

/// One entry of a name.
#[derive(Clone)]
struct Entry {
    name: Vec<u8>,
    classes: c_int,
    entries: c_int,
    index: c_int,
    owner: c_int,
    flags: c_int,
}

thread_local! {
    static HOSTS: Own<Round<HostInfo>> = const { Own::new() };
    static TASKS: Own<Round<TaskInfo>> = const { Own::new() };
    static NAMES: Own<Round<Entry>> = const { Own::new() };
}

fn small(number: usize) -> c_int {
    c_int::try_from(number).unwrap_or(c_int::MAX)
}

/// `pvmfconfig`: the next host. `info` is 1, as in PVM.
///
/// # Safety
/// The numbers point to integers, the texts have the lengths at the end.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvmfconfig_(
    number: Out,
    formats: Out,
    tid: Out,
    name: *mut c_char,
    arch: *mut c_char,
    speed: Out,
    info: Out,
    name_length: Length,
    arch_length: Length,
) {
    let again = number.value() == -1;
    let result = call("pvm_config", || {
        let (host, count, kinds) = HOSTS.kept(|round| {
            let mut round = round.borrow_mut();
            let (host, count) = round.turn(again, machine::hosts)?;
            Ok((host, count, machine::formats(&round.lines)))
        })?;
        let host = host.ok_or(Code::NoHost)?;
        for (out, value) in [
            (number, small(count)),
            (formats, small(kinds)),
            (tid, host.tid.as_c_int()),
            (speed, host.speed),
        ] {
            out.put(value);
        }
        // SAFETY: Fortran passes the address of the text and its length.
        unsafe { output(&host.name.0, name, name_length) };
        // SAFETY: Fortran passes the address of the text and its length.
        unsafe { output(&host.arch.0, arch, arch_length) };
        Ok(1)
    });
    info.put(result);
}

/// `pvmftasks`: the next task. `info` is 1, as in PVM.
///
/// # Safety
/// The numbers point to integers, the text has the length at the end.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvmftasks_(
    place: In,
    number: Out,
    tid: Out,
    parent: Out,
    host: Out,
    flags: Out,
    name: *mut c_char,
    info: Out,
    name_length: Length,
) {
    let (place, again) = (place.value(), number.value() == -1);
    let result = call("pvm_tasks", || {
        let turn = |round: &RefCell<Round<TaskInfo>>| {
            round.borrow_mut().turn(again, || machine::tasks(place))
        };
        let (task, count) = TASKS.kept(turn)?;
        number.put(small(count));
        let Some(task) = task else { return Ok(0) };
        for (out, value) in [
            (tid, task.tid.as_c_int()),
            (parent, task.parent.as_c_int()),
            (host, task.host.as_c_int()),
            (flags, task.flags),
        ] {
            out.put(value);
        }
        // SAFETY: Fortran passes the address of the text and its length.
        unsafe { output(&task.name.0, name, name_length) };
        Ok(1)
    });
    info.put(result);
}

/// `pvmfsiblings`: how many, and the one at an index, or `PvmNoTask`.
///
/// # Safety
/// The arguments point to integers.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvmfsiblings_(number: Out, index: In, tid: Out) {
    let count = call("pvm_siblings", || {
        let listed = process::siblings()?;
        let index = usize::try_from(index.value()).unwrap_or(usize::MAX);
        let sibling = listed.get(index).copied().unwrap_or(Code::NoTask.number());
        tid.put(sibling);
        Ok(small(listed.len()))
    });
    number.put(count);
}

fn entries(pattern: &[u8]) -> Result<Vec<Entry>, Code> {
    let classes = registry::list(pattern)?;
    let number = small(classes.len());
    Ok(classes
        .iter()
        .flat_map(|class| {
            class.entries.iter().map(move |entry| Entry {
                name: class.name.0.clone(),
                classes: number,
                entries: small(class.entries.len()),
                index: entry.index,
                owner: entry.owner.as_c_int(),
                flags: entry.flags,
            })
        })
        .collect())
}

/// `pvmfgetmboxinfo`: the next entry of the names that fit; `PvmNotFound` after the last.
///
/// # Safety
/// The numbers point to integers, the texts have the lengths at the end.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvmfgetmboxinfo_(
    pattern: *const c_char,
    name: *mut c_char,
    classes: Out,
    number: Out,
    index: Out,
    owner: Out,
    flags: Out,
    info: Out,
    pattern_length: Length,
    name_length: Length,
) {
    // SAFETY: Fortran passes the address of the text and its length.
    let pattern = unsafe { input(pattern, pattern_length) };
    let again = info.value() == -1;
    let result = call("pvm_getmboxinfo", || {
        let entry = NAMES.kept(|round| {
            let mut round = round.borrow_mut();
            // The end of a round is reported once, then the next round begins.
            if !again && !round.lines.is_empty() && round.next == round.lines.len() {
                round.next += 1;
                return Err(Code::NotFound);
            }
            round.turn(again, || entries(pattern.as_bytes()))?.0.ok_or(Code::NotFound)
        })?;
        // SAFETY: Fortran passes the address of the text and its length.
        unsafe { output(&entry.name, name, name_length) };
        for (out, value) in [
            (classes, entry.classes),
            (number, entry.entries),
            (index, entry.index),
            (owner, entry.owner),
            (flags, entry.flags),
        ] {
            out.put(value);
        }
        Ok(0)
    });
    info.put(result);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_goes_round_and_can_begin_anew() {
        let mut round = Round::new();
        let mut take = |again| round.turn(again, || Ok(vec![1, 2])).map(|turn| turn.0);
        assert_eq!(take(false), Ok(Some(1)));
        assert_eq!(take(false), Ok(Some(2)));
        assert_eq!(take(false), Ok(Some(1)));
        assert_eq!(take(true), Ok(Some(1)));
        let mut empty = Round::<i32>::new();
        assert_eq!(empty.turn(false, || Ok(Vec::new())), Ok((None, 0)));
    }
}
