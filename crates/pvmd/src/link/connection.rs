//! One encrypted connection: made from either side, then a task that reads and one that writes.

use crate::link::ahead::Ahead;
use crate::link::dial::{CONNECT_FIRST, CONNECT_MAX, Dialed, Endpoint, dial};
use crate::link::direct::{self, DirectConnection};
use crate::link::door::{Door, HalfOpen, Visitor, answer};
use crate::link::frames::{FRAME_BYTES_MAX, LinkFrame};
use crate::link::intake::{Intake, Unread};
use crate::link::pulse::{self, Pulse, Turns};
use crate::link::redeem::{self, Redeem};
use crate::link::socket;
use crate::tls::{self, Fingerprint, peer_fingerprint};
use pvm_wire::{FrameBuffer, HostIndex, Tid, Wire as _, write_frame};
use rustls::ClientConfig;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, ReadHalf, WriteHalf};
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot};
use tokio::task::{AbortHandle, JoinHandle};
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsStream;

/// Between two attempts to connect.
const RETRY_FIRST: Duration = Duration::from_millis(20);
const RETRY_MAX: Duration = Duration::from_secs(1);
/// Bytes in front of a frame, of which the first four tell its length.
const FRAME_HEAD: usize = 8;
/// The time that a connection for two tasks may take to be made.
const DIRECT_TIME: Duration = Duration::from_secs(5);
/// Batches of frames of each class that wait for the network; more are not made.
const BATCHES: usize = 2;
/// The length of the queue of short urgent frames; a frame that finds no place in it is lost.
const URGENT: usize = 256;
/// The bytes that TLS takes before the kernel does.
const SEALED_BYTES: usize = 16 << 10;
/// This many bytes of a batch go at once, at least one frame, so that urgent frames wait no longer.
const FEW_BYTES: usize = 16 << 10;
/// The least and the most of a message in one frame: nothing goes between its bytes, so it is
/// little on a slow cable.
const PART_BYTES: (usize, usize) = (2 << 10, 16 << 10);
/// Frames that wait for the shell; while they do, nothing is read.
const EVENTS: usize = 64;

/// An event that connections tell the shell.
#[derive(Debug)]
pub(crate) enum LinkEvent {
    /// A peer has proved its key.
    Up {
        /// The connection.
        connection: Connection,
        /// The fingerprint of the peer's key.
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
    Refused {
        /// The host.
        host: HostIndex,
    },
    /// A member that this side calls does not answer at any of its addresses.
    Unreached {
        /// The host.
        host: HostIndex,
    },
    /// The connection is gone.
    Down {
        /// The number of the connection.
        id: u64,
    },
    /// Nothing has come on a connection for too long.
    Silent {
        /// The number of the connection.
        id: u64,
    },
    /// A stranger wants a place for a token.
    Redeem {
        /// The request.
        redeem: Box<Redeem>,
        /// The channel for the answer: empty, or the reason of a refusal.
        answer: oneshot::Sender<String>,
    },
    /// A connection for two tasks is made, or cannot be.
    Direct(DirectConnection),
}

/// The channel for the events of connections.
pub(crate) type Events = mpsc::Sender<LinkEvent>;

/// The shell's end of it.
pub(crate) fn events() -> (Events, mpsc::Receiver<LinkEvent>) {
    mpsc::channel(EVENTS)
}

/// The classes of frames: each class overtakes the next one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Class {
    /// Messages of machines.
    Said,
    /// Messages of tasks.
    Messages,
}

/// Batches of one class that wait.
struct Waiting {
    batches: mpsc::Receiver<Vec<u8>>,
    /// The one whose turn it is, and how much of it has gone.
    batch: Vec<u8>,
    gone: usize,
}

impl Waiting {
    const fn new(batches: mpsc::Receiver<Vec<u8>>) -> Self {
        Self { batches, batch: Vec::new(), gone: 0 }
    }

    /// Waits until there is something to send; none if there never will be.
    async fn some(&mut self) -> Option<()> {
        while self.has_gone() {
            (self.batch, self.gone) = (self.batches.recv().await?, 0);
        }
        Some(())
    }

