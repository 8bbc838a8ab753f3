//! One encrypted connection: made from either side, then a task that reads and one that writes.

use crate::link::frames::{FRAME_BYTES_MAX, LinkFrame};
use crate::tls::{Fingerprint, peer_fingerprint};
use pvm_wire::{FrameBuffer, HostIndex, Wire as _, write_frame};
use rustix::net::sockopt;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ServerConfig};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, ReadHalf, WriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::{AbortHandle, JoinHandle};
use tokio::time::{sleep, timeout};
use tokio_rustls::{TlsAcceptor, TlsConnector, TlsStream};

/// How long a peer may take to prove its key.
const HANDSHAKE_TIME: Duration = Duration::from_secs(5);
/// How many may be about to do so.
const HALF_OPEN_MAX: usize = 64;
/// Between two attempts to connect.
const RETRY_FIRST: Duration = Duration::from_millis(20);
const RETRY_MAX: Duration = Duration::from_secs(1);
/// Batches of frames that wait for the network; more are not made.
const BATCHES: usize = 4;
/// Frames that wait for the shell; while they do, nothing is read.
const EVENTS: usize = 64;
/// The kernel asks a silent peer after this time, so often, at this distance.
const ALIVE_IDLE: Duration = Duration::from_secs(2);
const ALIVE_DISTANCE: Duration = Duration::from_secs(1);
const ALIVE_COUNT: u32 = 3;

/// What connections tell the shell.
#[derive(Debug)]
pub(crate) enum LinkEvent {
    /// A peer has proved its key.
    Up {
        /// The connection.
        connection: Connection,
        /// Whose key it is.
        fingerprint: Fingerprint,
        /// The host that was called, if this side called.
        called: Option<HostIndex>,
    },
    /// A frame came.
    Frame {
        /// On this connection.
        id: u64,
        /// The frame.
        frame: LinkFrame,
    },
    /// There is room for more on a connection.
    Room,
    /// The connection is gone.
    Down {
        /// Which.
        id: u64,
    },
}

/// Where connections tell it.
pub(crate) type Events = mpsc::Sender<LinkEvent>;

/// The shell's end of it.
pub(crate) fn events() -> (Events, mpsc::Receiver<LinkEvent>) {
    mpsc::channel(EVENTS)
}

/// A connection as the shell holds it. Dropped, it sends what was accepted and closes.
#[derive(Debug)]
pub(crate) struct Connection {
    /// Its number.
    pub(crate) id: u64,
    batches: mpsc::Sender<Vec<u8>>,
    reader: Reader,
    writer: JoinHandle<()>,
}

/// Stops reading when dropped.
#[derive(Debug)]
struct Reader(AbortHandle);

impl Drop for Reader {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Connection {
    /// Room for a batch of frames, if there is any.
    pub(crate) fn room(&self) -> Option<mpsc::Permit<'_, Vec<u8>>> {
        self.batches.try_reserve().ok()
    }

    /// Sends one frame if there is room.
    pub(crate) fn send(&self, frame: &LinkFrame) {
        let mut batch = Vec::new();
        write_frame(&mut batch, 0, frame);
        let _ = self.batches.try_send(batch);
    }

    /// Sends what was accepted and one frame more, then closes.
    pub(crate) async fn finish(self, last: &LinkFrame, time: Duration) {
        let Self { batches, reader, writer, .. } = self;
        drop(reader);
        let mut batch = Vec::new();
        write_frame(&mut batch, 0, last);
        let sent = async {
            let _ = batches.send(batch).await;
            drop(batches);
            let _ = writer.await;
        };
        let _ = timeout(time, sent).await;
    }
}

/// Numbers connections.
#[derive(Debug)]
pub(crate) struct Wiring {
    events: Events,
    last: std::sync::atomic::AtomicU64,
}

impl Wiring {
    /// For connections that tell the shell there.
    pub(crate) fn new(events: Events) -> Arc<Self> {
        Arc::new(Self { events, last: 0.into() })
    }

    /// Calls until there is an answer from the owner of the key.
    pub(crate) fn call(
        self: &Arc<Self>,
        address: SocketAddr,
        config: Arc<ClientConfig>,
        called: Option<HostIndex>,
    ) -> AbortHandle {
        let wiring = self.clone();
        let calling = tokio::spawn(async move {
            let mut retry = RETRY_FIRST;
            loop {
                let connected = timeout(HANDSHAKE_TIME, connect(address, config.clone())).await;
                if let Ok(Ok((stream, first))) = connected {
                    return wiring.up(stream, called, first).await;
                }
                sleep(retry).await;
                retry = (retry * 2).min(RETRY_MAX);
            }
        });
        calling.abort_handle()
    }

