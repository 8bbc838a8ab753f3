//! The clocks of other hosts: a host whose clock runs wrong measures nothing.

use super::order::Order;
use super::work::STEPS;
use std::time::Duration;

/// A clock may be off by so much, and a process may be late by so much.
const OFF: f64 = 1.05;
const LATE: Duration = Duration::from_millis(20);
/// The shortest order by which a clock that stands still is found out: several ticks of any clock.
const LONG: Duration = Duration::from_millis(100);

/// The seconds that a host's own clock must have counted for this answer, at least; none if the
/// answer has no times.
fn counted(order: &Order, told: &[u64]) -> Option<f64> {
    let sum = || told.iter().map(|time| *time as f64 * 1e-9).sum();
    match order {
        // Half of each round trip.
        Order::Echo { .. } => Some(2.0 * sum()),
        Order::Stream { .. }
        | Order::Drain { .. }
        | Order::Collect { .. }
        | Order::Exchange { .. } => Some(sum()),
        Order::Work => told.first().map(|step| *step as f64 * 1e-12 * STEPS as f64),
        Order::Answer { .. } | Order::Leave => None,
    }
}

/// An error if a host has counted more time for an order than passed here, or none at all.
pub(super) fn judge(
    host: &str,
    (order, told): (&Order, &[u64]),
    passed: Duration,
) -> Result<(), String> {
    let Some(counted) = counted(order, told) else { return Ok(()) };
    let most = (passed + LATE).as_secs_f64() * OFF;
    let stands = counted <= 0.0 && !told.is_empty() && passed >= LONG;
    if counted <= most && !stands {
        return Ok(());
    }
    let passed = passed.as_secs_f64();
    Err(format!(
        "the clock of host {host} counted {counted:.3} s while {passed:.3} s passed here\n  its \
         times say nothing; calibrate without it: name the other hosts"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use pvm_wire::{Encoding, Tid};

    fn echo() -> Order {
        Order::Echo { with: Tid(1), bytes: 1, encoding: Encoding::Raw, tries: 60, within: 1 }
    }

    #[test]
    fn a_clock_that_runs_wrong_is_named() {
        let passed = Duration::from_millis(100);
        let drain = Order::Drain { from: Tid(1), count: 3 };
        for (order, told) in [
            (echo(), vec![60_000_000, 30_000_000]),
            (drain.clone(), vec![u64::MAX]),
            (drain.clone(), vec![0]),
            (echo(), vec![0; 60]),
            (Order::Work, vec![u64::MAX, 1, 1, 1, 1, 0, 0]),
        ] {
            let wrong = judge("h2", (&order, &told), passed);
            assert!(wrong.is_err_and(|text| text.contains("clock of host h2")), "{order:?}");
        }
        for (order, told) in [
            (echo(), vec![40_000_000, 9_000_000]),
            (drain.clone(), vec![99_000_000]),
            (Order::Leave, vec![]),
            (Order::Answer { to: Tid(1), encoding: Encoding::Raw }, vec![]),
        ] {
            assert_eq!(judge("h2", (&order, &told), passed), Ok(()), "{order:?}");
        }
        // A short order may take no time on a coarse clock.
        assert_eq!(judge("h2", (&drain, &[0]), Duration::from_millis(3)), Ok(()));
    }
}
