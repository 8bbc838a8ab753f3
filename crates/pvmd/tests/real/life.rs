//! Beginning, end, and what is left behind.

use crate::client::{
    Client, Host, behind, children, command, daemon_of, run_script, spawn_request, until,
};
use pvm_wire::Tid;
use pvm_wire::request::{Reply, Request};
use std::collections::BTreeMap;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use testbed::Place;

pub(crate) fn kill(signal: &str, pid: u32) {
    assert!(Command::new("kill").args([signal, &pid.to_string()]).status().unwrap().success());
}

#[test]
fn a_second_daemon_of_the_machine_says_so_and_ends() {
    let host = Host::start();
    let output = command(&host.place).output().unwrap();
    assert_eq!(output.status.code(), Some(17), "tools tell it apart by that");
    assert!(String::from_utf8_lossy(&output.stderr).contains("pvmd already running"));
    let other = command(&host.place).env("PVM_VMID", "../x").output().unwrap();
    assert!(!other.status.success());
}

#[test]
fn the_end_of_standard_input_ends_a_bound_daemon_and_leaves_nothing() {
    let mut host = Host::start();
    let mut client = Client::operator(&host);
    let id = client.send(&run_script("sleep 1000 & trap '' TERM; sleep 1000"));
    assert!(matches!(client.answer(id), Reply::Spawned { .. }));
    let parent = host.process.id();
    until("the task runs", || children(parent).len() == 2);
    let tasks: Vec<u32> = children(parent).into_iter().flat_map(children).collect();
    drop(host.process.stdin.take());
    assert_eq!(host.wait(), Some(0));
    assert!(host.is_clean());
    for pid in tasks {
        assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists());
    }
}

#[test]
fn halt_is_answered_and_ends_the_host() {
    let mut host = Host::start();
    let mut client = Client::operator(&host);
    assert_eq!(client.ask(&Request::Halt), Reply::Done);
    assert_eq!(host.wait(), Some(0));
    assert!(host.is_clean());
}

#[test]
fn a_signal_ends_the_host_in_order() {
    let mut host = Host::start();
    kill("-TERM", host.process.id());
    assert_eq!(host.wait(), Some(0));
    assert!(host.is_clean());
}

#[test]
fn a_killed_daemon_is_replaced_and_nobody_notices() {
    let host = Host::start();
    let mut client = Client::operator(&host);
    let script = "echo before; sleep 0.3; echo after; exit 7";
    let id = client.send(&run_script(script));
    assert!(matches!(client.answer(id), Reply::Spawned { .. }));
    let mut output = Vec::new();
    let mut killed = 0;
    loop {
        match client.answer(id) {
            Reply::Output { bytes, .. } => output.extend(bytes.0),
            Reply::Exited { status, .. } => assert_eq!(status, 7 << 8),
            Reply::Finished => break,
            other => panic!("{other:?}"),
        }
        if killed < 2 {
            let daemon = host.daemon();
            kill("-KILL", daemon);
            killed += 1;
        }
        let Reply::Status { status } = client.ask(&Request::DaemonStatus) else { panic!() };
        assert_eq!(status.restarts, killed);
    }
    assert_eq!(output, b"before\nafter\n");
}

#[test]
fn when_the_parent_is_killed_its_daemon_clears_up() {
    let mut host = Host::start();
    let mut client = Client::operator(&host);
    let id = client.send(&run_script("exec sleep 1000"));
    assert!(matches!(client.answer(id), Reply::Spawned { .. }));
    let family = children(host.process.id());
    assert_eq!(family.len(), 2);
    host.process.kill().unwrap();
    host.wait();
    until("nothing is left", || host.is_clean());
    for pid in family {
        until("it is gone", || {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            stat.is_empty() || stat.contains(") Z ")
        });
    }
}

#[test]
fn what_a_killed_parent_left_does_not_hinder_the_next() {
    let mut host = Host::start();
    let daemon = host.daemon();
    kill("-STOP", daemon);
    host.process.kill().unwrap();
    host.wait();
    let next = Host::start_in(&host.place);
    Client::operator(&next);
    kill("-KILL", daemon);
}