    /// Answers everybody who proves a known key.
    pub(crate) fn listen(self: &Arc<Self>, listener: TcpListener, config: Arc<ServerConfig>) {
        let wiring = self.clone();
        let half_open = Arc::new(Semaphore::new(HALF_OPEN_MAX));
        tokio::spawn(async move {
            let acceptor = TlsAcceptor::from(config);
            loop {
                let place = half_open.clone().acquire_owned().await;
                let Ok((stream, _)) = listener.accept().await else {
                    // Out of descriptors, most likely: others will be closed.
                    sleep(RETRY_MAX).await;
                    continue;
                };
                let (wiring, acceptor) = (wiring.clone(), acceptor.clone());
                tokio::spawn(async move {
                    set_options(&stream);
                    let accepted = timeout(HANDSHAKE_TIME, acceptor.accept(stream)).await;
                    drop(place);
                    if let Ok(Ok(stream)) = accepted {
                        wiring.up(stream.into(), None, Vec::new()).await;
                    }
                });
            }
        });
    }

    async fn up(&self, stream: TlsStream<TcpStream>, called: Option<HostIndex>, first: Vec<u8>) {
        let Some(fingerprint) = peer_fingerprint(stream.get_ref().1) else { return };
        let id = 1 + self.last.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let (batches, queue) = mpsc::channel(BATCHES);
        let (reader, writer) = tokio::io::split(stream);
        let writer = tokio::spawn(write(writer, queue, self.events.clone(), id));
        // The reader waits for its turn, so that nothing of it is told before the connection is.
        let (start, started) = tokio::sync::oneshot::channel();
        let events = self.events.clone();
        let reader = tokio::spawn(async move {
            if started.await.is_ok() {
                read(reader, first, &events, id).await;
                let _ = events.send(LinkEvent::Down { id }).await;
            }
        });
        let connection = Connection { id, batches, reader: Reader(reader.abort_handle()), writer };
        let up = LinkEvent::Up { connection, fingerprint, called };
        if self.events.send(up).await.is_ok() {
            let _ = start.send(());
        }
    }
}

/// Connects, and waits for the first bytes of the hello: only they say that the other side has
/// accepted this side's key.
async fn connect(
    address: SocketAddr,
    config: Arc<ClientConfig>,
) -> std::io::Result<(TlsStream<TcpStream>, Vec<u8>)> {
    let stream = TcpStream::connect(address).await?;
    set_options(&stream);
    let name = ServerName::from(address.ip());
    let mut stream = TlsStream::from(TlsConnector::from(config).connect(name, stream).await?);
    let mut first = Vec::with_capacity(1024);
    match stream.read_buf(&mut first).await? {
        0 => Err(std::io::ErrorKind::ConnectionRefused.into()),
        _ => Ok((stream, first)),
    }
}

/// A peer that is silent for ever is noticed by the kernel, without a timer of ours.
fn set_options(stream: &TcpStream) {
    let total = ALIVE_IDLE + ALIVE_DISTANCE * ALIVE_COUNT;
    let _ = stream.set_nodelay(true);
    let _ = sockopt::set_socket_keepalive(stream, true);
    let _ = sockopt::set_tcp_keepidle(stream, ALIVE_IDLE);
    let _ = sockopt::set_tcp_keepintvl(stream, ALIVE_DISTANCE);
    let _ = sockopt::set_tcp_keepcnt(stream, ALIVE_COUNT);
    let _ = sockopt::set_tcp_user_timeout(stream, total.as_millis() as u32);
}

async fn read(
    mut stream: ReadHalf<TlsStream<TcpStream>>,
    first: Vec<u8>,
    events: &Events,
    id: u64,
) {
    let mut frames = FrameBuffer::new(FRAME_BYTES_MAX);
    frames.push(&first);
    let mut scratch = vec![0; 64 << 10];
    loop {
        loop {
            let frame = match frames.next_frame() {
                Ok(None) => break,
                Ok(Some((_, payload))) => LinkFrame::from_bytes(payload),
                Err(error) => Err(error),
            };
            // A daemon that talks nonsense is as good as gone.
            let Ok(frame) = frame else { return };
            if events.send(LinkEvent::Frame { id, frame }).await.is_err() {
                return;
            }
        }
        match stream.read(&mut scratch).await {
            Ok(n) if n > 0 => frames.push(&scratch[..n]),
            _ => return,
        }
    }
}

async fn write(
    mut stream: WriteHalf<TlsStream<TcpStream>>,
    mut queue: mpsc::Receiver<Vec<u8>>,
    events: Events,
    id: u64,
) {
    while let Some(batch) = queue.recv().await {
        if stream.write_all(&batch).await.is_err() {
            let _ = events.send(LinkEvent::Down { id }).await;
            return;
        }
        if queue.is_empty() && stream.flush().await.is_err() {
            let _ = events.send(LinkEvent::Down { id }).await;
            return;
        }
        let _ = events.send(LinkEvent::Room).await;
    }
    let _ = stream.shutdown().await;
}
