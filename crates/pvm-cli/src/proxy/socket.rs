//! The socket of the task that a proxy speaks for: asks out of it, answers into it.

use pvm_wire::proxy::{Answer, Ask, PART_BYTES_MAX};
use pvm_wire::{Blob, FRAME_BYTES_MAX, FrameBuffer, Message, Wire as _, write_frame};
use std::collections::BTreeMap;
use std::io::{Error, ErrorKind, Read as _, Result, Write as _};
use std::os::unix::net::UnixStream;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Bytes that one read takes at most.
const CHUNK_BYTES: usize = 256 << 10;
/// Bytes in front of a frame's payload, and of the longest answer around a part.
const AROUND_BYTES: usize = 64;

/// The end that asks come out of.
#[derive(Debug)]
pub(crate) struct Asks {
    socket: UnixStream,
    frames: FrameBuffer,
    chunk: Vec<u8>,
    /// Beginnings of bodies, by the number of the ask that is to follow.
    parts: BTreeMap<u32, Vec<u8>>,
}

impl Asks {
    pub(crate) fn new(socket: UnixStream) -> Self {
        let frames = FrameBuffer::new(FRAME_BYTES_MAX);
        Self { socket, frames, chunk: vec![0; CHUNK_BYTES], parts: BTreeMap::new() }
    }

    /// The next ask that is no part, with its number; messages in it are whole.
    ///
    /// # Errors
    /// The task is gone, or what it says makes no sense.
    pub(crate) fn next(&mut self) -> Result<(u32, Ask)> {
        loop {
            while let Some((id, payload)) = self.frames.next_frame().map_err(nonsense)? {
                let ask = Ask::from_bytes(payload).map_err(nonsense)?;
                match ask {
                    Ask::Part { bytes } => self.parts.entry(id).or_default().extend(bytes.0),
                    ask => return Ok((id, whole(ask, self.parts.remove(&id)))),
                }
            }
            match self.socket.read(&mut self.chunk) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(n) => self.frames.push(&self.chunk[..n]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

fn nonsense(error: pvm_wire::DecodeError) -> Error {
    Error::new(ErrorKind::InvalidData, error.to_string())
}

/// The ask with the beginning of its message's body.
fn whole(mut ask: Ask, begin: Option<Vec<u8>>) -> Ask {
    if let Ask::Send { message, .. } | Ask::Broadcast { message, .. } = &mut ask
        && let Some(mut body) = begin
    {
        body.append(&mut message.body.0);
        message.body = Blob(body);
    }
    ask
}

/// The end that answers go into, for all threads.
#[derive(Debug)]
pub(crate) struct Voice(Mutex<UnixStream>);

impl Voice {
    pub(crate) fn new(socket: UnixStream) -> Self {
        Self(Mutex::new(socket))
    }

    /// Answers an ask.
    pub(crate) fn say(&self, id: u32, answer: Answer) {
        // The thread that leads hears that the task has gone.
        let _ = say(&mut lock(&self.0), id, answer);
    }

    /// Answers several.
    pub(crate) fn say_all(&self, answers: Vec<(u32, Answer)>) {
        for (id, answer) in answers {
            self.say(id, answer);
        }
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Says an answer, its message in parts if it is long.
///
/// # Errors
/// The task is gone.
fn say(socket: &mut UnixStream, id: u32, answer: Answer) -> Result<()> {
    let answer = match answer {
        Answer::Received { message: Message { envelope, body } }
            if body.0.len() > PART_BYTES_MAX =>
        {
            for part in body.0.chunks(PART_BYTES_MAX) {
                frame(socket, id, &Answer::Part { bytes: Blob(part.to_vec()) })?;
            }
            Answer::Received { message: Message { envelope, body: Blob::default() } }
        }
        answer => answer,
    };
    frame(socket, id, &answer)
}

fn frame(socket: &mut UnixStream, id: u32, answer: &Answer) -> Result<()> {
    let mut bytes = Vec::with_capacity(AROUND_BYTES);
    write_frame(&mut bytes, id, answer);
    socket.write_all(&bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pvm_wire::{Address, Context, Envelope, Tag, Tid};

    #[test]
    fn a_long_body_goes_in_parts_and_comes_out_whole() {
        let (mut near, far) = UnixStream::pair().unwrap();
        let body: Vec<u8> = (0..=255).cycle().take(3 * PART_BYTES_MAX + 5).collect();
        let envelope = Envelope::new(Tid(1), Address::new(Tid(2), Tag(3), Context::FIRST));
        let sent = body.clone();
        let writer = std::thread::spawn(move || {
            for part in sent[..2 * PART_BYTES_MAX].chunks(PART_BYTES_MAX) {
                let mut bytes = Vec::new();
                write_frame(&mut bytes, 9, &Ask::Part { bytes: Blob(part.to_vec()) });
                write_frame(&mut bytes, 8, &Ask::Cancel);
                near.write_all(&bytes).unwrap();
            }
            let message = Message { envelope, body: Blob(sent[2 * PART_BYTES_MAX..].to_vec()) };
            let send = Ask::Send { to: vec![Tid(2)], context: 0, tag: 3, message };
            let mut bytes = Vec::new();
            write_frame(&mut bytes, 9, &send);
            near.write_all(&bytes).unwrap();
        });
        let mut asks = Asks::new(far);
        assert_eq!(asks.next().unwrap(), (8, Ask::Cancel));
        assert_eq!(asks.next().unwrap(), (8, Ask::Cancel));
        let (9, Ask::Send { message, .. }) = asks.next().unwrap() else { panic!("a send") };
        assert!(message.body.0 == body);
        writer.join().unwrap();
        assert_eq!(asks.next().unwrap_err().kind(), ErrorKind::UnexpectedEof);
    }

    #[test]
    fn what_is_no_ask_ends_the_conversation() {
        let (mut near, far) = UnixStream::pair().unwrap();
        near.write_all(&[2, 0, 0, 0, 1, 0, 0, 0, 0xff, 0xff]).unwrap();
        assert_eq!(Asks::new(far).next().unwrap_err().kind(), ErrorKind::InvalidData);
    }
}
