//! One encrypted connection: made from either side, then a task that reads and one that writes.

use crate::link::ahead::{Ahead, Room};
use crate::link::dial::{CONNECT_FIRST, CONNECT_MAX, Dialed, Way, dial};
use crate::link::direct::{self, Made};
use crate::link::door::{Door, HalfOpen, Visitor, answer};
use crate::link::frames::{FRAME_BYTES_MAX, LinkFrame};
use crate::link::pulse::{self, Pulse};
use crate::link::redeem::{self, Redeem};
use crate::link::socket;
use crate::tls::{self, Fingerprint, peer_fingerprint};
use pvm_wire::{FrameBuffer, HostIndex, Tid, Wire as _, write_frame};
use rustls::ClientConfig;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, ReadHalf, WriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, oneshot};
use tokio::task::{AbortHandle, JoinHandle};
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsStream;

/// Between two attempts to connect.
const RETRY_FIRST: Duration = Duration::from_millis(20);
const RETRY_MAX: Duration = Duration::from_secs(1);
/// Bytes in front of a frame, of which the first four tell its length.
const FRAME_HEAD: usize = 8;
/// How long a connection for two tasks may take to be made.
const DIRECT_TIME: Duration = Duration::from_secs(5);
/// Batches of frames of each class that wait for the network; more are not made.
const BATCHES: usize = 2;
/// Short frames that hurry; what finds no place among them is lost.
const URGENT: usize = 256;
/// What TLS takes before the kernel does.
const SEALED_BYTES: usize = 16 << 10;
/// Where a batch takes longer to be written, the cable is slow: the next one goes frame by frame, so
/// that what comes meanwhile overtakes the rest of it.
const SLOW_TIME: Duration = Duration::from_millis(10);
/// How often it is looked whether a connection that is full takes more.
const LOOK: Duration = Duration::from_millis(5);
/// Frames that wait for the shell; while they do, nothing is read.
const EVENTS: usize = 64;

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
    /// A member that this side called does not accept this side's key.
    Refused,
    /// The connection is gone.
    Down {
        /// Which.
        id: u64,
    },
    /// Nothing has come on a connection for too long.
    Silent {
        /// Which.
        id: u64,
    },
    /// Somebody wants a place for a token.
    Redeem {
        /// What was said.
        redeem: Box<Redeem>,
        /// Where the answer is waited for: empty, or why not.
        answer: oneshot::Sender<String>,
    },
    /// A connection for two tasks is made, or cannot be.
    Direct(Made),
}

/// Where connections tell it.
pub(crate) type Events = mpsc::Sender<LinkEvent>;

/// The shell's end of it.
pub(crate) fn events() -> (Events, mpsc::Receiver<LinkEvent>) {
    mpsc::channel(EVENTS)
}

/// What goes before what: each class overtakes the next one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Class {
    /// What machines say.
    Said,
    /// Messages of tasks.
    Messages,
}

/// Batches of one class that wait.
struct Waiting {
    batches: mpsc::Receiver<Vec<u8>>,
    /// Frames of one that was taken and have not gone.
    rest: Vec<u8>,
}

impl Waiting {
    const fn new(batches: mpsc::Receiver<Vec<u8>>) -> Self {
        Self { batches, rest: Vec::new() }
    }

    /// What was left of the last one, or the next one.
    async fn next(&mut self) -> Option<Vec<u8>> {
        if self.rest.is_empty() {
            return self.batches.recv().await;
        }
        Some(std::mem::take(&mut self.rest))
    }

    fn is_empty(&self) -> bool {
        self.rest.is_empty() && self.batches.is_empty()
    }
}

/// Where a connection's writer takes batches from, the first that has one.
struct Queues {
    urgent: mpsc::Receiver<Vec<u8>>,
    said: Waiting,
    messages: Waiting,
}

impl Queues {
    const fn new(
        urgent: mpsc::Receiver<Vec<u8>>,
        said: mpsc::Receiver<Vec<u8>>,
        messages: mpsc::Receiver<Vec<u8>>,
    ) -> Self {
        Self { urgent, said: Waiting::new(said), messages: Waiting::new(messages) }
    }

    /// What goes next, and what there is room for then; without room it is only what is urgent.
    async fn next(&mut self, look: impl Fn() -> Room) -> Option<(Batch, Room)> {
        loop {
            let room = look();
            let some = room != Room::None;
            let Self { urgent, said, messages } = self;
            let taken = tokio::select! {
                biased;
                Some(bytes) = urgent.recv() => (None, Some(bytes)),
                () = sleep(LOOK), if !some => continue,
                Some(bytes) = said.next(), if some => (Some(Class::Said), Some(bytes)),
                bytes = messages.next(), if some => (Some(Class::Messages), bytes),
            };
            let (class, bytes) = taken;
            return bytes.map(|bytes| (Batch { class, bytes }, room));
        }
    }

