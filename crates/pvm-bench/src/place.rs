//! The computer of a measurement, and the other load of its processors.

use super::figures::Computer;
use std::time::Duration;

/// The time for which the processors are looked at. The kernel counts in hundredths of a second, so
/// only the average of many looks is exact.
const LOOK: Duration = Duration::from_millis(30);

/// This computer.
pub(crate) fn here(hosts: &[String]) -> Computer {
    let system = rustix::system::uname();
    let text = |part: &std::ffi::CStr| part.to_string_lossy().into_owned();
    let said = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    Computer {
        host: text(system.nodename()),
        processor: field(&said, "model name").unwrap_or_else(|| text(system.machine())),
        cores: u32::try_from(cores).unwrap_or(u32::MAX),
        mhz: field(&said, "cpu MHz").and_then(|mhz| mhz.parse().ok()).unwrap_or(0.0),
        flops_per_cycle: flops_per_cycle(&said),
        kernel: format!("{} {}", text(system.sysname()), text(system.release())),
        hosts: hosts.to_vec(),
    }
}

/// The value of the first line `name : value`.
fn field(text: &str, name: &str) -> Option<String> {
    let line = text.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// Two units for fused multiplication and addition, of the widest vectors that there are; without
/// them one for each.
fn flops_per_cycle(said: &str) -> f64 {
    let flags = field(said, "flags").or_else(|| field(said, "Features")).unwrap_or_default();
    let has = |flag: &str| flags.split(' ').any(|word| word == flag);
    match () {
        () if has("avx512f") => 32.0,
        () if has("avx2") && has("fma") => 16.0,
        () if has("avx") || has("asimd") => 8.0,
        () => 4.0,
    }
}

/// The share of the processors' time that others take just now, when nothing of ours runs.
pub(crate) fn others() -> Option<f64> {
    let before = Ticks::now()?;
    std::thread::sleep(LOOK);
    Some(before.busy_until(Ticks::now()?))
}

/// The time for which the processors have been idle, and all their time.
#[derive(Clone, Copy, Debug)]
struct Ticks {
    idle: u64,
    all: u64,
}

impl Ticks {
    fn now() -> Option<Self> {
        Self::of(&std::fs::read_to_string("/proc/stat").ok()?)
    }

    /// user nice system idle iowait irq softirq steal; what guests take is in user already.
    fn of(text: &str) -> Option<Self> {
        let line = text.lines().find(|line| line.starts_with("cpu "))?;
        let numbers: Vec<u64> =
            line.split_whitespace().skip(1).take(8).filter_map(|word| word.parse().ok()).collect();
        let idle = numbers.get(3)? + numbers.get(4)?;
        Some(Self { idle, all: numbers.iter().sum() })
    }

    fn busy_until(self, later: Self) -> f64 {
        let all = later.all.saturating_sub(self.all);
        let idle = later.idle.saturating_sub(self.idle).min(all);
        if all == 0 { 0.0 } else { (all - idle) as f64 / all as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_idle_is_busy() {
        let before = Ticks::of("cpu  100 0 50 800 50 0 0 0 7 7\ncpu0 1 1 1 1\n").unwrap();
        let later = Ticks::of("cpu  120 0 60 860 60 0 0 0 7 7\n").unwrap();
        assert!((before.busy_until(later) - 0.3).abs() < 1e-12);
        assert_eq!(before.busy_until(before), 0.0);
        assert!(Ticks::of("cpu0 1 2 3").is_none());
    }

    #[test]
    fn fields_of_the_processor_are_found() {
        let text = "processor\t: 0\nmodel name\t: Some CPU: fast\ncpu MHz\t\t: 2100.5\n";
        assert_eq!(field(text, "model name").unwrap(), "Some CPU: fast");
        assert_eq!(field(text, "cpu MHz").unwrap(), "2100.5");
        assert_eq!(field(text, "none"), None);
        assert_eq!(flops_per_cycle("flags\t\t: fpu sse2 avx avx2 fma\n"), 16.0);
        assert_eq!(flops_per_cycle(text), 4.0);
    }
}
