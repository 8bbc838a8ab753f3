//! Whatever a machine of any layout packs, this one unpacks: model senders against the reader.

use proptest::prelude::*;
use pvm_wire::{
    Address, Body, Context, Cursor, Encoding, Envelope, Kind, Layout, Run, RunList, Tag, Tid,
    foreign,
};

/// The items of one call: values that every machine's type can hold.
#[derive(Clone, Debug)]
struct Call {
    kind: Kind,
    values: Vec<i32>,
}

/// Item by item as a machine of `layout` stores it, from the definition of its types.
fn stored(layout: Layout, kind: Kind, value: i32) -> Vec<u8> {
    let wide = kind.size_in(layout) == 8;
    let mut bytes = match kind {
        Kind::Byte => vec![value as u8],
        Kind::Short | Kind::Ushort => (value as u16).to_be_bytes().to_vec(),
        Kind::Int | Kind::Uint => value.to_be_bytes().to_vec(),
        Kind::Long if wide => i64::from(value).to_be_bytes().to_vec(),
        Kind::Ulong if wide => u64::from(value as u32).to_be_bytes().to_vec(),
        Kind::Long | Kind::Ulong => value.to_be_bytes().to_vec(),
        Kind::Float | Kind::Cplx => (value as f32).to_be_bytes().to_vec(),
        Kind::Double | Kind::Dcplx => f64::from(value).to_be_bytes().to_vec(),
    };
    if !layout.is_big() {
        bytes.reverse();
    }
    // Complex numbers are given as two equal parts.
    if matches!(kind, Kind::Cplx | Kind::Dcplx) { bytes.repeat(2) } else { bytes }
}

struct Sent {
    data: Vec<u8>,
    runs: RunList,
}

fn send(layout: Layout, calls: &[Call]) -> Sent {
    let mut sent = Sent { data: Vec::new(), runs: RunList::new() };
    for Call { kind, values } in calls {
        sent.data.extend(values.iter().flat_map(|value| stored(layout, *kind, *value)));
        let (shape, each) = kind.shape_in(layout);
        sent.runs.push_run(Run { shape, count: values.len() * each });
    }
    sent
}

const KINDS: [Kind; 11] = [
    Kind::Byte,
    Kind::Short,
    Kind::Int,
    Kind::Float,
    Kind::Cplx,
    Kind::Double,
    Kind::Dcplx,
    Kind::Long,
    Kind::Ushort,
    Kind::Uint,
    Kind::Ulong,
];

fn calls() -> impl Strategy<Value = Vec<Call>> {
    let call = (0..KINDS.len(), prop::collection::vec(any::<i32>(), 1..9))
        .prop_map(|(kind, values)| Call { kind: KINDS[kind], values });
    prop::collection::vec(call, 1..9)
}

fn layouts() -> impl Strategy<Value = Layout> {
    (0..4usize).prop_map(|i| Layout::ALL[i])
}

proptest! {
    /// Read by the same calls, in pieces of any size.
    #[test]
    fn what_any_machine_packs_is_unpacked(
        calls in calls(),
        layout in layouts(),
        piece in 1..5usize,
    ) {
        let sent = send(layout, &calls);
        let mut envelope = Envelope::new(Tid(1), Address::new(Tid(2), Tag(1), Context::FIRST));
        envelope.layout = layout;
        let mut runs = sent.runs.clone();
        let data = foreign::make_native(&mut envelope, &mut runs, sent.data).expect("sound");
        let body = Body { data: &data, runs: &runs, encoding: Encoding::Default };
        let mut cursor = Cursor::new();
        for Call { kind, values } in &calls {
            // In PVM the padding belongs to the call, so bytes are read as they were packed.
            let piece = if *kind == Kind::Byte { values.len() } else { piece };
            for values in values.chunks(piece) {
                let expected: Vec<u8> =
                    values.iter().flat_map(|v| stored(Layout::NATIVE, *kind, *v)).collect();
                let mut out = vec![0; expected.len()];
                prop_assert_eq!(cursor.read(body, *kind, &mut out), Ok(()));
                prop_assert_eq!(out, expected);
            }
        }
        prop_assert_eq!(cursor.done(), runs.xdr_size());
    }

    /// The view through which other types read has equal bytes for each sender.
    #[test]
    fn all_machines_send_the_same_view(calls in calls()) {
        let views: Vec<Vec<u8>> = Layout::ALL
            .iter()
            .map(|layout| {
                let sent = send(*layout, &calls);
                let address = Address::new(Tid(2), Tag(1), Context::FIRST);
                let mut envelope = Envelope::new(Tid(1), address);
                envelope.layout = *layout;
                let mut runs = sent.runs;
                let data = foreign::make_native(&mut envelope, &mut runs, sent.data);
                let data = data.expect("sound");
                let body = Body { data: &data, runs: &runs, encoding: Encoding::Default };
                Cursor::new().rest_as_xdr(body)
            })
            .collect();
        prop_assert!(views.iter().all(|view| *view == views[0]));
    }

    /// A message inside of another (`pvm_pkmesg`) keeps its items.
    #[test]
    fn a_part_of_a_foreign_message_keeps_its_items(calls in calls(), layout in layouts()) {
        let sent = send(layout, &calls);
        let mut envelope = Envelope::new(Tid(1), Address::new(Tid(2), Tag(1), Context::FIRST));
        envelope.layout = layout;
        let mut runs = sent.runs;
        let data = foreign::make_native(&mut envelope, &mut runs, sent.data).expect("sound");
        let body = Body { data: &data, runs: &runs, encoding: Encoding::Default };
        let (data, runs) = Cursor::new().extract(body, runs.xdr_size()).expect("all of it");
        let body = Body { data: &data, runs: &runs, encoding: Encoding::Default };
        let mut cursor = Cursor::new();
        for Call { kind, values } in &calls {
            let expected: Vec<u8> =
                values.iter().flat_map(|v| stored(Layout::NATIVE, *kind, *v)).collect();
            let mut out = vec![0; expected.len()];
            prop_assert_eq!(cursor.read(body, *kind, &mut out), Ok(()));
            prop_assert_eq!(out, expected);
        }
    }

    /// `pvm_psend` of one type to a machine of any layout.
    #[test]
    fn bulk_data_become_native(call in calls().prop_map(|c| c[0].clone()), layout in layouts()) {
        let sent = send(layout, std::slice::from_ref(&call));
        let mut envelope = Envelope::new(Tid(1), Address::new(Tid(2), Tag(1), Context::FIRST));
        envelope.layout = layout;
        envelope.describe(Encoding::Raw, sent.data.len(), &sent.runs);
        let mut runs = envelope.runs(&[]).expect("one run");
        let size = foreign::native_size(&envelope, &runs, sent.data.len());
        let data = foreign::make_native(&mut envelope, &mut runs, sent.data).expect("sound");
        let expected: Vec<u8> =
            call.values.iter().flat_map(|v| stored(Layout::NATIVE, call.kind, *v)).collect();
        prop_assert_eq!(size, expected.len());
        prop_assert_eq!(data, expected);
        prop_assert_eq!(envelope.layout, Layout::NATIVE);
    }
}
