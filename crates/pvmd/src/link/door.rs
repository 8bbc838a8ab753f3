//! Incoming connections: of strangers who prove nothing, of hosts of the machine, and of hosts that
//! want to be relayed to another one that only this daemon reaches.
//!
//! A relayed host proves its key to the other host and not here: its data is encrypted between
//! these two. There is nothing behind this door but doors of the same kind.

use crate::link::intake::Intake;
use crate::link::socket::set_options;
use crate::link::tokens::Tokens;
use crate::tls::Fingerprint;
use rustls::ServerConfig;
use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::AbortHandle;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_rustls::{TlsAcceptor, TlsStream};

/// The time that a peer may take to prove its key.
const HANDSHAKE_TIME: Duration = Duration::from_secs(5);
/// The number of connections that may be about to do so.
const HALF_OPEN_MAX: usize = 256;
/// The number of connections that are handed on at the same time.
const RELAYED_MAX: usize = 1024;
/// Comes before the handshake with another host, whose fingerprint follows. No handshake begins
/// with its first byte.
pub(crate) const PREFACE: &[u8] = b"NPVMvia1";
const FINGERPRINT_BYTES: usize = 32;
/// Comes before the handshake of a peer whose key is not known, which has a token instead.
pub(crate) const TOKEN_PREFACE: &[u8] = b"NPVMtok1";

/// Once one side of a relayed connection has ended, the other one may go on for this long.
const HALF_TIME: Duration = Duration::from_secs(10);

/// The connections that have proved nothing yet, with bearers of tokens until their token has been
/// checked. The network with most of them loses its oldest one first.
#[derive(Clone, Debug, Default)]
pub(crate) struct HalfOpen(Arc<Mutex<Waiting>>);

#[derive(Debug, Default)]
struct Waiting {
    all: BTreeMap<u64, (Network, AbortHandle)>,
    by_source: BTreeMap<Network, BTreeSet<u64>>,
}

/// The first bits of an address: an owner of one address of a network has many.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Network(u64);

impl Network {
    fn of(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V4(address) => Self(u64::from(address.to_bits() >> 16)),
            // Apart from all of those.
            IpAddr::V6(address) => Self(1 << 63 | (address.to_bits() >> 80) as u64),
        }
    }
}

impl Waiting {
    fn remove(&mut self, number: u64) -> Option<AbortHandle> {
        let (source, task) = self.all.remove(&number)?;
        if let Some(theirs) = self.by_source.get_mut(&source) {
            theirs.remove(&number);
            if theirs.is_empty() {
                self.by_source.remove(&source);
            }
        }
        Some(task)
    }

    /// The oldest connection of the network that has most; of several such networks the oldest of
    /// all: a network that opens many keeps no other one out.
    fn next_to_go(&self) -> Option<u64> {
        let most = self.by_source.values().map(BTreeSet::len).max()?;
        let fullest = self.by_source.values().filter(|theirs| theirs.len() == most);
        fullest.filter_map(|theirs| theirs.first()).min().copied()
    }
}

impl HalfOpen {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One more; another one goes if there are too many. The task begins after this, as the daemon
    /// has one thread.
    pub(crate) fn add(&self, number: u64, source: IpAddr, task: AbortHandle) {
        let mut waiting = self.lock();
        let source = Network::of(source);
        waiting.all.insert(number, (source, task));
        waiting.by_source.entry(source).or_default().insert(number);
        while waiting.all.len() > HALF_OPEN_MAX
            && let Some(number) = waiting.next_to_go()
            && let Some(task) = waiting.remove(number)
        {
            task.abort();
        }
    }

    /// It has proved its key, or failed to.
    pub(crate) fn remove(&self, number: u64) {
        self.lock().remove(number);
    }
}

/// A peer that has come in.
#[derive(Debug)]
pub(crate) enum Visitor {
    /// The owner of a key that is known.
    Known(TlsStream<Intake>),
    /// A peer that has a token, or says so.
    Bearer(TlsStream<Intake>),
}

