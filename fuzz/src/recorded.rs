//! Bytes as records of four tasks, written as a trace, which is read as a program and run on a
//! line.

use pvm_predict::platform::{Host, Line};
use pvm_predict::report::Unwatched;
use pvm_predict::source::{Recorded, Survey, Wish};
use pvm_predict::{Time, model};
use pvm_trace::{
    Encoding, Limits, Processor, Reader, Reason, Record, RouteKind, TaskFacts, Tid, Transfer, What,
    Writer, calls,
};
use std::io::Cursor;
use std::sync::Arc;

const TASKS: u32 = 4;

pub(crate) fn run(bytes: &[u8]) {
    let Some(file) = written(bytes) else { return };
    let Ok(mut reader) = Reader::open(Cursor::new(file)) else { return };
    let survey = Arc::new(Survey::of(&mut reader));
    let wish = Wish { by_processor: bytes.len() % 2 == 0, without_probes: bytes.len() % 3 == 0 };
    let Ok(mut source) = Recorded::new(reader, &survey, wish) else { return };
    let line = Line::new(Time::nanoseconds(7), 3.0);
    let Ok(report) = model::line::run(&mut source, line, Host::default(), &mut Unwatched) else {
        return;
    };
    assert!(report.stations.iter().all(|station| station.total() == station.execution));
}

fn tid(task: u8) -> Tid {
    Tid(1 << 18 | (u32::from(task) % (TASKS + 1) + 1))
}

/// A record for each twelve bytes.
fn written(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut writer = Writer::new(Cursor::new(Vec::new()), Limits::default(), 1).ok()?;
    for task in 0..TASKS as u8 {
        let (parent, program) = (Tid(0), "fuzz".into());
        let facts = TaskFacts { tid: tid(task), parent, process: 1, program, began: 0 };
        writer.task(facts).ok()?;
    }
    for chunk in bytes.as_chunks::<12>().0 {
        let [task, kind, flags, peer, number, call, a, b, c, d, e, f] = *chunk;
        let begin = u64::from(u32::from_le_bytes([a, b, c, 0])) << (flags >> 6 << 4);
        let length = u64::from(u16::from_le_bytes([d, e])) << (f >> 7 << 5);
        let call = [calls::SEND, calls::RECV, calls::MCAST, calls::BARRIER][usize::from(call) % 4];
        let what = what(kind, peer, u64::from(number), (begin, length));
        let (part, depth) = (flags & 1 != 0, flags >> 1 & 1);
        let record = Record { what, part, depth, ..Record::call(call, begin, length) };
        writer.record(u32::from(task) % TASKS, &record).ok()?;
    }
    writer.finish().ok().map(Cursor::into_inner)
}

fn what(kind: u8, peer: u8, number: u64, (begin, length): (u64, u64)) -> What {
    let (tag, context, bytes, hops) = (0, 0, length, 0);
    let (encoding, route) = (Encoding::Raw, RouteKind::Memory);
    let peer = tid(peer);
    let message = Transfer { peer, tag, context, number, bytes, encoding, route, hops };
    let begun = Processor { begin, end: begin.wrapping_add(length) };
    let members = number as u32;
    match kind % 9 {
        0 | 1 => What::Send { message, wire: bytes, pieces: 1 },
        2 | 3 => What::Receive { message, any_source: kind > 99, any_tag: false },
        4 => What::Wait { reason: Reason::Message, processor: Some(begun) },
        5 => What::Wait { reason: Reason::Answer, processor: None },
        6 => What::Group { name: 1, members, instance: 0, root: -1, tag: 0, count: number },
        7 => What::Spawn { children: vec![peer.as_c_int(), -1] },
        _ => What::State { name: members },
    }
}
