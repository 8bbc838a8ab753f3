//! Daemons that are killed, strangers that talk nonsense, and neighbours.
#![forbid(unsafe_code)]

use pvm_e2e::{Machine, Place, Running, eventually, process};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

fn started(machine: &Machine, arguments: &[&str]) -> Running {
    let mut running = machine.begin("talk.c", arguments);
    let talks = eventually(Duration::from_secs(60), || {
        running.so_far().contains("talking\n") || !running.is_running()
    });
    assert!(talks, "{}{}", running.errors_so_far(), machine.log());
    running
}

#[test]
fn a_killed_daemon_is_started_again_while_tasks_talk() {
    let machine = Machine::start();
    let running = started(&machine, &["5", "2", "mayflies"]);
    let mut killed = Vec::new();
    for _ in 0..5 {
        let fresh = |daemon: &Option<u32>| daemon.is_some_and(|pid| !killed.contains(&pid));
        let restarted = eventually(Duration::from_secs(60), || fresh(&machine.daemon()));
        assert!(restarted, "no new daemon\n{}", machine.log());
        let daemon = machine.daemon().expect("just seen");
        std::thread::sleep(Duration::from_millis(700));
        process::kill(daemon);
        killed.push(daemon);
    }
    let output = machine.expect_success(running);
    eprintln!("killed the daemon 5 times: {}", output.out.replace('\n', ", "));
    assert!(output.number("mayflies ") > 5.0);
    // Afterwards spawn and notify work as before.
    machine.run("exits.c", &["4"]);
    machine.run("outlive.c", &["exit"]);
    machine.halt();
}

#[test]
fn a_daemon_killed_as_often_as_it_comes_back_loses_no_request() {
    let machine = Machine::start();
    let mut running = started(&machine, &["3", "1", "mayflies"]);
    let mut kills = 0;
    while running.is_running() {
        let rest = Duration::from_millis(40 + kills % 7 * 30);
        kills += u64::from(machine.kill_daemon(0, rest));
    }
    let output = machine.expect_success(running);
    eprintln!("killed the daemon {kills} times: {}", output.out.replace('\n', ", "));
    machine.run("exits.c", &["4"]);
    machine.halt();
}

#[test]
fn tasks_end_when_their_host_is_killed() {
    let machine = Machine::start();
    let master = started(&machine, &["60", "3", "mayflies"]);
    process::kill(machine.parent());
    // The master was not started by the host, so it only learns that its machine is gone.
    let output = master.finish(Duration::from_secs(60));
    assert!(output.status.is_some(), "the master goes on without a machine");
    assert_ne!(output.code(), 0);
    let gone = eventually(Duration::from_secs(60), || machine.place().processes().is_empty());
    assert!(gone, "alive without their host: {:#?}", machine.place().processes());
}

#[test]
fn a_machine_starts_where_another_one_was_killed() {
    for _ in 0..5 {
        let place = Place::new();
        let mut command = place.installed("pvmd");
        command.arg("--bound");
        let mut daemon = Running::start(command);
        assert!(eventually(Duration::from_secs(60), || daemon.so_far().contains('\n')));
        process::kill(daemon.pid());
        assert!(eventually(Duration::from_secs(60), || !daemon.is_running()));
        // At once: what is left of the old one ends at the same time.
        let machine = Machine::start_in(place);
        machine.run("exits.c", &["2"]);
        machine.halt();
    }
}

