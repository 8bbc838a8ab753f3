//! The checks on a new host, without joining: which version is there, whether a daemon runs
//! already, which of the inviter's addresses answer.

use crate::addresses;
use crate::config::Places;
use crate::hex::{from_hex, to_hex};
use crate::launch::{front, resident};
use crate::runtime_dir;
use crate::say;
use crate::version::version;
use anyhow::Result;
use pvm_wire::PROTOCOL_VERSION;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::timeout;

/// Begins the answer.
const REPLY: &str = "neopvm-reach-1 ";
/// Between the socket of a daemon and the name of its host.
const MEMBER: &str = "#member=";
/// The time that an address may take to answer.
const CONNECT_TIME: Duration = Duration::from_secs(2);

/// The findings there.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Reached {
    /// The protocol there.
    pub(crate) protocol: u16,
    /// The product's version there.
    pub(crate) version: String,
    /// The socket of a daemon of the same machine that runs there.
    pub(crate) running: Option<String>,
    /// The name of its host, where its machine is the inviter's own.
    pub(crate) member: Option<String>,
    /// Each address, and `ok` or why not.
    pub(crate) addresses: Vec<(String, String)>,
}

impl Reached {
    fn line(&self) -> String {
        let running = self.running.as_deref().unwrap_or("-").replace(' ', "_");
        let mut line = format!("{REPLY}{} {} {running}", self.protocol, self.version);
        if let Some(member) = &self.member {
            line += &format!("{MEMBER}{}", to_hex(member.as_bytes()));
        }
        for (address, outcome) in &self.addresses {
            line += &format!(" {address}={outcome}");
        }
        line
    }

    /// From a line of what was said there.
    pub(crate) fn in_line(line: &str) -> Option<Self> {
        let (_, rest) = line.split_once(REPLY)?;
        let mut words = rest.split_ascii_whitespace();
        let protocol = words.next()?.parse().ok()?;
        let version = words.next()?.to_owned();
        let running = words.next()?;
        let (running, member) = running.split_once(MEMBER).unwrap_or((running, ""));
        let running = Some(running.to_owned()).filter(|running| running != "-");
        let member = String::from_utf8_lossy(&from_hex(member)?).into_owned();
        let member = Some(member).filter(|member| !member.is_empty());
        let pair = |word: &str| {
            let (address, outcome) = word.rsplit_once('=')?;
            Some((address.to_owned(), outcome.to_owned()))
        };
        let addresses = words.map(pair).collect::<Option<_>>()?;
        Some(Self { protocol, version, running, member, addresses })
    }

    /// True where the inviter can be called.
    pub(crate) fn any(&self) -> bool {
        self.addresses.iter().any(|(_, outcome)| outcome == "ok")
    }
}

/// Tries the addresses and prints what was found.
pub(crate) fn run(told: &[String], vmid: Option<&str>) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let addresses = runtime.block_on(try_all(front::seen(told)));
    let places = Places::from_environment()?;
    let running = runtime_dir::running(&places.temporary, vmid.unwrap_or(&places.vmid));
    let reached = Reached {
        protocol: PROTOCOL_VERSION,
        version: version().to_owned(),
        member: running.as_deref().and_then(|socket| resident::member_at(socket, told)),
        running: running.map(|socket| socket.display().to_string()),
        addresses,
    };
    Ok(say::answer(reached.line())?)
}

async fn try_all(told: Vec<String>) -> Vec<(String, String)> {
    let mut tries = JoinSet::new();
    for (place, way) in addresses::in_order(&told, &[]).into_iter().enumerate() {
        let at = way.at;
        tries.spawn(async move { (place, at, try_one(at).await) });
    }
    let mut found = tries.join_all().await;
    found.sort_by_key(|(place, ..)| *place);
    found.into_iter().map(|(_, at, outcome)| (at.to_string(), outcome.to_owned())).collect()
}

async fn try_one(at: SocketAddr) -> &'static str {
    match timeout(CONNECT_TIME, TcpStream::connect(at)).await {
        Ok(Ok(_)) => "ok",
        Ok(Err(error)) => match error.kind() {
            ErrorKind::ConnectionRefused => "refused",
            ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable => "no-route",
            _ => "failed",
        },
        Err(_) => "no-answer",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_found_comes_back_from_its_line() {
        let reached = Reached {
            protocol: 2,
            version: "0.1.0".into(),
            running: Some("/tmp/x/pvmd.sock".into()),
            member: Some("H2".into()),
            addresses: vec![
                ("[::1]:5".into(), "ok".into()),
                ("1.2.3.4:5".into(), "refused".into()),
            ],
        };
        assert_eq!(Reached::in_line(&format!("noise{}", reached.line())), Some(reached));
        let none = Reached { protocol: 2, version: "1".into(), ..Reached::default() };
        assert_eq!(Reached::in_line(&none.line()), Some(none));
        assert_eq!(Reached::in_line("neopvm-reach-1 2"), None);
    }

    #[tokio::test]
    async fn addresses_are_tried_at_the_same_time_and_told_in_order() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let open = listener.local_addr().unwrap().to_string();
        let closed = {
            let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
            gone.local_addr().unwrap().to_string()
        };
        let found = try_all(vec![closed.clone(), open.clone()]).await;
        assert_eq!(found, [(closed, "refused".to_owned()), (open, "ok".to_owned())]);
    }
}
