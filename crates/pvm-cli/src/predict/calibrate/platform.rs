//! A platform file of what was measured.

use super::measure::STREAM_BYTES;
use super::measured::{Calls, Measured, Route};
use crate::failure::{Failure, Status};
use pvm_predict::fit::Seen;
use pvm_predict::platform::Platform;
use std::fmt::Write as _;

/// The numbers of a platform file.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Values {
    /// The rate of each cable, in bits a second.
    pub(super) rate: f64,
    /// The latency of each cable, in seconds.
    pub(super) latency: f64,
    /// If a token bucket shapes the cables, its bytes.
    pub(super) burst: Option<u64>,
    /// The times of a send and of a receive, in seconds.
    send: f64,
    receive: f64,
    /// Bytes a second, if bytes take any time.
    copy: Option<f64>,
    memory_latency: f64,
    memory_rate: f64,
    cores: Option<u64>,
    is_one_computer: bool,
    congestion: Option<String>,
}

/// Data of a segment, and its packet.
const SEGMENT: f64 = 1448.0;
const PACKET: f64 = 1500.0;
/// Bytes that a message has beside its data on a direct route: heads and a record of TLS.
const MESSAGE: u64 = 93;
/// Bytes of IP and TCP.
const HEADER: u64 = 52;
/// No memory is faster.
const MEMORY_RATE_MAX: f64 = 1e12;

impl Values {
    /// Follows from what was measured, if the cables are shaped by a token bucket of so many bytes,
    /// or by none.
    pub(super) fn of(measured: &Measured, burst: Option<u64>) -> Result<Self, Failure> {
        let missing = |what: &str| {
            let text =
                format!("calibration: {what}, so there is no platform; give it longer: --seconds");
            Failure::new(Status::Refused, text)
        };
        let stream = measured.streams.iter().find(|stream| stream.route == Route::Direct);
        let stream = stream.ok_or_else(|| missing("no time was left for a stream"))?;
        let calls = measured.calls.iter().find(|calls| calls.route == Route::Direct);
        let calls = calls.ok_or_else(|| missing("no time was left for calls"))?;
        let short = short(measured, Route::Direct)
            .ok_or_else(|| missing("no time was left for short messages"))?;
        let goodput =
            (stream.count - 1) as f64 * STREAM_BYTES as f64 / stream.seconds.max(f64::MIN_POSITIVE);
        let (frame, shortest) = frames(burst);
        let rate = (goodput * 8.0 * (PACKET + frame as f64) / SEGMENT).clamp(1.0, 1e15);
        let (send, receive) = (first(&calls.sends), first(&calls.receives));
        // A switch sends a frame on when all of it is there; a bucket lets short ones pass.
        let bytes = (1 + MESSAGE + HEADER + frame).max(shortest);
        let travel = if burst.is_some() { 0.0 } else { 2.0 * bytes as f64 * 8.0 / rate };
        let memory = short_memory(measured, send + receive);
        Ok(Self {
            rate,
            latency: ((short - send - receive - travel) / 2.0).max(0.0),
            burst,
            send,
            receive,
            copy: copy(calls),
            memory_latency: memory.0,
            memory_rate: memory.1,
            cores: measured.computers.iter().map(|computer| computer.cores).min(),
            is_one_computer: is_one_computer(measured),
            congestion: congestion(),
        })
    }

    /// The platform.
    pub(super) fn platform(&self) -> Result<Platform, Failure> {
        let wrong = |error: pvm_predict::Error| {
            Failure::new(Status::Refused, format!("calibration: its platform: {error}"))
        };
        Platform::parse(&self.text("", &[])).map_err(wrong)
    }

    /// The file, with what was not measured.
    pub(super) fn text(&self, about: &str, missing: &[String]) -> String {
        let mut text = String::from("# Measured by `pvm predict calibrate`.\n");
        for what in missing {
            let _ = writeln!(text, "# Not measured: {what}.");
        }
        let (frame, shortest) = frames(self.burst);
        let micro = |seconds: f64| format!("{:.3} us", seconds * 1e6);
        let _ = writeln!(text, "name = \"calibrated\"\nabout = {about:?}\n\n[network]");
        let _ = writeln!(text, "kind = \"switch\"\nrate = \"{:.3} Mb/s\"", self.rate / 1e6);
        let _ = writeln!(text, "latency = \"{}\"", micro(self.latency));
        if let Some(burst) = self.burst {
            let _ = writeln!(text, "burst = \"{burst} B\"");
        }
        let _ = writeln!(text, "frame = \"{frame} B\"\nshortest = \"{shortest} B\"\n\n[host]");
        let _ = writeln!(text, "send = \"{}\"", micro(self.send));
        let _ = writeln!(text, "receive = \"{}\"", micro(self.receive));
        if let Some(copy) = self.copy {
            let _ = writeln!(text, "copy = \"{:.3} MB/s\"", copy / 1e6);
        }
        let _ = writeln!(text, "memory_latency = \"{}\"", micro(self.memory_latency));
        let _ = writeln!(text, "memory_rate = \"{:.3} MB/s\"", self.memory_rate / 1e6);
        if let Some(cores) = self.cores {
            let _ = writeln!(text, "cores = {cores}");
        }
        if self.is_one_computer {
            let _ = writeln!(text, "computers = 1");
        }
        let _ = writeln!(text, "\n[transport]\nkind = \"tcp\"");
        if let Some(congestion) = &self.congestion {
            let _ = writeln!(text, "congestion = \"{congestion}\"");
        }
        let _ =
            writeln!(text, "message = \"{MESSAGE} B\"\nconfirmation = \"37 B\"\nbounded = true");
        text
    }
}

