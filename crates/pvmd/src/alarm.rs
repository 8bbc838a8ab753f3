//! Timers of the kernel. The runtime's own timers wake the process twice for each time that is more
//! than 64 ms away, and each one that is put off wakes it once more.

use crate::{clock, sys};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};
use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;
use tokio::io::unix::AsyncFd;
use tokio::task::yield_now;
use tokio::time::sleep;

/// Alarms ring at multiples of this time since boot: those that are close together wake once.
const GRID: Duration = Duration::from_millis(1);

/// A timer that is not set.
pub(crate) fn timer() -> io::Result<AsyncFd<OwnedFd>> {
    let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
    sys::readable(timerfd_create(TimerfdClockId::Boottime, flags)?)
}

/// The timer rings at `first` since boot, and each `interval` from then on unless that is zero.
pub(crate) fn set(timer: &AsyncFd<OwnedFd>, first: Duration, interval: Duration) -> io::Result<()> {
    let time = |time: Duration| Timespec {
        tv_sec: i64::try_from(time.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: time.subsec_nanos().into(),
    };
    let times = Itimerspec { it_interval: time(interval), it_value: time(first) };
    timerfd_settime(timer.get_ref(), TimerfdTimerFlags::ABSTIME, &times)?;
    Ok(())
}

/// Wakes one waiter at a time that may change at each wait.
#[derive(Debug)]
pub(crate) struct Alarm {
    /// None if the kernel has no timer: then the runtime's are used.
    timer: Option<AsyncFd<OwnedFd>>,
    /// When it rings, since boot.
    rings_at: Option<Duration>,
}

impl Alarm {
    /// Nobody waits yet.
    pub(crate) fn new() -> Self {
        Self { timer: timer().ok(), rings_at: None }
    }

    /// Waits for this time, or a little longer. Can be given up at any time.
    pub(crate) async fn wait(&mut self, time: Duration) {
        let end = since_boot().saturating_add(time);
        if time.is_zero() {
            // Others have their turn, however often this is asked for.
            return yield_now().await;
        }
        while since_boot() < end {
            if self.ring(on_grid(end)).await.is_err() {
                return sleep(end.saturating_sub(since_boot())).await;
            }
        }
    }

    /// Waits until the timer rings, which may be earlier: it may have rung before it was set anew.
    async fn ring(&mut self, at: Duration) -> io::Result<()> {
        let timer = self.timer.as_ref().ok_or(io::ErrorKind::Unsupported)?;
        if self.rings_at != Some(at) {
            set(timer, at, Duration::ZERO)?;
            self.rings_at = Some(at);
        }
        // To be set again is enough: nobody reads how often it rang.
        timer.readable().await?.clear_ready();
        self.rings_at = None;
        Ok(())
    }
}

/// The first moment of the grid that is no earlier.
fn on_grid(at: Duration) -> Duration {
    let nanos = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    Duration::from_nanos(nanos(at).div_ceil(nanos(GRID)).saturating_mul(nanos(GRID)))
}

fn since_boot() -> Duration {
    Duration::from_nanos(clock::now(0).0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;
    use tokio::time::timeout;

    const LONG: Duration = Duration::from_secs(3600);
    const SHORT: Duration = Duration::from_millis(80);

    async fn given_up(alarm: &mut Alarm, time: Duration) {
        assert!(timeout(Duration::from_millis(2), alarm.wait(time)).await.is_err());
    }

    #[tokio::test]
    async fn an_alarm_rings_when_it_was_asked_to_last_and_never_sooner() {
        let mut alarm = Alarm::new();
        // Put off, brought forward, and given up before.
        for time in [SHORT * 2, SHORT, SHORT / 4, SHORT, Duration::ZERO, SHORT] {
            for other in [LONG, SHORT / 4, LONG, Duration::MAX / 2] {
                given_up(&mut alarm, other).await;
            }
            let begin = Instant::now();
            alarm.wait(time).await;
            assert!(begin.elapsed() >= time);
        }
    }

    #[tokio::test]
    async fn one_that_rang_while_nobody_waited_rings_no_sooner_the_next_time() {
        let mut alarm = Alarm::new();
        given_up(&mut alarm, SHORT / 4).await;
        sleep(SHORT).await;
        let begin = Instant::now();
        alarm.wait(SHORT).await;
        assert!(begin.elapsed() >= SHORT);
    }

    #[tokio::test]
    async fn who_waits_for_no_time_again_and_again_lets_others_go_on() {
        let mut alarm = Alarm::new();
        let other = tokio::spawn(async {});
        while !other.is_finished() {
            alarm.wait(Duration::ZERO).await;
        }
    }

    #[tokio::test]
    async fn without_a_timer_of_the_kernel_the_runtime_wakes() {
        let mut alarm = Alarm { timer: None, rings_at: None };
        let begin = Instant::now();
        alarm.wait(SHORT).await;
        assert!(begin.elapsed() >= SHORT);
    }

    #[test]
    fn a_grid_has_a_moment_for_each_time() {
        let (whole, most) = (Duration::from_secs(50 * 24 * 3600), Duration::MAX);
        assert_eq!(on_grid(whole), whole);
        assert_eq!(on_grid(whole - GRID / 2), whole);
        assert_eq!(on_grid(Duration::ZERO), Duration::ZERO);
        assert!(on_grid(most) > whole);
    }
}
