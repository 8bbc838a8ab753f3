//! Messages between tasks, here and across links, and the machine's own.

use crate::client::Host;
use crate::hosts::{machine, operator_of, socket_of};
use crate::life::kill;
use crate::task::Task;
use pvm_shm::Sent;
use pvm_wire::Tid;
use pvm_wire::request::{Reply, Request};

#[test]
fn a_notice_comes_into_the_inbox() {
    let host = Host::start();
    let mut task = Task::enrol(&host.socket);
    let gone = Tid(task.tid.0 + 77);
    let request =
        Request::Notify { kind: 1, cancel: false, context: 0, tag: 9, count: 0, tids: vec![gone] };
    assert_eq!(task.broker.0.ask(&request), Reply::Done);
    let (from, tag, bytes) = task.receive();
    assert_eq!((from, tag), (Tid::NOTICE_SOURCE, 9));
    assert_eq!(bytes, gone.0.to_ne_bytes());
}

#[test]
fn messages_cross_a_link_in_order_whatever_their_size() {
    let (host, _operator) = machine(2);
    let mut here = Task::enrol(&host.socket);
    let mut there = Task::enrol(&socket_of(&host, 2));
    let sizes = [0, 8, 192, 193, 4096, 70_000, 1, 3_000_000, 64 << 10, 5];
    for round in 0..20 {
        for (tag, size) in sizes.iter().enumerate() {
            let fill = (round * 10 + tag) as u8;
            assert_eq!(here.send(there.tid, tag as i32, &vec![fill; *size]), Sent::Delivered);
        }
    }
    for round in 0..20 {
        for (tag, size) in sizes.iter().enumerate() {
            let (from, got, bytes) = there.receive();
            assert_eq!((from, got), (here.tid, tag as i32));
            assert_eq!(bytes, vec![(round * 10 + tag) as u8; *size]);
        }
    }
    there.send(here.tid, 5, b"thanks");
    assert_eq!(here.receive(), (there.tid, 5, b"thanks".to_vec()));
}

#[test]
fn many_small_messages_go_both_ways_at_once() {
    const COUNT: i32 = 20_000;
    let (host, _operator) = machine(2);
    let mut here = Task::enrol(&host.socket);
    let mut there = Task::enrol(&socket_of(&host, 2));
    for tag in 0..COUNT {
        here.send(there.tid, tag, &tag.to_le_bytes());
        there.send(here.tid, tag, &tag.to_le_bytes());
    }
    for tag in 0..COUNT {
        assert_eq!(there.receive(), (here.tid, tag, tag.to_le_bytes().to_vec()));
        assert_eq!(here.receive(), (there.tid, tag, tag.to_le_bytes().to_vec()));
    }
}

#[test]
fn a_message_to_a_task_that_never_was_is_dropped() {
    let (host, _operator) = machine(2);
    let mut here = Task::enrol(&host.socket);
    let mut there = Task::enrol(&socket_of(&host, 2));
    here.send(Tid(there.tid.0 + 5), 1, b"nobody");
    here.send(Tid(7 << 18 | 1), 1, b"no host");
    here.send(there.tid, 2, b"somebody");
    assert_eq!(there.receive(), (here.tid, 2, b"somebody".to_vec()));
}

#[test]
fn messages_cross_the_link_after_either_daemon_was_killed() {
    let (host, mut operator) = machine(2);
    let mut here = Task::enrol(&host.socket);
    let mut there = Task::enrol(&socket_of(&host, 2));
    let mut other = operator_of(&host, 2);
    for round in 0..6 {
        for tag in 0..100 {
            here.send(there.tid, tag, &vec![round; 300]);
        }
        for tag in 0..100 {
            assert_eq!(there.receive(), (here.tid, tag, vec![round; 300]));
        }
        there.send(here.tid, 0, b"all");
        assert_eq!(here.receive(), (there.tid, 0, b"all".to_vec()));
        let victim = if round % 2 == 0 { &mut operator } else { &mut other };
        let Reply::Status { status } = victim.ask(&Request::DaemonStatus) else { panic!() };
        kill("-KILL", status.daemon_pid);
    }
}