/// Properties that no calibration finds, and those that this one has left out.
pub(super) fn missing(measured: &Measured) -> Vec<String> {
    let always = [
        "the queue of a port, beyond which it drops frames (queue)",
        "loss",
        "the random extra time of calls (jitter)",
        "the speed of these hosts relative to that of a recording (speed)",
        "segments that go to the host's queue at once (train), windows, ticks and delayed \
         acknowledgements of TCP",
        "messages in place, and messages longer than 1 MiB",
    ];
    let mut all: Vec<String> = measured.missed.clone();
    all.extend(always.map(str::to_owned));
    let cores: Vec<u64> = measured.computers.iter().map(|computer| computer.cores).collect();
    if cores.iter().any(|count| *count != cores[0]) {
        all.push(
            "hosts of different cores: a platform has one kind of host, so the smallest is used"
                .to_owned(),
        );
    }
    if congestion().is_none() {
        all.push("congestion control: the model does not know that of this host".to_owned());
    }
    if measured.hosts.len() > 2 {
        all.push(format!(
            "all but short messages between other hosts than {} and {}",
            measured.hosts[0], measured.hosts[1]
        ));
    }
    all
}

/// Bytes of a frame beside its packet, and the shortest frame, as the rate counts them.
const fn frames(burst: Option<u64>) -> (u64, u64) {
    if burst.is_some() { (14, 0) } else { (38, 84) }
}

/// The time of a message of one byte.
fn short(measured: &Measured, route: Route) -> Option<f64> {
    let echoes = measured.echoes.iter().find(|echoes| echoes.route == route)?;
    echoes.seen.first().map(Seen::median)
}

/// Latency and rate of memory, beside what calls take.
fn short_memory(measured: &Measured, calls: f64) -> (f64, f64) {
    let Some(latency) = short(measured, Route::Memory) else { return (1e-6, 5e9) };
    let echoes = measured.echoes.iter().find(|echoes| echoes.route == Route::Memory);
    let seen = echoes.and_then(|echoes| echoes.seen.iter().rfind(|seen| seen.bytes <= 1 << 16));
    let byte = seen.map_or(0.0, |seen| (seen.median() - latency) / (seen.bytes - 1).max(1) as f64);
    let rate = if byte > 0.0 { 1.0 / byte } else { MEMORY_RATE_MAX };
    ((latency - calls).max(0.0), rate.min(MEMORY_RATE_MAX))
}

/// The time of the shortest message.
fn first(seen: &[Seen]) -> f64 {
    seen.first().map_or(0.0, Seen::median)
}

/// The number of bytes that a call handles in a second: the mean of send and receive. The least
/// time of each size, as a call that waited for room in its socket says nothing of the processor.
fn copy(calls: &Calls) -> Option<f64> {
    let byte = |seen: &[Seen]| {
        let [short, long] = seen else { return 0.0 };
        let least = |seen: &Seen| seen.times.iter().copied().fold(f64::INFINITY, f64::min);
        ((least(long) - least(short)) / (long.bytes - short.bytes) as f64).max(0.0)
    };
    let mean = f64::midpoint(byte(&calls.sends), byte(&calls.receives));
    (mean > 1e-15).then(|| 1.0 / mean)
}

fn is_one_computer(measured: &Measured) -> bool {
    let [first, rest @ ..] = measured.computers.as_slice() else { return false };
    first.is != (0, 0) && !rest.is_empty() && rest.iter().all(|other| other.is == first.is)
}

/// The algorithm of this host's TCP, if the model has it.
fn congestion() -> Option<String> {
    let name = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_congestion_control").ok()?;
    let name = name.trim();
    ["reno", "cubic", "bbr"].contains(&name).then(|| name.to_owned())
}