    /// The next frames of the batch: at most `most` bytes, but at least one frame.
    fn few(&mut self, most: usize) -> &[u8] {
        let rest = &self.batch[self.gone..];
        let few = &rest[..few(rest, most)];
        self.gone += few.len();
        few
    }

    /// True where nothing is left of the last batch.
    const fn has_gone(&self) -> bool {
        self.gone == self.batch.len()
    }

    fn is_empty(&self) -> bool {
        self.has_gone() && self.batches.is_empty()
    }
}

/// The end of the first frames of a batch that go at once.
fn few(batch: &[u8], most: usize) -> usize {
    let mut end = 0;
    while let Some(length) = batch[end..].first_chunk() {
        let next = end + FRAME_HEAD + u32::from_le_bytes(*length) as usize;
        if end > 0 && next > most {
            break;
        }
        end = next.min(batch.len());
    }
    end
}

/// The queues from which a connection's writer takes batches; it serves the first one that has any.
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

    /// The queue that goes next, and how many bytes of it may go; while there is no room, only what
    /// is urgent goes. The kernel is asked about that only where something else waits: most of what
    /// a host at rest says is urgent.
    async fn next(&mut self, mut room: impl FnMut() -> Result<usize, Duration>) -> Option<Next> {
        let Self { urgent, said, messages } = self;
        loop {
            let turn = tokio::select! {
                biased;
                Some(bytes) = urgent.recv() => return Some(Next::Urgent(bytes)),
                Some(()) = said.some() => Class::Said,
                some = messages.some() => some.map(|()| Class::Messages)?,
            };
            let pause = match room() {
                Ok(room) => return Some(Next::Few(turn, room.min(FEW_BYTES))),
                Err(pause) => pause,
            };
            tokio::select! {
                biased;
                Some(bytes) = urgent.recv() => return Some(Next::Urgent(bytes)),
                () = sleep(pause) => {}
            }
        }
    }

    /// The bytes that go next: few, so that urgent frames never wait long.
    fn few<'a>(&'a mut self, turn: &'a Next) -> &'a [u8] {
        match turn {
            Next::Urgent(bytes) => bytes,
            Next::Few(Class::Said, most) => self.said.few(*most),
            Next::Few(Class::Messages, most) => self.messages.few(*most),
        }
    }

    /// True where there is room for another batch.
    const fn has_room(&self) -> bool {
        self.said.has_gone() && self.messages.has_gone()
    }

    /// True if there is room for another batch since these bytes have gone: urgent ones stand in no
    /// batch.
    const fn has_made_room(&self, gone: &Next) -> bool {
        matches!(gone, Next::Few(..)) && self.has_room()
    }

    fn is_empty(&self) -> bool {
        self.urgent.is_empty() && self.said.is_empty() && self.messages.is_empty()
    }
}

/// The next bytes to send.
enum Next {
    /// Before all else, and as a whole.
    Urgent(Vec<u8>),
    /// The next frames of this class, of this many bytes.
    Few(Class, usize),
}

/// A connection as the shell holds it. Dropped, it sends what was accepted and closes.
#[derive(Debug)]
pub(crate) struct Connection {
    /// Its number.
    pub(crate) id: u64,
    urgent: mpsc::Sender<Vec<u8>>,
    said: mpsc::Sender<Vec<u8>>,
    messages: mpsc::Sender<Vec<u8>>,
    /// The most of a message in one frame.
    part_bytes: Arc<AtomicUsize>,
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

    /// The most of a message that is to stand in one frame.
    pub(crate) fn part_bytes(&self) -> usize {
        self.part_bytes.load(Ordering::Relaxed)
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

    /// Sends the accepted frames and one more, then closes, and waits until the other side has
    /// closed, too: then it has all. The events must be taken meanwhile.
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
    last: AtomicU64,
    turns: Turns,
}

impl Wiring {
    /// For connections that tell the shell there.
    pub(crate) fn new(events: Events) -> Arc<Self> {
        Arc::new(Self { events, last: 0.into(), turns: Turns::new() })
    }

