//! Hosts join through ssh: here through a program that takes ssh's arguments and runs the command
//! on this computer, in a place of its own.

use crate::client::{Client, Host, command, until};
use crate::hosts::{hosts, machine, socket_of};
use pvm_wire::request::{Failure, HostResult, Reply, Request};
use pvm_wire::{Blob, Code};
use std::io::Write as _;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use testbed::Place;

/// A first host whose ssh is this script. `$place` is where the other "computer" keeps its files,
/// `$command` what is to run there.
fn start(script: &str) -> (Host, PathBuf) {
    let ours = Arc::new(Place::new());
    let place = ours.home().join("there");
    std::fs::create_dir_all(&place).unwrap();
    let ssh = ours.home().join("ssh-here");
    let head = "#!/bin/sh\nfor command; do [ \"$command\" = -G ] && ask=1; done\n";
    let body = format!("{head}export place={} ask command\n{script}\n", place.display());
    testbed::write_program(&ssh, body);
    let host = Host::start_as(command(&ours).arg("--bound").env("PVM_RSH", &ssh), &ours);
    (host, place)
}

/// A login there: a shell of one's own runs the command.
const LOGIN: &str = "export PVM_TMP=$place; echo 'hello there' >&2; printf 'Welcome! '; \
                     exec /bin/sh -c \"$command\"";

fn add(client: &mut Client, line: &str) -> HostResult {
    let Reply::HostResults { mut results } =
        client.ask(&Request::AddHosts { hosts: vec![Blob::from(line)] })
    else {
        panic!("no results")
    };
    results.remove(0)
}

fn failure(client: &mut Client, line: &str, code: Code) -> Failure {
    let result = add(client, line);
    assert_eq!(result.outcome, code.number(), "{result:?}");
    assert_eq!(hosts(client).len(), 1, "something is half there");
    result.failure.unwrap()
}

fn is_empty(place: &Path) -> bool {
    std::fs::read_dir(place).unwrap().next().is_none()
}

#[test]
fn a_host_joins_behind_the_noise_of_a_shell_and_leaves_nothing_when_it_is_deleted() {
    let (host, place) = start(LOGIN);
    let mut client = Client::operator(&host);
    let result = add(&mut client, "$me@far sp=77 wd=/usr");
    assert!(result.outcome > 0, "{result:?}");
    let table = hosts(&mut client);
    assert_eq!((table.len(), table[1].name.to_text().as_str()), (2, "far"));
    assert_eq!(table[1].speed, 77);
    assert!(!is_empty(&place));
    let gone = client.ask(&Request::DelHosts { hosts: vec!["far".into()] });
    assert!(matches!(gone, Reply::HostResults { .. }), "{gone:?}");
    until("the deleted host has cleared up", || is_empty(&place));
    // The same again: its old key is forgotten, its new one counts.
    assert!(add(&mut client, "$far").outcome > 0);
    drop(host);
}

#[test]
fn a_second_daemon_of_the_machine_on_the_same_computer_is_a_duplicate() {
    let (host, place) = start(LOGIN);
    let mut client = Client::operator(&host);
    let mut there = command(&host.place);
    let other = Host::start_as(there.arg("--bound").env("PVM_TMP", &place), &host.place);
    let failure = failure(&mut client, "far", Code::DupHost);
    assert_eq!(failure.stage, "join", "{failure:?}");
    assert!(failure.detail.contains("runs there already"), "{failure:?}");
    drop(other);
}

/// The advice that the error gave halted the user's own machine.
#[test]
fn a_host_named_twice_is_told_by_the_name_that_it_has() {
    let (host, _place) = start(LOGIN);
    let mut client = Client::operator(&host);
    assert!(add(&mut client, "$far").outcome > 0);
    for (line, named) in
        [("other", "it is in the machine already, as far"), ("FAR", "already, as far")]
    {
        let result = add(&mut client, line);
        assert_eq!(result.outcome, Code::DupHost.number(), "{result:?}");
        let failure = result.failure.unwrap();
        assert!(failure.detail.contains(named), "{failure:?}");
        assert!(!failure.remedy.contains("halt"), "{failure:?}");
    }
}

