//! The facts of a platform, and the reader of its file.

use super::network::{self, Line, Network};
use super::placement::Placement;
use super::reading::Section;
use super::transport::{self, Session, Transport};
use crate::error::Error;
use crate::link::routes::Topology;
use crate::unit::{Rate, Time};

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
    /// The properties of the layers above the transport.
    pub session: Session,
    /// The host of each task. Platform files do not set it.
    pub place: Placement,
}

/// The properties of hosts.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Host {
    /// The factor of speed: the recorded time of computing is divided by it.
    pub speed: f64,
    /// The time of a send in addition to the time in the trace.
    pub send: Time,
    /// The time of a receive in addition to the time in the trace.
    pub receive: Time,
    /// The time of each byte of a send or a receive, in picoseconds.
    pub byte: f64,
    /// The most random time that a send or a receive takes in addition: the time in which an idle
    /// processor wakes, and what else differs from run to run.
    pub jitter: Time,
    /// The time of a message between tasks of one host.
    pub memory: Line,
    /// The number of cores; if it is not given, each task has a core.
    pub cores: Option<u32>,
    /// The longest time for which a task keeps a core while others wait for one; if it is not
    /// given, all tasks that compute get even shares of the cores.
    pub slice: Option<Time>,
    /// The number of computers, to which hosts are assigned in turn; if it is not given, each host
    /// is a computer.
    pub computers: Option<u32>,
}

/// The time of a message through the memory of one host: 1 us, and 5 GB/s.
const MEMORY: Line = Line::new(Time::microseconds(1), 200.0);

/// The shortest slice: shorter ones are events without end, and no scheduler has them.
const SLICE_MIN: Time = Time::microseconds(10);

impl Default for Host {
    fn default() -> Self {
        let (send, receive) = (Time::ZERO, Time::ZERO);
        let (cores, slice, computers) = (None, None, None);
        let jitter = Time::ZERO;
        let (speed, byte, memory) = (1.0, 0.0, MEMORY);
        Self { speed, send, receive, byte, jitter, memory, cores, slice, computers }
    }
}

impl Host {
    /// The time of a send of `bytes` bytes.
    pub fn send_of(&self, bytes: u64) -> Time {
        self.send + self.time_of(bytes)
    }

    /// The time of a receive of `bytes` bytes.
    pub fn receive_of(&self, bytes: u64) -> Time {
        self.receive + self.time_of(bytes)
    }

    /// The time in which a call copies this many bytes.
    fn time_of(&self, bytes: u64) -> Time {
        if self.byte == 0.0 {
            return Time::ZERO;
        }
        Time((bytes as f64 * self.byte).round() as u64)
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
        let (transport, session) = match file.section("transport")? {
            Some(section) => section.read(transport::transport_of)?,
            None => (Transport::None, Session::default()),
        };
        if transport.is_lossless() && network.loses() {
            let what = "kind = \"rdma\" needs a switch that loses nothing".to_owned();
            return Err(Error::Platform { line: 1, what });
        }
        let wrong = |what| Error::Platform { line: 1, what };
        network.carries(&transport).map_err(wrong)?;
        file.end()?;
        let place = Placement::Each;
        Ok(Self { name, about, network, host, transport, session, place })
    }

    /// The network as a line: the time of a message that is alone on the network.
    pub fn line(&self) -> Line {
        let byte = |rate: Rate, bytes: f64, data: u64| 8e12 / rate.to_bits() * bytes / data as f64;
        let (packet, data) = self.transport.full();
        match self.network {
            Network::Line(line) => line,
            Network::Cable(rules) => Line {
                latency: self.shortest(0),
                byte: byte(rules.rate, (packet + rules.header + 8 + 12) as f64, data),
                topology: Topology::Bus,
            },
            Network::Fabric(fabric) => Line {
                latency: self.shortest(0),
                byte: byte(fabric.rate, fabric.cost(packet), data),
                topology: fabric.topology,
            },
        }
    }