    /// Calls until there is an answer from the owner of the key on one of these endpoints.
    pub(crate) fn call(
        self: &Arc<Self>,
        endpoints: Vec<Endpoint>,
        key: Fingerprint,
        config: Arc<ClientConfig>,
        called: Option<HostIndex>,
    ) -> AbortHandle {
        let wiring = self.clone();
        let calling = tokio::spawn(async move {
            let (mut retry, mut patience) = (RETRY_FIRST, CONNECT_FIRST);
            let mut first_time = true;
            loop {
                let news = match dial(&endpoints, &key, &config, patience).await {
                    Dialed::Up(stream, first) => return wiring.up(*stream, called, first).await,
                    // The refusal of a host that is no member any more does not count.
                    Dialed::Refused => called.map(|host| LinkEvent::Refused { host }),
                    Dialed::Silent => {
                        called.filter(|_| first_time).map(|host| LinkEvent::Unreached { host })
                    }
                };
                if let Some(news) = news {
                    drop(wiring.events.send(news).await);
                }
                first_time = false;
                sleep(retry).await;
                retry = (retry * 2).min(RETRY_MAX);
                // With a detour there is no need to wait for a long way.
                if !endpoints.iter().any(|endpoint| endpoint.relay) {
                    patience = (patience * 2).min(CONNECT_MAX);
                }
            }
        });
        calling.abort_handle()
    }

    /// Makes a connection for two tasks, once.
    pub(crate) fn call_direct(
        self: &Arc<Self>,
        (endpoints, key): (Vec<Endpoint>, Fingerprint),
        config: Arc<ClientConfig>,
        pair: (Tid, Tid),
    ) {
        let wiring = self.clone();
        tokio::spawn(async move {
            let calling = direct::call((&endpoints, &key), config, pair);
            let made = match timeout(DIRECT_TIME, calling).await {
                Ok(Ok(made)) => made,
                _ => DirectConnection { local: pair.0, peer: pair.1, key: None, route: None },
            };
            let _ = wiring.events.send(LinkEvent::Direct(made)).await;
        });
    }

    /// Answers every peer that proves a known key. If too many have not done so yet, an old one of
    /// them is dropped: silent strangers keep nobody out.
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

    async fn up(&self, mut stream: TlsStream<Intake>, called: Option<HostIndex>, first: Vec<u8>) {
        let Some(fingerprint) = peer_fingerprint(stream.get_ref().1) else { return };
        bound_what_waits(&mut stream);
        let id = 1 + self.last.fetch_add(1, Ordering::Relaxed);
        let (urgent, urgents) = mpsc::channel(URGENT);
        let (said, saids) = mpsc::channel(BATCHES);
        let (messages, messages_waiting) = mpsc::channel(BATCHES);
        let queue = Queues::new(urgents, saids, messages_waiting);
        let ahead = Ahead::new(stream.get_ref().0);
        let unread = stream.get_mut().0.leave_beats();
        let (reader, writer) = tokio::io::split(stream);
        let pulse = Arc::new(Pulse::of(unread.clone()));
        let (events, kept) = (
            self.events.clone(),
            pulse::keep(pulse.clone(), urgent.downgrade(), self.turns.clone()),
        );
        tokio::spawn(async move {
            if kept.await {
                let _ = events.send(LinkEvent::Silent { id }).await;
            }
        });
        let part_bytes = Arc::new(AtomicUsize::new(PART_BYTES.1));
        let outlet = Outlet { queue, ahead, part_bytes: part_bytes.clone(), pulse: pulse.clone() };
        let writer = tokio::spawn(write(writer, outlet, self.events.clone(), id));
        // The reader waits for its turn, so that nothing of it is told before the connection is.
        let (start, started) = oneshot::channel();
        let events = self.events.clone();
        let reader = tokio::spawn(async move {
            if started.await.is_ok() {
                read((reader, unread), first, (&events, &pulse), id).await;
                let _ = events.send(LinkEvent::Down { id }).await;
            }
        });
        let reader = Reader(reader);
        let connection = Connection { id, urgent, said, messages, part_bytes, reader, writer };
        let up = LinkEvent::Up { connection, fingerprint, called };
        if self.events.send(up).await.is_ok() {
            let _ = start.send(());
        }
    }
}

/// No frame overtakes the bytes that TLS and the kernel have taken, so they may take only few.
fn bound_what_waits(stream: &mut TlsStream<Intake>) {
    socket::bound_unsent(stream.get_ref().0.stream());
    match stream {
        TlsStream::Client(stream) => stream.get_mut().1.set_buffer_limit(Some(SEALED_BYTES)),
        TlsStream::Server(stream) => stream.get_mut().1.set_buffer_limit(Some(SEALED_BYTES)),
    }
}

async fn read(
    (mut stream, unread): (ReadHalf<TlsStream<Intake>>, Option<Unread>),
    first: Vec<u8>,
    (events, pulse): (&Events, &Pulse),
    id: u64,
) {
    let mut frames = FrameBuffer::new(FRAME_BYTES_MAX);
    frames.push(&first);
    let mut scratch = vec![0; 64 << 10];
    let mut by_call = false;
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
        let read = tokio::select! {
            biased;
            read = stream.read(&mut scratch) => read,
            () = called(unread.as_ref()) => {
                // The pulse has counted these bytes.
                by_call = true;
                continue;
            }
        };
        match read {
            Ok(n) if n > 0 => {
                if !std::mem::take(&mut by_call) {
                    pulse.heard();
                }
                frames.push(&scratch[..n]);
            }
            _ => return,
        }
    }
}

