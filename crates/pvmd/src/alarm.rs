//! Timers of the kernel. The runtime's own timers wake the process twice for each time that is more
//! than 64 ms away, and once more for each such time that was put off.

use crate::{clock, sys};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};
use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;
use tokio::io::unix::AsyncFd;
use tokio::time::sleep;

/// A timer that rings at a later time than asked for, but no later than by this, is left as it is.
const LATE_MAX: Duration = Duration::from_millis(1);

/// A timer that is not set.
pub(crate) fn timer() -> io::Result<AsyncFd<OwnedFd>> {
    let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
    sys::readable(timerfd_create(TimerfdClockId::Boottime, flags)?)
}

/// The timer rings after `first`, and each `interval` from then on unless that is zero.
pub(crate) fn set(timer: &AsyncFd<OwnedFd>, first: Duration, interval: Duration) -> io::Result<()> {
    let time = |time: Duration| Timespec {
        tv_sec: i64::try_from(time.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: time.subsec_nanos().into(),
    };
    // Zero would mean never.
    let first = first.max(Duration::from_nanos(1));
    let times = Itimerspec { it_interval: time(interval), it_value: time(first) };
    timerfd_settime(timer.get_ref(), TimerfdTimerFlags::empty(), &times)?;
    Ok(())
}

/// Waits until the timer rings.
pub(crate) async fn rung(timer: &AsyncFd<OwnedFd>) -> io::Result<()> {
    loop {
        let mut ready = timer.readable().await?;
        let read = |timer: &AsyncFd<OwnedFd>| Ok(rustix::io::read(timer.get_ref(), &mut [0; 8])?);
        if let Ok(read) = ready.try_io(read) {
            return read.map(drop);
        }
    }
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

    /// Waits for this time. A wait that is given up leaves the timer set: most times are only put
    /// off, and a timer that rings too early costs less than setting it each time.
    pub(crate) async fn wait(&mut self, time: Duration) {
        let end = since_boot() + time;
        while let Some(timer) = &self.timer {
            if self.rings_at.is_none_or(|at| at > end + LATE_MAX) {
                if set(timer, end.saturating_sub(since_boot()), Duration::ZERO).is_err() {
                    break;
                }
                self.rings_at = Some(end);
            }
            if rung(timer).await.is_err() {
                break;
            }
            if self.rings_at.take().is_some_and(|at| at >= end) {
                return;
            }
        }
        sleep(end.saturating_sub(since_boot())).await;
    }
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

    #[tokio::test]
    async fn an_alarm_rings_when_it_was_asked_to_last_and_never_sooner() {
        let mut alarm = Alarm::new();
        let short = Duration::from_millis(80);
        // Put off, brought forward, and given up before.
        let times = [short * 2, short, short / 4, short, Duration::ZERO, short];
        for time in times {
            for given_up in [LONG, short / 4, LONG] {
                assert!(timeout(Duration::from_millis(1), alarm.wait(given_up)).await.is_err());
            }
            let begin = Instant::now();
            alarm.wait(time).await;
            assert!(begin.elapsed() >= time);
        }
    }

    #[tokio::test]
    async fn a_time_that_is_put_off_sets_no_timer() {
        let mut alarm = Alarm::new();
        let given_up = async |alarm: &mut Alarm, time| {
            assert!(timeout(Duration::from_millis(1), alarm.wait(time)).await.is_err());
            alarm.rings_at
        };
        let first = given_up(&mut alarm, LONG).await;
        assert!(first.is_some());
        assert_eq!(given_up(&mut alarm, LONG * 2).await, first);
        assert_ne!(given_up(&mut alarm, LONG / 2).await, first);
    }

    #[tokio::test]
    async fn without_a_timer_of_the_kernel_the_runtime_wakes() {
        let mut alarm = Alarm { timer: None, rings_at: None };
        let begin = Instant::now();
        alarm.wait(Duration::from_millis(5)).await;
        assert!(begin.elapsed() >= Duration::from_millis(5));
    }
}
