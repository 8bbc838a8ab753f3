//! BBR, version 1, as Linux has it: the window and the pace follow the bottleneck's rate and the
//! shortest time there and back.

use super::sample::Sample;
use crate::unit::{Rate, Time};
use std::collections::VecDeque;

/// 2 / ln 2, for the begin.
const HIGH: f64 = 2.885;
/// The pace in eight rounds.
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// The highest rate of so many rounds counts.
const ROUNDS: u64 = 10;
/// The shortest time there and back counts for so long.
const RTT_LIFE: Time = Time::microseconds(10_000_000);
const PROBE: Time = Time::microseconds(200_000);
const LEAST: f64 = 4.0;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mode {
    Startup,
    Drain,
    Steady,
    /// It measures the time there and back, until then.
    Probe {
        until: Option<Time>,
    },
}

/// What it knows.
#[derive(Clone, Debug)]
pub(super) struct Bbr {
    segment: u64,
    mode: Mode,
    /// The highest rates, in segments a second, with their rounds.
    rates: VecDeque<(u64, f64)>,
    round: u64,
    /// Delivered at the end of the present round.
    round_end: f64,
    rtt: Option<Time>,
    rtt_at: Time,
    full: f64,
    full_rounds: u32,
    is_full: bool,
    phase: usize,
    phase_at: Time,
    before_probe: f64,
}

impl Bbr {
    pub(super) fn new(segment: u64, base: Time) -> Self {
        Self {
            segment,
            mode: Mode::Startup,
            rates: VecDeque::new(),
            round: 0,
            round_end: 0.0,
            rtt: Some(base),
            rtt_at: Time::ZERO,
            full: 0.0,
            full_rounds: 0,
            is_full: false,
            phase: 2,
            phase_at: Time::ZERO,
            before_probe: 0.0,
        }
    }

    fn rate(&self) -> Option<f64> {
        self.rates.front().map(|(_, rate)| *rate)
    }

    fn gains(&self) -> (f64, f64) {
        match self.mode {
            Mode::Startup => (HIGH, HIGH),
            Mode::Drain => (1.0 / HIGH, HIGH),
            Mode::Steady => (CYCLE[self.phase], 2.0),
            Mode::Probe { .. } => (1.0, 1.0),
        }
    }

    /// 1 % less than the rate, as Linux has it. Before anything is measured, a window in a
    /// millisecond.
    pub(super) fn pacing(&self) -> Option<Rate> {
        let bits = (self.segment * 8) as f64;
        let rate = self.rate().unwrap_or_else(|| 10.0 / self.rtt.map_or(1e-3, Time::seconds));
        Rate::bits(self.gains().0 * rate * bits * 0.99)
    }

    /// Segments of a time there and back at the rate.
    fn product(&self, gain: f64) -> Option<f64> {
        let product = self.rate()? * self.rtt?.seconds() * gain;
        // Room for what segments travel in together, and for acknowledgements that do.
        Some(product.ceil() + 3.0 * 2.0)
    }

    pub(super) fn acknowledged(&mut self, now: Time, sample: &Sample, window: f64) -> f64 {
        let starts = sample.before >= self.round_end;
        if starts {
            self.round += 1;
            self.round_end = sample.total;
        }
        self.measure(sample);
        self.steady(now);
        if starts {
            self.fill(sample);
        }
        self.drain(now, sample);
        self.shortest(now, sample, window);
        self.window(sample, window)
    }

    fn measure(&mut self, sample: &Sample) {
        let Some((count, time)) = sample.rate.filter(|(_, time)| *time > Time::ZERO) else {
            return;
        };
        let rate = count / time.seconds();
        if sample.app_limited && self.rate().is_some_and(|known| rate < known) {
            return;
        }
        while self.rates.back().is_some_and(|(_, known)| *known <= rate) {
            self.rates.pop_back();
        }
        self.rates.push_back((self.round, rate));
        while self.rates.front().is_some_and(|(round, _)| round + ROUNDS < self.round) {
            self.rates.pop_front();
        }
    }

    /// The next phase of the pace, after a shortest time there and back.
    fn steady(&mut self, now: Time) {
        let long = self.rtt.is_some_and(|rtt| now.since(self.phase_at) > rtt);
        if self.mode == Mode::Steady && long {
            self.phase = (self.phase + 1) % CYCLE.len();
            self.phase_at = now;
        }
    }

    /// Three rounds without a quarter more: the pipe is full.
    fn fill(&mut self, sample: &Sample) {
        let rate = self.rate().unwrap_or_default();
        if self.is_full || sample.app_limited {
            return;
        }
        if rate >= self.full * 1.25 {
            (self.full, self.full_rounds) = (rate, 0);
            return;
        }
        self.full_rounds += 1;
        self.is_full = self.full_rounds >= 3;
    }

    fn drain(&mut self, now: Time, sample: &Sample) {
        if self.mode == Mode::Startup && self.is_full {
            self.mode = Mode::Drain;
        }
        let left = sample.under_way - sample.delivered;
        if self.mode == Mode::Drain && self.product(1.0).is_some_and(|product| left <= product) {
            (self.mode, self.phase, self.phase_at) = (Mode::Steady, 2, now);
        }
    }

    fn shortest(&mut self, now: Time, sample: &Sample, window: f64) {
        let old = self.rtt.is_some() && now > self.rtt_at + RTT_LIFE;
        if let Some(rtt) = sample.rtt
            && (old || self.rtt.is_none_or(|known| rtt <= known))
        {
            (self.rtt, self.rtt_at) = (Some(rtt), now);
        }
        match self.mode {
            Mode::Probe { until: None } if sample.under_way - sample.delivered <= LEAST => {
                self.mode = Mode::Probe { until: Some(now + PROBE) };
            }
            Mode::Probe { until: Some(until) } if now >= until => {
                self.rtt_at = now;
                self.mode = if self.is_full { Mode::Steady } else { Mode::Startup };
                self.phase_at = now;
            }
            Mode::Probe { .. } => (),
            _ if old => {
                self.before_probe = window;
                self.mode = Mode::Probe { until: None };
            }
            _ => (),
        }
    }

    fn window(&self, sample: &Sample, window: f64) -> f64 {
        let grown = window + sample.delivered;
        let Some(target) = self.product(self.gains().1) else { return grown };
        let next = if self.is_full {
            grown.min(target)
        } else if window < target {
            grown
        } else {
            window
        };
        match self.mode {
            Mode::Probe { .. } => next.min(LEAST),
            _ => next.max(self.before_probe.min(target)).max(LEAST),
        }
    }
}
