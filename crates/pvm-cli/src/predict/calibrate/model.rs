//! The predictions of the model for a calibration's own messages.

use super::measure::{EXCHANGE_BYTES, EXCHANGE_HOSTS, EXCHANGE_ROUNDS, STREAM_BYTES};
use super::measured::{Echoes, Measured, Route};
use super::platform::Values;
use crate::failure::{Failure, Status};
use pvm_predict::fit::{Seen, median_of};
use pvm_predict::model;
use pvm_predict::platform::Platform;
use pvm_predict::report::Unwatched;
use pvm_predict::{Action, Error, Matching, Source, TaskNumber, Time};
use pvm_wire::Encoding;

/// Buckets that are tried: none, a frame, and what shapers are often given.
const BURSTS: [Option<u64>; 6] =
    [None, Some(1600), Some(5000), Some(16_384), Some(32_768), Some(65_536)];
/// Messages of a size, forth and back.
const TRIES: u32 = 3;
/// Messages of a simulated stream at most: its rate does not change behind them.
const STREAM_MAX: u64 = 256;

/// A test of the calibration beside what the model says of it, in seconds.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Compared {
    pub(super) name: String,
    /// The size, where this is a message forth and back.
    pub(super) bytes: Option<u64>,
    pub(super) seen: f64,
    pub(super) predicted: f64,
}

impl Compared {
    /// The error of the prediction in percent.
    pub(super) fn error(&self) -> f64 {
        100.0 * (self.predicted / self.seen.max(f64::MIN_POSITIVE) - 1.0)
    }
}

/// The platform whose predictions are nearest to what was seen, and these predictions.
pub(super) fn nearest(measured: &Measured) -> Result<(Values, Vec<Compared>), Failure> {
    let mut best: Option<(f64, Values, Vec<Compared>)> = None;
    for burst in BURSTS {
        let values = Values::of(measured, burst)?;
        let wrong = |error: Error| Failure::new(Status::Refused, format!("calibration: {error}"));
        let compared = compare(measured, &values.platform()?).map_err(wrong)?;
        let off = |one: &Compared| (one.predicted / one.seen).ln().abs();
        let echoes = compared.iter().filter(|one| one.bytes.is_some());
        let far = echoes.map(off).sum::<f64>();
        if best.as_ref().is_none_or(|(least, ..)| far < *least) {
            best = Some((far, values, compared));
        }
    }
    let (_, values, compared) = best.expect("a platform without a bucket is tried first");
    Ok((values, compared))
}

fn compare(measured: &Measured, platform: &Platform) -> Result<Vec<Compared>, Error> {
    let mut all = Vec::new();
    let direct = |one: &&Echoes| one.route == Route::Direct && one.encoding == Encoding::Raw;
    if let Some(echoes) = measured.echoes.iter().find(direct) {
        let times = forth_and_back(&echoes.seen, platform)?;
        all.extend(echoes.seen.iter().zip(times).map(|(seen, predicted)| Compared {
            name: format!("{} bytes forth and back, half", seen.bytes),
            bytes: Some(seen.bytes),
            seen: seen.median(),
            predicted,
        }));
    }
    if let Some(seen) = measured.streams.iter().find(|stream| stream.route == Route::Direct) {
        let count = seen.count.min(STREAM_MAX);
        let predicted = stream(count, platform)? / (count - 1) as f64;
        let (name, bytes) = (format!("{STREAM_BYTES} bytes of a stream"), None);
        let seen = seen.seconds / (seen.count - 1) as f64;
        all.push(Compared { name, bytes, seen, predicted });
    }
    if !measured.exchange.is_empty() {
        let hosts = measured.hosts.len().min(EXCHANGE_HOSTS);
        let predicted = exchange(hosts as u32, platform)? / EXCHANGE_ROUNDS as f64;
        let name = format!("{EXCHANGE_BYTES} bytes from each of {hosts} to each other");
        let (bytes, seen) = (None, median_of(&measured.exchange).value);
        all.push(Compared { name, bytes, seen, predicted });
    }
    Ok(all)
}

