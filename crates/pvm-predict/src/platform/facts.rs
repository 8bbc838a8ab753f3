//! The facts of a platform, and the reader of its file.

use super::network::{self, Line, Network};
use super::placement::Placement;
use super::reading::Section;
use crate::error::Error;
use crate::unit::Time;

/// A platform.
#[derive(Clone, PartialEq, Debug)]
pub struct Platform {
    /// Its name.
    pub name: String,
    /// Its description, in a line.
    pub about: String,
    /// The network.
    pub network: Network,
    /// The properties of each host.
    pub host: Host,
    /// The transport that makes packets of messages.
    pub transport: Transport,
    /// The host of each task. No file says that.
    pub place: Placement,
}

/// The properties of hosts.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Host {
    /// Computing takes its recorded time divided by this.
    pub speed: f64,
    /// The time of a send beside the time in the trace.
    pub send: Time,
    /// The time of a receive beside the time in the trace.
    pub receive: Time,
    /// The time of each byte of it, in picoseconds.
    pub byte: f64,
    /// A send or a receive takes up to this longer, by chance: how long an idle processor takes to
    /// wake, and what else differs from run to run.
    pub jitter: Time,
    /// The time of a message between tasks of one host.
    pub memory: Line,
    /// The number of cores; without it each task has one.
    pub cores: Option<u32>,
    /// The number of computers on which the hosts are, in turns; without it each host is a
    /// computer.
    pub computers: Option<u32>,
}

/// A message through the memory of one host: 1 us, and 5 GB/s.
const MEMORY: Line = Line::new(Time::microseconds(1), 200.0);

impl Default for Host {
    fn default() -> Self {
        let (send, receive) = (Time::ZERO, Time::ZERO);
        let (cores, computers) = (None, None);
        let jitter = Time::ZERO;
        Self { speed: 1.0, send, receive, byte: 0.0, jitter, memory: MEMORY, cores, computers }
    }
}

impl Host {
    /// The time of a send of `bytes` bytes.
    pub fn send_of(&self, bytes: u64) -> Time {
        self.send + Time((bytes as f64 * self.byte).round() as u64)
    }

    /// The time of a receive of `bytes` bytes.
    pub fn receive_of(&self, bytes: u64) -> Time {
        self.receive + Time((bytes as f64 * self.byte).round() as u64)
    }
}

/// The transport that makes packets of messages.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Transport {
    /// A message is what crosses the network.
    None,
    /// Segments of TCP.
    Tcp(Tcp),
}

/// The algorithm that bounds the data under way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Congestion {
    /// RFC 5681 and 6582.
    Reno,
    /// RFC 9438.
    Cubic,
    /// Bottleneck bandwidth and round-trip time, as Linux has it (version 1).
    Bbr,
}

/// The properties of a TCP.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Tcp {
    /// The algorithm that bounds the data under way.
    pub congestion: Congestion,
    /// Data of a full segment.
    pub segment: u64,
    /// Bytes of IP and TCP in front of it.
    pub header: u64,
    /// Segments that may be under way at first.
    pub initial_window: u64,
    /// A connection that was idle begins anew with the initial window.
    pub idle_restart: bool,
    /// A segment that is not full waits while others are under way.
    pub nagle: bool,
    /// The time for which an acknowledgement waits for a second segment; without it none waits.
    pub delayed_ack: Time,
    /// The unacknowledged bytes that a sender holds: a write waits beyond them.
    pub send_buffer: u64,
    /// The bytes that a receiver holds.
    pub receive_buffer: u64,
    /// The bytes of each message beside its data: frames, records, seals.
    pub message: u64,
    /// A frame of its own by which a task confirms messages, where no message of its own goes there
    /// before it waits; 0 if there are no confirmations.
    pub confirmation: u64,
    /// The largest number of segments that go to the host's queue at once; 1 if the kernel's
    /// segmentation offload is off.
    pub train: u64,
    /// The shortest time until a segment is sent anew.
    pub timeout: Time,
    /// Timers go off at ticks that are so far apart; none waits for a tick if this is none.
    pub tick: Time,
}

impl Default for Tcp {
    fn default() -> Self {
        Self {
            congestion: Congestion::Bbr,
            segment: 1448,
            header: 52,
            initial_window: 10,
            idle_restart: true,
            nagle: false,
            delayed_ack: Time::microseconds(40_000),
            send_buffer: 4 << 20,
            receive_buffer: 6 << 20,
            message: 0,
            confirmation: 0,
            train: 44,
            timeout: Time::microseconds(200_000),
            // Linux with HZ = 250, as Debian has it.
            tick: Time::microseconds(4_000),
        }
    }
}

impl Platform {
    /// Reads a platform file.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let mut file = Section::file(text)?;
        let name = file.text("name")?.unwrap_or_default();
        let about = file.text("about")?.unwrap_or_default();
        let network = file.section("network")?.ok_or_else(|| Error::Platform {
            line: 1,
            what: "it has no section [network]".to_owned(),
        })?;
        let network = network.read(network::network_of)?;
        let host = match file.section("host")? {
            Some(section) => section.read(host_of)?,
            None => Host::default(),
        };
        let transport = match file.section("transport")? {
            Some(section) => section.read(transport_of)?,
            None => Transport::None,
        };
        file.end()?;
        let place = Placement::Each;
        Ok(Self { name, about, network, host, transport, place })
    }
}

