//! The transport of a platform and the layers above it, and the readers of their sections.

use super::reading::Section;
use crate::error::Error;
use crate::planted::{self, Bug};
use crate::unit::{BYTES_MAX, TIME_MAX, Time};

/// The transport that makes packets of messages.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Transport {
    /// A message crosses the network as it is.
    None,
    /// Segments of TCP.
    Tcp(Tcp),
    /// Packets that network cards read from memory and write to memory.
    Rdma(Rdma),
    /// Datagrams that are acknowledged one by one: PVM 3 between its daemons.
    Datagrams(Datagrams),
}

/// The algorithm that bounds the data under way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Congestion {
    /// RFC 5681 and 6582.
    Reno,
    /// RFC 9438.
    Cubic,
    /// Bottleneck bandwidth and round-trip time, as in Linux (version 1).
    Bbr,
}

/// A buffer of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Buffer {
    /// So many bytes from the begin, as `SO_SNDBUF` and `SO_RCVBUF` make it.
    Fixed(u64),
    /// As the kernel makes it: small at the begin, this much memory at the most.
    Grows(u64),
}

impl Buffer {
    /// Its size in the end.
    pub const fn most(self) -> u64 {
        match self {
            Self::Fixed(bytes) | Self::Grows(bytes) => bytes,
        }
    }
}

/// The properties of a TCP.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Tcp {
    /// The algorithm that bounds the data under way.
    pub congestion: Congestion,
    /// The data of a full segment.
    pub segment: u64,
    /// The bytes of IP and TCP in front of the data.
    pub header: u64,
    /// The number of segments that may be under way at first.
    pub initial_window: u64,
    /// True if a connection that was idle begins again with the initial window.
    pub idle_restart: bool,
    /// True if a segment that is not full waits while others are under way.
    pub nagle: bool,
    /// The time for which an acknowledgement waits for a second segment; 0 if none waits.
    pub delayed_ack: Time,
    /// The unacknowledged bytes of a sender: a write waits beyond them.
    pub send_buffer: Buffer,
    /// The bytes that a receiver keeps.
    pub receive_buffer: Buffer,
    /// The bytes of each message beside its data: frames, records, seals.
    pub message: u64,
    /// The bytes of a frame with which a task confirms messages, if it sends no message to their
    /// sender before it waits; 0 if there are no confirmations.
    pub confirmation: u64,
    /// The time until a program that waits has read what has come for it.
    pub wake: Time,
    /// The most segments that go to the host's queue at once; 1 without the kernel's segmentation
    /// offload.
    pub train: u64,
    /// The shortest time until a segment is sent again.
    pub timeout: Time,
    /// The interval of the ticks at which timers expire; 0 if timers are exact.
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
            send_buffer: Buffer::Fixed(4 << 20),
            receive_buffer: Buffer::Fixed(6 << 20),
            message: 0,
            confirmation: 0,
            wake: Time::ZERO,
            train: 44,
            timeout: Time::microseconds(200_000),
            // Linux with HZ = 250, as in Debian.
            tick: Time::microseconds(4_000),
        }
    }
}

/// The properties of remote direct memory access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rdma {
    /// The data of a full packet.
    pub segment: u64,
    /// The bytes in front of it and behind it.
    pub header: u64,
    /// The longest message that is sent at once. A longer one asks its receiver first, and is then
    /// read from the sender's memory.
    pub eager: u64,
    /// The time from a call until the card sends its first packet.
    pub post: Time,
    /// The time in which the memory of a longer message is registered, at each end.
    pub registration: Time,
    /// The time of each registered byte, in picoseconds.
    pub byte: u64,
}

/// The properties of datagrams between daemons.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Datagrams {
    /// The data of a full datagram.
    pub fragment: u64,
    /// The bytes of the daemon's header.
    pub header: u64,
    /// The bytes of each message beside its data.
    pub message: u64,
    /// The largest packet of IP, headers included; a longer datagram becomes several packets.
    pub packet: u64,
    /// The most datagrams that are not acknowledged.
    pub window: u64,
    /// The time until a datagram is sent again; it doubles each time.
    pub timeout: Time,
}

/// The path of messages between tasks of different hosts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Route {
    /// A connection for each pair of tasks.
    #[default]
    Direct,
    /// Through memory to the daemon, over one connection for each pair of hosts, and through memory
    /// to the task. Tasks share the connection in turns of this many bytes.
    Daemons(u64),
}

