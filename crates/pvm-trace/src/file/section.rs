//! Sections, of which a chapter is made.
//!
//! ```text
//! 0 kind u8   1 zero 3 bytes   4 length u32   8 crc u32 (of the chapter's sequence and identity,
//! then of the bytes 0 to 7 and the payload)   12 payload
//! ```

use super::chapter::Chapter;
use crate::error::{Error, Fault};
use std::io::{Read, Seek, SeekFrom};

pub(super) const SECTION_HEAD: usize = 12;
/// The most bytes of a payload.
pub(super) const PAYLOAD_MAX: usize = 1 << 20;

/// The bytes of a section.
pub(super) fn section(chapter: &Chapter, kind: u8, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).expect("the caller keeps within PAYLOAD_MAX");
    let mut out = Vec::with_capacity(SECTION_HEAD + payload.len());
    out.extend_from_slice(&[kind, 0, 0, 0]);
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(&checksum(chapter, &out, payload).to_le_bytes());
    out.extend_from_slice(payload);
    out
}

fn checksum(chapter: &Chapter, head: &[u8], payload: &[u8]) -> u32 {
    let mut hasher = chapter.hasher();
    hasher.update(head);
    hasher.update(payload);
    hasher.finalize()
}

/// Reads the section at `at`: its kind; the payload goes into `payload`.
pub(super) fn read_section<R: Read + Seek>(
    input: &mut R,
    chapter: &Chapter,
    at: u64,
    payload: &mut Vec<u8>,
) -> Result<u8, Error> {
    let damaged = |fault| Error::Damaged { at, what: "a section", fault };
    input.seek(SeekFrom::Start(at))?;
    read_here(input, chapter, payload)?.map_err(damaged)
}

/// Reads the section at the present offset. The outer error is an error of the device.
pub(super) fn read_here<R: Read>(
    input: &mut R,
    chapter: &Chapter,
    payload: &mut Vec<u8>,
) -> Result<Result<u8, Fault>, Error> {
    let mut head = [0; SECTION_HEAD];
    if !fill(input, &mut head)? {
        return Ok(Err(Fault::Short));
    }
    let [kind, 0, 0, 0, a, b, c, d, crc @ ..] = head else { return Ok(Err(Fault::Range)) };
    let length = u32::from_le_bytes([a, b, c, d]) as usize;
    if length > PAYLOAD_MAX {
        return Ok(Err(Fault::Range));
    }
    payload.clear();
    payload.resize(length, 0);
    if !fill(input, payload)? {
        return Ok(Err(Fault::Short));
    }
    let sound = checksum(chapter, &head[..8], payload) == u32::from_le_bytes(crc);
    Ok(if sound { Ok(kind) } else { Err(Fault::Checksum) })
}

/// Fills the buffer; false if the input ends before.
pub(super) fn fill<R: Read>(input: &mut R, bytes: &mut [u8]) -> Result<bool, Error> {
    match input.read_exact(bytes) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error.into()),
    }
}
