//! Records of tasks as cells: what is written is read, and what nobody wrote costs nothing.

use proptest::prelude::*;
use pvm_wire::record::{
    CHILDREN_MAX, Cell, Class, DEPTH_MAX, DecodedRecords, Loss, NAME_BYTES_MAX, NAMES_MAX,
    Processor, RECORD_CELLS_MAX, Reason, Record, RouteKind, RouteStep, Transfer, What,
};
use pvm_wire::{DecodeError, Encoding, Tid};

fn tid() -> impl Strategy<Value = Tid> {
    any::<u32>().prop_map(Tid)
}

fn name() -> impl Strategy<Value = u32> {
    0..NAMES_MAX
}

fn bytes() -> impl Strategy<Value = u64> {
    prop_oneof![0..100u64, 0xff_fff0..0x100_000fu64, any::<u64>()]
}

fn one_of<T: Copy + std::fmt::Debug>(all: &'static [T]) -> impl Strategy<Value = T> {
    prop::sample::select(all)
}

fn transfer() -> impl Strategy<Value = Transfer> {
    let encodings = &[Encoding::Default, Encoding::Raw, Encoding::InPlace, Encoding::Trace];
    let address = (tid(), any::<i32>(), any::<i32>(), any::<u64>());
    (address, bytes(), one_of(encodings), one_of(RouteKind::ALL), any::<u8>()).prop_map(
        |((peer, tag, context, number), bytes, encoding, route, hops)| Transfer {
            peer,
            tag,
            context,
            number,
            bytes,
            encoding,
            route,
            hops,
        },
    )
}

fn messages() -> impl Strategy<Value = What> {
    prop_oneof![
        (transfer(), bytes(), 0..3u32).prop_map(|(message, wire, pieces)| What::Send {
            message,
            wire,
            pieces
        }),
        transfer().prop_map(|message| What::Send { message, wire: message.bytes, pieces: 1 }),
        (transfer(), any::<bool>(), any::<bool>()).prop_map(|(message, any_source, any_tag)| {
            What::Receive { message, any_source, any_tag }
        }),
        transfer().prop_map(|message| What::Chunk { message }),
        (tid(), any::<i32>(), any::<i32>()).prop_map(|(source, tag, context)| What::Poll {
            source,
            tag,
            context
        }),
    ]
}

fn waits() -> impl Strategy<Value = What> {
    let processor = (any::<u64>(), any::<u64>()).prop_map(|(begin, end)| Processor { begin, end });
    (one_of(Reason::ALL), prop::option::of(processor))
        .prop_map(|(reason, processor)| What::Wait { reason, processor })
}

fn programs_own() -> impl Strategy<Value = What> {
    prop_oneof![
        (name(), any::<i64>()).prop_map(|(name, value)| What::Mark { name, value }),
        name().prop_map(|name| What::State { name }),
        (name(), any::<u64>(), any::<u64>()).prop_map(|(name, done, total)| What::Progress {
            name,
            done,
            total
        }),
        (one_of(Class::ALL), any::<u32>(), prop::collection::vec(any::<u8>(), 0..100))
            .prop_map(|(class, number, text)| What::Name { class, number, text }),
    ]
}

fn others() -> impl Strategy<Value = What> {
    let numbers = (any::<u32>(), any::<u32>(), any::<u32>());
    prop_oneof![
        bytes().prop_map(|bytes| What::Call { bytes }),
        bytes().prop_map(|bytes| What::Copy { bytes }),
        (numbers, any::<i32>(), any::<i32>(), any::<u64>()).prop_map(
            |((name, members, instance), root, tag, count)| What::Group {
                name,
                members,
                instance,
                root,
                tag,
                count
            }
        ),
        prop::collection::vec(any::<i32>(), 0..40).prop_map(|children| What::Spawn { children }),
        (tid(), one_of(RouteStep::ALL)).prop_map(|(peer, step)| What::Route { peer, step }),
        (one_of(Loss::ALL), any::<u64>()).prop_map(|(reason, lost)| What::Gap { reason, lost }),
        (tid(), any::<u32>(), any::<u32>()).prop_map(|(parent, process, name)| What::Begin {
            parent,
            process,
            name
        }),
        (any::<i32>(), any::<u64>(), any::<u64>()).prop_map(|(status, noted, lost)| What::End {
            status,
            noted,
            lost
        }),
    ]
}

