//! BBR, version 1, as in Linux: window and pace follow the rate of the bottleneck and the shortest
//! round trip.

use super::sample::Sample;
use crate::unit::{Rate, Time};
use std::collections::VecDeque;

/// 2 / ln 2, the gain at the begin.
const HIGH: f64 = 2.885;
/// The gains of the pace in eight rounds.
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// The number of rounds in which the highest rate is searched.
const ROUNDS: u64 = 10;
/// The time for which the shortest round trip counts.
const RTT_LIFE: Time = Time::microseconds(10_000_000);
const PROBE: Time = Time::microseconds(200_000);
const LEAST: f64 = 4.0;
/// Until this many segments are delivered, the window always grows.
const FIRST: f64 = 10.0;
/// The kernel's clock counts microseconds.
const RTT_MIN: Time = Time::microseconds(1);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mode {
    Startup,
    Drain,
    Steady,
    /// It measures the round trip, until this time.
    Probe {
        until: Option<Time>,
    },
}

/// The state of BBR.
#[derive(Clone, Debug)]
pub(super) struct Bbr {
    segment: u64,
    mode: Mode,
    /// The highest rates in segments a second, with their rounds.
    rates: VecDeque<(u64, f64)>,
    round: u64,
    /// The delivered segments at the end of the present round.
    round_end: f64,
    rtt: Time,
    rtt_at: Time,
    full: f64,
    full_rounds: u32,
    is_full: bool,
    phase: usize,
    phase_at: Time,
    before_probe: f64,
    /// It sends again after it had nothing to send: no time to measure the round trip anew.
    restarts: bool,
    /// The pace in bytes a second. It only grows until the pipe is full.
    pacing: f64,
    extra: Extra,
}

/// Acknowledgements that arrive in bursts: the number of segments beyond what the rate explains.
#[derive(Clone, Copy, Debug, Default)]
struct Extra {
    since: Time,
    acked: f64,
    rounds: u32,
    /// The largest numbers of the last rounds and of the rounds before.
    most: [f64; 2],
}

impl Extra {
    /// The number of rounds in each of these two.
    const ROUNDS: u32 = 5;

    /// Begins another round.
    fn round(&mut self) {
        self.rounds += 1;
        if self.rounds >= Self::ROUNDS {
            (self.rounds, self.most) = (0, [0.0, self.most[0]]);
        }
    }

    fn acknowledged(&mut self, now: Time, sample: &Sample, rate: f64, window: f64) {
        let mut expected = rate * now.since(self.since).seconds();
        if self.acked <= expected {
            (self.acked, self.since, expected) = (0.0, now, 0.0);
        }
        self.acked += sample.delivered;
        self.most[0] = self.most[0].max((self.acked - expected).min(window));
    }

    /// The addition to the window for bursts: a tenth of a second at the rate at most.
    fn window(&self, rate: f64) -> f64 {
        self.most[0].max(self.most[1]).min(rate * 0.1)
    }
}

impl Bbr {
    /// `base` is the round trip time that the set-up has measured. Before a rate is measured, the
    /// pace is a first window in that time.
    pub(super) fn new(segment: u64, base: Time, initial: f64) -> Self {
        let rtt = base.max(RTT_MIN);
        Self {
            segment,
            mode: Mode::Startup,
            rates: VecDeque::new(),
            round: 0,
            round_end: 0.0,
            rtt,
            rtt_at: Time::ZERO,
            full: 0.0,
            full_rounds: 0,
            is_full: false,
            phase: 2,
            phase_at: Time::ZERO,
            before_probe: 0.0,
            restarts: false,
            pacing: HIGH * initial * segment as f64 / rtt.seconds(),
            extra: Extra::default(),
        }
    }

    fn rate(&self) -> f64 {
        self.rates.front().map_or(0.0, |(_, rate)| *rate)
    }

    fn gains(&self) -> (f64, f64) {
        match self.mode {
            Mode::Startup => (HIGH, HIGH),
            Mode::Drain => (1.0 / HIGH, HIGH),
            Mode::Steady => (CYCLE[self.phase], 2.0),
            Mode::Probe { .. } => (1.0, 1.0),
        }
    }

    pub(super) fn pacing(&self) -> Option<Rate> {
        Rate::bits(self.pacing * 8.0)
    }

    /// Sets the pace to 1 % less than the rate, as Linux does.
    fn pace(&mut self, gain: f64) {
        let rate = gain * self.rate() * self.segment as f64 * 0.99;
        if self.is_full || rate > self.pacing {
            self.pacing = rate;
        }
    }

    /// The number of segments in a round trip at the rate.
    fn product(&self, gain: f64) -> f64 {
        (self.rate() * self.rtt.seconds() * gain).ceil()
    }