    /// The time of a packet across an idle network.
    pub fn shortest(&self, bytes: u64) -> Time {
        match self.network {
            Network::Line(line) => line.latency + line.time_of(bytes),
            Network::Cable(rules) => rules.frame(bytes) + rules.propagation,
            Network::Fabric(fabric) => fabric.alone(bytes),
        }
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
    let slice = section.time("slice")?;
    if slice.is_some_and(|slice| slice < SLICE_MIN) {
        return Err(section.wrong("slice", format!("a slice takes {SLICE_MIN} at least")));
    }
    Ok(Host { speed, send, receive, byte, jitter, memory, cores, slice, computers })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::reading::TEXT_MAX;
    use crate::platform::transport::Congestion;

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

    const SWITCH: &str = "[network]\nkind = \"switch\"\nrate = \"10 Mb/s\"\n";
    const TCP: &str = "[transport]\nkind = \"tcp\"\n";
    const RDMA: &str = "[transport]\nkind = \"rdma\"\n";

    /// Values that a transport cannot have were once changed to the nearest one that it can have.
    #[test]
    fn a_value_out_of_bounds_is_an_error() {
        let pvm3 = "[transport]\nkind = \"pvm3\"\n";
        for (section, key, value, bounds) in [
            (TCP, "header", "1001 B", "0 and 1000 B"),
            (TCP, "message", "1.1 MB", "0 and 1000000 B"),
            (TCP, "confirmation", "1.1 MB", "0 and 1000000 B"),
            (TCP, "tick", "1001 ms", "0.000 us and 1000.0 ms"),
            (TCP, "timeout", "0 s", "1.000 us and 1000000.000 s"),
            (TCP, "send_buffer", "2 kB", "2896 and"),
            (TCP, "receive_buffer", "2 kB", "2896 and"),
            (TCP, "turn", "0 B", "1 and"),
            (TCP, "record", "1001 B", "0 and 1000 B"),
            (TCP, "record_size", "63 B", "64 and"),
            (TCP, "beat_bytes", "0 B", "1 and 64000 B"),
            (RDMA, "header", "1001 B", "0 and 1000 B"),
            (pvm3, "header", "1001 B", "0 and 1000 B"),
            (pvm3, "packet", "87 B", "88 and 64000 B"),
            (pvm3, "timeout", "0 s", "1.000 us and"),
        ] {
            let text = format!("{SWITCH}{section}{key} = \"{value}\"\n");
            let told = Platform::parse(&text).expect_err(&text).to_string();
            let expected = format!("line 6 of the platform: {key}: \"{value}\" is not between");
            assert!(told.starts_with(&expected) && told.contains(bounds), "{told}");
        }
        let told = Platform::parse(&format!("{SWITCH}queue = \"1 kB\"\n")).expect_err("short");
        assert!(told.to_string().contains("queue: \"1 kB\" is not between 2000"), "{told}");
    }

    /// Times of which each is as likely as the others are told from the shortest to the longest.
    #[test]
    fn a_list_of_times_is_in_order() {
        let at = |first: &str| {
            let list = format!("[{first}{}]", ", \"9 us\"".repeat(9));
            Platform::parse(&format!("{SWITCH}{TCP}alone = {list}\n"))
        };
        let session = at("\"3 us\"").expect("it is sound").session;
        let times = session.alone.expect("they are told");
        assert_eq!((times[0], times[9]), (Time::microseconds(3), Time::microseconds(9)));
        for wrong in ["\"10 us\"", "\"3\"", "3"] {
            assert!(at(wrong).is_err(), "{wrong}");
        }
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
            (&format!("{network}[host]\nslice = \"9 us\"\n"), 5, "a slice takes 10"),
            (&format!("{SWITCH}late = \"3 us\"\n"), 4, "only the timer of a burst"),
            (&format!("{SWITCH}{TCP}alone = \"9 us\"\n"), 6, "alone is a string, not 10 times"),
            (&format!("{SWITCH}{TCP}alone = [\"9 us\"]\n"), 6, "alone is not 10 times such as"),
            (&format!("{SWITCH}{RDMA}alone = []\n"), 6, "alone is unknown"),
            (&format!("{network}[hots]\n"), 4, "hots is unknown here: about, host, name"),
            (&format!("{network}[transport]\nkind = \"tcp\"\nnagle = 1\n"), 6, "true or false"),
            (
                &format!("{SWITCH}burst = \"1 kB\"\n{TCP}"),
                1,
                "no frame of 1538 B, the longest, passes",
            ),
            (&format!("{SWITCH}burst = \"4 kB\"\n{RDMA}"), 1, "passes a burst of 4000 B"),
            (&format!("{SWITCH}queue = \"3 kB\"\n{TCP}segment = \"8 kB\"\n"), 1, "a queue of"),
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