    /// Takes back all but the first frame of a batch: others are to go between its frames.
    fn divide(&mut self, batch: &mut Batch) {
        let head =
            batch.bytes.first_chunk().map_or(0, |length| u32::from_le_bytes(*length) as usize);
        let first = (FRAME_HEAD + head).min(batch.bytes.len());
        match batch.class {
            None => {}
            Some(Class::Said) => self.said.rest = batch.bytes.split_off(first),
            Some(Class::Messages) => self.messages.rest = batch.bytes.split_off(first),
        }
    }

    fn is_empty(&self) -> bool {
        self.urgent.is_empty() && self.said.is_empty() && self.messages.is_empty()
    }
}

/// What goes next.
struct Batch {
    /// Of what; none where it is urgent.
    class: Option<Class>,
    bytes: Vec<u8>,
}

/// A connection as the shell holds it. Dropped, it sends what was accepted and closes.
#[derive(Debug)]
pub(crate) struct Connection {
    /// Its number.
    pub(crate) id: u64,
    urgent: mpsc::Sender<Vec<u8>>,
    said: mpsc::Sender<Vec<u8>>,
    messages: mpsc::Sender<Vec<u8>>,
    reader: Reader,
    writer: JoinHandle<()>,
}

/// Stops reading when dropped.
#[derive(Debug)]
struct Reader(JoinHandle<()>);

impl Drop for Reader {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Connection {
    /// Room for a batch of frames, if there is any.
    pub(crate) fn room(&self, class: Class) -> Option<mpsc::Permit<'_, Vec<u8>>> {
        match class {
            Class::Said => &self.said,
            Class::Messages => &self.messages,
        }
        .try_reserve()
        .ok()
    }

    /// Sends a short frame before all that waits, if there is room.
    pub(crate) fn urge(&self, frame: Vec<u8>) {
        let _ = self.urgent.try_send(frame);
    }

    /// Sends one frame if there is room.
    pub(crate) fn send(&self, frame: &LinkFrame) {
        let mut batch = Vec::new();
        write_frame(&mut batch, 0, frame);
        let _ = self.said.try_send(batch);
    }