/// The properties of the layers above a transport.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Session {
    /// The path of messages.
    pub route: Route,
    /// The bytes that each record of TLS adds to its data.
    pub record: u64,
    /// The data of a full record.
    pub record_size: u64,
    /// The time in which each end encrypts or decrypts a byte, in picoseconds.
    pub cipher: f64,
    /// The interval of heartbeats between neighbouring daemons; 0 if there are none.
    pub beat: Time,
    /// The bytes of a heartbeat.
    pub beat_bytes: u64,
    /// True if tasks and daemons bound the bytes under way by the time that these take, as ours do.
    pub bounded: bool,
    /// The times after which the acknowledgement of the first segment of a longer write is handled
    /// if the segment goes alone, each as likely as the others.
    pub alone: Option<[Time; TENTHS]>,
}

/// The number of parts into which measured times are divided: each is told by its middle.
pub const TENTHS: usize = 10;

impl Default for Session {
    fn default() -> Self {
        Self {
            route: Route::Direct,
            record: 0,
            record_size: 16 << 10,
            cipher: 0.0,
            beat: Time::ZERO,
            beat_bytes: 118,
            bounded: false,
            alone: None,
        }
    }
}

impl Session {
    /// The bytes that records add to this many bytes.
    pub fn records(&self, bytes: u64) -> u64 {
        if planted::is(Bug::RecordsForgotten) {
            return bytes;
        }
        bytes.saturating_add(bytes.div_ceil(self.record_size).saturating_mul(self.record))
    }
}

impl Transport {
    /// The bytes of a packet without data.
    pub const fn header(&self) -> u64 {
        match self {
            Self::None => 0,
            Self::Tcp(tcp) => tcp.header,
            Self::Rdma(rdma) => rdma.header,
            Self::Datagrams(datagrams) => IP + UDP + datagrams.header,
        }
    }

    /// The bytes of the packets of a full segment, and of the data in it.
    pub const fn full(&self) -> (u64, u64) {
        match self {
            Self::None => (1500, 1500),
            Self::Tcp(tcp) => (tcp.segment + tcp.header, tcp.segment),
            Self::Rdma(rdma) => (rdma.segment + rdma.header, rdma.segment),
            Self::Datagrams(datagrams) => {
                let whole = datagrams.fragment + datagrams.header + UDP;
                (whole + whole.div_ceil(datagrams.packet) * IP, datagrams.fragment)
            }
        }
    }

    /// The length of the longest packet, if there are packets.
    pub(super) fn longest(&self) -> Option<u64> {
        match self {
            Self::None => None,
            Self::Datagrams(datagrams) => Some(self.full().0.min(datagrams.packet + IP)),
            _ => Some(self.full().0),
        }
    }

    /// True if no packet may be lost, because nothing is sent again.
    pub const fn is_lossless(&self) -> bool {
        matches!(self, Self::Rdma(_))
    }
}

/// The bytes of the headers of IP and UDP.
pub(crate) const IP: u64 = 20;
pub(crate) const UDP: u64 = 8;

/// The most bytes in front of the data of a packet.
const HEADER_MAX: u64 = 1_000;
/// The most bytes that a message or its confirmation has beside its data.
const EXTRA_MAX: u64 = 1_000_000;
/// The shortest timeout. The longest is the longest time that a file can name.
const TIMEOUT_MIN: Time = Time::microseconds(1);

/// Reads a section `[transport]`.
pub(super) fn transport_of(section: &mut Section<'_>) -> Result<(Transport, Session), Error> {
    let kind = section.choice("kind", &["none", "tcp", "rdma", "pvm3"])?;
    let transport = match kind {
        0 => return Ok((Transport::None, Session::default())),
        1 => Transport::Tcp(tcp_of(section)?),
        2 => Transport::Rdma(rdma_of(section)?),
        _ => Transport::Datagrams(datagrams_of(section)?),
    };
    let mut session = session_of(section)?;
    if matches!(transport, Transport::Tcp(_)) {
        let times = section.times("alone")?;
        session.alone = times.filter(|_| !planted::is(Bug::WriterHearsAtOnce));
    }
    if let Transport::Datagrams(datagrams) = transport {
        session.route = Route::Daemons(datagrams.fragment);
    }
    Ok((transport, session))
}

