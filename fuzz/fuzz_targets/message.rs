//! A message and its run list, read with every kind of item to the end.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pvm_wire::{Body, Cursor, Kind, Message, Wire};

fuzz_target!(|bytes: &[u8]| {
    // The first byte chooses the order in which kinds are tried; the rest is the message.
    let Some((&order, bytes)) = bytes.split_first() else { return };
    let Ok(message) = Message::from_bytes(bytes) else { return };
    if !message.is_sound() {
        return;
    }
    let size = usize::try_from(message.envelope.data_size).expect("sound messages fit in memory");
    let (data, list) = message.body.0.split_at(size);
    let runs = message.envelope.runs(list).expect("sound messages have sound runs");
    let data = data.to_vec();
    let body = Body { data: &data, runs: &runs, encoding: message.envelope.encoding };
    let mut cursor = Cursor::new();
    let mut failures = 0;
    let mut number = i32::from(order);
    while failures < 11 {
        number = number % 11 + 1;
        let kind = Kind::from_number(number).expect("1 to 11 are kinds");
        let mut item = vec![0; kind.size()];
        let before = cursor.done();
        match cursor.read(body, kind, &mut item) {
            Ok(()) => failures = 0,
            Err(_) => {
                assert_eq!(cursor.done(), before, "a read that fails reads nothing");
                failures += 1;
            }
        }
        assert!(cursor.done() <= body.reported_size());
    }
});