#[test]
fn every_event_has_its_effects_once_however_often_the_daemon_dies() {
    const TASKS: usize = 200;
    let host = Host::start();
    let mut client = Client::operator(&host);
    let script = "for i in 1 2 3 4 5; do echo $i; sleep 0.3; done; exit 5";
    let mut spawn = spawn_request("/bin/sh", &["-c", script]);
    spawn.count = TASKS as i32;
    let id = client.send(&Request::Run { spawn });
    let parent = host.process.id();
    let over = Arc::new(AtomicBool::new(false));
    let seen = over.clone();
    let killer = std::thread::spawn(move || {
        let mut kills = 0;
        // A dead one is nobody's child until its parent, busy with two hundred starts, has looked.
        while kills < 8 && !seen.load(Ordering::Relaxed) {
            std::thread::sleep(std::time::Duration::from_millis(80));
            if let Some(daemon) = daemon_of(parent) {
                let _ = Command::new("kill").args(["-KILL", &daemon.to_string()]).status();
                kills += 1;
            }
        }
    });
    let mut output: BTreeMap<Tid, Vec<u8>> = BTreeMap::new();
    let mut exits = 0;
    loop {
        match client.answer(id) {
            Reply::Spawned { outcomes, .. } => assert_eq!(outcomes.len(), TASKS),
            Reply::Output { tid, bytes, .. } => output.entry(tid).or_default().extend(bytes.0),
            Reply::Exited { status, .. } => {
                assert_eq!(status, 5 << 8);
                exits += 1;
            }
            Reply::Finished => break,
            other => panic!("{other:?}"),
        }
    }
    over.store(true, Ordering::Relaxed);
    killer.join().unwrap();
    assert_eq!((exits, output.len()), (TASKS, TASKS));
    assert!(output.values().all(|text| text == b"1\n2\n3\n4\n5\n"));
    let Reply::Status { status } = client.ask(&Request::DaemonStatus) else { panic!() };
    assert!(status.restarts >= 2, "only {} restarts", status.restarts);
}

/// Every command waited for ever for a daemon that was stopped, `halt` and `status` too.
#[test]
fn a_stopped_daemon_is_replaced_and_everybody_is_answered() {
    let mut host = Host::start();
    let mut task = Client::connect(&host);
    task.hello(pvm_wire::request::Role::Task, pvm_wire::PROTOCOL_VERSION);
    let mut client = Client::operator(&host);
    let stopped = host.daemon();
    kill("-STOP", stopped);
    let Reply::Status { status } = client.ask(&Request::DaemonStatus) else { panic!("no status") };
    assert_eq!(status.restarts, 1);
    assert_ne!(status.daemon_pid, stopped);
    assert!(host.logs().contains("was stopped by a signal"), "{}", host.logs());
    let tasks = task.ask(&Request::Tasks { place: Tid::NONE });
    assert!(matches!(&tasks, Reply::Tasks { tasks } if tasks.len() == 1), "{tasks:?}");
    drop(task);
    kill("-STOP", host.daemon());
    assert_eq!(client.ask(&Request::Halt), Reply::Done);
    assert_eq!(host.wait(), Some(0));
    assert!(host.is_clean());
}

/// A shell that had a lock or a pipe open when it started a machine waited for it as long as the
/// machine lived.
#[test]
fn a_host_and_its_tasks_keep_nothing_open_of_who_started_it() {
    let place = Arc::new(Place::new());
    let fifo = place.home().join("fifo");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let reader = std::thread::spawn({
        let fifo = fifo.clone();
        move || std::fs::read(fifo).unwrap()
    });
    let host = Host::start_as(behind("exec 9>\"$0\"", &place).arg(&fifo), &place);
    // It ends when nobody has the other end open any more.
    until("nobody keeps the pipe", || reader.is_finished());
    let mut client = Client::operator(&host);
    let id = client.send(&run_script("test ! -e /proc/$$/fd/9; exit $?"));
    let ended = std::iter::from_fn(|| Some(client.answer(id)));
    let status =
        ended.take_while(|reply| *reply != Reply::Finished).find_map(|reply| match reply {
            Reply::Exited { status, .. } => Some(status),
            _ => None,
        });
    assert_eq!(status, Some(0));
}

/// Its daemon overflowed its stack again and again, and nobody was told.
#[test]
fn a_host_runs_on_a_small_stack() {
    let host = Host::start_behind("ulimit -s 128");
    let mut client = Client::operator(&host);
    let Reply::Status { status } = client.ask(&Request::DaemonStatus) else { panic!("no status") };
    assert_eq!(status.restarts, 0);
}

#[test]
fn a_host_that_did_not_start_leaves_no_folder() {
    let place = Place::new();
    let mut failed = 0;
    for files in [10, 12, 14, 16, 18, 20] {
        let mut shell = behind(&format!("ulimit -n {files}"), &place);
        let output = shell.stdin(std::process::Stdio::null()).output().unwrap();
        failed += u32::from(!output.status.success());
        let left = std::fs::read_dir(place.runtime()).unwrap().next();
        assert!(left.is_none(), "{left:?} with {files} open files at most");
    }
    assert!(failed > 0, "so few are enough");
}
