//! Who knocks: strangers who prove nothing, hosts of the machine, and hosts that want to be handed
//! on to another one that only this daemon reaches.
//!
//! Whoever is handed on proves its key to the other host and not here: what passes is encrypted
//! between those two. There is nothing behind this door but doors of the same kind.

use crate::link::socket::set_options;
use crate::tls::Fingerprint;
use rustls::ServerConfig;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;
use tokio::task::AbortHandle;
use tokio::time::timeout;
use tokio_rustls::{TlsAcceptor, TlsStream};

/// How long a peer may take to prove its key.
const HANDSHAKE_TIME: Duration = Duration::from_secs(5);
/// How many may be about to do so.
const HALF_OPEN_MAX: usize = 256;
/// How many are handed on at the same time.
const RELAYED_MAX: usize = 1024;
/// Comes before the handshake with another host, whose fingerprint follows. No handshake begins
/// with its first byte.
pub(crate) const PREFACE: &[u8] = b"NPVMvia1";
const FINGERPRINT_BYTES: usize = 32;

/// Those who have connected and proved nothing yet, the oldest first.
#[derive(Clone, Debug, Default)]
pub(crate) struct HalfOpen(Arc<Mutex<BTreeMap<u64, AbortHandle>>>);

impl HalfOpen {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, AbortHandle>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One more; the oldest goes if there are too many. The task begins after this, as the daemon
    /// has one thread.
    pub(crate) fn add(&self, number: u64, task: AbortHandle) {
        let mut all = self.lock();
        all.insert(number, task);
        while all.len() > HALF_OPEN_MAX
            && let Some((_, oldest)) = all.pop_first()
        {
            oldest.abort();
        }
    }

    /// It has proved its key, or failed to.
    pub(crate) fn remove(&self, number: u64) {
        self.lock().remove(&number);
    }
}

/// Whom this daemon hands on to, and where they are reached from here.
#[derive(Clone, Debug, Default)]
pub(crate) struct Relays {
    ways: Arc<RwLock<BTreeMap<Fingerprint, Vec<SocketAddr>>>>,
    /// Counts those that are in use.
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

/// Lets a peer prove its key. None for strangers, and for those who were handed on to the end.
pub(crate) async fn answer(
    stream: TcpStream,
    config: Arc<ServerConfig>,
    own: &Fingerprint,
    relays: &Relays,
    proved: impl Fn(),
) -> Option<TlsStream<TcpStream>> {
    set_options(&stream);
    let Ok(Ok((stream, key))) = timeout(HANDSHAKE_TIME, preface(stream)).await else {
        proved();
        return None;
    };
    if let Some(key) = key.filter(|key| key != own) {
        let reached = timeout(HANDSHAKE_TIME, reach(relays.ways_to(&key))).await;
        proved();
        let place = relays.used.clone();
        if let Ok(Some(other)) = reached
            && Arc::strong_count(&place) <= RELAYED_MAX
        {
            let (mut from, mut to) = (stream, other);
            let _ = tokio::io::copy_bidirectional(&mut from, &mut to).await;
        }
        drop(place);
        return None;
    }
    let accepted = timeout(HANDSHAKE_TIME, TlsAcceptor::from(config).accept(stream)).await;
    proved();
    Some(accepted.ok()?.ok()?.into())
}

/// Takes the preface away, if there is one: whom the peer wants.
async fn preface(mut stream: TcpStream) -> std::io::Result<(TcpStream, Option<Fingerprint>)> {
    let mut first = [0];
    if stream.peek(&mut first).await? == 0 || first[0] != PREFACE[0] {
        return Ok((stream, None));
    }
    let mut bytes = vec![0; PREFACE.len() + FINGERPRINT_BYTES];
    stream.read_exact(&mut bytes).await?;
    if !bytes.starts_with(PREFACE) {
        return Err(std::io::ErrorKind::InvalidData.into());
    }
    Ok((stream, Some(bytes.split_off(PREFACE.len()))))
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
