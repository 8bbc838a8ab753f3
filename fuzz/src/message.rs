//! A message and its run list, decoded and read with every kind of item to the end.
//!
//! Bytes from nowhere seldom make a message whose measures agree, so the same bytes also choose a
//! run list, which is read in the same order.

use pvm_wire::{Body, Cursor, Encoding, Kind, Message, RunList, Wire};

const KINDS: i32 = 11;
const ITEMS_MAX: usize = 40;

pub(crate) fn run(bytes: &[u8]) {
    // The first byte chooses the order in which kinds are tried.
    let Some((&order, bytes)) = bytes.split_first() else { return };
    decoded(order, bytes);
    chosen(order, bytes);
}

fn decoded(order: u8, bytes: &[u8]) {
    let Ok(message) = Message::from_bytes(bytes) else { return };
    if !message.is_sound() {
        return;
    }
    let size = usize::try_from(message.envelope.data_size).expect("sound messages fit in memory");
    let (data, list) = message.body.0.split_at(size);
    let runs = message.envelope.runs(list).expect("sound messages have sound runs");
    read_all(order, &data.to_vec(), &runs, message.envelope.encoding);
}

/// Each pair of bytes is a run: its kind and how many items.
fn chosen(order: u8, bytes: &[u8]) {
    let mut runs = RunList::new();
    let mut data = Vec::new();
    for pair in bytes.chunks_exact(2) {
        let (kind, count) = (kind_of(pair[0].into()), usize::from(pair[1]) % ITEMS_MAX);
        runs.push(kind, count);
        data.extend(std::iter::repeat_n(pair[1], kind.size() * count));
    }
    read_all(order, &data, &runs, Encoding::Default);
    read_all(order, &data, &RunList::new(), Encoding::Raw);
}

fn kind_of(number: i32) -> Kind {
    Kind::from_number(number.rem_euclid(KINDS) + 1).expect("1 to 11 are kinds")
}

fn read_all(order: u8, data: &Vec<u8>, runs: &RunList, encoding: Encoding) {
    let body = Body { data, runs, encoding };
    let mut cursor = Cursor::new();
    let mut failures = 0;
    let mut number = i32::from(order);
    while failures < KINDS {
        number += 1 + i32::from(order) / KINDS;
        let kind = kind_of(number);
        let mut items = vec![0; kind.size() * (1 + usize::from(order) % 3)];
        match cursor.read(body, kind, &mut items) {
            Ok(()) => failures = 0,
            Err(_) => {
                assert_eq!(
                    cursor.done(),
                    body.reported_size(),
                    "a read that fails ends the message"
                );
                failures += 1;
            }
        }
        assert!(cursor.done() <= body.reported_size());
    }
}
