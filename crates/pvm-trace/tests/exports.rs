//! Exports as other tools read them, compared with what is known of the run.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "simulated/ring.rs"]
mod ring;

use pvm_trace::clocks::Clocks;
use pvm_trace::{Edge, Happening, Limits, Reader, Record, TaskFacts, What, Writer, calls, export};
use pvm_wire::Tid;
use ring::Ring;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::io::{Cursor, Write};
use std::rc::Rc;

type Bytes = Cursor<Vec<u8>>;

fn of_ring(ring: Ring) -> Reader<Bytes> {
    let mut writer = Writer::new(Cursor::new(Vec::new()), Limits::default(), 1).unwrap();
    ring.write(&mut writer).unwrap();
    Reader::open(writer.finish().unwrap()).unwrap()
}

fn text(export: impl FnOnce(&mut Reader<Bytes>, &Clocks, &mut Vec<u8>)) -> String {
    let mut reader = of_ring(Ring::default());
    let clocks = Clocks::find(&mut reader).unwrap();
    let mut out = Vec::new();
    export(&mut reader, &clocks, &mut out);
    String::from_utf8(out).unwrap()
}

#[test]
fn the_timeline_is_in_order_and_nested() {
    let mut reader = of_ring(Ring { rounds: 300, ..Ring::default() });
    let all: Vec<Happening> = reader.timeline(|_, time| time).map(Result::unwrap).collect();
    assert!(all.is_sorted_by_key(|happening| happening.time));
    let mut open: HashMap<u32, Vec<Rc<Record>>> = HashMap::new();
    let mut count = 0;
    for happening in &all {
        let stack = open.entry(happening.task).or_default();
        match happening.edge {
            Edge::Begin => stack.push(happening.record.clone()),
            Edge::End => assert!(Rc::ptr_eq(&stack.pop().unwrap(), &happening.record)),
            Edge::Point => (),
        }
        assert!(stack.len() <= 2);
        count += usize::from(happening.edge == Edge::Begin);
    }
    assert!(open.values().all(Vec::is_empty));
    assert_eq!(count as u64, reader.summary().records);
}

#[test]
fn csv_has_a_line_a_record_and_all_its_columns() {
    let csv = text(|reader, clocks, out| export::csv(reader, clocks, out).unwrap());
    let mut lines = csv.lines();
    let columns = lines.next().unwrap().split(',').count();
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.len(), 237);
    assert!(rows.iter().all(|row| row.len() == columns), "{:?}", rows[0]);
    let sends = rows.iter().filter(|row| row[8] == "send").collect::<Vec<_>>();
    assert_eq!((sends.len(), sends[0][10], sends[0][14]), (40, "t80002", "4032"));
}

#[test]
fn csv_keeps_its_columns_for_every_kind_of_record() {
    let mut writer = Writer::new(Cursor::new(Vec::new()), Limits::default(), 1).unwrap();
    Ring { rounds: 1, ..Ring::default() }.write(&mut writer).unwrap();
    let tid = pvm_wire::Tid(7);
    let name = "=1+1,\"x\"\n".as_bytes().to_vec();
    let class = pvm_trace::Class::Mark;
    let kinds = [
        What::Name { class, number: 3, text: name },
        What::Mark { name: 3, value: -5 },
        What::State { name: 3 },
        What::Progress { name: 3, done: 1, total: 2 },
        What::Poll { source: tid, tag: -1, context: 0 },
        What::Copy { bytes: 9 },
        What::Group { name: 1, members: 4, instance: 0, root: -1, tag: 0, count: 0 },
        What::Spawn { children: vec![1, -7] },
        What::Route { peer: tid, step: pvm_trace::RouteStep::Stands },
        What::Begin { parent: tid, process: 1, name: 0 },
        What::End { status: 0, noted: 1, lost: 0 },
    ];
    for what in kinds {
        writer.record(0, &Record { what, ..Record::call(calls::NONE, 9, 9) }).unwrap();
    }
    let mut reader = Reader::open(writer.finish().unwrap()).unwrap();
    let mut out = Vec::new();
    let clocks = Clocks::raw(reader.tables());
    export::csv(&mut reader, &clocks, &mut out).unwrap();
    let csv = String::from_utf8(out).unwrap();
    // Names in quotes have commas of their own.
    let counts = csv.lines().map(|line| line.replace("1,\"\"x", "").matches(',').count());
    let counts: Vec<_> = counts.collect();
    assert!(counts.iter().all(|count| *count == counts[0]), "{csv}");
    assert!(csv.contains("\"'=1+1,\"\"x\"\" \""), "{csv}");
}

