//! The number of segments that may be under way: reno and cubic; [`super::bbr`] is in a file of its
//! own.

use super::bbr::Bbr;
use super::sample::Sample;
use crate::planted::{self, Bug};
use crate::platform::{Congestion, Tcp};
use crate::unit::{Rate, Time};

/// A window in segments.
#[derive(Clone, Debug)]
pub(super) struct Window {
    kind: Kind,
    initial: f64,
    pub(super) segments: f64,
    threshold: f64,
}

#[derive(Clone, Debug)]
enum Kind {
    Reno,
    Cubic(Cubic),
    Bbr(Box<Bbr>),
}

/// RFC 9438, in segments and seconds.
#[derive(Clone, Copy, Debug, Default)]
struct Cubic {
    most: f64,
    epoch: Option<Time>,
    origin: f64,
    wait: f64,
    friendly: f64,
    /// HyStart: the shortest round trip of all samples and of the last ones, and the number of
    /// these.
    shortest: Time,
    recent: Time,
    samples: u32,
}

impl Window {
    pub(super) fn new(tcp: &Tcp, base: Time) -> Self {
        let initial = tcp.initial_window as f64;
        let kind = match tcp.congestion {
            Congestion::Reno => Kind::Reno,
            Congestion::Cubic => Kind::Cubic(Cubic { shortest: base, ..Cubic::default() }),
            Congestion::Bbr => Kind::Bbr(Box::new(Bbr::new(tcp.segment, base, initial))),
        };
        Self { kind, initial, segments: initial, threshold: f64::INFINITY }
    }

    /// The rate at which segments may follow one another.
    pub(super) fn pacing(&self) -> Option<Rate> {
        match &self.kind {
            Kind::Bbr(bbr) => bbr.pacing(),
            _ => None,
        }
    }

    /// The factor by which segments may follow one another faster than a window in a round trip.
    pub(super) fn haste(&self) -> f64 {
        if self.segments < self.threshold / 2.0 { 2.0 } else { 1.2 }
    }

    pub(super) fn acknowledged(&mut self, now: Time, sample: &Sample) {
        if let Kind::Bbr(bbr) = &mut self.kind {
            self.segments = bbr.acknowledged(now, sample, self.segments);
            return;
        }
        // A window that is not full does not grow.
        let slow = self.segments < self.threshold;
        let used = if slow { self.segments < 2.0 * sample.under_way } else { sample.was_limited };
        if !used || sample.delivered <= 0.0 {
            return;
        }
        if slow {
            if let Kind::Cubic(cubic) = &mut self.kind
                && cubic.is_late(sample.rtt, self.segments)
            {
                self.threshold = self.segments;
                return;
            }
            let growth = if planted::is(Bug::SlowStartTooFast) { 2.0 } else { 1.0 };
            self.segments = (self.segments + growth * sample.delivered).min(self.threshold);
            return;
        }
        match &mut self.kind {
            Kind::Cubic(cubic) => {
                self.segments = cubic.grow(now, self.segments, sample.delivered, sample.rtt);
            }
            _ => self.segments += sample.delivered / self.segments,
        }
    }

    /// Handles a loss.
    pub(super) fn lost(&mut self) {
        if matches!(self.kind, Kind::Bbr(_)) {
            return;
        }
        self.threshold = match &mut self.kind {
            Kind::Cubic(cubic) => cubic.lost(self.segments),
            _ => self.segments / 2.0,
        }
        .max(2.0);
        self.segments = self.threshold;
    }

    /// Handles a timeout.
    pub(super) fn timed_out(&mut self) {
        if !matches!(self.kind, Kind::Bbr(_)) {
            self.lost();
        }
        self.segments = 1.0;
    }

    /// Handles a send with nothing under way.
    pub(super) fn begins(&mut self, now: Time) {
        if let Kind::Bbr(bbr) = &mut self.kind {
            bbr.begins(now);
        }
    }

    /// Handles a pause in sending.
    pub(super) fn was_idle(&mut self, idle: Time, timeout: Time) {
        if matches!(self.kind, Kind::Bbr(_)) || planted::is(Bug::IdleRestartForgotten) {
            return;
        }
        let mut left = idle;
        while left > timeout && self.segments > self.initial {
            self.segments = (self.segments / 2.0).floor();
            left = left.since(timeout);
        }
        self.segments = self.segments.max(self.initial);
    }
}

/// HyStart begins at a window of `HYSTART_WINDOW` segments, and decides by `HYSTART_SAMPLES`
/// samples (RFC 9406).
const HYSTART_WINDOW: f64 = 16.0;
const HYSTART_SAMPLES: u32 = 8;

impl Cubic {
    /// True if round trips have grown because a queue fills; slow start ends then.
    fn is_late(&mut self, rtt: Option<Time>, window: f64) -> bool {
        let Some(rtt) = rtt else { return false };
        self.shortest = self.shortest.min(rtt);
        if window < HYSTART_WINDOW {
            return false;
        }
        self.recent = if self.samples == 0 { rtt } else { self.recent.min(rtt) };
        self.samples += 1;
        if self.samples < HYSTART_SAMPLES {
            return false;
        }
        self.samples = 0;
        let eighth = Time(self.shortest.0 / 8);
        let more = eighth.clamp(Time::microseconds(4_000), Time::microseconds(16_000));
        self.recent >= self.shortest + more
    }

    fn grow(&mut self, now: Time, window: f64, delivered: f64, rtt: Option<Time>) -> f64 {
        const C: f64 = 0.4;
        let epoch = match self.epoch {
            Some(epoch) => epoch,
            None => {
                self.wait = ((self.most - window).max(0.0) / C).cbrt();
                self.origin = self.most.max(window);
                self.friendly = window;
                *self.epoch.insert(now)
            }
        };
        let rtt = rtt.unwrap_or_default().seconds();
        let time = now.since(epoch).seconds() + rtt - self.wait;
        let target = self.origin + C * time.powi(3);
        // The window that reno with a factor of 0.7 would have: RFC 9438, 4.3.
        self.friendly += 0.53 * delivered / window;
        let goal = target.max(self.friendly).clamp(window, 1.5 * window);
        window + (goal - window) / window * delivered
    }

    fn lost(&mut self, window: f64) -> f64 {
        self.most = if window < self.most { window * 0.85 } else { window };
        self.epoch = None;
        window * 0.7
    }
}
