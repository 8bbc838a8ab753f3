//! The measurements, in the order of their weight: what finds no time is named.

use super::super::said::{DONE, GO};
use super::super::stage::Stage;
use super::clock;
use super::measured::{Calls, Computer, Echoes, Measured, Route, Stream};
use super::order::{Order, numbers};
use super::series::Series;
use crate::failure::{Failure, Status};
use pvm_predict::fit::Seen;
use pvm_wire::{Code, Encoding, Tid};
use std::time::{Duration, Instant};

/// Sizes of messages that are sent forth and back.
pub(super) const SIZES: [u64; 15] = [
    1,
    16,
    64,
    256,
    1024,
    2048,
    4096,
    8192,
    1 << 14,
    1 << 15,
    1 << 16,
    1 << 17,
    1 << 18,
    1 << 19,
    1 << 20,
];
/// Tries of a size, and how long they take together.
const TRIES: u64 = 60;
const WITHIN: Duration = Duration::from_millis(100);
/// Messages before anything is measured: routes are made, and windows opened.
const WARM: u64 = 20;
/// Messages of a burst, and their sizes: they are to fit what a connection holds.
const BURST: u64 = 40;
const BURST_SIZES: [u64; 2] = [1, 8192];
const BURST_LONG: u64 = 4;
/// A stream: of so long messages, so long, and so many.
pub(super) const STREAM_BYTES: u64 = 65536;
const STREAM_SECONDS: f64 = 1.5;
const STREAM_COUNTS: std::ops::RangeInclusive<u64> = 16..=4096;
/// Everybody to everybody.
pub(super) const EXCHANGE_BYTES: u64 = 65536;
pub(super) const EXCHANGE_ROUNDS: u64 = 5;
pub(super) const EXCHANGE_HOSTS: usize = 8;

/// Measures. Parts are, of each host, one with direct routes; then, of each host, one without; then
/// one more on the first host. If something ends the measurement, what was measured until then is
/// kept, and the reason stands beside it.
pub(super) fn measure(
    stage: &mut Stage<'_>,
    hosts: &[String],
    seconds: u32,
) -> Result<(Measured, Option<Failure>), Failure> {
    let mut tids = Vec::new();
    for more in [&["--calibrates"][..], &["--calibrates", "--routed"]] {
        for host in hosts {
            tids.push(stage.start(host, more)?);
        }
    }
    tids.push(stage.start(&hosts[0], &["--calibrates"])?);
    stage.watch()?;
    let begin = Instant::now();
    let until = begin + Duration::from_secs(u64::from(seconds));
    let told = Measured { hosts: hosts.to_vec(), ..Measured::default() };
    let mut crew = Crew { stage, tids, hosts: hosts.len(), until, told };
    let done = crew.all().and_then(|()| crew.leave());
    crew.told.seconds = begin.elapsed().as_secs_f64();
    let Crew { stage, told, .. } = crew;
    let Err(failure) = done else { return Ok((told, None)) };
    stage.end();
    if told.is_empty() { Err(failure) } else { Ok((told, Some(failure))) }
}

/// The parts, and what they have told so far.
struct Crew<'a, 'b> {
    stage: &'a Stage<'b>,
    tids: Vec<Tid>,
    hosts: usize,
    until: Instant,
    told: Measured,
}

impl Crew<'_, '_> {
    /// All series. If one of them fails, it and those behind it are named as missing.
    fn all(&mut self) -> Result<(), Failure> {
        for (place, series) in Series::ALL.iter().enumerate() {
            let Err(failure) = self.one(*series) else { continue };
            let why = if self.stage.is_stopped() { "interrupted" } else { "it failed" };
            let left = Series::ALL[place..].iter();
            self.told.missed.extend(left.map(|series| format!("{}: {why}", series.name())));
            return Err(failure);
        }
        Ok(())
    }

    fn one(&mut self, series: Series) -> Result<(), Failure> {
        match series {
            Series::Calls(route) => self.calls(route),
            Series::Echoes(route, encoding) => self.echoes(route, encoding),
            Series::Stream(route) => self.stream(route),
            Series::Exchange => self.exchange(),
            Series::Work => self.work(),
            Series::Pairs => self.pairs(),
        }
    }

    /// The two parts between which a route is measured.
    const fn pair(&self, route: Route) -> [usize; 2] {
        match route {
            Route::Memory => [0, 2 * self.hosts],
            Route::Direct => [0, 1],
            Route::Daemons => [self.hosts, self.hosts + 1],
        }
    }

