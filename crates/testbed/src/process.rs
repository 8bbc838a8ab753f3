//! Processes as `/proc` shows them.

use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::os::unix::fs::MetadataExt;

fn pid(number: u32) -> Option<Pid> {
    Pid::from_raw(i32::try_from(number).ok()?)
}

/// SIGKILL; a process that is gone is fine.
pub fn kill(process: u32) {
    send(process, Signal::KILL);
}

/// SIGTERM; a process that is gone is fine.
pub fn end(process: u32) {
    send(process, Signal::TERM);
}

/// Any signal.
pub fn send(process: u32, signal: Signal) {
    if let Some(pid) = pid(process) {
        let _ = kill_process(pid, signal);
    }
}

fn all() -> Vec<u32> {
    let entries = fs::read_dir("/proc").expect("/proc").flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// The fields of `/proc/PID/stat` after the name: state, parent, ...
fn stat(process: u32) -> Option<Vec<String>> {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let (_, fields) = text.rsplit_once(") ")?;
    Some(fields.split(' ').map(str::to_owned).collect())
}

/// False for a zombie, too.
pub fn lives(process: u32) -> bool {
    stat(process).is_some_and(|fields| fields[0] != "Z" && fields[0] != "X")
}

/// True once a process holds nothing any more: no file, and no lock. Its environment is gone
/// before that, and its first thread may end before the others.
pub(crate) fn holds_nothing(process: u32) -> bool {
    let threads = fs::read_dir(format!("/proc/{process}/task")).map_or(0, Iterator::count);
    !lives(process) && threads <= 1
}

/// Command line, its parts parted by blanks.
pub fn command_line(process: u32) -> String {
    let bytes = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&bytes).replace('\0', " ").trim_end().to_owned()
}

/// The name that the kernel shows of a living process.
pub(crate) fn name(process: u32) -> Option<String> {
    let name = fs::read_to_string(format!("/proc/{process}/comm")).ok()?;
    lives(process).then(|| name.trim_end().to_owned())
}

/// This process and those that have started it.
fn ancestors() -> Vec<u32> {
    let parent = |process: &u32| stat(*process)?.get(1)?.parse().ok().filter(|parent| *parent > 1);
    std::iter::successors(Some(std::process::id()), parent).collect()
}

/// Living processes with `needle` in their environment, but for those that have started this one.
pub(crate) fn with_environment(needle: &[u8]) -> Vec<(u32, String)> {
    let carries = |process: &u32| {
        let environment = fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
        environment.windows(needle.len()).any(|part| part == needle)
    };
    let above = ancestors();
    let mut found: Vec<u32> = all().into_iter().filter(|p| !above.contains(p)).collect();
    found.retain(|process| lives(*process) && carries(process));
    found.into_iter().map(|process| (process, command_line(process))).collect()
}

/// The children of a process.
pub fn children(process: u32) -> Vec<u32> {
    let parent = process.to_string();
    let is_child = |p: &u32| stat(*p).is_some_and(|fields| fields[1] == parent && fields[0] != "Z");
    all().into_iter().filter(is_child).collect()
}

fn smaps(process: u32, key: &str) -> u64 {
    let text = fs::read_to_string(format!("/proc/{process}/smaps_rollup")).unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with(key)).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// Resident memory in KiB.
pub fn resident_kib(process: u32) -> u64 {
    smaps(process, "Rss:")
}

/// Resident memory in KiB, with shared pages divided among the processes that share them.
pub fn proportional_kib(process: u32) -> u64 {
    smaps(process, "Pss:")
}

/// Time on a processor, all threads, in nanoseconds.
pub fn processor_ns(process: u32) -> u64 {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let files = tasks.filter_map(|task| fs::read_to_string(task.path().join("schedstat")).ok());
    files.filter_map(|text| text.split(' ').next()?.parse::<u64>().ok()).sum()
}

/// Open descriptors.
pub fn descriptors(process: u32) -> usize {
    fs::read_dir(format!("/proc/{process}/fd")).map_or(0, |entries| entries.flatten().count())
}

/// The anonymous files that a process holds open: how many, and the memory behind them in KiB.
pub fn segments(process: u32) -> (usize, u64) {
    let entries = fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten().flatten();
    let is_segment = |path: &std::path::PathBuf| {
        fs::read_link(path).is_ok_and(|target| target.to_string_lossy().starts_with("/memfd:"))
    };
    let held = entries.map(|entry| entry.path()).filter(is_segment);
    let sizes: Vec<u64> =
        held.filter_map(|path| Some(fs::metadata(path).ok()?.blocks() / 2)).collect();
    (sizes.len(), sizes.iter().sum())
}

/// Resident memory in KiB: private, shared memory, files.
pub fn memory_kib(process: u32) -> [u64; 3] {
    let text = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    ["RssAnon:", "RssShmem:", "RssFile:"].map(|key| {
        let line = text.lines().find_map(|line| line.strip_prefix(key));
        let word = line.and_then(|line| line.split_whitespace().next());
        word.and_then(|word| word.parse().ok()).unwrap_or(0)
    })
}

/// Files without a name that a process holds open on a disk.
pub fn deleted_files(process: u32) -> usize {
    let entries = fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten().flatten();
    let is_spilled = |path: &std::path::PathBuf| {
        fs::read_link(path).is_ok_and(|target| {
            let target = target.to_string_lossy();
            target.ends_with("(deleted)") && !target.starts_with("/memfd:")
        })
    };
    entries.map(|entry| entry.path()).filter(is_spilled).count()
}
