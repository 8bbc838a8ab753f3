//! Several hosts of one machine on this computer.

use crate::client::{Client, Host, run_script, spawn_request, until};
use pvm_wire::request::{HostInfo, Reply, Request, Role};
use pvm_wire::{Blob, PROTOCOL_VERSION};
use std::collections::BTreeSet;
use std::path::PathBuf;

pub(crate) fn hosts(client: &mut Client) -> Vec<HostInfo> {
    let Reply::Hosts { hosts } = client.ask(&Request::Config) else { panic!() };
    hosts
}

/// A machine of this many hosts, and an operator on the first.
pub(crate) fn machine(count: u32) -> (Host, Client) {
    let host = Host::start();
    let mut client = Client::operator(&host);
    let reply = client.ask(&Request::AddLocal { count: count - 1 });
    let Reply::HostResults { results } = reply else { panic!("{reply:?}") };
    assert!(results.iter().all(|result| result.outcome > 0), "{results:?}");
    assert_eq!(hosts(&mut client).len(), count as usize);
    (host, client)
}

/// The local socket of another host of the machine.
pub(crate) fn socket_of(host: &Host, number: u32) -> PathBuf {
    host.socket.parent().unwrap().with_file_name(number.to_string()).join("pvmd.sock")
}

/// An operator on another host of the machine, once that has learned the state.
pub(crate) fn operator_of(host: &Host, number: u32) -> Client {
    loop {
        let mut client = Client::connect_to(&socket_of(host, number));
        if let Reply::Ready { .. } = client.hello(Role::Operator, PROTOCOL_VERSION) {
            return client;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

#[test]
fn four_hosts_have_names_of_their_own_and_end_together() {
    let (mut host, mut client) = machine(4);
    let names: BTreeSet<Blob> = hosts(&mut client).into_iter().map(|host| host.name).collect();
    assert_eq!(names.len(), 4);
    assert_eq!(client.ask(&Request::Halt), Reply::Done);
    assert_eq!(host.wait(), Some(0));
    until("all have cleared up", || host.is_clean());
}

#[test]
fn tasks_run_on_all_hosts_and_their_output_comes_back() {
    let (host, mut client) = machine(3);
    let mut spawn = spawn_request("/bin/sh", &["-c", "echo $PVMSOCK"]);
    spawn.count = 6;
    let id = client.send(&Request::Run { spawn });
    let mut out = Vec::new();
    loop {
        match client.answer(id) {
            Reply::Output { bytes, .. } => out.extend(bytes.0),
            Reply::Finished => break,
            Reply::Spawned { .. } | Reply::Exited { .. } => {}
            other => panic!("{other:?}"),
        }
    }
    let text = String::from_utf8(out).unwrap();
    let sockets: BTreeSet<&str> = text.lines().collect();
    assert_eq!((text.lines().count(), sockets.len()), (6, 3), "{text}");
    drop(host);
}

#[test]
fn the_end_of_what_a_machine_is_bound_to_ends_all_its_hosts() {
    let (mut host, mut client) = machine(3);
    let mut spawn = spawn_request("/bin/sleep", &["1000"]);
    spawn.count = 3;
    let id = client.send(&Request::Run { spawn });
    assert!(matches!(client.answer(id), Reply::Spawned { .. }));
    drop(host.process.stdin.take());
    assert_eq!(host.wait(), Some(0));
    until("all have cleared up", || host.is_clean());
}

#[test]
fn killed_daemons_of_linked_hosts_come_back_and_go_on() {
    let (host, mut client) = machine(2);
    let mut other = operator_of(&host, 2);
    for round in 0..3 {
        let Reply::Status { status } = client.ask(&Request::DaemonStatus) else { panic!() };
        let Reply::Status { status: theirs } = other.ask(&Request::DaemonStatus) else { panic!() };
        let victim = if round == 1 { theirs.daemon_pid } else { status.daemon_pid };
        let pid = victim.to_string();
        assert!(std::process::Command::new("kill").args(["-9", &pid]).status().unwrap().success());
        let mut spawn = spawn_request("/bin/sh", &["-c", "echo $PVMSOCK"]);
        spawn.count = 2;
        let id = client.send(&Request::Run { spawn });
        let mut finished = 0;
        loop {
            match client.answer(id) {
                Reply::Exited { status, .. } => {
                    assert_eq!(status, 0);
                    finished += 1;
                }
                Reply::Finished => break,
                _ => {}
            }
        }
        assert_eq!((finished, hosts(&mut client).len()), (2, 2));
    }
}

#[test]
fn a_host_that_dies_is_told_and_the_rest_goes_on() {
    let (host, mut client) = machine(3);
    let mut other = operator_of(&host, 2);
    let Reply::Status { status } = other.ask(&Request::DaemonStatus) else { panic!() };
    let pid = status.parent_pid.to_string();
    assert!(std::process::Command::new("kill").args(["-9", &pid]).status().unwrap().success());
    until("it is gone from the table", || hosts(&mut client).len() == 2);
    let id = client.send(&run_script("exit 0"));
    assert!(matches!(client.answer(id), Reply::Spawned { .. }));
}
