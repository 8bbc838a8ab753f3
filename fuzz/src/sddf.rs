//! Bytes as a tracer's stream: a trace is made of them, which can be read, or they are refused.

use pvm_trace::{Error, Limits, Reader, Writer, import};
use std::io::Cursor;

pub(crate) fn run(bytes: &[u8]) {
    check(|writer| import::sddf(bytes, writer));
}

pub(crate) fn check(make: impl FnOnce(&mut Writer<Cursor<Vec<u8>>>) -> Result<(), Error>) {
    let mut writer = Writer::new(Cursor::new(Vec::new()), Limits::default(), 1).expect("memory");
    if let Err(error) = make(&mut writer) {
        assert!(!error.to_string().is_empty());
        return;
    }
    let file = writer.finish().expect("memory");
    let mut reader = Reader::open(file).expect("what was written is read");
    let records = reader.summary().records;
    let read = reader.merged(|_, time| time).map(|entry| entry.expect("it is sound")).count();
    assert_eq!(read as u64, records);
}