    /// Sends what was accepted and one frame more, then closes, and waits until the other side has
    /// closed, too: then it has all. Somebody must take the events meanwhile.
    pub(crate) async fn finish(self, last: &LinkFrame, time: Duration) {
        let Self { urgent, said, messages, mut reader, writer, .. } = self;
        let mut batch = Vec::new();
        write_frame(&mut batch, 0, last);
        let closed = async {
            let _ = messages.send(batch).await;
            drop((urgent, said, messages));
            let _ = writer.await;
            let _ = (&mut reader.0).await;
        };
        let _ = timeout(time, closed).await;
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

    /// Calls until there is an answer from the owner of the key on one of these ways.
    pub(crate) fn call(
        self: &Arc<Self>,
        ways: Vec<Way>,
        key: Fingerprint,
        config: Arc<ClientConfig>,
        called: Option<HostIndex>,
    ) -> AbortHandle {
        let wiring = self.clone();
        let calling = tokio::spawn(async move {
            let (mut retry, mut patience) = (RETRY_FIRST, CONNECT_FIRST);
            loop {
                match dial(&ways, &key, &config, patience).await {
                    Dialed::Up(stream, first) => return wiring.up(*stream, called, first).await,
                    // What one says that is no member any more does not count.
                    Dialed::Refused if called.is_some() => {
                        drop(wiring.events.send(LinkEvent::Refused).await);
                    }
                    Dialed::Refused | Dialed::Silent => {}
                }
                sleep(retry).await;
                retry = (retry * 2).min(RETRY_MAX);
                // With a detour there is no need to wait for a long way.
                if !ways.iter().any(|way| way.relay) {
                    patience = (patience * 2).min(CONNECT_MAX);
                }
            }
        });
        calling.abort_handle()
    }

    /// Makes a connection for two tasks, once.
    pub(crate) fn call_direct(
        self: &Arc<Self>,
        (ways, key): (Vec<Way>, Fingerprint),
        config: Arc<ClientConfig>,
        pair: (Tid, Tid),
    ) {
        let wiring = self.clone();
        tokio::spawn(async move {
            let calling = direct::call((&ways, &key), config, pair);
            let made = match timeout(DIRECT_TIME, calling).await {
                Ok(Ok(made)) => made,
                _ => Made { local: pair.0, peer: pair.1, key: None, route: None },
            };
            let _ = wiring.events.send(LinkEvent::Direct(made)).await;
        });
    }

    /// Answers everybody who proves a known key. Of those who have not yet, the oldest goes when
    /// there are too many: strangers who say nothing keep nobody out.
    pub(crate) fn listen(self: &Arc<Self>, listener: TcpListener, door: Door) {
        let wiring = self.clone();
        tokio::spawn(async move {
            let half_open = HalfOpen::default();
            for number in 0.. {
                let Ok((stream, from)) = listener.accept().await else {
                    // Out of descriptors, most likely: others will be closed.
                    sleep(RETRY_MAX).await;
                    continue;
                };
                let (wiring, door, proving) = (wiring.clone(), door.clone(), half_open.clone());
                let task = tokio::spawn(async move {
                    let proved = || proving.remove(number);
                    match answer(stream, &door, proved).await {
                        Some(Visitor::Known(TlsStream::Server(stream)))
                            if tls::is_direct(stream.get_ref().1) =>
                        {
                            let answered = timeout(DIRECT_TIME, direct::answer(stream)).await;
                            if let Ok(Ok(made)) = answered {
                                let _ = wiring.events.send(LinkEvent::Direct(made)).await;
                            }
                        }
                        Some(Visitor::Known(stream)) => wiring.up(stream, None, Vec::new()).await,
                        Some(Visitor::Bearer(stream)) => {
                            redeem::answer(stream, |redeem| wiring.ask(redeem)).await;
                            proved();
                        }
                        None => {}
                    }
                });
                half_open.add(number, from.ip(), task.abort_handle());
            }
        });
    }

    /// Asks the shell whether a token is good.
    async fn ask(&self, redeem: Redeem) -> anyhow::Result<String> {
        let (answer, answered) = oneshot::channel();
        self.events.send(LinkEvent::Redeem { redeem: Box::new(redeem), answer }).await?;
        Ok(answered.await?)
    }

    async fn up(
        &self,
        mut stream: TlsStream<TcpStream>,
        called: Option<HostIndex>,
        first: Vec<u8>,
    ) {
        let Some(fingerprint) = peer_fingerprint(stream.get_ref().1) else { return };
        bound_what_waits(&mut stream);
        let id = 1 + self.last.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let (urgent, urgents) = mpsc::channel(URGENT);
        let (said, saids) = mpsc::channel(BATCHES);
        let (messages, messages_waiting) = mpsc::channel(BATCHES);
        let queue = Queues::new(urgents, saids, messages_waiting);
        let ahead = Ahead::new(stream.get_ref().0);
        let (reader, writer) = tokio::io::split(stream);
        let pulse = Arc::new(Pulse::default());
        let (events, kept) = (self.events.clone(), pulse::keep(pulse.clone(), urgent.downgrade()));
        tokio::spawn(async move {
            if kept.await {
                let _ = events.send(LinkEvent::Silent { id }).await;
            }
        });
        let writer =
            tokio::spawn(write(writer, (queue, ahead, pulse.clone()), self.events.clone(), id));
        // The reader waits for its turn, so that nothing of it is told before the connection is.
        let (start, started) = oneshot::channel();
        let events = self.events.clone();
        let reader = tokio::spawn(async move {
            if started.await.is_ok() {
                read(reader, first, (&events, &pulse), id).await;
                let _ = events.send(LinkEvent::Down { id }).await;
            }
        });
        let connection = Connection { id, urgent, said, messages, reader: Reader(reader), writer };
        let up = LinkEvent::Up { connection, fingerprint, called };
        if self.events.send(up).await.is_ok() {
            let _ = start.send(());
        }
    }
}

/// What TLS and the kernel have taken nothing overtakes: they take little.
fn bound_what_waits(stream: &mut TlsStream<TcpStream>) {
    socket::bound_unsent(stream.get_ref().0);
    match stream {
        TlsStream::Client(stream) => stream.get_mut().1.set_buffer_limit(Some(SEALED_BYTES)),
        TlsStream::Server(stream) => stream.get_mut().1.set_buffer_limit(Some(SEALED_BYTES)),
    }
}

async fn read(
    mut stream: ReadHalf<TlsStream<TcpStream>>,
    first: Vec<u8>,
    (events, pulse): (&Events, &Pulse),
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
            if matches!(frame, LinkFrame::Beat) {
                continue;
            }
            pulse.set_full(true);
            if events.send(LinkEvent::Frame { id, frame }).await.is_err() {
                return;
            }
            pulse.set_full(false);
        }
        match stream.read(&mut scratch).await {
            Ok(n) if n > 0 => {
                pulse.heard();
                frames.push(&scratch[..n]);
            }
            _ => return,
        }
    }
}