#[test]
fn two_machines_of_one_user_know_nothing_of_each_other() {
    // One folder, two names: two machines of one user.
    let one = Machine::start();
    let other_name = |command: &mut std::process::Command| {
        command.env("PVM_VMID", "another");
    };
    let mut command = one.place().installed("pvmd");
    command.arg("--bound");
    other_name(&mut command);
    let other = Running::start(command);
    assert!(eventually(Duration::from_secs(60), || other.so_far().contains('\n')));
    // And a second checkout: another folder.
    let third = Machine::start();

    let running = started(&one, &["3", "1", "mayflies"]);
    let running_third = started(&third, &["2", "1", "mayflies"]);
    let mut beside = one.program("talk.c", &["1", "1"]);
    other_name(&mut beside);
    one.succeed(beside);
    let mut list = one.place().installed("pvm");
    list.args(["ps", "--json"]);
    other_name(&mut list);
    let listed = one.succeed(list);
    assert!(!listed.out.contains("talk"), "tasks of another machine: {}", listed.out);
    let mut halt = one.place().installed("pvm");
    halt.arg("halt");
    other_name(&mut halt);
    one.succeed(halt);
    assert!(other.finish(Duration::from_secs(60)).status.is_some());
    third.expect_success(running_third);
    third.halt();
    one.expect_success(running);
    one.halt();
}

/// Numbers that look like chance and are the same each time.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| (self.next() >> 24) as u8).collect()
    }
}

fn frame(length: u32, id: u32, payload: &[u8]) -> Vec<u8> {
    [&length.to_le_bytes(), &id.to_le_bytes(), payload].concat()
}

/// Connects, says something, listens for a moment, goes.
fn say(socket: &Path, bytes: &[u8]) {
    let Ok(mut stream) = UnixStream::connect(socket) else { return };
    let _ = stream.set_write_timeout(Some(Duration::from_millis(500)));
    let _ = stream.set_read_timeout(Some(Duration::from_millis(2)));
    let _ = stream.write_all(bytes);
    let _ = stream.read(&mut [0; 256]);
}

#[test]
fn garbage_on_the_local_socket_stops_nobody() {
    let machine = Machine::start();
    let running = started(&machine, &["6", "2", "mayflies"]);
    let mut chance = Chance(0x9e37_79b9_7f4a_7c15);
    let socket = machine.socket().to_path_buf();
    let before = process::descriptors(machine.parent());
    // Connections that say nothing, or half of a header, and stay.
    let halves: Vec<UnixStream> = (0..400)
        .filter_map(|i| {
            let mut stream = UnixStream::connect(&socket).ok()?;
            let _ = stream.set_write_timeout(Some(Duration::from_millis(100)));
            let _ = stream.write_all(&frame(40, 1, &[1])[..i % 9]);
            Some(stream)
        })
        .collect();
    let largest = process::resident_kib(machine.parent());
    for i in 0..400_u32 {
        let count = (chance.next() % 3000) as usize;
        let noise = chance.bytes(count);
        let length = noise.len() as u32;
        let bytes = match i % 5 {
            0 => noise,
            // Lengths that promise what never comes.
            1 => frame(u32::MAX, i, &noise),
            2 => frame(60 << 20, i, &noise),
            // True lengths, false contents; the first byte is some request's number.
            3 => frame(length, i, &noise),
            _ => {
                let mut noise = noise;
                noise.splice(0..0, [(i % 50) as u8, 1, 0]);
                frame(noise.len() as u32, i, &noise)
            }
        };
        say(&socket, &bytes);
    }
    // One that never reads its answers.
    if let Ok(mut stream) = UnixStream::connect(&socket) {
        let _ = stream.set_write_timeout(Some(Duration::from_millis(200)));
        for i in 0..2000 {
            if stream.write_all(&frame(3, i, &chance.bytes(3))).is_err() {
                break;
            }
        }
    }
    let grown = process::resident_kib(machine.parent()).saturating_sub(largest);
    assert!(grown < 64 << 10, "the parent grew by {grown} KiB");
    drop(halves);
    let output = machine.expect_success(running);
    eprintln!("beside garbage: {}", output.out.replace('\n', ", "));
    assert!(output.number("longest wait ") < 3.0, "somebody had to wait: {}", output.out);
    let closed = eventually(Duration::from_secs(60), || {
        process::descriptors(machine.parent()) <= before + 8
    });
    assert!(closed, "descriptors stay: {before}, then {}", process::descriptors(machine.parent()));
    machine.run("exits.c", &["2"]);
    machine.halt();
}