    /// The window with room for segments that travel together, and for acknowledgements that do.
    fn budget(&self, window: f64) -> f64 {
        let goal = (self.pacing / 1024.0 / self.segment as f64).floor().clamp(2.0, 44.0);
        let even = ((window + 3.0 * goal) / 2.0).ceil() * 2.0;
        even + if self.mode == Mode::Steady && self.phase == 0 { 2.0 } else { 0.0 }
    }

    /// Handles a connection with nothing under way that sends again: at the rate, not faster.
    pub(super) fn begins(&mut self, now: Time) {
        (self.extra.since, self.extra.acked) = (now, 0.0);
        self.restarts = true;
        if self.mode == Mode::Steady {
            self.pace(1.0);
        }
    }

    pub(super) fn acknowledged(&mut self, now: Time, sample: &Sample, window: f64) -> f64 {
        let starts = sample.before >= self.round_end;
        if starts {
            self.round += 1;
            self.round_end = sample.total;
            self.extra.round();
        }
        self.measure(sample);
        self.extra.acknowledged(now, sample, self.rate(), window);
        self.steady(now, sample);
        if starts {
            self.fill(sample);
        }
        self.drain(now, sample);
        self.shortest(now, sample, window);
        self.pace(self.gains().0);
        self.window(sample, window)
    }

    fn measure(&mut self, sample: &Sample) {
        let Some((count, time)) = sample.rate.filter(|(_, time)| *time > Time::ZERO) else {
            return;
        };
        let rate = count / time.seconds();
        if sample.app_limited && rate < self.rate() {
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

    /// Chooses the next phase of the pace, after a round trip. A faster phase lasts until its share
    /// is under way; a slower one ends as soon as no more is under way than the network holds.
    fn steady(&mut self, now: Time, sample: &Sample) {
        if self.mode != Mode::Steady {
            return;
        }
        let gain = CYCLE[self.phase];
        let long = now.since(self.phase_at) > self.rtt;
        let left = sample.under_way - sample.delivered;
        let is_over = match gain {
            1.0 => long,
            _ if gain > 1.0 => long && sample.under_way >= self.budget(self.product(gain)),
            _ => long || left <= self.budget(self.product(1.0)),
        };
        if is_over {
            self.phase = (self.phase + 1) % CYCLE.len();
            self.phase_at = now;
        }
    }

    /// Notes that the pipe is full after three rounds without a quarter more.
    fn fill(&mut self, sample: &Sample) {
        let rate = self.rate();
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
        if self.mode == Mode::Drain && left <= self.budget(self.product(1.0)) {
            (self.mode, self.phase, self.phase_at) = (Mode::Steady, 2, now);
        }
    }

    fn shortest(&mut self, now: Time, sample: &Sample, window: f64) {
        let old = now > self.rtt_at + RTT_LIFE;
        if let Some(rtt) = sample.rtt.map(|rtt| rtt.max(RTT_MIN))
            && (old || rtt <= self.rtt)
        {
            (self.rtt, self.rtt_at) = (rtt, now);
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
            _ if old && !self.restarts => {
                self.before_probe = window;
                self.mode = Mode::Probe { until: None };
            }
            _ => (),
        }
        self.restarts &= sample.delivered == 0.0;
    }

    fn window(&self, sample: &Sample, window: f64) -> f64 {
        let grown = window + sample.delivered;
        let extra = if self.is_full { self.extra.window(self.rate()) } else { 0.0 };
        let target = self.budget(self.product(self.gains().1) + extra);
        let next = if self.is_full {
            grown.min(target)
        } else if window < target || sample.total < FIRST {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(total: f64) -> Sample {
        Sample {
            delivered: 1.0,
            rtt: Some(Time::microseconds(2_000)),
            rate: Some((1.0, Time::microseconds(1_000))),
            before: total - 1.0,
            app_limited: false,
            under_way: 9.0,
            was_limited: true,
            total,
        }
    }

    #[test]
    fn a_pause_of_minutes_is_no_reason_to_slow_down() {
        let at = |seconds: u64| Time::microseconds(seconds * 1_000_000);
        let window = |begins: bool| {
            let mut bbr = Bbr::new(1448, Time::microseconds(1_000), 10.0);
            bbr.acknowledged(at(1), &sample(1.0), 10.0);
            if begins {
                bbr.begins(at(60));
            }
            let first = bbr.acknowledged(at(60), &sample(2.0), 20.0);
            (first, bbr.acknowledged(at(72), &sample(3.0), 20.0))
        };
        assert_eq!(window(false).0, LEAST, "the shortest round trip is old, so it is measured");
        let (first, later) = window(true);
        assert!(first > LEAST, "{first}");
        assert_eq!(later, LEAST, "the connection has sent since, for longer than ten seconds");
    }
}