/// Waits until there are bytes for which nothing else wakes the reader.
async fn called(unread: Option<&Unread>) {
    match unread {
        Some(unread) => unread.called().await,
        None => std::future::pending().await,
    }
}

/// The state of a connection's writer.
struct Outlet {
    queue: Queues,
    ahead: Ahead,
    part_bytes: Arc<AtomicUsize>,
    pulse: Arc<Pulse>,
}

impl Outlet {
    /// The next bytes, when they may go.
    async fn next(&mut self) -> Option<Next> {
        let Self { queue, ahead, part_bytes, .. } = self;
        let room = || {
            let room = ahead.room();
            let part = (ahead.window() / 4).clamp(PART_BYTES.0, PART_BYTES.1);
            part_bytes.store(part, Ordering::Relaxed);
            room.ok_or_else(|| ahead.pause())
        };
        queue.next(room).await
    }
}

async fn write(
    mut stream: WriteHalf<TlsStream<Intake>>,
    mut outlet: Outlet,
    events: Events,
    id: u64,
) {
    while let Some(turn) = outlet.next().await {
        let Outlet { queue, ahead, pulse, .. } = &mut outlet;
        let few = queue.few(&turn);
        ahead.went(few.len());
        let mut gone = stream.write_all(few).await;
        if gone.is_ok() && queue.is_empty() {
            gone = stream.flush().await;
        }
        if gone.is_err() {
            let _ = events.send(LinkEvent::Down { id }).await;
            return;
        }
        pulse.written();
        if queue.has_made_room(&turn) {
            let _ = events.send(LinkEvent::Room).await;
        }
    }
    let _ = stream.shutdown().await;
}

