//! The processes of a run: all of them, whichever process has started them, have its name as
//! `PVM_VMID` in their environment.

use pvm_cli::entries;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

/// The variable that carries the name; a program without a virtual machine has no other use for it.
pub(super) const NAME: &str = "PVM_VMID";

/// The processes of the run of this name, except this one.
pub(super) fn processes(name: &str) -> Vec<i32> {
    let mark = format!("{NAME}={name}").into_bytes();
    let own = std::process::id().cast_signed();
    let number = |path: &Path| path.file_name()?.to_str()?.parse::<i32>().ok();
    let is_marked = |path: &Path| {
        let environment = fs::read(path.join("environ")).unwrap_or_default();
        environment.split(|&byte| byte == 0).any(|entry| entry == mark)
    };
    let all = entries(Path::new("/proc")).into_iter();
    let all = all.filter_map(|path| Some((number(&path)?, path)));
    all.filter(|(number, path)| *number != own && is_marked(path))
        .map(|(number, _)| number)
        .collect()
}

/// The processor time of each process until now.
#[derive(Debug, Default)]
pub(super) struct Used(BTreeMap<i32, Duration>);

impl Used {
    /// By those of the run of this name.
    pub(super) fn of(name: &str) -> Self {
        let all = processes(name).into_iter();
        Self(all.filter_map(|process| Some((process, processor_time(process)?))).collect())
    }

    /// The processor time of the processes that are still there, since an earlier look.
    pub(super) fn since(&self, earlier: &Self) -> Duration {
        let before = |process| earlier.0.get(process).copied().unwrap_or_default();
        self.0.iter().map(|(process, now)| now.saturating_sub(before(process))).sum()
    }
}

/// All its threads, in the program and in the kernel; none if it has gone.
fn processor_time(process: i32) -> Option<Duration> {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name of the program stands in parentheses and may have some itself; `utime` and `stime`
    // are fields 14 and 15.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks: u64 = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
    let in_a_second = rustix::param::clock_ticks_per_second().max(1);
    Some(Duration::from_millis(ticks * 1000 / in_a_second))
}
