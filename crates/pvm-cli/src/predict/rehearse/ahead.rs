//! A run of the trace on a network that costs nothing, ahead of its rehearsal. The rehearsal would
//! stand still where this run does, and would hold the messages that this run holds.

use super::super::check;
use super::super::input::Trace;
use crate::failure::{Failure, Status};
use pvm_predict::report::{Event, Watcher};
use pvm_predict::{Error, Time};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};

/// Bytes of messages that may wait for their receivers at once: hosts hold them in memory, and all
/// hosts may be on one computer.
const WAITING_MAX: u64 = 4 << 30;

/// The least time that the rehearsal takes.
pub(super) fn least(trace: &Trace, stop: &AtomicBool) -> Result<Time, Failure> {
    let mut waits = Waits { open: HashMap::new(), bytes: 0, stop };
    let run = check::run(trace, &mut waits);
    if stop.load(Ordering::Relaxed) {
        return Err(Failure::new(Status::Refused, "rehearsal: interrupted"));
    }
    if waits.bytes > WAITING_MAX {
        let text = format!(
            "messages of more than {} MiB would wait for their receivers at once; a rehearsal \
             holds that much at most\n  `pvm predict` simulates longer ones",
            WAITING_MAX >> 20
        );
        return Err(Failure::new(Status::Refused, text));
    }
    Ok(run?.time)
}

/// The messages that were sent and not taken.
struct Waits<'a> {
    /// By number: the bytes of a message, and its receivers that have not taken it.
    open: HashMap<u64, (u64, usize)>,
    bytes: u64,
    stop: &'a AtomicBool,
}

impl Watcher for Waits<'_> {
    fn event(&mut self, event: Event<'_>) -> Result<(), Error> {
        match event {
            Event::Sent { message, to, bytes, .. } => {
                self.open.insert(message, (bytes, to.len()));
                self.bytes = self.bytes.saturating_add(bytes.saturating_mul(to.len() as u64));
            }
            Event::Received { message: Some(message), .. } => {
                let Some((bytes, left)) = self.open.get_mut(&message) else { return Ok(()) };
                self.bytes = self.bytes.saturating_sub(*bytes);
                *left -= 1;
                if *left == 0 {
                    self.open.remove(&message);
                }
            }
            Event::Received { .. } => (),
        }
        if self.bytes > WAITING_MAX { Err(Error::Stopped(0)) } else { Ok(()) }
    }

    fn goes_on(&mut self, _: u64) -> bool {
        !self.stop.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn sent(message: u64, to: &[u32]) -> Event<'_> {
        let (bytes, began, ended) = (3 << 30, Time::ZERO, Time::ZERO);
        Event::Sent { task: 0, message, to, bytes, began, ended }
    }

    fn taken(message: u64) -> Event<'static> {
        let (waited, began, ended) = (Time::ZERO, Time::ZERO, Time::ZERO);
        Event::Received { task: 1, message: Some(message), from: 0, began, waited, ended }
    }

    #[test]
    fn messages_that_are_taken_in_turn_are_no_flood() {
        let stop = AtomicBool::new(false);
        let new = || Waits { open: HashMap::new(), bytes: 0, stop: &stop };
        let mut waits = new();
        for message in 0..100 {
            assert!(waits.event(sent(message, &[1])).is_ok());
            assert!(waits.event(taken(message)).is_ok());
        }
        assert!(waits.bytes == 0 && waits.open.is_empty());
        assert!(waits.event(sent(100, &[1])).is_ok());
        assert!(waits.event(sent(101, &[1])).is_err());
        // One message for two is in memory twice.
        let mut waits = new();
        assert!(waits.event(sent(0, &[1, 2])).is_err());
        stop.store(true, Ordering::Relaxed);
        assert!(!waits.goes_on(0));
    }
}