/// The data that a daemon needs for incoming connections.
#[derive(Clone, Debug)]
pub(crate) struct Door {
    /// For the owners of known keys.
    pub(crate) members: Arc<ServerConfig>,
    /// For bearers of tokens.
    pub(crate) bearers: Arc<ServerConfig>,
    /// The fingerprint of its own key.
    pub(crate) own: Fingerprint,
    /// The hosts to which it relays connections.
    pub(crate) relays: Relays,
    /// The tokens that are good.
    pub(crate) tokens: Tokens,
}

/// The hosts to which this daemon relays connections, and their addresses from here.
#[derive(Clone, Debug, Default)]
pub(crate) struct Relays {
    ways: Arc<RwLock<BTreeMap<Fingerprint, Vec<SocketAddr>>>>,
    /// Counts the relayed connections.
    used: Arc<()>,
}

impl Relays {
    /// From now on these and no others.
    pub(crate) fn set(&self, ways: BTreeMap<Fingerprint, Vec<SocketAddr>>) {
        *self.ways.write().unwrap_or_else(PoisonError::into_inner) = ways;
    }

    fn ways_to(&self, key: &Fingerprint) -> Vec<SocketAddr> {
        let ways = self.ways.read().unwrap_or_else(PoisonError::into_inner);
        ways.get(key).cloned().unwrap_or_default()
    }
}

/// The host that a peer wants.
enum Destination {
    /// This host.
    Us,
    /// The host with this key.
    Other(Fingerprint),
    /// This host, by a token.
    Place,
}

/// Lets a peer prove its key. None for strangers, and for a relayed connection after its end. A
/// bearer has proved nothing when it comes out.
pub(crate) async fn answer(stream: TcpStream, door: &Door, proved: impl Fn()) -> Option<Visitor> {
    set_options(&stream);
    let until = Instant::now() + HANDSHAKE_TIME;
    let Ok(Ok((stream, wanted))) = timeout_at(until, preface(stream)).await else {
        proved();
        return None;
    };
    let (config, bears) = match wanted {
        Destination::Other(key) if key != door.own => {
            hand_on(stream, &door.relays, &key, proved).await;
            return None;
        }
        // Where no token is good there is nothing to try.
        Destination::Place if !door.tokens.any() => {
            proved();
            return None;
        }
        Destination::Place => (door.bearers.clone(), true),
        Destination::Us | Destination::Other(_) => (door.members.clone(), false),
    };
    let accepted = timeout_at(until, TlsAcceptor::from(config).accept(Intake::new(stream))).await;
    match accepted {
        // It has shown a key of its own, which any process has.
        Ok(Ok(stream)) if bears => Some(Visitor::Bearer(TlsStream::from(stream))),
        Ok(Ok(stream)) => {
            proved();
            Some(Visitor::Known(TlsStream::from(stream)))
        }
        _ => {
            proved();
            None
        }
    }
}

async fn hand_on(stream: TcpStream, relays: &Relays, key: &Fingerprint, proved: impl Fn()) {
    let reached = timeout(HANDSHAKE_TIME, reach(relays.ways_to(key))).await;
    proved();
    let place = relays.used.clone();
    if let Ok(Some(other)) = reached
        && Arc::strong_count(&place) <= RELAYED_MAX
    {
        carry(stream, other, HALF_TIME).await;
    }
    drop(place);
}

/// Hands on in both directions until both sides have ended, or one has and the other one goes on
/// for too long: a host ends the connection of a stranger, and strangers need not end theirs.
async fn carry(mut from: TcpStream, mut to: TcpStream, half: Duration) {
    let (mut from_read, mut from_write) = from.split();
    let (mut to_read, mut to_write) = to.split();
    let there = async {
        let _ = tokio::io::copy(&mut from_read, &mut to_write).await;
        let _ = to_write.shutdown().await;
    };
    let back = async {
        let _ = tokio::io::copy(&mut to_read, &mut from_write).await;
        let _ = from_write.shutdown().await;
    };
    let (mut there, mut back) = (std::pin::pin!(there), std::pin::pin!(back));
    tokio::select! {
        () = &mut there => drop(timeout(half, back).await),
        () = &mut back => drop(timeout(half, there).await),
    }
}

