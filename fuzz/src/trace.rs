//! Bytes as a block of a trace, and as a whole trace behind a sound head.

use pvm_trace::{BLOCK_RECORDS_MAX, Block, Limits, Reader, Writer};
use std::io::Cursor;

pub(crate) fn run(bytes: &[u8]) {
    if let Ok(mut block) = Block::new(bytes) {
        let mut count = 0;
        while let Ok(Some(_)) = block.read_next(bytes) {
            count += 1;
        }
        assert!(count <= BLOCK_RECORDS_MAX);
    }
    let mut file = head();
    file.extend_from_slice(bytes);
    let Ok(mut reader) = Reader::open(Cursor::new(file)) else { return };
    let records = reader.merged(|_, time| time).take(1 << 16).filter(Result::is_ok).count();
    assert!(records as u64 <= reader.summary().records.max(1 << 16));
}

/// The head of a trace that was begun and no more.
fn head() -> Vec<u8> {
    let mut file = Cursor::new(Vec::new());
    drop(Writer::new(&mut file, Limits::default(), 1));
    file.into_inner()
}