fn host_of(section: &mut Section<'_>) -> Result<Host, Error> {
    let speed = section.number("speed", 1e-6, 1e6)?.unwrap_or(1.0);
    let send = section.time("send")?.unwrap_or_default();
    let receive = section.time("receive")?.unwrap_or_default();
    let byte = section.rate("copy")?.map_or(0.0, |rate| 8e12 / rate.to_bits());
    let latency = section.time("memory_latency")?.unwrap_or(MEMORY.latency);
    let memory = section.rate("memory_rate")?.map_or(MEMORY.byte, |rate| 8e12 / rate.to_bits());
    let memory = Line::new(latency, memory);
    let count = |number: Option<f64>| number.map(|number| number as u32);
    let cores = count(section.number("cores", 1.0, 65536.0)?);
    let computers = count(section.number("computers", 1.0, 65536.0)?);
    let jitter = section.time("jitter")?.unwrap_or_default();
    Ok(Host { speed, send, receive, byte, jitter, memory, cores, computers })
}

fn transport_of(section: &mut Section<'_>) -> Result<Transport, Error> {
    if section.choice("kind", &["none", "tcp"])? == 0 {
        return Ok(Transport::None);
    }
    let plain = Tcp::default();
    let congestion = match section.chosen("congestion", &["reno", "cubic", "bbr"])? {
        Some(0) => Congestion::Reno,
        Some(1) => Congestion::Cubic,
        _ => Congestion::Bbr,
    };
    let segment = section.size("segment")?.unwrap_or(plain.segment);
    if !(88..=64_000).contains(&segment) {
        return Err(section.wrong("segment", "a segment has 88 to 64000 bytes".to_owned()));
    }
    let window = section.number("initial_window", 1.0, 1e4)?;
    let train = section.number("train", 1.0, 1e3)?;
    let buffer = |size: Option<u64>, plain: u64| size.unwrap_or(plain).max(2 * segment);
    Ok(Transport::Tcp(Tcp {
        congestion,
        segment,
        header: section.size("header")?.unwrap_or(plain.header).min(1_000),
        initial_window: window.map_or(plain.initial_window, |window| window as u64),
        idle_restart: section.flag("idle_restart")?.unwrap_or(plain.idle_restart),
        nagle: section.flag("nagle")?.unwrap_or(plain.nagle),
        delayed_ack: section.time("delayed_ack")?.unwrap_or(plain.delayed_ack),
        send_buffer: buffer(section.size("send_buffer")?, plain.send_buffer),
        receive_buffer: buffer(section.size("receive_buffer")?, plain.receive_buffer),
        message: section.size("message")?.unwrap_or(plain.message).min(1_000_000),
        confirmation: section.size("confirmation")?.unwrap_or(plain.confirmation).min(1_000_000),
        train: train.map_or(plain.train, |train| train as u64),
        timeout: section.time("timeout")?.unwrap_or(plain.timeout).max(Time::microseconds(1)),
        tick: section.time("tick")?.unwrap_or(plain.tick).min(Time::microseconds(1_000_000)),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::reading::TEXT_MAX;

    #[test]
    fn a_whole_file_is_read() {
        let text = "name = \"lab\"\n[network]\nkind = \"switch\"\nrate = \"10 Mb/s\"\nburst = \
                    \"1600 B\"\n\
                    [host]\nspeed = 2\nsend = \"3 us\"\n[transport]\nkind = \"tcp\"\ncongestion = \
                    \"reno\"\n";
        let platform = Platform::parse(text).expect("it is sound");
        let Network::Fabric(switch) = platform.network else { panic!("a switch") };
        assert_eq!((switch.rate.to_bits(), switch.burst), (1e7, Some(1600)));
        assert_eq!((platform.host.speed, platform.host.send), (2.0, Time::microseconds(3)));
        let Transport::Tcp(tcp) = platform.transport else { panic!("TCP") };
        assert_eq!(tcp.congestion, Congestion::Reno);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        let network = "[network]\nkind = \"cable\"\nrate = \"10 Mb/s\"\n";
        for (text, line, what) in [
            ("", 1, "no section [network]"),
            ("name = 3\n[network]\n", 1, "name is an integer, not text"),
            ("[network]\nkind = \"tube\"\n", 2, "line, cable, switch"),
            ("[network]\nkind = \"cable\"\n", 1, "rate is missing"),
            ("[network]\nkind = \"cable\"\nrate = \"-10 Mb/s\"\n", 3, "negative"),
            ("[network]\nkind = \"cable\"\nrate = 10\n", 3, "rate is an integer, not text"),
            (
                "[network]\nkind = \"line\"\nrate = \"1 B/s\"\nlatncy = \"1 us\"\n",
                4,
                "latncy is unknown",
            ),
            (&format!("{network}propagation = \"1 ms\"\n"), 4, "half a slot"),
            (&format!("{network}[host]\nspeed = nan\n"), 5, "speed is not between"),
            (&format!("{network}[hots]\n"), 4, "hots is unknown here: about, host, name"),
            (&format!("{network}[transport]\nkind = \"tcp\"\nnagle = 1\n"), 6, "true or false"),
            ("[network\n", 1, ""),
            ("x = 1\nx = 2\n", 2, ""),
        ] {
            match Platform::parse(text) {
                Err(Error::Platform { line: found, what: told }) => {
                    assert_eq!(found, line, "{text}: {told}");
                    assert!(told.contains(what), "{text}: {told}");
                }
                other => panic!("{text}: {other:?}"),
            }
        }
        let long = format!("name = \"{}\"", "x".repeat(TEXT_MAX));
        assert!(
            Platform::parse(&long).expect_err("too long").to_string().contains("1048576 bytes")
        );
        let deep = "x = ".to_owned() + &"[".repeat(100_000);
        assert!(Platform::parse(&deep).is_err());
    }
}