    /// Tells parts what to do, and gives what they answer in seconds.
    fn order(&self, orders: &[(usize, Order)]) -> Result<Vec<Vec<u64>>, Failure> {
        let begin = Instant::now();
        for (part, order) in orders {
            self.stage.tell(*part, GO, &order.to_bytes())?;
        }
        let parts: Vec<usize> = orders.iter().map(|(part, _)| *part).collect();
        let told = self.stage.gather(DONE, &parts)?;
        let passed = begin.elapsed();
        let read = |told: &Vec<u8>| numbers(told).ok_or_else(|| self.stage.refused(Code::NoData));
        let told: Vec<Vec<u64>> = told.iter().map(read).collect::<Result<_, _>>()?;
        for ((part, order), told) in orders.iter().zip(&told) {
            clock::judge(self.host_of(*part), (order, told), passed)
                .map_err(|text| Failure::new(Status::Refused, format!("calibration: {text}")))?;
        }
        Ok(told)
    }

    /// The host of a part.
    fn host_of(&self, part: usize) -> &str {
        &self.told.hosts[if part == 2 * self.hosts { 0 } else { part % self.hosts }]
    }

    /// True if `seconds` are left; if not, what they were for is named.
    fn has_time(&mut self, seconds: f64, what: impl FnOnce() -> String) -> bool {
        let left = self.until.saturating_duration_since(Instant::now()).as_secs_f64();
        if left < seconds {
            self.told.missed.push(what());
        }
        left >= seconds
    }

    /// Messages of one size forth and back.
    fn echo(
        &self,
        [one, other]: [usize; 2],
        (bytes, tries): (u64, u64),
        encoding: Encoding,
    ) -> Result<Seen, Failure> {
        let (with, to) = (self.tids[other], self.tids[one]);
        let within = WITHIN.as_nanos() as u64;
        let echo = Order::Echo { with, bytes, encoding, tries, within };
        let told = self.order(&[(one, echo), (other, Order::Answer { to, encoding })])?;
        match told.as_slice() {
            [times, _] if !times.is_empty() => Ok(Seen { bytes, times: seconds(times) }),
            _ => Err(self.stage.refused(Code::NoData)),
        }
    }

    fn echoes(&mut self, route: Route, encoding: Encoding) -> Result<(), Failure> {
        let pair = self.pair(route);
        let name = Series::Echoes(route, encoding).name();
        if !self.has_time(0.5, || format!("{name}: no time was left")) {
            return Ok(());
        }
        self.echo(pair, (1, WARM), encoding)?;
        let mut seen: Vec<Seen> = Vec::new();
        let done = SIZES.iter().try_for_each(|bytes| {
            let last = seen.last().map_or(0.0, Seen::median);
            // Forth and back, and twice as long as the size before it.
            let what = || format!("{name} of {bytes} bytes and more: no time was left");
            if self.has_time(4.0 * last, what) {
                seen.push(self.echo(pair, (*bytes, TRIES), encoding)?);
            }
            Ok(())
        });
        if !seen.is_empty() {
            self.told.echoes.push(Echoes { route, encoding, seen });
        }
        done
    }

    /// Times of calls, while nobody waits.
    fn calls(&mut self, route: Route) -> Result<(), Failure> {
        if !self.has_time(0.5, || format!("calls by {}: no time was left", route.word())) {
            return Ok(());
        }
        let [one, other] = self.pair(route);
        self.echo([one, other], (1, WARM), Encoding::Raw)?;
        let (to, from) = (self.tids[other], self.tids[one]);
        let (mut sends, mut receives) = (Vec::new(), Vec::new());
        for (bytes, count) in BURST_SIZES.into_iter().zip([BURST, BURST_LONG]) {
            let (mut sent, mut taken) = (Vec::new(), Vec::new());
            for _ in 0..BURST / count {
                let stream = Order::Stream { to, bytes, count };
                let told = self.order(&[(one, stream), (other, Order::Collect { from, count })])?;
                sent.extend(seconds(&told[0]));
                taken.extend(seconds(&told[1]));
            }
            sends.push(Seen { bytes, times: sent });
            receives.push(Seen { bytes, times: taken });
        }
        self.told.calls.push(Calls { route, sends, receives });
        Ok(())
    }

    /// As many messages as take a second or two, by what one takes.
    fn stream(&mut self, route: Route) -> Result<(), Failure> {
        let of_route = self.told.echoes.iter().find(|echoes| echoes.route == route);
        let seen = of_route.and_then(|echoes| echoes.seen.last());
        let byte = seen.map_or(1e-9, |seen| seen.median() / seen.bytes as f64);
        let message = byte * STREAM_BYTES as f64;
        let count =
            ((STREAM_SECONDS / message) as u64).clamp(*STREAM_COUNTS.start(), *STREAM_COUNTS.end());
        let takes = 1.5 * message * count as f64;
        if !self.has_time(takes, || format!("a stream by {}: no time was left", route.word())) {
            return Ok(());
        }
        let [one, other] = self.pair(route);
        let (to, from, bytes) = (self.tids[other], self.tids[one], STREAM_BYTES);
        let orders =
            [(one, Order::Stream { to, bytes, count }), (other, Order::Drain { from, count })];
        let told = self.order(&orders)?;
        let time = told.get(1).and_then(|told| told.first());
        let time = *time.ok_or_else(|| self.stage.refused(Code::NoData))?;
        self.told.streams.push(Stream { route, count, seconds: seconds(&[time])[0] });
        Ok(())
    }

