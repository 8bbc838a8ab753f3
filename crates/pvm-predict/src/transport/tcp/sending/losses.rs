//! Losses and timeouts: the segments that are sent again.

use super::Sending;
use super::flying::{Flying, State};
use crate::planted::{self, Bug};
use crate::unit::Time;

/// The number of segments beyond a hole that make it a loss (RFC 6675).
const BEYOND: usize = 3;
/// The time that a probe of the end waits beside two round trips (Linux: `TCP_TIMEOUT_MIN_US`).
const PROBE_MIN: Time = Time::microseconds(2_000);
/// Timeouts without an acknowledgement between them, after which a connection is given up: Linux'
/// `tcp_retries2`.
const TRIES_MAX: u32 = 15;
const TIMEOUT_MAX: Time = Time::microseconds(120_000_000);

impl Sending {
    /// Finds losses. A hole with enough segments beyond it is a loss (RFC 6675). Within a recovery,
    /// so is whatever was sent before a segment that has arrived (RFC 8985). The first loss of a
    /// window makes it smaller.
    pub(super) fn find_losses(&mut self) {
        let newest = self.newest;
        let recovers = self.recovery.is_some();
        if !recovers && self.flying.len() < self.under_way + self.lost + BEYOND {
            return; // too few are beyond any hole
        }
        let mut beyond = 0;
        let mut found = false;
        for one in self.flying.iter_mut().rev() {
            let passed = (one.sent, one.begin) < newest && (recovers || beyond >= BEYOND);
            match one.state {
                State::Beyond => beyond += 1,
                State::Flying if passed => {
                    one.state = State::Lost;
                    self.under_way -= 1;
                    self.lost += 1;
                    found = true;
                }
                _ => (),
            }
        }
        if found && self.recovery.is_none() && !planted::is(Bug::LossUnanswered) {
            self.recovery = Some(self.next);
            self.window.lost();
        }
    }

    /// RFC 6298, with Linux' lower bound.
    pub(in super::super) fn timeout(&self) -> Time {
        let plain = self.rtt.map_or(Time::microseconds(1_000_000), |(mean, spread)| {
            mean + spread.times(4).max(self.tcp.timeout)
        });
        plain.times(1 << self.backoff.min(10)).min(TIMEOUT_MAX)
    }

    /// Sets the timeout, which counts from `since`. A probe of the end comes sooner (RFC 8985); it
    /// counts from now, so whatever is sent or acknowledged puts it off.
    pub(super) fn arm(&mut self, now: Time, since: Time) {
        if self.flying.is_empty() {
            self.timer = None;
            return;
        }
        let timeout = (since + self.timeout()).since(now);
        let probe =
            self.rtt.filter(|_| !self.probed && self.recovery.is_none()).map(|(mean, _)| {
                let alone = if self.flying.len() == 1 { self.tcp.timeout } else { PROBE_MIN };
                mean.times(2) + alone
            });
        let span = probe.map_or(timeout, |probe| probe.min(timeout));
        self.timer = Some(self.clock.after(now, span));
    }

    pub(in super::super) fn handle_timeout(&mut self, now: Time) {
        if self.timer.is_none_or(|timer| timer > now) {
            return;
        }
        self.timer = None;
        if !self.probed && self.recovery.is_none() && self.rtt.is_some() {
            self.probe();
            self.arm(now, now);
            return;
        }
        self.backoff += 1;
        self.gives_up |= self.backoff > TRIES_MAX;
        for one in self.flying.iter_mut().filter(|one| one.state == State::Flying) {
            one.state = State::Lost;
            one.again = false;
            self.lost += 1;
        }
        self.under_way = 0;
        self.recovery = Some(self.next);
        self.window.timed_out();
        self.arm(now, now);
    }

    /// Sends the next segment; if there is none, the last one again, unless that is still in the
    /// host's own queue.
    fn probe(&mut self) {
        self.probed = true;
        self.corks = false;
        if self.next < self.end {
            self.forced = true;
            return;
        }
        let gone = if planted::is(Bug::QueuedSentAgain) { u64::MAX } else { self.gone };
        let is_out = |last: &&mut Flying| last.state == State::Flying && last.handed <= gone;
        if let Some(last) = self.flying.back_mut().filter(is_out) {
            last.state = State::Lost;
            self.under_way -= 1;
            self.lost += 1;
        }
    }
}
