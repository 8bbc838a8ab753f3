//! The view of an eavesdropper on the switch, put together so that it can be searched.

use crate::hosts::Hosts;
use crate::output::Running;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;
use testbed::eventually;

const START: Duration = Duration::from_secs(60);

/// A capture that goes on.
#[derive(Debug)]
pub struct Wire {
    tap: Running,
    file: PathBuf,
}

impl Wire {
    /// Listens at the switch of `hosts`; `program` is the built `wiretap`.
    pub fn tap(hosts: &Hosts, program: &str, name: &str) -> Self {
        let file = hosts.folder().join(name);
        let tap = Running::start(hosts.on_switch(&[program, &file.to_string_lossy()]));
        let listens = eventually(START, || tap.so_far().contains("listening"));
        assert!(listens, "no capture: {}", tap.errors_so_far());
        Self { tap, file }
    }

    /// Ends it and reads what was seen.
    pub fn finish(mut self) -> Capture {
        let output = self.tap.wait(START);
        assert_eq!(output.code(), 0, "the capture failed: {}", output.err);
        Capture::read(&self.file)
    }
}

/// Both ends of one direction of a TCP connection: address and port of the sender, then of the
/// receiver.
type Flow = [u8; 12];

/// Everything that was seen: each direction of a TCP connection in order, and the frames that are
/// no TCP.
#[derive(Debug, Default)]
pub struct Capture {
    streams: Vec<Vec<u8>>,
    others: Vec<Vec<u8>>,
}

impl Capture {
    fn read(file: &Path) -> Self {
        let bytes = std::fs::read(file).expect("the capture");
        let mut parts: BTreeMap<Flow, BTreeMap<u32, Vec<u8>>> = BTreeMap::new();
        let mut capture = Self::default();
        let mut rest = bytes.as_slice();
        while let Some((length, after)) = rest.split_first_chunk::<4>() {
            let length = u32::from_le_bytes(*length) as usize;
            let (frame, after) = after.split_at(length.min(after.len()));
            rest = after;
            match segment(frame) {
                // Seen at several cards: the longest of what begins at one place counts.
                Some((flow, sequence, payload)) => {
                    let known = parts.entry(flow).or_default().entry(sequence).or_default();
                    if payload.len() > known.len() {
                        *known = payload.to_vec();
                    }
                }
                None => capture.others.push(frame.to_vec()),
            }
        }
        capture.streams = parts.into_values().map(joined).collect();
        capture
    }

    /// Bytes carried by TCP, each counted once.
    pub fn tcp_bytes(&self) -> usize {
        self.streams.iter().map(Vec::len).sum()
    }

    /// Whether `needle` can be read anywhere.
    pub fn shows(&self, needle: &[u8]) -> bool {
        let everything = self.streams.iter().chain(&self.others);
        assert!(!needle.is_empty());
        everything.into_iter().any(|bytes| find(bytes, needle))
    }
}

fn find(bytes: &[u8], needle: &[u8]) -> bool {
    let (first, last) = (needle[0], needle.len());
    let mut at = 0;
    while at + last <= bytes.len() {
        match bytes[at..=bytes.len() - last].iter().position(|byte| *byte == first) {
            Some(ahead) if bytes[at + ahead..].starts_with(needle) => return true,
            Some(ahead) => at += ahead + 1,
            None => return false,
        }
    }
    false
}

/// The parts of one direction in the order of their numbers, what was sent twice taken once.
fn joined(parts: BTreeMap<u32, Vec<u8>>) -> Vec<u8> {
    let mut whole: Vec<u8> = Vec::new();
    let mut next = None;
    for (sequence, payload) in parts {
        let known = next.map_or(0, |next: u32| next.saturating_sub(sequence) as usize);
        whole.extend(payload.iter().skip(known));
        let end = sequence.saturating_add(u32::try_from(payload.len()).unwrap_or(0));
        next = Some(next.map_or(end, |next| next.max(end)));
    }
    whole
}

/// Flow, sequence number and payload of an Ethernet frame with TCP over IPv4.
fn segment(frame: &[u8]) -> Option<(Flow, u32, &[u8])> {
    let packet = frame.strip_prefix(frame.get(..12)?)?.strip_prefix(&[8, 0])?;
    let header = usize::from(*packet.first()? & 15) * 4;
    let total = usize::from(u16::from_be_bytes(packet.get(2..4)?.try_into().ok()?));
    if *packet.get(9)? != 6 {
        return None;
    }
    // A packet that is cut later by the card says nothing of its length.
    let packet = if total == 0 { packet } else { packet.get(..total)? };
    let tcp = packet.get(header..)?;
    let mut flow = [0; 12];
    flow[..4].copy_from_slice(packet.get(12..16)?);
    flow[4..8].copy_from_slice(packet.get(16..20)?);
    flow[8..].copy_from_slice(tcp.get(..4)?);
    let sequence = u32::from_be_bytes(tcp.get(4..8)?.try_into().ok()?);
    let payload = tcp.get(usize::from(*tcp.get(12)? >> 4) * 4..)?;
    Some((flow, sequence, payload))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_cut_by_two_segments_is_found() {
        let parts = BTreeMap::from([(7, b"cret".to_vec()), (3, b"a se".to_vec())]);
        assert!(find(&joined(parts), b"secret"));
    }

    #[test]
    fn what_was_sent_twice_is_joined_once() {
        let parts =
            BTreeMap::from([(0, b"abcd".to_vec()), (2, b"cdef".to_vec()), (6, b"gh".to_vec())]);
        assert_eq!(joined(parts), b"abcdefgh");
    }

    #[test]
    fn what_is_not_there_is_not_found() {
        assert!(!find(b"sesecre", b"secret"));
        assert!(!find(b"se", b"secret"));
        assert!(find(b"sesecret", b"secret"));
    }
}
