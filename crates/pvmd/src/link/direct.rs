//! Connections that two tasks shall have: the daemons make the handshake and let go.
//!
//! The caller names the two tasks and waits for one byte, so that each side knows that the other
//! has accepted its key. After that byte the answering side says nothing until it has heard a
//! record, so no byte of the tasks is caught in a daemon.

use crate::link::dial::{Endpoint, dial_once};
use crate::link::intake::Intake;
use crate::tls::{self, Fingerprint, peer_fingerprint};
use anyhow::{Context as _, Result, bail};
use pvm_wire::Tid;
use pvm_wire::route::Route;
use rustls::ClientConfig;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio_rustls::server;

/// Says that the other side's key is accepted.
const ACCEPTED: u8 = 1;

/// The outcome of a connection for two tasks.
#[derive(Debug)]
pub(crate) struct DirectConnection {
    /// The task here.
    pub(crate) local: Tid,
    /// The task there.
    pub(crate) peer: Tid,
    /// The key that the other side has proved, if it called.
    pub(crate) key: Option<Fingerprint>,
    /// The socket and this end's keys; none if it could not be made.
    pub(crate) route: Option<(OwnedFd, Route)>,
}

/// Connects the two tasks `local` and `peer`.
pub(crate) async fn call(
    (endpoints, key): (&[Endpoint], &Fingerprint),
    config: Arc<ClientConfig>,
    (local, peer): (Tid, Tid),
) -> Result<DirectConnection> {
    let mut stream = dial_once(endpoints, key, &config).await.context("no way to the host")?;
    let mut whose = Vec::new();
    whose.extend_from_slice(&local.0.to_le_bytes());
    whose.extend_from_slice(&peer.0.to_le_bytes());
    stream.write_all(&whose).await?;
    stream.flush().await?;
    if stream.read_u8().await? != ACCEPTED {
        bail!("not accepted");
    }
    let (socket, connection) = stream.into_inner();
    let (seal, open) = tls::record_keys(connection.dangerous_extract_secrets()?);
    let route = Route { peer, first: true, seal, open };
    Ok(DirectConnection { local, peer, key: None, route: Some((descriptor(socket)?, route)) })
}

/// Answers a peer that has proved a known key.
pub(crate) async fn answer(mut stream: server::TlsStream<Intake>) -> Result<DirectConnection> {
    let key = peer_fingerprint(stream.get_ref().1).context("no key")?;
    let peer = Tid(stream.read_u32_le().await?);
    let local = Tid(stream.read_u32_le().await?);
    stream.write_all(&[ACCEPTED]).await?;
    stream.flush().await?;
    let (socket, connection) = stream.into_inner();
    let (seal, open) = tls::record_keys(connection.dangerous_extract_secrets()?);
    let route = Route { peer, first: false, seal, open };
    Ok(DirectConnection { local, peer, key: Some(key), route: Some((descriptor(socket)?, route)) })
}

fn descriptor(socket: Intake) -> Result<OwnedFd> {
    Ok(socket.into_stream().into_std()?.into())
}