fn tcp_of(section: &mut Section<'_>) -> Result<Tcp, Error> {
    let plain = Tcp::default();
    let congestion = match section.chosen("congestion", &["reno", "cubic", "bbr"])? {
        Some(0) => Congestion::Reno,
        Some(1) => Congestion::Cubic,
        _ => Congestion::Bbr,
    };
    let segment = segment_of(section, plain.segment)?;
    let window = section.number("initial_window", 1.0, 1e4)?;
    let train = section.number("train", 1.0, 1e3)?;
    let is_tuned = section.flag("tuned")?.unwrap_or(false);
    let buffer = |named: Option<u64>, plain: Buffer| match named {
        Some(bytes) => Buffer::Fixed(bytes),
        None if is_tuned => Buffer::Grows(plain.most()),
        None => plain,
    };
    // A buffer of less than two segments could not wait for a delayed acknowledgement.
    let least = 2 * segment;
    Ok(Tcp {
        congestion,
        segment,
        header: section.size_in("header", 0, HEADER_MAX)?.unwrap_or(plain.header),
        initial_window: window.map_or(plain.initial_window, |window| window as u64),
        idle_restart: section.flag("idle_restart")?.unwrap_or(plain.idle_restart),
        nagle: section.flag("nagle")?.unwrap_or(plain.nagle),
        delayed_ack: section.time("delayed_ack")?.unwrap_or(plain.delayed_ack),
        send_buffer: buffer(section.size_in("send_buffer", least, BYTES_MAX)?, plain.send_buffer),
        receive_buffer: buffer(
            section.size_in("receive_buffer", least, BYTES_MAX)?,
            plain.receive_buffer,
        ),
        message: section.size_in("message", 0, EXTRA_MAX)?.unwrap_or(plain.message),
        confirmation: section.size_in("confirmation", 0, EXTRA_MAX)?.unwrap_or(plain.confirmation),
        wake: section
            .time_in("wake", Time::ZERO, Time::microseconds(1_000_000))?
            .unwrap_or(plain.wake),
        train: train.map_or(plain.train, |train| train as u64),
        timeout: section.time_in("timeout", TIMEOUT_MIN, TIME_MAX)?.unwrap_or(plain.timeout),
        tick: section
            .time_in("tick", Time::ZERO, Time::microseconds(1_000_000))?
            .unwrap_or(plain.tick),
    })
}

fn segment_of(section: &mut Section<'_>, plain: u64) -> Result<u64, Error> {
    let segment = section.size("segment")?.unwrap_or(plain);
    if (88..=64_000).contains(&segment) {
        return Ok(segment);
    }
    Err(section.wrong("segment", "a segment has 88 to 64000 bytes".to_owned()))
}

fn rdma_of(section: &mut Section<'_>) -> Result<Rdma, Error> {
    let rate = section.rate("registration_rate")?;
    Ok(Rdma {
        segment: segment_of(section, 4_096)?,
        // RoCE: IP, UDP, the transport's own header, checksum.
        header: section.size_in("header", 0, HEADER_MAX)?.unwrap_or(IP + UDP + 16),
        eager: section.size("eager")?.unwrap_or(8_192),
        post: section.time("post")?.unwrap_or(Time::nanoseconds(500)),
        registration: section.time("registration")?.unwrap_or_default(),
        byte: rate.map_or(0, |rate| (8e12 / rate.to_bits()).round() as u64),
    })
}

fn datagrams_of(section: &mut Section<'_>) -> Result<Datagrams, Error> {
    let window = section.number("window", 1.0, 1e4)?.unwrap_or(1.0);
    let fragment = section.size("fragment")?.unwrap_or(4_064);
    if !(88..=64_000).contains(&fragment) {
        return Err(section.wrong("fragment", "a fragment has 88 to 64000 bytes".to_owned()));
    }
    let timeout = section.time_in("timeout", TIMEOUT_MIN, TIME_MAX)?;
    Ok(Datagrams {
        fragment,
        header: section.size_in("header", 0, HEADER_MAX)?.unwrap_or(16),
        message: section.size_in("message", 0, EXTRA_MAX)?.unwrap_or(32),
        packet: section.size_in("packet", 88, 64_000)?.unwrap_or(1_480),
        window: window as u64,
        timeout: timeout.unwrap_or(Time::microseconds(1_000_000)),
    })
}

fn session_of(section: &mut Section<'_>) -> Result<Session, Error> {
    let plain = Session::default();
    let turn = section.size_in("turn", 1, 1 << 30)?.unwrap_or(16 << 10);
    let route = match section.chosen("route", &["direct", "daemons"])? {
        Some(1) => Route::Daemons(turn),
        _ => Route::Direct,
    };
    let cipher = section.rate("cipher")?.filter(|_| !planted::is(Bug::CipherForgotten));
    let beat = section.time("beat")?.unwrap_or_default();
    if beat > Time::ZERO && beat < Time::microseconds(1_000) {
        return Err(section.wrong("beat", "daemons beat every millisecond at most".to_owned()));
    }
    Ok(Session {
        route,
        record: section.size_in("record", 0, HEADER_MAX)?.unwrap_or(plain.record),
        record_size: section.size_in("record_size", 64, BYTES_MAX)?.unwrap_or(plain.record_size),
        cipher: cipher.map_or(0.0, |rate| 8e12 / rate.to_bits()),
        beat,
        bounded: section.flag("bounded")?.unwrap_or(plain.bounded)
            && !planted::is(Bug::QueueUnbounded),
        beat_bytes: section.size_in("beat_bytes", 1, 64_000)?.unwrap_or(plain.beat_bytes),
        alone: plain.alone,
    })
}
