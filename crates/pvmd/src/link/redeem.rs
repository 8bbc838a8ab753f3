//! The one exchange that a daemon with an unknown key may have: a token for a place in the machine.
//!
//! Inside TLS, where the owner of the token has checked the machine's key: one frame each way, both
//! small, and the connection ends.

use crate::launch::token::Token;
use crate::link::dial::{Endpoint, dial_token};
use crate::link::intake::Intake;
use crate::tls::peer_fingerprint;
use anyhow::{Context as _, Result, bail};
use pvm_wire::peer::HostFacts;
use pvm_wire::route::Secret;
use pvm_wire::{FrameBuffer, PROTOCOL_VERSION, Wire, record, write_frame};
use rustls::ClientConfig;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::time::timeout;
use tokio_rustls::TlsStream;

/// The largest frame: facts are a few hundred bytes.
const FRAME_BYTES_MAX: usize = 16 << 10;
/// The time that all of it may take.
const TIME: Duration = Duration::from_secs(5);

record! {
    /// The request of the new host.
    pub struct Redeem {
        /// The protocol that it speaks.
        pub protocol: u16,
        /// The number of the token.
        pub id: u64,
        /// Its secret.
        pub secret: Secret,
        /// The facts of the new host.
        pub facts: HostFacts,
    }

    /// The answer to it.
    pub struct Redeemed {
        /// Empty if it may call now.
        pub refusal: String,
    }
}

/// Answers a peer that has shown a key that is not known here. `ask` decides, and gives a text if
/// it refuses.
pub(crate) async fn answer(
    mut stream: TlsStream<Intake>,
    ask: impl AsyncFnOnce(Redeem) -> Result<String>,
) {
    let _ = timeout(TIME, exchange(&mut stream, ask)).await;
}

async fn exchange(
    stream: &mut TlsStream<Intake>,
    ask: impl AsyncFnOnce(Redeem) -> Result<String>,
) -> Result<()> {
    let key = peer_fingerprint(stream.get_ref().1).context("no key")?;
    let redeem: Redeem = read(stream).await?;
    let refusal = if redeem.protocol != PROTOCOL_VERSION {
        format!("the machine speaks protocol {PROTOCOL_VERSION}, the new host another one")
    } else if redeem.facts.key.0 != key {
        "the key is another host's".to_owned()
    } else {
        ask(redeem).await?
    };
    write(stream, &Redeemed { refusal }).await
}

/// Uses a token: if all goes well the machine's daemon lets this one's key in.
pub(crate) async fn call(
    endpoints: &[Endpoint],
    config: &Arc<ClientConfig>,
    token: &Token,
    facts: &HostFacts,
) -> Result<()> {
    let mut stream = dial_token(endpoints, config).await.context(
        "nobody with the token's key answers at its addresses: has the machine ended, or the \
         token's time?",
    )?;
    let (id, secret) = (token.id, token.secret.clone());
    let redeem = Redeem { protocol: PROTOCOL_VERSION, id, secret, facts: facts.clone() };
    let Redeemed { refusal } = timeout(TIME, async {
        write(&mut stream, &redeem).await?;
        read(&mut stream).await
    })
    .await
    .context("the machine does not answer")??;
    if refusal.is_empty() { Ok(()) } else { bail!("the machine refuses: {refusal}") }
}

async fn read<T: Wire>(stream: &mut (impl AsyncRead + Unpin)) -> Result<T> {
    let mut frames = FrameBuffer::new(FRAME_BYTES_MAX);
    let mut bytes = [0; 2048];
    loop {
        if let Some((_, payload)) = frames.next_frame()? {
            return Ok(T::from_bytes(payload)?);
        }
        match stream.read(&mut bytes).await? {
            0 => bail!("the connection ended"),
            n => frames.push(&bytes[..n]),
        }
    }
}

async fn write(stream: &mut (impl AsyncWrite + Unpin), value: &impl Wire) -> Result<()> {
    let mut out = Vec::new();
    write_frame(&mut out, 0, value);
    stream.write_all(&out).await?;
    stream.flush().await?;
    Ok(())
}