#[test]
fn a_daemon_that_cannot_call_is_named_so_and_ends() {
    let closed = "command=$(echo \"$command\" | sed 's/--join=[^ ]*/--join=127.0.0.1:9/')";
    let (host, place) = start(&format!("{closed}\n{LOGIN}"));
    let mut client = Client::operator(&host);
    let failure = failure(&mut client, "$far", Code::CantStart);
    assert_eq!(failure.stage, "callback", "{failure:?}");
    until("the daemon that was not let in has ended", || is_empty(&place));
}

#[test]
fn where_no_pvmd_is_the_places_are_named() {
    let elsewhere = "command=$(echo \"$command\" | sed 's#/[^ ]*/pvmd#/no/such/pvmd#g')";
    let script = format!("unset PVM_ROOT; HOME=/no/home PATH=/bin\n{elsewhere}\n{LOGIN}");
    let (host, _) = start(&script);
    let mut client = Client::operator(&host);
    let failure = failure(&mut client, "far dx=$HOME/mine", Code::CantStart);
    assert_eq!(failure.stage, "pvmd", "{failure:?}");
    assert!(failure.detail.contains("$HOME/mine, /no/such/pvmd"), "{failure:?}");
    assert!(failure.remedy.contains("--push"), "{failure:?}");
}

#[test]
fn a_closed_port_and_a_refused_key_are_told_apart() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let script = format!(
        "if [ \"$ask\" ]; then echo hostname 127.0.0.1; echo port {port}; exit; fi\n\
         echo 'Permission denied (publickey).' >&2; exit 255"
    );
    let (host, _) = start(&script);
    let mut client = Client::operator(&host);
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.write_all(b"SSH-2.0-test\r\n").unwrap();
    });
    let refused = failure(&mut client, "far lo=me", Code::CantStart);
    assert_eq!((refused.stage.as_str(), refused.remedy.as_str()), ("key", "ssh-copy-id me@far"));
    server.join().unwrap();
    let closed = failure(&mut client, "far", Code::CantStart);
    assert_eq!(closed.stage, "port", "{closed:?}");
}

#[test]
fn a_host_that_was_deleted_while_it_was_silent_is_refused_and_ends() {
    let (host, mut client) = machine(3);
    let mut other = crate::hosts::operator_of(&host, 3);
    let Reply::Status { status } = other.ask(&Request::DaemonStatus) else { panic!() };
    let signal = |signal: &str| {
        for pid in [status.daemon_pid, status.parent_pid] {
            let pid = pid.to_string();
            assert!(
                std::process::Command::new("kill").args([signal, &pid]).status().unwrap().success()
            );
        }
    };
    signal("-STOP");
    // Places are taken in the order of starting, names given in the order of joining.
    let reply = client.ask(&Request::DelHosts { hosts: vec![status.name.clone()] });
    assert!(matches!(reply, Reply::HostResults { .. }), "{reply:?}");
    assert_eq!(hosts(&mut client).len(), 2);
    signal("-CONT");
    let folder = socket_of(&host, 3).parent().unwrap().to_path_buf();
    until("it has ended", || !folder.exists());
    assert_eq!(hosts(&mut client).len(), 2);
}

#[test]
fn a_thousand_silent_strangers_keep_nobody_out() {
    let (host, mut client) = machine(2);
    let Reply::Status { status } = client.ask(&Request::DaemonStatus) else { panic!() };
    let strangers: Vec<TcpStream> =
        (0..1000).map(|_| TcpStream::connect(&status.address).unwrap()).collect();
    let Reply::HostResults { results } = client.ask(&Request::AddLocal { count: 1 }) else {
        panic!()
    };
    assert!(results[0].outcome > 0, "{results:?}");
    assert_eq!(hosts(&mut client).len(), 3);
    drop((strangers, host));
}
