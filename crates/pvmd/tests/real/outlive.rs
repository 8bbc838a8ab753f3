//! The end of a host is not the end of a task that only came to it. This process is such a task:
//! without the cure it is killed, and with it the whole of these tests.

use crate::client::{Client, Host, until};
use crate::life::kill;
use pvm_wire::request::{Reply, Request, Role};
use pvm_wire::{Blob, Layout, PROTOCOL_VERSION};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A task that does not say goodbye at the end of the test.
fn enrol(host: &Host) -> Client {
    let mut client = Client::connect(host);
    let welcome = client.ask(&Request::Hello {
        version: PROTOCOL_VERSION,
        role: Role::Task,
        program: Blob::from("test"),
        reset: true,
        cookie: 0,
        layout: Layout::NATIVE,
    });
    assert!(matches!(welcome, Reply::Welcome { .. }), "{welcome:?}");
    client
}

#[test]
fn who_only_came_to_a_machine_is_asked_to_end_at_its_halt_and_lives_on() {
    let asked = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(signal_hook::consts::SIGTERM, Arc::clone(&asked)).unwrap();
    let mut host = Host::start();
    let mut task = enrol(&host);
    assert_eq!(Client::operator(&host).ask(&Request::Halt), Reply::Done);
    assert_eq!(host.wait(), Some(0));
    until("it is told, as in PVM", || asked.load(Ordering::SeqCst));
    assert!(task.is_closed());
}

#[test]
fn who_only_came_to_a_machine_or_has_left_it_outlives_its_killed_host() {
    let host = Host::start();
    let mut left = enrol(&host);
    assert_eq!(left.ask(&Request::Leave), Reply::Done);
    let mut task = enrol(&host);
    let daemon = PathBuf::from(format!("/proc/{}", host.daemon()));
    kill("-KILL", host.process.id());
    // The daemon ends behind all that it has ended.
    until("the daemon is gone", || !daemon.exists());
    assert!(task.is_closed());
}
