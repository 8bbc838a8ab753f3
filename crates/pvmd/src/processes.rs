//! The process tree, as `/proc` shows it.

use crate::parent::silence::{Doing, State};
use crate::sys::signal_of;
use rustix::process::Pid;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// Deeper than any tree of wrappers.
const DEPTH_MAX: usize = 64;

/// A process and its ancestors, itself first.
pub(crate) fn line_of(pid: u32) -> impl Iterator<Item = u32> {
    std::iter::successors(Some(pid), |pid| parent_of(*pid).filter(|parent| *parent > 1))
        .take(DEPTH_MAX)
}

/// All processes that descend from `ancestor`, except the ones that `apart` names and their
/// descendants.
pub(crate) fn descendants(ancestor: u32, apart: impl Fn(u32) -> bool) -> Vec<u32> {
    let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let pid = entry.file_name().to_str().and_then(|name| name.parse().ok());
        if let Some((pid, parent)) = pid.and_then(|pid| Some((pid, parent_of(pid)?))) {
            children.entry(parent).or_default().push(pid);
        }
    }
    let mut take = |pid| {
        let mut found = children.remove(&pid).unwrap_or_default();
        found.retain(|pid| !apart(*pid));
        found
    };
    let mut found = take(ancestor);
    let mut next = 0;
    while let Some(pid) = found.get(next) {
        found.extend(take(*pid));
        next += 1;
    }
    found
}

/// True if a process has the same name as this one. Its program file may be another version, and
/// the rest of `/proc` about it may not be readable.
pub(crate) fn is_like_us(pid: u32) -> bool {
    let ours = name_of(std::process::id());
    ours.is_some() && ours == name_of(pid)
}

/// Field 2 of `/proc/PID/stat`, which may hold anything between its brackets.
fn name_of(pid: u32) -> Option<Vec<u8>> {
    let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    let begin = stat.iter().position(|byte| *byte == b'(')?;
    let end = stat.iter().rposition(|byte| *byte == b')')?;
    Some(stat.get(begin + 1..end)?.to_vec())
}

/// Names, in a task's environment, the parent process of its host.
pub(crate) const PARENT: &str = "NEOPVM_PARENT";
/// The variable in the environment of a process that is to outlive its machine.
const OUTLIVE: &[u8] = b"PVM_OUTLIVE=1";

/// The words of a process's environment; none if they may not be read.
fn environment(pid: u32) -> Vec<u8> {
    std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default()
}

/// True where a process has asked to outlive its machine.
pub(crate) fn may_outlive(pid: u32) -> bool {
    environment(pid).split(|byte| *byte == 0).any(|word| word == OUTLIVE)
}

/// Living processes that began as tasks of a host whose socket lies at or below this path, or
/// descend from such ones, whatever their parent is now. `of` says whether the parent process that
/// their environment names is the one that is meant. Processes of a container are left out: process
/// numbers mean something else there.
pub(crate) fn of_hosts(sockets: &Path, of: impl Fn(u32) -> bool) -> Vec<u32> {
    let table = |pid: &str| std::fs::read_link(format!("/proc/{pid}/ns/pid")).ok();
    let ours = table("self");
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(pid) = name.to_str().and_then(|name| name.parse().ok()) else { continue };
        if task_of(&environment(pid), sockets).is_some_and(&of)
            && pid != std::process::id()
            && is_alive(pid)
            && table(&pid.to_string()) == ours
        {
            found.push(pid);
        }
    }
    found
}

/// The parent process that the environment of a task names, if its host's socket is meant.
fn task_of(environment: &[u8], sockets: &Path) -> Option<u32> {
    let (mut here, mut parent) = (false, None);
    for word in environment.split(|byte| *byte == 0) {
        let Some(at) = word.iter().position(|byte| *byte == b'=') else { continue };
        let (name, value) = (&word[..at], OsStr::from_bytes(&word[at + 1..]));
        match name {
            b"PVMSOCK" => here = Path::new(value).starts_with(sockets),
            name if name == PARENT.as_bytes() => parent = value.to_str()?.parse().ok(),
            _ => {}
        }
    }
    parent.filter(|_| here)
}

/// Field 4 of `/proc/PID/stat`; the name in field 2 may hold anything, so it is skipped from
/// behind.
fn parent_of(pid: u32) -> Option<u32> {
    number_behind_state(pid, 0)
}

/// One of the numbers that follow a process's name and state in `/proc/PID/stat`: its parent, its
/// group, ...
fn number_behind_state(pid: u32, place: usize) -> Option<u32> {
    let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    let end = stat.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(&stat[end + 1..]).ok()?;
    rest.split_ascii_whitespace().nth(1 + place)?.parse().ok()
}