/// A task that comes first knows of no other member yet.
#[test]
fn a_barrier_to_which_one_task_came_before_the_others_had_joined_was_not_told_of_it() {
    let mut writer = Writer::new(Cursor::new(Vec::new()), Limits::default(), 1).unwrap();
    Ring { rounds: 1, ..Ring::default() }.write(&mut writer).unwrap();
    for (task, members) in [(0, 1), (1, 3), (2, 4), (3, 4)] {
        let (name, instance, root, tag, count) = (1, task, -1, 0, 4);
        let what = What::Group { name, members, instance, root, tag, count };
        writer.record(task, &Record { what, ..Record::call(calls::BARRIER, 9, 9) }).unwrap();
    }
    let mut reader = Reader::open(writer.finish().unwrap()).unwrap();
    let mut out = Vec::new();
    export::ti(&mut reader, &mut out).unwrap();
    let lines = String::from_utf8(out).unwrap();
    assert_eq!(lines.matches(" barrier\n").count(), 4, "{lines}");
}

#[test]
fn chrome_gets_json_with_a_flow_for_each_message() {
    let json = text(|reader, clocks, out| export::chrome(reader, clocks, out).unwrap());
    assert!(json.starts_with('{') && json.ends_with("]}\n"));
    assert_eq!(json.matches("\"ph\":\"s\"").count(), 40);
    assert_eq!(json.matches("\"ph\":\"f\"").count(), 39);
    assert_eq!(json.matches("\"ph\":\"X\"").count(), 237);
    assert_eq!(json.matches("process_name").count(), 4);
    assert_eq!(json.matches('{').count(), json.matches('}').count());
}

/// A message of protobuf: the values of each field; numbers as eight bytes.
fn fields(mut bytes: &[u8]) -> BTreeMap<u64, Vec<Vec<u8>>> {
    let number = |bytes: &mut &[u8]| {
        let (mut value, mut shift) = (0u64, 0);
        loop {
            let (byte, rest) = bytes.split_first().unwrap();
            *bytes = rest;
            value |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte & 0x80 == 0 {
                return value;
            }
        }
    };
    let mut found: BTreeMap<u64, Vec<Vec<u8>>> = BTreeMap::new();
    while !bytes.is_empty() {
        let tag = number(&mut bytes);
        let value = match tag & 7 {
            0 => number(&mut bytes).to_le_bytes().to_vec(),
            1 => {
                let (value, rest) = bytes.split_at(8);
                bytes = rest;
                value.to_vec()
            }
            2 => {
                let length = number(&mut bytes) as usize;
                let (value, rest) = bytes.split_at(length);
                bytes = rest;
                value.to_vec()
            }
            other => panic!("wire type {other}"),
        };
        found.entry(tag >> 3).or_default().push(value);
    }
    found
}

fn number(value: &[u8]) -> u64 {
    u64::from_le_bytes(value.try_into().unwrap())
}

#[test]
fn perfetto_gets_slices_that_nest_and_flows_that_meet() {
    let mut reader = of_ring(Ring::default());
    let clocks = Clocks::find(&mut reader).unwrap();
    let mut out = Vec::new();
    export::perfetto(&mut reader, &clocks, &mut out).unwrap();
    let trace = fields(&out);
    assert_eq!(trace.len(), 1);
    let (mut begins, mut ends, mut last) = (0, 0, 0);
    let (mut from, mut to) = (Vec::new(), Vec::new());
    let mut names: HashMap<(u64, u64), String> = HashMap::new();
    let mut tracks = 0;
    for packet in &trace[&1] {
        let packet = fields(packet);
        tracks += usize::from(packet.contains_key(&60));
        let sequence = packet.get(&10).map_or(0, |all| number(&all[0]));
        for data in packet.get(&12).into_iter().flatten() {
            for name in fields(data).get(&2).into_iter().flatten() {
                let name = fields(name);
                let text = String::from_utf8(name[&2][0].clone()).unwrap();
                names.insert((sequence, number(&name[&1][0])), text);
            }
        }
        let Some(event) = packet.get(&11) else { continue };
        let time = number(&packet[&8][0]);
        assert!(time >= last, "out of order");
        last = time;
        let event = fields(&event[0]);
        match number(&event[&9][0]) {
            1 => {
                begins += 1;
                assert!(names.contains_key(&(sequence, number(&event[&10][0]))));
            }
            2 => ends += 1,
            _ => (),
        }
        from.extend(event.get(&47).into_iter().flatten().map(|id| number(id)));
        to.extend(event.get(&48).into_iter().flatten().map(|id| number(id)));
    }
    assert_eq!((begins, ends, from.len(), to.len()), (237, 237, 40, 39));
    assert!(to.iter().all(|id| from.contains(id)));
    from.sort_unstable();
    from.dedup();
    assert_eq!(from.len(), 40);
    // For each task its process, its thread and its progress, and the counter of bytes.
    assert_eq!(tracks, 4 * 3 + 1);
    assert!(names.values().any(|name| name == "pvm_send"));
}