#[cfg(test)]
impl Connection {
    /// One over which nothing goes.
    pub(crate) fn idle(id: u64) -> Self {
        let [urgent, said, messages] = std::array::from_fn(|_| mpsc::channel(1).0);
        let part_bytes = Arc::default();
        let (reader, writer) = (Reader(tokio::spawn(async {})), tokio::spawn(async {}));
        Self { id, urgent, said, messages, part_bytes, reader, writer }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pvm_wire::Blob;

    fn frame(frame: &LinkFrame) -> Vec<u8> {
        let mut bytes = Vec::new();
        write_frame(&mut bytes, 0, frame);
        bytes
    }

    /// The next bytes if there is room for all.
    async fn next(queues: &mut Queues) -> Option<Vec<u8>> {
        let turn = queues.next(|| Ok(usize::MAX)).await?;
        Some(queues.few(&turn).to_vec())
    }

    #[tokio::test]
    async fn what_hurries_goes_before_what_machines_say_and_that_before_messages() {
        let ((urgent, urgents), (said, saids)) = (mpsc::channel(2), mpsc::channel(2));
        let (messages, waiting) = mpsc::channel(2);
        let mut queues = Queues::new(urgents, saids, waiting);
        let hello = frame(&LinkFrame::Hello { version: 1, host: HostIndex(1) });
        let (beat, bye) = (frame(&LinkFrame::Beat), frame(&LinkFrame::Goodbye));
        for (queue, frame) in [(&messages, &bye), (&said, &hello), (&urgent, &beat)] {
            queue.send(frame.clone()).await.expect("room");
        }
        let mut order = Vec::new();
        while !queues.is_empty() {
            order.push(next(&mut queues).await.expect("a batch"));
        }
        assert_eq!(order, [beat.clone(), hello, bye]);
        // Accepted frames go out although no sender is left.
        urgent.send(beat.clone()).await.expect("room");
        drop((urgent, said, messages));
        assert_eq!(next(&mut queues).await, Some(beat));
        assert!(next(&mut queues).await.is_none());
    }

    #[tokio::test]
    async fn each_beat_made_the_shell_look_for_more_to_send() {
        let ((urgent, urgents), (said, saids)) = (mpsc::channel(2), mpsc::channel(2));
        let (_messages, waiting) = mpsc::channel(2);
        let mut queues = Queues::new(urgents, saids, waiting);
        urgent.send(frame(&LinkFrame::Beat)).await.expect("room");
        said.send(frame(&LinkFrame::Goodbye)).await.expect("room");
        for makes_room in [false, true] {
            let turn = queues.next(|| Ok(usize::MAX)).await.expect("some");
            assert!(!queues.few(&turn).is_empty());
            assert_eq!(queues.has_made_room(&turn), makes_room);
        }
    }

    #[tokio::test]
    async fn others_go_between_the_frames_of_a_batch() {
        for class in [Class::Said, Class::Messages] {
            let ((urgent, urgents), (said, saids)) = (mpsc::channel(2), mpsc::channel(2));
            let (messages, waiting) = mpsc::channel(2);
            let mut queues = Queues::new(urgents, saids, waiting);
            let queue = if class == Class::Said { &said } else { &messages };
            let long = |last| {
                let bytes = Blob(vec![u8::from(last); FEW_BYTES / 3]);
                frame(&LinkFrame::Piece { bytes, last })
            };
            queue.send([long(false), long(false), long(true)].concat()).await.expect("room");
            assert_eq!(next(&mut queues).await, Some([long(false), long(false)].concat()));
            assert!(!queues.has_room());
            urgent.send(frame(&LinkFrame::Beat)).await.expect("room");
            assert_eq!(next(&mut queues).await, Some(frame(&LinkFrame::Beat)));
            assert_eq!(next(&mut queues).await, Some(long(true)));
            assert!(queues.has_room() && queues.is_empty());
        }
    }

    #[tokio::test]
    async fn while_much_waits_in_the_network_only_what_is_urgent_goes() {
        let ((urgent, urgents), (said, saids)) = (mpsc::channel(2), mpsc::channel(2));
        let (messages, waiting) = mpsc::channel(2);
        let mut queues = Queues::new(urgents, saids, waiting);
        for queue in [&messages, &said, &urgent] {
            queue.send(frame(&LinkFrame::Beat)).await.expect("room");
        }
        let looks = std::cell::Cell::new(0);
        let room = || {
            looks.set(looks.get() + 1);
            if looks.get() < 4 { Err(Duration::from_millis(1)) } else { Ok(5) }
        };
        assert!(matches!(queues.next(room).await, Some(Next::Urgent(_))));
        assert_eq!(looks.get(), 0);
        // Nothing else goes before there is room.
        assert!(matches!(queues.next(room).await, Some(Next::Few(Class::Said, 5))));
        assert_eq!(looks.get(), 4);
    }
}
