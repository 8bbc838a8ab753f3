//! Processor time: of a command with all that it started and waited for, and of the whole computer.
//!
//! What a command started and left behind (a daemon that is nobody's child) is not in its sum, but
//! in the computer's.

use std::fs;
use std::thread;
use std::time::Duration;

/// The unit in which Linux tells these times is the same on all processors.
const TICKS_PER_SECOND: u64 = 100;
/// The interval at which a command is looked at.
const LOOK: Duration = Duration::from_millis(50);

/// Waits until a child has ended, and gives what it took. It can still be waited for afterwards.
pub(crate) fn until_end(child: u32) -> Duration {
    loop {
        let Ok(stat) = fs::read_to_string(format!("/proc/{child}/stat")) else {
            return Duration::ZERO;
        };
        match of_process(&stat) {
            Some(('Z' | 'X', spent)) => return spent,
            Some(_) => thread::sleep(LOOK),
            None => return Duration::ZERO,
        }
    }
}

/// The state of a process, and the time of it and of the children it has waited for.
fn of_process(stat: &str) -> Option<(char, Duration)> {
    // Behind the name, which may hold anything: state, parent, ... The times are fields 14 to 17.
    let (_, fields) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = fields.split_whitespace().collect();
    let times = fields.get(11..15)?;
    let ticks: u64 = times.iter().filter_map(|field| field.parse::<u64>().ok()).sum();
    Some((fields[0].chars().next()?, duration(ticks)))
}

fn duration(ticks: u64) -> Duration {
    Duration::from_millis(ticks * 1000 / TICKS_PER_SECOND)
}

/// The processor time of all processes of this computer since it started; 0 where the system does
/// not report it.
pub(crate) fn of_computer() -> Duration {
    let stat = fs::read_to_string("/proc/stat").unwrap_or_default();
    duration(busy_ticks(&stat))
}

fn busy_ticks(stat: &str) -> u64 {
    let line = stat.lines().next().unwrap_or_default();
    let fields = line.split_whitespace().skip(1).map(|field| field.parse().unwrap_or(0));
    // user, nice, system, idle, iowait, irq, softirq
    fields
        .take(7)
        .enumerate()
        .filter(|(at, _)| !matches!(at, 3 | 4))
        .map(|(_, ticks): (_, u64)| ticks)
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn the_times_are_found_behind_any_name() {
        let stat = "7 (a ) b) Z 1 2 3 4 5 6 7 8 9 10 100 20 3 77 0 0\n";
        assert_eq!(of_process(stat), Some(('Z', Duration::from_secs(2))));
        assert_eq!(of_process("7 (x) R 1"), None);
        assert_eq!(busy_ticks("cpu  1 2 4 1000 1000 8 16 0 0 0\ncpu0 1\n"), 31);
    }

    #[test]
    fn a_command_that_computes_is_counted_with_its_children() {
        let script = "(i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done)";
        let mut child = Command::new("sh").args(["-c", script]).spawn().unwrap();
        let spent = until_end(child.id());
        assert!(child.wait().unwrap().success());
        assert!(spent > Duration::ZERO);
    }
}