/// The living processes of the group that this process has led, except the ones that are to outlive
/// the machine.
pub(crate) fn of_group(leader: u32) -> Vec<u32> {
    let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let all = all.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let is_of = |pid: &u32| number_behind_state(*pid, 1) == Some(leader);
    all.filter(is_of).filter(|&pid| is_alive(pid) && !may_outlive(pid)).collect()
}

/// True while the process runs; a dead one that was not waited for does not.
pub(crate) fn is_alive(pid: u32) -> bool {
    let stat = std::fs::read(format!("/proc/{pid}/stat")).unwrap_or_default();
    let end = stat.iter().rposition(|byte| *byte == b')');
    end.and_then(|end| stat.get(end + 2)).is_some_and(|state| !b"ZX".contains(state))
}

/// The state of the threads of a process, and the processor time that it has had; none if it is
/// gone.
pub(crate) fn state(pid: u32) -> Option<State> {
    let of_whole = fields_of(&format!("/proc/{pid}/stat"))?;
    // Fields 14 and 15, of which the first two are cut off here.
    let ticks = |at: usize| of_whole.get(at).and_then(|field| field.parse::<u64>().ok());
    let used = ticks(11)? + ticks(12)?;
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).ok()?.flatten();
    let mut doing = Doing::Sleeping;
    for thread in threads {
        let Some(fields) = fields_of(&thread.path().join("stat").to_string_lossy()) else {
            continue;
        };
        match fields.first().map(String::as_str) {
            Some("T") => return Some(State { doing: Doing::Stopped, used }),
            Some("t") => return Some(State { doing: Doing::Traced, used }),
            Some("R" | "D") => doing = Doing::Working,
            _ => {}
        }
    }
    Some(State { doing, used })
}

/// The fields of such a file behind the name, which may hold anything: the state comes first.
fn fields_of(path: &str) -> Option<Vec<String>> {
    let stat = std::fs::read(path).ok()?;
    let end = stat.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(&stat[end + 1..]).ok()?;
    Some(rest.split_ascii_whitespace().map(str::to_owned).collect())
}

/// Sends a signal; a process that is gone is no error, and neither is a number that is no signal.
pub(crate) fn signal(pid: u32, signal: i32) {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    if let (Some(pid), Some(signal)) = (pid, signal_of(signal)) {
        let _ = rustix::process::kill_process(pid, signal);
    }
}

/// Sends a signal to all processes of a group.
pub(crate) fn signal_group(leader: u32, signal: i32) {
    let leader = i32::try_from(leader).ok().and_then(Pid::from_raw);
    if let (Some(leader), Some(signal)) = (leader, signal_of(signal)) {
        let _ = rustix::process::kill_process_group(leader, signal);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_task_left_is_known_by_its_environment() {
        let socket = Path::new("/run/of-this-test/pvmd.sock");
        let mut sleep = std::process::Command::new("/bin/sleep");
        sleep.arg("60").env("PVMSOCK", socket).env(PARENT, "77").env("PVM_OUTLIVE", "1");
        let mut child = sleep.spawn().unwrap();
        // Between its start and the new program its environment is that of this process.
        while of_hosts(socket, |_| true).is_empty() {}
        assert_eq!(of_hosts(socket, |parent| parent == 77), [child.id()]);
        assert!(of_hosts(socket, |parent| parent == 78).is_empty());
        assert!(of_hosts(Path::new("/run/other"), |_| true).is_empty());
        assert!(may_outlive(child.id()) && !may_outlive(std::process::id()));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(of_hosts(socket, |_| true).is_empty());
    }

    #[test]
    fn what_a_process_does_is_seen() {
        let mut child = std::process::Command::new("/bin/sleep").arg("60").spawn().unwrap();
        let is = |doing| state(child.id()).is_some_and(|state| state.doing == doing);
        while !is(Doing::Sleeping) {}
        signal(child.id(), 19);
        while !is(Doing::Stopped) {}
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(state(child.id()), None);
        let before = state(std::process::id()).unwrap();
        while state(std::process::id()).unwrap().used == before.used {}
        assert_eq!(before.doing, Doing::Working, "this thread runs");
    }

    #[test]
    fn the_tree_is_walked_up_and_down() {
        let me = std::process::id();
        let mut child = std::process::Command::new("/bin/sleep").arg("60").spawn().unwrap();
        assert_eq!(line_of(child.id()).take(2).collect::<Vec<_>>(), [child.id(), me]);
        assert!(descendants(me, |_| false).contains(&child.id()));
        assert!(!descendants(me, |pid| pid == child.id()).contains(&child.id()));
        assert!(is_like_us(me) && !is_like_us(child.id()));
        signal(child.id(), 0);
        signal(child.id(), 9999);
        signal(child.id(), 34);
        assert_eq!(std::os::unix::process::ExitStatusExt::signal(&child.wait().unwrap()), Some(34));
        assert_eq!(parent_of(u32::MAX), None);
    }
}
