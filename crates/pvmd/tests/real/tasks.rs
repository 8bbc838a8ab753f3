//! Tasks: started, heard, fed, ended.

use crate::client::{Client, Host, PATIENCE, run_script, spawn_request};
use pvm_wire::request::{Reply, Request, Role};
use pvm_wire::{Blob, Code, PROTOCOL_VERSION};
use std::time::{Duration, Instant};

/// All that a run tells: what each stream got, and the statuses.
fn outcome(client: &mut Client, id: u32) -> (Vec<u8>, Vec<u8>, Vec<i32>) {
    let (mut out, mut err, mut statuses) = (Vec::new(), Vec::new(), Vec::new());
    loop {
        match client.answer(id) {
            Reply::Spawned { outcomes, tried } => {
                assert!(outcomes.iter().all(|o| *o > 0), "{outcomes:?} {tried:?}");
            }
            Reply::Output { bytes, stream: 1, .. } => out.extend(bytes.0),
            Reply::Output { bytes, .. } => err.extend(bytes.0),
            Reply::Exited { status, .. } => statuses.push(status),
            Reply::Finished => return (out, err, statuses),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_task_sees_its_surroundings_and_its_streams_are_told_apart() {
    let host = Host::start();
    let mut client = Client::operator(&host);
    let id = client.send(&run_script("echo $PVMSOCK $LD_LIBRARY_PATH; pwd >&2; exit 3"));
    let (out, err, statuses) = outcome(&mut client, id);
    let out = String::from_utf8(out).unwrap();
    assert!(out.starts_with(&format!("{} /opt/neopvm/lib", host.socket.display())), "{out}");
    let home = host.place.home();
    assert_eq!(String::from_utf8(err).unwrap().trim_end(), home.to_str().unwrap());
    assert_eq!(statuses, [3 << 8]);
}

#[test]
fn output_is_complete_however_much_and_however_it_ends() {
    let host = Host::start();
    let mut client = Client::operator(&host);
    let script = "i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done; kill -9 $$";
    let id = client.send(&run_script(script));
    let (out, _, statuses) = outcome(&mut client, id);
    assert_eq!(out.iter().filter(|byte| **byte == b'\n').count(), 20_000);
    assert!(out.ends_with(b"line 19999\n"));
    assert_eq!(statuses, [9]);
}

#[test]
fn the_exit_of_a_task_that_is_not_of_our_group_of_processes_is_seen() {
    let host = Host::start();
    let mut client = Client::operator(&host);
    let script = "set -- $(cat /proc/$$/stat); test $5 = $$ && exit 5";
    let id = client.send(&run_script(script));
    assert_eq!(outcome(&mut client, id).2, [5 << 8]);
}

#[test]
fn standard_input_reaches_the_task_and_ends() {
    let host = Host::start();
    let mut client = Client::operator(&host);
    let id = client.send(&Request::Run { spawn: spawn_request("/bin/cat", &[]) });
    let Reply::Spawned { outcomes, .. } = client.answer(id) else { panic!() };
    let tid = pvm_wire::Tid::from_c_int(outcomes[0]);
    let bytes = Blob(vec![b'x'; 300_000]);
    client.send(&Request::Feed { tid, bytes: bytes.clone() });
    client.send(&Request::Feed { tid, bytes: Blob::default() });
    let (out, _, statuses) = outcome(&mut client, id);
    assert_eq!((out.len(), statuses), (300_000, vec![0]));
}

#[test]
fn a_missing_program_is_answered_with_the_paths_tried() {
    let host = Host::start();
    let mut client = Client::operator(&host);
    let reply = client.ask(&Request::Run { spawn: spawn_request("no-such-program", &[]) });
    let Reply::Spawned { outcomes, tried } = reply else { panic!("{reply:?}") };
    assert_eq!(outcomes, [Code::NoFile.number()]);
    assert!(tried.contains(&Blob::from("/opt/neopvm/bin/no-such-program")), "{tried:?}");
}

#[test]
fn an_exit_is_told_within_20_milliseconds() {
    let host = Host::start();
    let mut client = Client::operator(&host);
    let mut exit = || {
        let id = client.send(&run_script("exec sleep 1000"));
        let Reply::Spawned { outcomes, .. } = client.answer(id) else { panic!() };
        let tid = pvm_wire::Tid::from_c_int(outcomes[0]);
        let start = Instant::now();
        client.send(&Request::Signal { tid, signal: 9 });
        assert!(matches!(client.answer(id), Reply::Exited { status: 9, .. }));
        start.elapsed()
    };
    // A busy computer delays some, or most; what waits for a clock delays all.
    let bound = Duration::from_millis(20);
    let (mut times, end) = (Vec::new(), Instant::now() + PATIENCE);
    while times.iter().all(|time| *time >= bound) {
        assert!(Instant::now() < end, "{times:?}");
        times.push(exit());
    }
}

#[test]
fn a_process_becomes_a_task_with_an_inbox() {
    let host = Host::start();
    let mut client = Client::connect(&host);
    let reply = client.hello(Role::Task, PROTOCOL_VERSION);
    let Reply::Welcome { welcome } = reply else { panic!("{reply:?}") };
    assert_eq!(welcome.tid.0, 0x40001);
    assert!(welcome.doorbell.to_text().ends_with("bell/t40001"));
    assert_eq!(client.descriptors.len(), 2, "the inbox and the host's count");
    let reply = client.ask(&Request::OpenSlab { bytes: 1 << 20 });
    assert!(matches!(reply, Reply::Segment { .. }), "{reply:?}");
    assert_eq!(client.descriptors.len(), 3);
}

#[test]
fn a_thousand_tasks_start_talk_and_end() {
    let host = Host::start();
    let mut client = Client::operator(&host);
    let mut spawn = spawn_request("/bin/echo", &["here"]);
    spawn.count = 1000;
    let id = client.send(&Request::Run { spawn });
    let (out, _, statuses) = outcome(&mut client, id);
    assert_eq!(out.len(), 5000);
    assert_eq!(statuses, [0; 1000]);
}

#[test]
fn a_command_that_does_not_read_holds_up_its_tasks_and_nobody_else() {
    let host = Host::start();
    let mut slow = Client::operator(&host);
    let script = "head -c 40000000 /dev/zero; echo end";
    let id = slow.send(&run_script(script));
    std::thread::sleep(Duration::from_millis(500));
    let status = std::fs::read_to_string(format!("/proc/{}/status", host.process.id())).unwrap();
    let resident = status.lines().find(|line| line.starts_with("VmRSS")).unwrap();
    let kib: u64 = resident.split_whitespace().nth(1).unwrap().parse().unwrap();
    assert!(kib < 30_000, "{resident}");
    let mut quick = Client::operator(&host);
    let other = quick.send(&run_script("echo here"));
    assert_eq!(outcome(&mut quick, other).0, b"here\n");
    let (out, _, statuses) = outcome(&mut slow, id);
    assert_eq!((out.len(), statuses), (40_000_004, vec![0]));
}

#[test]
fn tasks_keep_the_limit_of_open_files_and_the_host_has_more() {
    const TASKS: i32 = 150;
    let host = Host::start_behind("ulimit -Sn 100");
    let mut client = Client::operator(&host);
    let mut spawn = spawn_request("/bin/sh", &["-c", "ulimit -n; sleep 0.5"]);
    spawn.count = TASKS;
    let id = client.send(&Request::Run { spawn });
    let (out, _, statuses) = outcome(&mut client, id);
    assert_eq!(statuses, [0; TASKS as usize]);
    assert_eq!(String::from_utf8(out).unwrap(), "100\n".repeat(TASKS as usize));
}
