//! The process tree, as `/proc` shows it.

use crate::sys::signal_of;
use rustix::process::Pid;
use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;

/// Deeper than any tree of wrappers.
const DEPTH_MAX: usize = 64;

/// A process and its ancestors, itself first.
pub(crate) fn line_of(pid: u32) -> impl Iterator<Item = u32> {
    std::iter::successors(Some(pid), |pid| parent_of(*pid).filter(|parent| *parent > 1))
        .take(DEPTH_MAX)
}

/// All processes that descend from `ancestor`, but for those that `apart` names and theirs.
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

/// True where a process runs the same program as this one.
pub(crate) fn is_like_us(pid: u32) -> bool {
    let program = |pid: &str| {
        let data = std::fs::metadata(format!("/proc/{pid}/exe")).ok()?;
        Some((data.dev(), data.ino()))
    };
    let ours = program("self");
    ours.is_some() && ours == program(&pid.to_string())
}

/// Field 4 of `/proc/PID/stat`; the name in field 2 may hold anything, so it is skipped from behind.
fn parent_of(pid: u32) -> Option<u32> {
    let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    let end = stat.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(&stat[end + 1..]).ok()?;
    rest.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// True while the process runs; a dead one that nobody has waited for does not.
pub(crate) fn is_alive(pid: u32) -> bool {
    let stat = std::fs::read(format!("/proc/{pid}/stat")).unwrap_or_default();
    let end = stat.iter().rposition(|byte| *byte == b')');
    end.and_then(|end| stat.get(end + 2)).is_some_and(|state| !b"ZX".contains(state))
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
