//! Every way in which a host cannot be added, and what is said about it: the stage, the sentence,
//! the remedy.

use crate::ask::{all_see, json, members};
use pvm_e2e::{Hosts, Running, eventually, prefix};
use serde_json::Value;
use std::time::{Duration, Instant};

/// Each answer comes within 15 s, and later only on a busy computer.
const BOUND: Duration = Duration::from_secs(60);

/// The report of `pvm add` on one host that it cannot add.
fn refused(hosts: &Hosts, words: &[&str]) -> Value {
    let start = Instant::now();
    let output = hosts.finish("h1", &[&["pvm", "add", "--json"], words].concat());
    assert!(start.elapsed() < BOUND, "{words:?}: an answer after {:?}", start.elapsed());
    let row = json(&output)["hosts"][0].clone();
    eprintln!("{words:?}: {row}");
    assert_ne!(output.code(), 0, "{row}");
    assert_eq!(row["ok"], false, "{row}");
    row
}

/// The first stage that fails as `pvm doctor` sees it.
fn doctor(hosts: &Hosts, host: &str) -> Value {
    let start = Instant::now();
    let output = hosts.finish("h1", &["pvm", "doctor", "--json", host]);
    assert!(start.elapsed() < BOUND, "an answer after {:?}", start.elapsed());
    assert_ne!(output.code(), 0, "{}", output.out);
    let whole = json(&output);
    let failed = stages(&whole).into_iter().find(|stage| stage["ok"] == false);
    failed.unwrap_or_else(|| panic!("no stage failed: {whole}"))
}

/// The list of stages, wherever the answer has it.
fn stages(value: &Value) -> Vec<Value> {
    match value {
        Value::Object(fields) => match fields.get("stages") {
            Some(Value::Array(stages)) => stages.clone(),
            _ => fields.values().flat_map(stages).collect(),
        },
        Value::Array(items) => items.iter().flat_map(stages).collect(),
        _ => Vec::new(),
    }
}

/// `add` and `doctor` name this stage, sentence and remedy; the machine is as before.
fn both_say(hosts: &Hosts, host: &str, (stage, detail, remedy): (&str, &str, &str)) {
    for said in [refused(hosts, &[host]), doctor(hosts, host)] {
        assert_eq!(said["stage"], stage, "{said}");
        assert_eq!(said["detail"], detail, "{said}");
        assert_eq!(said["remedy"], remedy, "{said}");
    }
    all_see(hosts, &["h1"]);
}

fn append(hosts: &Hosts, host: &str, name: &str, text: &str) {
    use std::io::Write as _;
    let path = hosts.file(host, name);
    let mut file = std::fs::File::options().append(true).open(path).expect("a file");
    file.write_all(text.as_bytes()).expect("written");
}

fn nothing_begun(hosts: &Hosts, host: &str) {
    let clean = eventually(Duration::from_secs(60), || hosts.left(host).is_empty());
    assert!(clean, "half-added: {:?}", hosts.left(host));
}

#[test]
fn name_route_and_port_each_have_their_sentence() {
    let Some(hosts) = Hosts::up(3) else { return };
    append(&hosts, "h1", "hosts", "10.99.0.1 faraway\n10.77.0.3 silent\n");
    append(
        &hosts,
        "h1",
        "ssh/config",
        "Host closed\n HostName 10.77.0.2\n Port 2222\nHost other\n HostName 10.77.0.2\n Port \
         4711\n",
    );
    hosts.machine("h1", &[]);
    let unknown = ("name", "the name nowhere is not known here", "pvm add 'nowhere ip=ADDRESS'");
    both_say(&hosts, "nowhere", unknown);
    let away =
        ("route", "no way to faraway (10.99.0.1): network is unreachable", "ping -c 3 10.99.0.1");
    both_say(&hosts, "faraway", away);
    hosts.wall("h3", "drop");
    let silent =
        ("route", "no way to silent (10.77.0.3): no answer within 3 s", "ping -c 3 10.77.0.3");
    both_say(&hosts, "silent", silent);
    let closed = (
        "port",
        "nothing listens on port 2222 of closed (10.77.0.2)",
        "on closed: sudo apt install openssh-server (or start sshd)",
    );
    both_say(&hosts, "closed", closed);
    let strange = (
        "port",
        "what listens on port 4711 of other is no ssh server",
        "put the right Port for other into ~/.ssh/config",
    );
    let mute = Running::start(hosts.on("h2", &[env!("CARGO_BIN_EXE_stranger"), "mute", "4711"]));
    let listens = || hosts.run("h2", &["ss", "-Hltn"]).out.contains(":4711");
    assert!(eventually(Duration::from_secs(60), listens));
    both_say(&hosts, "other", strange);
    drop(mute);
    hosts.halt("h1");
}