    fn exchange(&mut self) -> Result<(), Failure> {
        let hosts = self.hosts.min(EXCHANGE_HOSTS);
        let direct = self.told.echoes.iter().find(|echoes| echoes.route == Route::Direct);
        let message =
            direct.and_then(|echoes| echoes.seen.iter().find(|seen| seen.bytes == EXCHANGE_BYTES));
        let round = message.map_or(0.0, Seen::median) * hosts as f64;
        let takes = 1.5 * round * EXCHANGE_ROUNDS as f64;
        if !self.has_time(takes, || "everybody to everybody: no time was left".to_owned()) {
            return Ok(());
        }
        let order = |part: usize, bytes: u64, rounds: u64| {
            // Each begins with the one behind it: nobody is everybody's first.
            let with = (1..hosts).map(|step| self.tids[(part + step) % hosts]).collect();
            (part, Order::Exchange { with, bytes, rounds })
        };
        let all = |bytes, rounds| -> Vec<(usize, Order)> {
            (0..hosts).map(|part| order(part, bytes, rounds)).collect()
        };
        self.order(&all(1, 3))?; // all routes are there afterwards
        let told = self.order(&all(EXCHANGE_BYTES, EXCHANGE_ROUNDS))?;
        let round = |number: usize| {
            told.iter().filter_map(|times| times.get(number).copied()).max().unwrap_or(0)
        };
        let rounds: Vec<u64> = (0..EXCHANGE_ROUNDS as usize).map(round).collect();
        self.told.exchange = seconds(&rounds);
        Ok(())
    }

    /// The speed of each host, one after the other.
    fn work(&mut self) -> Result<(), Failure> {
        for number in 0..self.hosts {
            let host = self.told.hosts[number].clone();
            if !self.has_time(2.0, || format!("{host}'s processors: no time was left")) {
                continue;
            }
            let told = self.order(&[(number, Order::Work)])?;
            let [step, byte, together, cores, record, high, low] = told[0][..] else {
                return Err(self.stage.refused(Code::NoData));
            };
            let [step, byte, byte_together, record] =
                [step, byte, together, record].map(|time| time as f64 * 1e-12);
            let is = (high, low);
            let computer = Computer { host, step, byte, byte_together, cores, record, is };
            self.told.computers.push(computer);
        }
        Ok(())
    }

    /// A message to each other host: whether one pair stands for all.
    fn pairs(&mut self) -> Result<(), Failure> {
        for number in 1..self.hosts {
            let host = self.told.hosts[number].clone();
            if !self.has_time(0.5, || format!("messages to {host}: no time was left")) {
                continue;
            }
            self.echo([0, number], (1, WARM), Encoding::Raw)?;
            let seen = self.echo([0, number], (1, TRIES), Encoding::Raw)?;
            self.told.pairs.push((host, seen));
        }
        Ok(())
    }

    fn leave(&self) -> Result<(), Failure> {
        let all: Vec<(usize, Order)> =
            (0..self.tids.len()).map(|part| (part, Order::Leave)).collect();
        self.order(&all).map(drop)
    }
}

fn seconds(times: &[u64]) -> Vec<f64> {
    times.iter().map(|time| Duration::from_nanos(*time).as_secs_f64()).collect()
}

/// More hosts than this would be too many parts.
pub(super) const HOSTS_MAX: usize = 32;

/// The hosts that are measured.
pub(super) fn hosts(wanted: &[String], there: &[String]) -> Result<Vec<String>, Failure> {
    let all = if wanted.is_empty() { there } else { wanted };
    if let Some(unknown) = all.iter().find(|host| !there.contains(host)) {
        let text = format!("{unknown}: no host of this machine\n  `pvm conf` lists its hosts");
        return Err(Failure::new(Status::Usage, text));
    }
    if let Some(twice) = (1..all.len()).find(|place| all[..*place].contains(&all[*place])) {
        return Err(Failure::new(Status::Usage, format!("{} is named twice", all[twice])));
    }
    if all.len() < 2 {
        let text = "one host has no network to measure\n  `pvm add HOST` adds another computer; a \
                    network that cannot be measured is described in a platform file: \
                    neopvm-platform(7)";
        return Err(Failure::new(Status::Refused, text));
    }
    if all.len() > HOSTS_MAX {
        let text = format!("{} hosts are more than {HOSTS_MAX}: name some of them", all.len());
        return Err(Failure::new(Status::Usage, text));
    }
    Ok(all.to_vec())
}