fn record() -> impl Strategy<Value = Record> {
    let what = prop_oneof![messages(), waits(), programs_own(), others()];
    let head = (any::<u64>(), 0..1u64 << 47, any::<u16>(), 0..=DEPTH_MAX);
    (head, any::<u16>(), any::<i32>(), any::<bool>(), what).prop_map(
        |((begin, length, thread, depth), call, result, part, what)| Record {
            begin,
            length,
            thread,
            depth,
            call,
            result,
            part,
            what,
        },
    )
}

fn cells(records: &[Record]) -> Vec<Cell> {
    let mut cells = Vec::new();
    records.iter().for_each(|record| record.encode(|cell| cells.push(cell)));
    cells
}

proptest! {
    #[test]
    fn what_is_noted_is_read(records in prop::collection::vec(record(), 0..20)) {
        let cells = cells(&records);
        prop_assert_eq!(cells.len(), records.iter().map(Record::cells).sum::<usize>());
        prop_assert!(cells.iter().all(|cell| cell.0[0] as u32 == 0), "the stamp is the ring's");
        let read: Result<Vec<_>, _> = DecodedRecords::new(&cells).collect();
        prop_assert_eq!(read, Ok(records));
        let bytes = cells.iter().map(|cell| Cell::from_bytes(&cell.to_bytes()));
        prop_assert!(bytes.eq(cells.iter().copied()));
    }

    #[test]
    fn a_stamp_changes_nothing(record in record(), stamp: u32) {
        let mut cells = cells(std::slice::from_ref(&record));
        cells.iter_mut().for_each(|cell| cell.0[0] |= u64::from(stamp));
        prop_assert_eq!(Record::decode(&cells), Ok((record, cells.len())));
    }

    #[test]
    fn cells_that_nobody_wrote_end(words in prop::collection::vec(any::<[u64; 4]>(), 0..600)) {
        let cells: Vec<_> = words.into_iter().map(Cell).collect();
        prop_assert!(DecodedRecords::new(&cells).count() <= cells.len());
    }

    #[test]
    fn a_record_that_is_cut_off_is_too_short(record in record()) {
        let cells = cells(&[record]);
        for length in 0..cells.len() {
            prop_assert_eq!(Record::decode(&cells[..length]), Err(DecodeError::Short));
        }
    }

    #[test]
    fn a_length_beyond_all_patience_is_told_in_coarse_steps(length in 1u64 << 47..1 << 62) {
        let mut record = Record::call(1, 0, length);
        record.length = length;
        let (read, _) = Record::decode(&cells(&[record])).unwrap();
        prop_assert!(read.length <= length && length - read.length < 1 << 16);
    }
}

#[test]
fn a_kind_of_a_later_version_costs_itself_alone() {
    let mut cells = cells(&[
        Record { what: What::Mark { name: 1, value: 2 }, ..Record::call(0, 0, 0) },
        Record::call(17, 3, 4),
    ]);
    cells[0].0[0] |= 0xc0 << 32;
    let read: Vec<_> = DecodedRecords::new(&cells).collect();
    assert_eq!(read, [Err(DecodeError::UnknownKind(0xca)), Ok(Record::call(17, 3, 4))]);
}

#[test]
fn names_and_children_without_end_are_cut_where_their_bounds_are() {
    // The bound falls into the second byte of a character.
    let text = "ab".to_owned() + &"é".repeat(40_000)[..];
    let long = Record {
        what: What::Name { class: Class::Group, number: 1, text: text[1..].into() },
        ..Record::call(0, 0, 0)
    };
    let (read, _) = Record::decode(&cells(&[long])).unwrap();
    let What::Name { text, .. } = read.what else { panic!("not a name") };
    assert_eq!(text.len(), NAME_BYTES_MAX - 1);
    assert!(std::str::from_utf8(&text).is_ok());
    let children = vec![1; CHILDREN_MAX + 5];
    let many = Record { what: What::Spawn { children }, ..Record::call(0, 0, 0) };
    assert_eq!(many.cells(), RECORD_CELLS_MAX);
    let (read, _) = Record::decode(&cells(&[many])).unwrap();
    assert_eq!(read.what, What::Spawn { children: vec![1; CHILDREN_MAX] });
}

#[test]
fn deep_calls_are_noted_as_deep() {
    let deep = Record { depth: 200, ..Record::call(1, 2, 3) };
    let (read, _) = Record::decode(&cells(&[deep])).unwrap();
    assert_eq!((read.depth, read.part), (DEPTH_MAX, false));
}