#[test]
fn keys_and_shells_each_have_their_sentence() {
    let Some(hosts) = Hosts::up(3) else { return };
    let all = hosts.compile("hosts.c");
    hosts.machine("h1", &[]);
    let good = hosts.file("h2", "ssh/authorized_keys");
    let keys = std::fs::read(&good).expect("the keys");
    std::fs::write(&good, "").expect("no keys");
    let denied = (
        "key",
        "h2: it does not accept any key of this user (root@h2: Permission denied (publickey).)",
        "ssh-copy-id h2",
    );
    both_say(&hosts, "h2", denied);
    std::fs::write(&good, keys).expect("the keys again");
    nothing_begun(&hosts, "h2");

    let known = hosts.file("h1", "ssh/known_hosts");
    let right = std::fs::read_to_string(&known).expect("the known hosts");
    std::fs::write(&known, "").expect("none is known");
    let said = refused(&hosts, &["h2"]);
    assert_eq!(said["stage"], "key", "{said}");
    assert_eq!(said["remedy"], "ssh h2 true (and accept its key)", "{said}");
    let mine = std::fs::read_to_string(hosts.file("h1", "ssh/id_ed25519.pub")).expect("a key");
    std::fs::write(&known, format!("* {mine}")).expect("another key");
    let said = refused(&hosts, &["h2"]);
    assert_eq!(said["stage"], "key", "{said}");
    assert_eq!(said["remedy"], "ssh-keygen -R h2", "{said}");
    std::fs::write(&known, right).expect("the right ones");

    let start_file = hosts.home().join(".bashrc");
    std::fs::write(
        &start_file,
        "[ $(hostname) = h1 ] || { echo This account is closed.; exit 3; }\n",
    )
    .expect("a start file");
    let said = refused(&hosts, &["h2"]);
    assert_eq!(said["stage"], "shell", "{said}");
    let sentence = "the login shell on h2 runs no command: This account is closed.";
    assert_eq!(said["detail"], sentence, "{said}");

    // Noise is skipped.
    let noise = "echo 'Welcome to h2!'; echo neopvm-host-9 noise; seq 200; echo to you, too >&2; \
                 printf 'no end of line'\n";
    std::fs::write(&start_file, noise).expect("a start file");
    hosts.run("h1", &["pvm", "add", "h2", "h3"]);
    all_see(&hosts, &["h1", "h2", "h3"]);
    hosts.run("h1", &[&all, "3"]);
    std::fs::remove_file(&start_file).expect("it was there");
    hosts.halt("h1");
}

#[test]
fn a_missing_pvmd_and_other_versions_are_named_and_push_mends_them() {
    let Some(hosts) = Hosts::up(3) else { return };
    let all = hosts.compile("hosts.c");
    hosts.machine("h1", &[]);
    let bin = prefix().join("bin");
    let bin = bin.to_string_lossy();
    // The folder is there for h1 only.
    hosts.run("h2", &["mount", "-t", "tmpfs", "none", &bin]);
    for said in [refused(&hosts, &["h2"]), doctor(&hosts, "h2")] {
        assert_eq!(said["stage"], "pvmd", "{said}");
        let detail = said["detail"].as_str().expect("a sentence");
        assert!(detail.starts_with("no pvmd on h2 (tried "), "{detail}");
        assert!(detail.contains(&format!("{bin}/pvmd")), "{detail}");
        assert_eq!(said["remedy"], "pvm add --push h2", "{said}");
    }
    // What answers is of another time.
    let old = "#!/bin/sh\n# neopvm-missing-1: looks like ours\necho 'neopvm-host-1 1 0.0.9 00'\n";
    std::fs::write(hosts.home().join("old"), old).expect("a file");
    let place = format!("install -m 755 $HOME/old {bin}/pvmd");
    hosts.shell("h2", &place);
    let said = refused(&hosts, &["h2"]);
    assert_eq!(said["stage"], "version", "{said}");
    let detail = said["detail"].as_str().expect("a sentence");
    assert!(detail.contains("0.0.9 (protocol 1)"), "the version there: {detail}");
    assert!(detail.contains(env!("CARGO_PKG_VERSION")), "the version here: {detail}");
    assert_eq!(said["remedy"], "pvm add --push h2", "{said}");
    // One that dies before it says a word.
    let broken = "#!/bin/sh\n# neopvm-missing-1\necho broken >&2\nexit 1\n";
    std::fs::write(hosts.home().join("old"), broken).expect("a file");
    hosts.shell("h2", &place);
    let said = refused(&hosts, &["h2"]);
    assert_eq!(said["stage"], "pvmd", "{said}");
    assert!(said["detail"].as_str().is_some_and(|text| text.contains("broken")), "{said}");
    nothing_begun(&hosts, "h2");
    all_see(&hosts, &["h1"]);
    hosts.run("h2", &["rm", &format!("{bin}/pvmd")]);
    hosts.run("h1", &["pvm", "add", "--push", "h2"]);
    hosts.run("h1", &[&all, "2"]);
    hosts.halt("h1");
}

