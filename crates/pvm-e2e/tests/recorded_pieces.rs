//! Large messages in a trace: the pieces in which they went, and the waits for room on their way.
#![forbid(unsafe_code)]

use pvm_e2e::Machine;
use std::collections::{BTreeMap, BTreeSet};

const BYTES: u64 = 16 << 20;
const COUNT: usize = 5;

/// The records of a recorded run of `pieces.c`, each as `pvm trace show --events --json` tells it.
fn recorded(hosts: u32, how: &str, count: usize) -> Vec<String> {
    let machine = Machine::local(hosts);
    let program = machine.place().compile("pieces.c");
    let file = machine.place().home().join("run.trace");
    let mut command = machine.place().installed("pvm");
    command.args(["run", "--quiet", "--trace"]).arg(&file).arg(program);
    command.args([how, &count.to_string()]);
    machine.succeed(command);
    let mut command = machine.place().installed("pvm");
    command.args(["trace", "show", "--events", "--json"]).arg(&file);
    let shown = machine.succeed(command).out;
    machine.halt();
    shown.lines().map(str::to_owned).collect()
}

fn number(record: &str, name: &str) -> u64 {
    let rest = record.split(&format!("\"{name}\":")).nth(1);
    let rest = rest.unwrap_or_else(|| panic!("{name}: {record}"));
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    rest[..digits].parse().unwrap_or_else(|error| panic!("{name}: {error}: {record}"))
}

fn is(record: &str, what: &str) -> bool {
    record.contains(&format!("\"what\":\"{what}\""))
}

/// The sends of all large messages.
fn sends(records: &[String], count: usize) -> Vec<&String> {
    let is_large = |record: &&String| is(record, "send") && number(record, "bytes") == BYTES;
    let sends: Vec<_> = records.iter().filter(is_large).collect();
    assert_eq!(sends.len(), count);
    sends
}

/// The pieces of a message: they sum up to it, as many as its send says, one behind the other.
fn pieces_of(records: &[String], send: &str, way: &str) -> usize {
    let of = |record: &&String| {
        is(record, "piece")
            && number(record, "number") == number(send, "number")
            && record.contains(&format!("\"way\":\"{way}\""))
    };
    let pieces: Vec<_> = records.iter().filter(of).collect();
    assert_eq!(pieces.iter().map(|piece| number(piece, "bytes")).sum::<u64>(), BYTES);
    assert_eq!(pieces.len() as u64, number(send, "pieces"));
    let span = |record: &str| {
        let begin = number(record, "begin");
        (begin, begin + number(record, "length"))
    };
    let mut last = span(send).0;
    for piece in &pieces {
        let (begin, end) = span(piece);
        assert!(begin >= last && end <= span(send).1, "{piece} in {send}");
        last = end;
    }
    pieces.len()
}

#[test]
fn a_message_that_its_receiver_reads_while_it_is_written_tells_its_pieces() {
    let count = 80;
    let records = recorded(1, "memory", count);
    let sends = sends(&records, count);
    let streamed: Vec<_> = sends.iter().filter(|send| number(send, "pieces") > 1).collect();
    // A receiver that came too late, on a busy computer, finds the whole message.
    assert!(!streamed.is_empty(), "none of {count}: {}", sends[0]);
    eprintln!("{} of {count} were read while they were written", streamed.len());
    for send in streamed {
        assert_eq!(pieces_of(&records, send, "memory"), 1024);
    }
}

#[test]
fn a_message_on_a_direct_route_told_neither_its_pieces_nor_that_it_waited_for_room() {
    let records = recorded(2, "direct", COUNT);
    let sends = sends(&records, COUNT);
    for send in sends {
        assert!(send.contains("\"way\":\"direct\""), "{send}");
        assert!(pieces_of(&records, send, "direct") >= 16, "{send}");
    }
    let waits = records.iter().filter(|record| is(record, "wait for room"));
    let waits: Vec<_> = waits.filter(|wait| wait.contains("\"pvm_psend\"")).collect();
    assert!(!waits.is_empty(), "80 MB found room at once?");
    eprintln!(
        "{} waits for room, {} pieces",
        waits.len(),
        records.iter().filter(|one| is(one, "piece")).count()
    );
}

#[test]
fn a_message_that_went_by_the_daemons_was_told_as_direct_where_a_route_stood_already() {
    let records = recorded(2, "direct", 1);
    let way = |record: &str| {
        let ways = ["daemons", "direct"];
        ways.into_iter().find(|way| record.contains(&format!("\"way\":\"{way}\"")))
    };
    // The ways of all messages between the two tasks, by sender and number: as it was noted by the
    // task that sent it, and by the one that received it.
    let of = |what: &str| -> BTreeMap<(u64, u64), &str> {
        let abroad = records.iter().filter(|record| is(record, what));
        let line = |record: &String| {
            Some(((number(record, "task"), number(record, "number")), way(record)?))
        };
        abroad.filter_map(line).collect()
    };
    let (sent, taken) = (of("send"), of("receive"));
    let tasks: BTreeSet<u64> = sent.keys().map(|(task, _)| *task).collect();
    let other = |task: u64| *tasks.iter().find(|one| **one != task).expect("two tasks");
    let mut abroad = [0, 0];
    for ((task, number), way) in &sent {
        let Some(found) = taken.get(&(other(*task), *number)) else { continue };
        assert_eq!(way, found, "message {number} of task {task}");
        abroad[usize::from(*found == "direct")] += 1;
    }
    // Each first message goes by the daemons.
    assert!(abroad[0] >= 2 && abroad[1] >= 20, "{abroad:?} of {}", records.len());
}

#[test]
fn a_message_by_the_daemons_goes_in_one_piece() {
    let records = recorded(2, "daemons", COUNT);
    assert!(sends(&records, COUNT).iter().all(|send| number(send, "pieces") == 1));
}