async fn write(
    mut stream: WriteHalf<TlsStream<TcpStream>>,
    (mut queue, ahead, pulse): (Queues, Ahead, Arc<Pulse>),
    events: Events,
    id: u64,
) {
    let mut slow = false;
    while let Some((mut batch, room)) = queue.next(|| ahead.look()).await {
        let begin = Instant::now();
        let size = batch.bytes.len();
        if slow || room != Room::Free {
            queue.divide(&mut batch);
        }
        if stream.write_all(&batch.bytes).await.is_err() {
            let _ = events.send(LinkEvent::Down { id }).await;
            return;
        }
        if batch.class.is_some() {
            let share = size.div_ceil(batch.bytes.len().max(1)) as u32;
            slow = begin.elapsed() * share > SLOW_TIME;
        }
        if queue.is_empty() && stream.flush().await.is_err() {
            let _ = events.send(LinkEvent::Down { id }).await;
            return;
        }
        pulse.written();
        let _ = events.send(LinkEvent::Room).await;
    }
    let _ = stream.shutdown().await;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The next batch where there is room for all.
    async fn next(queues: &mut Queues) -> Option<Vec<u8>> {
        queues.next(|| Room::Free).await.map(|(batch, _)| batch.bytes)
    }

    #[tokio::test]
    async fn what_hurries_goes_before_what_machines_say_and_that_before_messages() {
        let ((urgent, urgents), (said, saids)) = (mpsc::channel(2), mpsc::channel(2));
        let (messages, waiting) = mpsc::channel(2);
        let mut queues = Queues::new(urgents, saids, waiting);
        for (queue, byte) in [(&messages, 3), (&messages, 4), (&said, 2), (&urgent, 1)] {
            queue.send(vec![byte]).await.expect("room");
        }
        let mut order = Vec::new();
        while !queues.is_empty() {
            order.extend(next(&mut queues).await.expect("a batch"));
        }
        assert_eq!(order, [1, 2, 3, 4]);
        // What was accepted goes out although nobody is left to say more.
        urgent.send(vec![5]).await.expect("room");
        drop((urgent, said, messages));
        assert_eq!(next(&mut queues).await, Some(vec![5]));
        assert!(next(&mut queues).await.is_none());
    }

    #[tokio::test]
    async fn where_the_cable_is_slow_others_go_between_the_frames_of_a_batch() {
        let ((urgent, urgents), (_said, saids)) = (mpsc::channel(2), mpsc::channel(2));
        let (messages, waiting) = mpsc::channel(2);
        let mut queues = Queues::new(urgents, saids, waiting);
        let mut frames = Vec::new();
        write_frame(&mut frames, 0, &LinkFrame::Beat);
        let first = frames.len();
        write_frame(&mut frames, 0, &LinkFrame::Goodbye);
        messages.send(frames.clone()).await.expect("room");
        let (mut batch, _) = queues.next(|| Room::Free).await.expect("a batch");
        queues.divide(&mut batch);
        assert_eq!(batch.bytes, frames[..first]);
        urgent.send(vec![1]).await.expect("room");
        assert_eq!(next(&mut queues).await, Some(vec![1]));
        assert_eq!(next(&mut queues).await.as_deref(), Some(&frames[first..]));
    }

    #[tokio::test]
    async fn while_much_waits_in_the_network_only_what_is_urgent_goes() {
        let ((urgent, urgents), (said, saids)) = (mpsc::channel(2), mpsc::channel(2));
        let (messages, waiting) = mpsc::channel(2);
        let mut queues = Queues::new(urgents, saids, waiting);
        for (queue, byte) in [(&messages, 3), (&said, 2), (&urgent, 1)] {
            queue.send(vec![byte]).await.expect("room");
        }
        let looks = std::cell::Cell::new(0);
        let look = || {
            looks.set(looks.get() + 1);
            if looks.get() < 4 { Room::None } else { Room::Little }
        };
        let (first, room) = queues.next(look).await.expect("what is urgent");
        assert_eq!((first.bytes, room, looks.get()), (vec![1], Room::None, 1));
        // Nothing else goes before there is room.
        let (second, room) = queues.next(look).await.expect("what machines say");
        assert_eq!((second.bytes, room, looks.get()), (vec![2], Room::Little, 4));
        assert_eq!(queues.next(look).await.expect("messages").0.bytes, [3]);
    }
}