#[test]
fn a_call_back_that_is_blocked_is_named_and_the_tunnel_mends_it() {
    let Some(hosts) = Hosts::up(2) else { return };
    let all = hosts.compile("hosts.c");
    hosts.machine("h1", &[]);
    // h1 lets in what it asked for and nothing else.
    hosts.wall("h1", "iif eth0 ct state new drop");
    for said in [refused(&hosts, &["h2"]), doctor(&hosts, "h2")] {
        assert_eq!(said["stage"], "callback", "{said}");
        let detail = said["detail"].as_str().expect("a sentence");
        assert!(
            detail.starts_with("h2 cannot call this host back (tried from there: "),
            "{detail}"
        );
        assert!(detail.contains("10.77.0.1:"), "{detail}");
        assert_eq!(said["remedy"], "pvm add --tunnel h2", "{said}");
    }
    nothing_begun(&hosts, "h2");
    all_see(&hosts, &["h1"]);
    hosts.run("h1", &["pvm", "add", "--tunnel", "h2"]);
    hosts.run("h1", &[&all, "2"]);
    hosts.halt("h1");
}

#[test]
fn members_of_this_or_another_machine_are_not_added_twice() {
    let Some(hosts) = Hosts::up(3) else { return };
    hosts.machine("h1", &["h2"]);
    let said = refused(&hosts, &["h2"]);
    assert_eq!(said["error"], "Duplicate host", "{said}");
    hosts.run("h3", &["pvm", "up"]);
    for said in [refused(&hosts, &["h3"]), doctor(&hosts, "h3")] {
        assert_eq!(said["stage"], "join", "{said}");
        let detail = said["detail"].as_str().expect("a sentence");
        assert!(detail.contains("already (/tmp/neopvm-0/default/"), "{detail}");
        assert!(said["remedy"].as_str().is_some_and(|text| text.contains("pvm halt")), "{said}");
    }
    all_see(&hosts, &["h1", "h2"]);
    all_see(&hosts, &["h3"]);
    hosts.run("h3", &["pvm", "halt"]);
    hosts.run("h1", &["pvm", "add", "h3"]);
    all_see(&hosts, &["h1", "h2", "h3"]);
    hosts.halt("h3");
}

/// The daemon there says that it is ready and dies before it has called.
#[test]
fn a_daemon_that_dies_while_joining_leaves_nothing_half_added() {
    let Some(hosts) = Hosts::up(3) else { return };
    let all = hosts.compile("hosts.c");
    hosts.machine("h1", &["h2"]);
    let bin = prefix().join("bin");
    let bin = bin.to_string_lossy();
    let real = hosts.home().join("pvmd");
    pvm_e2e::copy_program(&prefix().join("bin/pvmd"), &real);
    // Its answer is held back until it is dead.
    let dying = "#!/bin/sh\n# neopvm-missing-1\nanswer=$($HOME/pvmd \"$@\")\n\
                 pkill -KILL -f '[-]-foreground|[-]-daemon'\necho \"$answer\"\n";
    std::fs::write(hosts.home().join("dying"), dying).expect("a file");
    hosts.run("h3", &["mount", "-t", "tmpfs", "none", &bin]);
    hosts.shell("h3", &format!("install -m 755 $HOME/dying {bin}/pvmd"));
    let said = refused(&hosts, &["h3"]);
    assert_eq!(said["stage"], "callback", "{said}");
    all_see(&hosts, &["h1", "h2"]);
    let ended = eventually(Duration::from_secs(60), || hosts.processes("h3").is_empty());
    assert!(ended, "{:?}", hosts.processes("h3"));
    hosts.run("h1", &[&all, "2"]);
    hosts.run("h3", &["umount", &bin]);
    hosts.run("h1", &["pvm", "add", "h3"]);
    hosts.run("h1", &[&all, "3"]);
    hosts.halt("h1");
}

/// Four joins that are cut off at any moment: the machine of the others is as it was.
#[test]
fn a_host_that_loses_power_while_it_joins_leaves_nothing_half_added() {
    let Some(hosts) = Hosts::up(3) else { return };
    let all = hosts.compile("hosts.c");
    hosts.machine("h1", &["h2"]);
    for round in 0..4 {
        let adding = Running::start(hosts.on("h1", &["pvm", "add", "--json", "h3"]));
        std::thread::sleep(Duration::from_millis(150 + round * 150));
        hosts.tool(&["power-off", "h3"]);
        let output = adding.finish(Duration::from_secs(60));
        eprintln!("round {round}: {}", output.out);
        let out = || members(&hosts, "h1") == ["h1", "h2"] && members(&hosts, "h2") == ["h1", "h2"];
        assert!(eventually(Duration::from_secs(60), out), "{:?}", members(&hosts, "h1"));
        hosts.run("h1", &[&all, "2"]);
        hosts.tool(&["boot", "h3"]);
    }
    hosts.run("h1", &["pvm", "add", "h3"]);
    hosts.run("h1", &[&all, "3"]);
    hosts.halt("h1");
}