#[test]
fn simgrid_gets_rows_that_match() {
    let mut reader = of_ring(Ring::default());
    let mut out = Vec::new();
    let untold = export::ti(&mut reader, &mut out).unwrap();
    assert_eq!((untold.messages, untold.groups, untold.any_source), (0, 0, 39));
    let text = String::from_utf8(out).unwrap();
    // SimGrid ends a replay at the message of the last round, which nobody takes.
    let (sends, receives) = (text.matches(" send ").count(), text.matches(" recv ").count());
    assert_eq!((sends, receives, untold.halves), (39, 39, 1));
    assert_eq!(text.matches(" init\n").count(), 4);
    assert_eq!(text.matches(" finalize\n").count(), 4);
    assert!(text.contains("0 send 1 1 4032\n") && text.contains("1 recv 0 1 4032\n"));
    assert!(text.lines().any(|line| line.starts_with("0 compute ")));
}

#[test]
fn the_thesis_gets_its_files() {
    #[derive(Clone, Default)]
    struct File(Rc<RefCell<Vec<u8>>>);
    impl Write for File {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.borrow_mut().write(bytes)
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut reader = of_ring(Ring::default());
    let mut files: BTreeMap<String, File> = BTreeMap::new();
    export::thesis(&mut reader, |file| {
        let new = File::default();
        assert!(files.insert(file.name().to_owned(), new.clone()).is_none(), "opened twice");
        Ok(new)
    })
    .unwrap();
    let names: Vec<_> = files.keys().map(String::as_str).collect();
    assert_eq!(names.len(), 16, "{names:?}");
    let text = |name: &str| String::from_utf8(files[name].0.borrow().clone()).unwrap();
    let station = text("station.1");
    assert_eq!(station.lines().filter(|line| line.starts_with("s\t")).count(), 10);
    assert!(station.contains("s\t1\t4064\t1\t2\n"), "{station}");
    // A message is read in two parts, as the thesis found.
    assert!(station.contains("\t16\t0\t1\n") && station.contains("\t4048\t0\t1\n"), "{station}");
    assert!(text("oh.40002").starts_with("pvm_initsend "));
    assert!(text("pk.80002").contains("pvm_upkint "));
    assert!(text("results.80002").contains("recv "));
}

#[test]
fn sddf_describes_each_kind_once_and_tells_all_calls() {
    let sddf = text(|reader, clocks, out| export::sddf(reader, clocks, out).unwrap());
    assert_eq!(sddf.matches("\n#1094: \"send(0.0)\"").count(), 1);
    assert_eq!(sddf.matches("\"send(0.0)\" {").count(), 40);
    assert_eq!(sddf.matches("\"recv(1.1)\" {").count(), 39);
    assert_eq!(sddf.matches("\"newtask(0)\" {").count(), 4);
    let first = sddf.lines().find(|line| line.starts_with("\"send(0.0)\" {")).unwrap();
    assert!(first.ends_with("262146, 4032, 524290, 7, 0 };;"), "{first}");
}

#[test]
fn calls_of_a_thread_that_overlap_by_their_clocks_error_were_nested_wrongly() {
    let mut writer = Writer::new(Cursor::new(Vec::new()), Limits::default(), 1).unwrap();
    let (parent, process, program) = (Tid(0), 1, "a".into());
    let task = TaskFacts { tid: Tid(0x40001), parent, process, program, began: 0 };
    let task = writer.task(task).unwrap();
    // The second one began before the first one was over.
    for (begin, length) in [(1000, 500), (1490, 200)] {
        writer.record(task, &Record::call(calls::SEND, begin, length)).unwrap();
    }
    let mut reader = Reader::open(writer.finish().unwrap()).unwrap();
    let told = reader.timeline(|_, time| time).map(Result::unwrap);
    let told: Vec<_> = told.map(|happening| (happening.time, happening.edge)).collect();
    let expected = [(1000, Edge::Begin), (1500, Edge::End), (1500, Edge::Begin), (1690, Edge::End)];
    assert_eq!(told, expected);
}