/// Takes the preface away, if there is one, and returns the host that the peer wants.
async fn preface(mut stream: TcpStream) -> std::io::Result<(TcpStream, Destination)> {
    let mut first = [0];
    if stream.peek(&mut first).await? == 0 || first[0] != PREFACE[0] {
        return Ok((stream, Destination::Us));
    }
    let mut bytes = [0; PREFACE.len()];
    stream.read_exact(&mut bytes).await?;
    if bytes == TOKEN_PREFACE {
        return Ok((stream, Destination::Place));
    }
    if bytes != PREFACE {
        return Err(std::io::ErrorKind::InvalidData.into());
    }
    let mut key = vec![0; FINGERPRINT_BYTES];
    stream.read_exact(&mut key).await?;
    Ok((stream, Destination::Other(key)))
}

async fn reach(ways: Vec<SocketAddr>) -> Option<TcpStream> {
    for at in ways {
        if let Ok(stream) = TcpStream::connect(at).await {
            set_options(&stream);
            return Some(stream);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    #[tokio::test]
    async fn who_opens_many_connections_keeps_nobody_else_out() {
        let half_open = HalfOpen::default();
        let source = |last| IpAddr::from(Ipv4Addr::new(10, last, 0, 1));
        let forever = || tokio::spawn(std::future::pending::<()>()).abort_handle();
        half_open.add(0, source(1), forever());
        half_open.add(1, source(2), forever());
        for number in 2..3000 {
            half_open.add(number, source(3), forever());
        }
        let waiting = half_open.lock();
        assert_eq!(waiting.all.len(), HALF_OPEN_MAX);
        assert!(waiting.all.contains_key(&0) && waiting.all.contains_key(&1));
        assert!(waiting.all.contains_key(&2999) && !waiting.all.contains_key(&2));
        drop(waiting);
        (0..3000).for_each(|number| half_open.remove(number));
        assert!(half_open.lock().by_source.is_empty());
    }

    #[tokio::test]
    async fn addresses_of_one_network_count_as_one_and_of_many_networks_the_oldest_goes() {
        let forever = || tokio::spawn(std::future::pending::<()>()).abort_handle();
        let host = IpAddr::from(Ipv4Addr::LOCALHOST);
        let half_open = HalfOpen::default();
        half_open.add(0, host, forever());
        for number in 1..3000u64 {
            let address = Ipv4Addr::from_bits(0x0a09_0000 + number as u32);
            half_open.add(number, address.into(), forever());
        }
        assert!(half_open.lock().all.contains_key(&0));
        for number in 3000..6000u64 {
            let address = u128::from(number) << 64 | 0x2001 << 112;
            half_open.add(number, std::net::Ipv6Addr::from_bits(address).into(), forever());
        }
        assert!(half_open.lock().all.contains_key(&0));
        // One connection of each network: the last one is not the one that goes.
        for number in 6000..6300u64 {
            let address = Ipv4Addr::from_bits((number as u32) << 16);
            half_open.add(number, address.into(), forever());
        }
        half_open.add(6300, host, forever());
        assert!(half_open.lock().all.contains_key(&6300));
    }

    /// Two ends of a connection.
    async fn connection() -> (TcpStream, TcpStream) {
        let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        (near, listener.accept().await.unwrap().0)
    }

    #[tokio::test]
    async fn a_stranger_that_is_handed_on_and_says_nothing_holds_no_place() {
        let ((stranger, from), (to, host)) = (connection().await, connection().await);
        // The host has waited long enough, and ends it; the stranger does not.
        drop(host);
        carry(from, to, Duration::from_millis(50)).await;
        drop(stranger);
    }
}