/// Half of a round trip of each size.
fn forth_and_back(seen: &[Seen], platform: &Platform) -> Result<Vec<f64>, Error> {
    let mut acts = Acts::new(2);
    for (Seen { bytes, .. }, size) in seen.iter().zip(1..) {
        acts.push(0, Action::Enter(size));
        for _ in 0..TRIES {
            acts.message((0, 1), *bytes);
            acts.message((1, 0), *bytes);
        }
    }
    acts.push(0, Action::Enter(0));
    let sections = acts.run(platform)?;
    Ok(sections.into_iter().map(|time| time / f64::from(2 * TRIES)).collect())
}

/// From the first message's arrival to the last one's.
fn stream(count: u64, platform: &Platform) -> Result<f64, Error> {
    let mut acts = Acts::new(2);
    for number in 0..count {
        acts.message((0, 1), STREAM_BYTES);
        if number == 0 {
            acts.push(1, Action::Enter(1));
        }
    }
    acts.run(platform).map(|sections| sections[0])
}

/// All rounds of everybody to everybody.
fn exchange(hosts: u32, platform: &Platform) -> Result<f64, Error> {
    let mut acts = Acts::new(hosts);
    for host in 0..hosts {
        acts.push(host, Action::Enter(1));
    }
    for _ in 0..EXCHANGE_ROUNDS {
        for host in 0..hosts {
            let others = (1..hosts).map(|step| (host + step) % hosts);
            others.clone().for_each(|to| acts.push(host, send(EXCHANGE_BYTES, to)));
            others.for_each(|from| acts.push(host, receive(EXCHANGE_BYTES, from)));
        }
    }
    acts.run(platform).map(|sections| sections[0])
}

const fn send(bytes: u64, to: TaskNumber) -> Action {
    Action::Send { time: Time::ZERO, bytes, to, tag: 0 }
}

const fn receive(bytes: u64, from: TaskNumber) -> Action {
    Action::Receive { time: Time::ZERO, bytes, from, tag: 0 }
}

/// Actions of a few tasks.
struct Acts(Vec<std::collections::VecDeque<Action>>);

impl Acts {
    fn new(tasks: TaskNumber) -> Self {
        Self(vec![std::collections::VecDeque::new(); tasks as usize])
    }

    fn push(&mut self, task: TaskNumber, action: Action) {
        self.0[task as usize].push_back(action);
    }

    fn message(&mut self, (from, to): (TaskNumber, TaskNumber), bytes: u64) {
        self.push(from, send(bytes, to));
        self.push(to, receive(bytes, from));
    }

    /// The times of the sections, in the order of their numbers, in seconds.
    fn run(mut self, platform: &Platform) -> Result<Vec<f64>, Error> {
        let report = model::packet::run(&mut self, platform, 1, &mut Unwatched)?;
        let named = report.sections.iter().filter(|section| section.number != 0);
        Ok(named.map(|section| section.longest.seconds()).collect())
    }
}

impl Source for Acts {
    fn tasks(&self) -> TaskNumber {
        self.0.len() as TaskNumber
    }

    fn matching(&self) -> Matching {
        Matching::Messages
    }

    fn next(&mut self, task: TaskNumber) -> Result<Option<Action>, Error> {
        Ok(self.0[task as usize].pop_front())
    }
}

#[cfg(test)]
mod tests {
    use super::super::measured::{Calls, Stream};
    use super::*;

    /// The times of a clock that is too coarse for what it measures.
    #[test]
    fn times_of_nothing_give_a_platform_all_the_same() {
        let seen = |bytes| Seen { bytes, times: vec![0.0; 3] };
        let (route, encoding) = (Route::Direct, Encoding::Raw);
        let calls = || vec![seen(1), seen(8192)];
        let measured = Measured {
            hosts: vec!["one".to_owned(), "other".to_owned()],
            echoes: vec![Echoes { route, encoding, seen: vec![seen(1), seen(1024)] }],
            calls: vec![Calls { route, sends: calls(), receives: calls() }],
            streams: vec![Stream { route, count: 16, seconds: 0.0 }],
            exchange: vec![0.0; 3],
            ..Measured::default()
        };
        let (values, compared) = nearest(&measured).expect("a platform");
        assert!(values.rate.is_finite() && values.latency >= 0.0);
        assert_eq!(compared.len(), 4);
        // Without a stream there is none, and the error says what is missing.
        let cut = Measured { streams: Vec::new(), ..measured };
        let why = nearest(&cut).expect_err("no rate").to_string();
        assert!(why.contains("no time was left for a stream"), "{why}");
    }
}
