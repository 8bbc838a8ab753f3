//! Frames on a stream socket: a length, a number that pairs answers with requests, a payload.
//!
//! ```text
//! offset 0           4          8
//!        length u32  id u32     payload (length bytes)
//! ```

use crate::{DecodeError, Wire};
use zeroize::Zeroize;

/// No frame's payload is longer. Larger messages never cross a socket in one piece.
pub const FRAME_BYTES_MAX: usize = 64 << 20;

const HEADER: usize = 8;

/// Appends a frame with `value` as its payload.
///
/// # Panics
/// If the value is longer than [`FRAME_BYTES_MAX`]: callers bound what they send.
pub fn write_frame(out: &mut Vec<u8>, id: u32, value: &impl Wire) {
    let written = write_frame_within(FRAME_BYTES_MAX, out, id, value);
    assert!(written.is_ok(), "a frame of {written:?} bytes is over the limit");
}

/// Appends a frame as [`write_frame`] does, of a value that a program made and that has no bound.
///
/// # Errors
/// The value is longer than `limit`: its length. Nothing is appended then.
pub fn write_frame_within(
    limit: usize,
    out: &mut Vec<u8>,
    id: u32,
    value: &impl Wire,
) -> Result<(), usize> {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    id.encode(out);
    value.encode(out);
    let length = out.len() - start - HEADER;
    if length > limit.min(FRAME_BYTES_MAX) {
        out.truncate(start);
        return Err(length);
    }
    out[start..start + 4].copy_from_slice(&(length as u32).to_le_bytes());
    Ok(())
}

/// Takes frames out of a stream of bytes.
#[derive(Debug)]
pub struct FrameBuffer {
    bytes: Vec<u8>,
    read: usize,
    limit: usize,
}

impl FrameBuffer {
    /// Frames of at most `limit` bytes; a stranger gets a small limit until it is known.
    pub const fn new(limit: usize) -> Self {
        Self { bytes: Vec::new(), read: 0, limit }
    }

    /// Sets another limit.
    pub const fn set_limit(&mut self, limit: usize) {
        self.limit = limit;
    }

    /// Adds what the socket gave.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.read == self.bytes.len() {
            self.bytes.clear();
            self.read = 0;
        } else if self.read > self.bytes.len() / 2 {
            self.bytes.drain(..self.read);
            self.read = 0;
        }
        if self.bytes.capacity() - self.bytes.len() < bytes.len() {
            self.grow(bytes.len());
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// Leaves nothing of a secret in the memory that it had.
    #[cold]
    fn grow(&mut self, more: usize) {
        let size = (self.bytes.len() + more).max(2 * self.bytes.capacity());
        let mut next = Vec::with_capacity(size);
        next.extend_from_slice(&self.bytes);
        self.bytes.zeroize();
        self.bytes = next;
    }

    /// Writes over the frames that were taken out, of which one held a secret.
    pub fn wipe(&mut self) {
        self.bytes.drain(..self.read);
        self.read = 0;
        self.bytes.spare_capacity_mut().zeroize();
    }

    /// The next whole frame, as its id and payload.
    ///
    /// # Errors
    /// A length over the limit; the peer is to be dropped.
    pub fn next_frame(&mut self) -> Result<Option<(u32, &[u8])>, DecodeError> {
        let rest = &self.bytes[self.read..];
        let Some((header, rest)) = rest.split_first_chunk::<HEADER>() else {
            return Ok(None);
        };
        let [a, b, c, d, e, f, g, h] = *header;
        let length = u32::from_le_bytes([a, b, c, d]) as usize;
        if length > self.limit {
            return Err(DecodeError::Range);
        }
        if rest.len() < length {
            return Ok(None);
        }
        let start = self.read + HEADER;
        self.read = start + length;
        Ok(Some((u32::from_le_bytes([e, f, g, h]), &self.bytes[start..self.read])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Blob;

    #[test]
    fn frames_come_out_whole_however_the_stream_is_cut() {
        let mut stream = Vec::new();
        for id in 0..20 {
            write_frame(&mut stream, id, &Blob(vec![7; id as usize * 3]));
        }
        for step in 1..9 {
            let mut buffer = FrameBuffer::new(1000);
            let mut next = 0;
            for part in stream.chunks(step) {
                buffer.push(part);
                while let Some((id, payload)) = buffer.next_frame().expect("good frames") {
                    assert_eq!(id, next);
                    assert_eq!(Blob::from_bytes(payload), Ok(Blob(vec![7; id as usize * 3])));
                    next += 1;
                }
            }
            assert_eq!(next, 20);
        }
    }

    #[test]
    fn what_was_wiped_is_gone_and_what_comes_behind_it_stays() {
        let mut buffer = FrameBuffer::new(1000);
        let mut stream = Vec::new();
        write_frame(&mut stream, 1, &Blob(vec![0xA5; 100]));
        write_frame(&mut stream, 2, &Blob(vec![7; 50]));
        let (first, rest) = stream.split_at(stream.len() - 10);
        buffer.push(first);
        assert_eq!(buffer.next_frame().unwrap().map(|(id, _)| id), Some(1));
        buffer.wipe();
        assert!(!buffer.bytes.contains(&0xA5));
        buffer.push(rest);
        let (id, payload) = buffer.next_frame().unwrap().expect("whole now");
        assert_eq!((id, Blob::from_bytes(payload)), (2, Ok(Blob(vec![7; 50]))));
    }

    #[test]
    fn a_length_over_the_limit_is_refused_before_its_bytes_come() {
        let mut buffer = FrameBuffer::new(10);
        buffer.push(&[11, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(buffer.next_frame(), Err(DecodeError::Range));
    }
}
