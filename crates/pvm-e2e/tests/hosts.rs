//! Several hosts on this computer, and a computer with a difficult name.
#![forbid(unsafe_code)]

use pvm_e2e::{Machine, Place, Running, eventually, has, process};
use std::time::Duration;

fn daemons(machine: &Machine) -> Vec<u32> {
    let processes = machine.place().processes().into_iter();
    processes.filter(|(_, line)| line.contains("--daemon")).map(|(pid, _)| pid).collect()
}

#[test]
fn four_hosts_talk_multicast_notify_and_halt_without_a_trace() {
    let machine = Machine::local(4);
    let output = machine.run("hosts.c", &["4", "full"]);
    eprintln!("four hosts: {}", output.out.replace('\n', ", "));
    // The same again: nothing of the first run is in the way.
    machine.run("hosts.c", &["4"]);
    machine.halt();
}

#[test]
fn daemons_killed_on_four_hosts_come_back() {
    let machine = Machine::local(4);
    machine.run("hosts.c", &["4"]);
    for _ in 0..3 {
        let daemons = daemons(&machine);
        assert_eq!(daemons.len(), 4);
        daemons.iter().for_each(|daemon| process::kill(*daemon));
        let back = || {
            let now = self::daemons(&machine);
            now.len() == 4 && now.iter().all(|daemon| !daemons.contains(daemon))
        };
        assert!(eventually(Duration::from_secs(60), back), "{}", machine.log());
    }
    machine.run("hosts.c", &["4"]);
    machine.halt();
}

#[test]
fn daemons_killed_while_four_hosts_talk_lose_and_repeat_nothing() {
    let machine = Machine::local(4);
    let running = machine.begin("hosts.c", &["4", "full"]);
    for round in 0..4 {
        std::thread::sleep(Duration::from_millis(400));
        let daemons = daemons(&machine);
        if let Some(daemon) = daemons.get(round % daemons.len().max(1)) {
            process::kill(*daemon);
        }
    }
    machine.expect_success(running);
    machine.run("hosts.c", &["4"]);
    machine.halt();
}

/// A host whose own name maps to 127.0.1.1, as Debian's installer makes it.
#[test]
fn a_host_whose_name_maps_to_127_0_1_1_works() {
    if !has("unshare", "util-linux") {
        return;
    }
    let place = Place::new();
    let program = place.compile("hosts.c");
    let hosts = place.home().join("hosts-file");
    std::fs::write(&hosts, "127.0.0.1 localhost\n127.0.1.1 e2e-loop.example e2e-loop\n")
        .expect("a file");
    let script = format!(
        "hostname e2e-loop && mount --bind {} /etc/hosts || exit 77\n\
         pvm up --local 2 && {} 2 && pvm halt",
        hosts.display(),
        program.display()
    );
    let mut command = place.command("unshare");
    let root = std::process::Command::new("id").arg("-u").output().expect("id").stdout == b"0\n";
    command.args(if root {
        ["--uts", "--mount"].as_slice()
    } else {
        &["-U", "-r", "--uts", "--mount"]
    });
    let path = std::env::var("PATH").unwrap_or_default();
    command.env("PATH", format!("{}:{path}", pvm_e2e::prefix().join("bin").display()));
    command.args(["sh", "-c", &script]);
    let output = Running::start(command).finish(Duration::from_secs(90));
    if output.code() == 77 || output.err.starts_with("unshare:") {
        eprintln!("skipped: no namespaces here: {}", output.err.trim_end());
        return;
    }
    assert_eq!(output.code(), 0, "{}{}", output.out, output.err);
    place.assert_nothing_left();
}

/// Sixteen times 6 MiB, of which the log keeps what not all have, and the table one.
#[test]
fn a_long_name_that_is_put_again_and_again_leaves_64_mib_in_no_process() {
    let machine = Machine::local(3);
    let output = machine.run("cables.c", &["put", "6291456", "16"]);
    let puts = output.out.lines().filter(|line| line.starts_with("put ")).count();
    assert_eq!(puts, 16, "{}", output.out);
    let processes = machine.place().processes().into_iter();
    let ours = processes.filter(|(_, line)| line.contains("pvmd"));
    let resident: Vec<_> = ours.map(|(pid, _)| process::resident_kib(pid)).collect();
    assert_eq!(resident.len(), 6);
    assert!(resident.iter().all(|kib| *kib <= 64 << 10), "{resident:?} KiB");
    machine.halt();
}
