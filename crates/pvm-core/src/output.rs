//! Transport of the output of spawned tasks to the tasks that want it.
//!
//! A task that spawns with `PvmOutputTid` set (directly or through `pvm_catchout`) gets messages
//! from 0x80000000 with its output tag and context. Asked of PVM 3.4.6:
//!
//! ```text
//! tid, -2, parent    the task was made
//! tid, -1, parent    its output begins (BEGIN of the catchers)
//! tid, n, n bytes    it wrote; error output is merged
//! tid, 0             end of its output
//! ```
//!
//! All are packed ints in the default encoding, the bytes as bytes. Both openings come for every
//! child, whether it ever enrols or not, and before its bytes; none for a child that could not
//! be started. The end comes when all writers have closed, which may be after the exit. A
//! task that sets `PvmSelfOutputTid` or its code later moves its output: the old receiver gets
//! the end, the new one `-1` and then `-2`. Without a receiver the lines go to the log as
//! `[tTID] text`.

use pvm_wire::peer::OutputNews;
use pvm_wire::request::Target;
use pvm_wire::{Address, Blob, Context, Encoding, Envelope, Kind, Message, RunList, Tag, Tid};

const END: i32 = 0;
const BEGINS: i32 = -1;
const MADE: i32 = -2;
/// A line that grows beyond this in the log is broken there.
const LINE_BYTES_MAX: usize = 4096;

/// The messages that tell `news` about the output of `tid`.
pub(crate) fn messages(target: &Target, tid: Tid, news: &OutputNews) -> Vec<Message> {
    let me = tid.as_c_int();
    let of = |ints: &[i32], bytes: &[u8]| message(target, ints, bytes);
    match news {
        OutputNews::Begin { parent } => {
            vec![of(&[me, MADE, *parent], &[]), of(&[me, BEGINS, *parent], &[])]
        }
        OutputNews::Moved { parent } => {
            vec![of(&[me, BEGINS, *parent], &[]), of(&[me, MADE, *parent], &[])]
        }
        OutputNews::Bytes { bytes } => {
            let count = i32::try_from(bytes.0.len()).expect("a write fits a frame");
            vec![of(&[me, count], &bytes.0)]
        }
        OutputNews::End => vec![of(&[me, END], &[])],
    }
}

fn message(target: &Target, ints: &[i32], bytes: &[u8]) -> Message {
    let mut runs = RunList::new();
    runs.push(Kind::Int, ints.len());
    runs.push(Kind::Byte, bytes.len());
    let mut body: Vec<u8> = ints.iter().flat_map(|i| i.to_ne_bytes()).collect();
    body.extend_from_slice(bytes);
    let mut envelope = Envelope::new(
        Tid::NOTICE_SOURCE,
        Address::new(target.tid, Tag(target.tag), Context(target.context)),
    );
    envelope.describe(Encoding::Default, body.len(), &runs);
    if runs.len() > 1 {
        body.extend(runs.iter().flat_map(|run| run.to_word().to_le_bytes()));
    }
    Message { envelope, body: Blob(body) }
}

/// Adds bytes to the unfinished line; returns the lines that are complete now.
pub(crate) fn lines(unfinished: &mut Blob, bytes: &[u8]) -> Vec<String> {
    let mut complete = Vec::new();
    for &byte in bytes {
        if byte != b'\n' {
            unfinished.0.push(byte);
        }
        if byte == b'\n' || unfinished.0.len() >= LINE_BYTES_MAX {
            complete.push(std::mem::take(unfinished).to_text());
        }
    }
    complete
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_joined_from_parts_and_none_is_lost() {
        let mut unfinished = Blob::default();
        assert_eq!(lines(&mut unfinished, b"one\ntw"), ["one"]);
        assert_eq!(lines(&mut unfinished, b"o\n\nrest"), ["two", ""]);
        assert_eq!(unfinished, "rest".into());
        assert_eq!(lines(&mut unfinished, &[b'x'; 5000]).len(), 1);
    }

    #[test]
    fn messages_have_the_ints_and_bytes_that_catchers_expect() {
        let target = Target { tid: Tid(0x40001), context: 5, tag: 77 };
        let news = OutputNews::Bytes { bytes: "hello".into() };
        let [message] = &messages(&target, Tid(0x40002), &news)[..] else {
            panic!("one message");
        };
        assert!(message.is_sound());
        assert_eq!(message.envelope.data_size, 13);
        assert_eq!((message.envelope.tag, message.envelope.context), (77, 5));
        assert_eq!(messages(&target, Tid(0x40002), &OutputNews::Begin { parent: 1 }).len(), 2);
    }
}
