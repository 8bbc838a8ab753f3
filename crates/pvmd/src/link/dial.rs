//! Calling another host: the endpoints that lead to it, one after the other, until one proves the
//! key.

use crate::link::door::{PREFACE, TOKEN_PREFACE};
use crate::link::intake::Intake;
use crate::link::socket::set_options;
use crate::tls::Fingerprint;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_rustls::{TlsConnector, TlsStream, client};

/// The time that a host may take to answer at one of its addresses, at the first try and at most:
/// an address that leads nowhere must not hold up the second look at the others.
pub(crate) const CONNECT_FIRST: Duration = Duration::from_millis(400);
pub(crate) const CONNECT_MAX: Duration = Duration::from_secs(3);
/// The time that it may take to prove its key.
const HANDSHAKE_TIME: Duration = Duration::from_secs(5);
/// Between the attempts at one address of a host and the next.
const NEXT_ADDRESS: Duration = Duration::from_millis(50);

/// An address at which a host may be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Endpoint {
    /// The address to connect to.
    pub(crate) at: SocketAddr,
    /// Another host listens there, which hands on to the one with the right key.
    pub(crate) relay: bool,
}

/// The outcome of a call.
#[derive(Debug)]
pub(crate) enum Dialed {
    /// The owner of the key has accepted ours and begun to speak.
    Up(Box<TlsStream<Intake>>, Vec<u8>),
    /// The owner of the key does not accept ours.
    Refused,
    /// No host with the key answers.
    Silent,
}

/// Tries all endpoints. Attempts begin one after the other, a moment apart, so that a dead address
/// costs nothing but that.
pub(crate) async fn dial(
    endpoints: &[Endpoint],
    key: &Fingerprint,
    config: &Arc<ClientConfig>,
    patience: Duration,
) -> Dialed {
    let mut attempts = JoinSet::new();
    for (place, endpoint) in (0..).zip(endpoints.iter().copied()) {
        attempts.spawn(async move {
            sleep(NEXT_ADDRESS * place).await;
            let stream = timeout(patience, TcpStream::connect(endpoint.at)).await.ok()?.ok()?;
            Some((endpoint, stream))
        });
    }
    let mut outcome = Dialed::Silent;
    while let Some(attempt) = attempts.join_next().await {
        let Ok(Some((endpoint, stream))) = attempt else { continue };
        let proving = prove(endpoint, stream, key, config.clone());
        match timeout(HANDSHAKE_TIME, proving).await {
            Ok(Ok((stream, first))) => return Dialed::Up(Box::new(stream), first),
            // What an authenticated peer says is an alert.
            Ok(Err(error)) if error.kind() == std::io::ErrorKind::ConnectionRefused => {
                outcome = Dialed::Refused;
            }
            _ => {}
        }
    }
    outcome
}

/// Connects to the owner of a key for a purpose of its own: the first endpoint that answers.
pub(crate) async fn dial_once(
    endpoints: &[Endpoint],
    key: &Fingerprint,
    config: &Arc<ClientConfig>,
) -> Option<client::TlsStream<Intake>> {
    for &endpoint in endpoints {
        let Ok(Ok(stream)) = timeout(CONNECT_FIRST, TcpStream::connect(endpoint.at)).await else {
            continue;
        };
        if let Ok(stream) = shake_hands(endpoint, stream, key, config.clone()).await {
            return Some(stream);
        }
    }
    None
}

/// Connects to the owner of the key in `config`, where an unknown host may use a token.
pub(crate) async fn dial_token(
    endpoints: &[Endpoint],
    config: &Arc<ClientConfig>,
) -> Option<client::TlsStream<Intake>> {
    for &endpoint in endpoints.iter().filter(|endpoint| !endpoint.relay) {
        let connected = timeout(CONNECT_MAX, TcpStream::connect(endpoint.at)).await;
        let Ok(Ok(mut stream)) = connected else { continue };
        set_options(&stream);
        let proved = async {
            stream.write_all(TOKEN_PREFACE).await?;
            TlsConnector::from(config.clone())
                .connect(ServerName::from(endpoint.at.ip()), Intake::new(stream))
                .await
        };
        if let Ok(Ok(stream)) = timeout(HANDSHAKE_TIME, proved).await {
            return Some(stream);
        }
    }
    None
}

async fn shake_hands(
    endpoint: Endpoint,
    mut stream: TcpStream,
    key: &Fingerprint,
    config: Arc<ClientConfig>,
) -> std::io::Result<client::TlsStream<Intake>> {
    set_options(&stream);
    if endpoint.relay {
        stream.write_all(&[PREFACE, &key[..]].concat()).await?;
    }
    let name = ServerName::from(endpoint.at.ip());
    TlsConnector::from(config).connect(name, Intake::new(stream)).await
}

/// Proves the keys, and waits for the first bytes of the hello: only they say that the other side
/// has accepted this side's key.
async fn prove(
    endpoint: Endpoint,
    stream: TcpStream,
    key: &Fingerprint,
    config: Arc<ClientConfig>,
) -> std::io::Result<(TlsStream<Intake>, Vec<u8>)> {
    let mut stream = TlsStream::from(shake_hands(endpoint, stream, key, config).await?);
    let mut first = Vec::with_capacity(1024);
    let refused = std::io::ErrorKind::ConnectionRefused;
    match stream.read_buf(&mut first).await {
        Ok(n) if n > 0 => Ok((stream, first)),
        Err(error) if error.kind() == std::io::ErrorKind::InvalidData => Err(refused.into()),
        Ok(_) => Err(std::io::ErrorKind::UnexpectedEof.into()),
        Err(error) => Err(error),
    }
}
