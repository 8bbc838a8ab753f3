//! Tuple spaces from a shell, with real daemons and servers.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "support/place.rs"]
mod place;

use place::Place;
use serde_json::{Value, json};
use std::process::{Child, Output, Stdio};
use std::sync::Once;
use std::time::Duration;
use testbed::eventually;

static BUILT: Once = Once::new();
const LIMIT: Duration = Duration::from_secs(60);

/// A place with a machine.
fn machine() -> Place {
    BUILT.call_once(|| place::build("pvmtuples", "pvm-space"));
    let place = Place::new();
    assert_eq!(run(&place, &["up"]).0, 0);
    place
}

fn ended(output: Output) -> (i32, String, String) {
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn run(place: &Place, args: &[&str]) -> (i32, String, String) {
    ended(place.command(args).output().unwrap())
}

fn json_of(place: &Place, args: &[&str]) -> (i32, Value) {
    let args: Vec<&str> = args.iter().copied().chain(["--json"]).collect();
    let (code, out, _) = run(place, &args);
    (code, serde_json::from_str(&out).unwrap())
}

fn begin(place: &Place, args: &[&str]) -> Child {
    place.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Waits until so many wait in a space.
fn await_waiting(place: &Place, space: &str, count: usize) -> Value {
    let mut why = Value::Null;
    let is_so = eventually(LIMIT, || {
        why = json_of(place, &["space", "why", space]).1;
        why["waiting"].as_array().is_some_and(|waiting| waiting.len() == count)
    });
    assert!(is_so, "{why}");
    why
}

#[test]
fn tuples_are_put_read_and_taken_from_a_shell() {
    let place = machine();
    let (code, _, err) = run(&place, &["out", "work", "x"]);
    assert!(code == 1 && err.contains("pvm space create work"), "{err}");
    assert_eq!(json_of(&place, &["space", "create", "work"]).1["created"], true);
    let (code, _, err) = run(&place, &["space", "create", "work"]);
    assert!(code == 1 && err.contains("exists"), "{err}");
    for number in ["1", "2", "3"] {
        assert_eq!(run(&place, &["out", "work", "task", number, "double[]:0.5,1"]).0, 0);
    }
    let template = ["task", "?int", "?double[]"];
    let with = |command| [&[command, "work"], &template[..]].concat();
    assert_eq!(run(&place, &with("read")).1, "task\t1\t0.5,1.0\n");
    assert_eq!(run(&place, &with("take")).1, "task\t1\t0.5,1.0\n");
    let (_, taken) = json_of(&place, &with("take"));
    assert_eq!(taken["tuple"][1], json!({"type": "int", "value": 2}));
    let (_, shown) = json_of(&place, &["space", "show", "work"]);
    assert_eq!((&shown["count"], &shown["tuples"][0][1]["value"]), (&json!(1), &json!(3)));
    let (_, list) = json_of(&place, &["space", "list"]);
    assert_eq!(
        (&list["spaces"][0]["name"], &list["spaces"][0]["tuples"]),
        (&json!("work"), &json!(1))
    );
    let (code, out, _) =
        run(&place, &["take", "work", "task", "?long", "--timeout", "0", "--json"]);
    assert_eq!((code, out.as_str()), (1, "{\"tuple\":null}\n"));
    assert_eq!(run(&place, &["out", "work", "?int"]).0, 2);
    assert_eq!(run(&place, &["space", "delete", "work"]).0, 0);
    assert_eq!(json_of(&place, &["space", "list"]).1["spaces"], json!([]));
    assert_eq!(run(&place, &["space", "create", "work"]).0, 0, "the name is free again");
    run(&place, &["halt"]);
    place.is_cleared();
}

#[test]
fn halt_counted_the_tuple_server_as_a_task_of_the_user() {
    let place = machine();
    assert_eq!(run(&place, &["space", "create", "work"]).0, 0);
    assert_eq!(json_of(&place, &["ps"]).1, json!({"tasks": []}));
    let (code, stopped, _) = run(&place, &["halt"]);
    assert!(code == 0 && stopped.ends_with("; no task ran\n"), "{stopped}");
    place.is_cleared();
}

#[test]
fn a_command_that_waits_is_served_or_leaves_no_waiter() {
    let place = machine();
    run(&place, &["space", "create", "work"]);
    let take = ["take", "work", "task", "?int"];
    let mut killed = begin(&place, &take);
    await_waiting(&place, "work", 1);
    let served = begin(&place, &take);
    await_waiting(&place, "work", 2);
    killed.kill().unwrap();
    killed.wait().unwrap();
    await_waiting(&place, "work", 1);
    run(&place, &["out", "work", "task", "7"]);
    assert_eq!(ended(served.wait_with_output().unwrap()).1, "task\t7\n");
    let late = run(&place, &["take", "work", "task", "?int", "--timeout", "0.05"]);
    assert_eq!((late.0, late.1.as_str()), (1, ""));
    await_waiting(&place, "work", 0);
    run(&place, &["halt"]);
    place.is_cleared();
}

#[test]
fn why_shows_what_nearly_fits() {
    let place = machine();
    run(&place, &["space", "create", "work"]);
    run(&place, &["out", "work", "task", "long:7"]);
    run(&place, &["out", "work", "other", "7"]);
    let waiting = begin(&place, &["take", "work", "task", "?int"]);
    let why = await_waiting(&place, "work", 1);
    let waiter = &why["waiting"][0];
    assert_eq!(
        (&waiter["operation"], &waiter["tuple"][1]),
        (&json!("in"), &json!({"type": "int", "formal": true}))
    );
    assert_eq!(
        waiter["near"],
        json!([[{"type": "text", "value": "task"}, {"type": "long", "value": 7}]])
    );
    let text = run(&place, &["space", "why", "work"]).1;
    assert!(text.contains("(\"task\", ?int)"), "{text}");
    assert_eq!(run(&place, &["space", "delete", "work"]).0, 0);
    let (code, _, err) = ended(waiting.wait_with_output().unwrap());
    assert!(code == 1 && err.contains("no such space"), "{err}");
    run(&place, &["halt"]);
    place.is_cleared();
}

#[test]
fn a_dump_that_lacked_tuples_looked_whole() {
    let place = machine();
    run(&place, &["space", "create", "big"]);
    let file = place.home().join("big.json");
    let half = "x".repeat(9 << 20);
    let lines = format!("[{{\"type\":\"text\",\"value\":\"{half}\"}}]\n").repeat(3);
    std::fs::write(&file, &lines).unwrap();
    let file = file.display().to_string();
    assert_eq!(run(&place, &["space", "load", "big", &file]).0, 0);
    let (code, out, err) = run(&place, &["space", "dump", "big"]);
    assert!(code == 0 && out == lines, "{code} {} bytes: {err}", out.len());
    let all = json_of(&place, &["space", "dump", "big"]).1;
    assert_eq!(all["tuples"].as_array().unwrap().len(), 3);
    run(&place, &["halt"]);
    place.is_cleared();
}

#[test]
fn a_load_blamed_the_room_for_every_error() {
    let place = machine();
    run(&place, &["space", "create", "small", "--limit", "400"]);
    let load = |texts: &[&str]| {
        let file = place.home().join("tuples.json");
        let lines = texts.iter().map(|text| json!([{"type": "text", "value": text}]));
        let lines: Vec<_> = lines.map(|line| line.to_string()).collect();
        std::fs::write(&file, lines.join("\n")).unwrap();
        run(&place, &["space", "load", "small", &file.display().to_string(), "--json"])
    };
    let (code, out, err) = load(&["x", &"x".repeat(500), "x"]);
    assert_eq!((code, out.as_str()), (1, "{\"loaded\":1,\"name\":\"small\"}\n"));
    let why = "pvm: space small: load: 1 of 3 tuples were put, then: the tuple is larger than the \
               space may be\n";
    assert_eq!(err, why);
    let (code, _, err) = load(&["x", "x"]);
    let why = "pvm: space small: load: 1 of 2 tuples were put, then: the space is full\n";
    assert_eq!((code, err.as_str()), (1, why));
    run(&place, &["space", "delete", "small"]);
    let (code, out, err) = load(&["x"]);
    assert!(code == 1 && out.is_empty() && err.contains("there is no such space"), "{err}");
    run(&place, &["halt"]);
    place.is_cleared();
}

#[test]
fn a_missing_directory_was_taken_for_a_full_disk() {
    let place = machine();
    let missing = place.home().join("missing").display().to_string();
    let (code, _, err) = run(&place, &["space", "create", "kept", "--durable", &missing]);
    assert!(code == 1 && err.contains("make the directory on each host"), "{err}");
    assert!(!err.contains("make room"), "{err}");
    run(&place, &["halt"]);
    place.is_cleared();
}

#[test]
fn a_full_space_lets_a_put_wait_or_refuses_it() {
    let place = machine();
    run(&place, &["space", "create", "small", "--limit", "400"]);
    assert_eq!(run(&place, &["out", "small", "x"]).0, 0);
    assert_eq!(run(&place, &["out", "small", "x"]).0, 0);
    assert_eq!(run(&place, &["out", "small", "x", "--timeout", "0"]).0, 1);
    let waiting = begin(&place, &["out", "small", "y"]);
    await_waiting(&place, "small", 1);
    assert_eq!(run(&place, &["take", "small", "x"]).0, 0);
    assert_eq!(ended(waiting.wait_with_output().unwrap()).0, 0);
    let (code, _, err) = run(&place, &["out", "small", &"x".repeat(500)]);
    assert!(code == 1 && err.contains("larger than the space"), "{err}");
    run(&place, &["space", "create", "strict", "--limit", "200", "--fail-when-full"]);
    run(&place, &["out", "strict", "x"]);
    let (code, _, err) = run(&place, &["out", "strict", "x"]);
    assert!(code == 1 && err.contains("full"), "{err}");
    run(&place, &["halt"]);
    place.is_cleared();
}

/// The row of a space in `pvm space list`.
fn row(place: &Place, name: &str) -> Value {
    let list = json_of(place, &["space", "list"]).1;
    let is_it = |row: &&Value| row["name"] == name;
    list["spaces"].as_array().unwrap().iter().find(is_it).cloned().unwrap()
}

#[test]
fn a_full_space_that_spills_puts_tuples_into_files_and_gives_them_out_in_order() {
    let place = machine();
    let created = run(&place, &["space", "create", "deep", "--limit", "400", "--full", "spill"]);
    assert_eq!(created.0, 0, "{created:?}");
    for number in 1..=9 {
        assert_eq!(run(&place, &["out", "deep", "task", &number.to_string()]).0, 0);
    }
    let full = row(&place, "deep");
    assert_eq!((&full["full"], &full["tuples"]), (&json!("spill"), &json!(9)), "{full}");
    assert!(full["spilled"].as_u64().unwrap() > 0, "{full}");
    // What lies in a file is found as well, and a larger tuple than the limit is refused as ever.
    let (code, out, _) = run(&place, &["read", "deep", "task", "9", "--timeout", "0"]);
    assert_eq!((code, &*out), (0, "task\t9\n"));
    let (code, _, err) = run(&place, &["out", "deep", &"x".repeat(500)]);
    assert!(code == 1 && err.contains("larger than the space"), "{err}");
    for number in 1..=9 {
        let (code, out, _) = run(&place, &["take", "deep", "task", "?int", "--timeout", "0"]);
        assert_eq!((code, out), (0, format!("task\t{number}\n")));
    }
    let empty = row(&place, "deep");
    assert_eq!((&empty["spilled"], &empty["bytes"]), (&json!(0), &json!(0)), "{empty}");
    run(&place, &["halt"]);
    place.is_cleared();
}

#[test]
fn a_space_that_may_lose_its_last_second_loses_nothing_when_its_server_is_killed() {
    let place = machine();
    let (code, _, err) = run(&place, &["space", "create", "kept", "--sync-every", "1"]);
    assert!(code == 2 && err.contains("--durable"), "{err}");
    let directory = place.home().join("disk");
    std::fs::create_dir(&directory).unwrap();
    let directory = directory.to_str().unwrap();
    let create = ["space", "create", "kept", "--durable", directory, "--sync-every", "60"];
    assert_eq!(run(&place, &create).0, 0);
    assert_eq!(row(&place, "kept")["sync_every"], 60.0);
    assert_eq!(run(&place, &["out", "kept", "task", "7"]).0, 0);
    let server = row(&place, "kept")["server"].as_str().unwrap().to_owned();
    assert_eq!(run(&place, &["kill", "--signal", "KILL", &server]).0, 0);
    assert!(eventually(LIMIT, || row(&place, "kept")["lost"] == true));
    let (code, _, err) = run(&place, &create);
    assert_eq!((code, &*err), (0, ""));
    let (code, out, _) = run(&place, &["take", "kept", "task", "?int", "--timeout", "0"]);
    assert_eq!((code, &*out), (0, "task\t7\n"));
    run(&place, &["halt"]);
    place.is_cleared();
}

#[test]
fn a_space_whose_server_was_killed_is_lost_and_can_be_forgotten() {
    let place = machine();
    run(&place, &["space", "create", "work"]);
    run(&place, &["out", "work", "task", "7"]);
    let waiting = begin(&place, &["take", "work", "task", "?text"]);
    await_waiting(&place, "work", 1);
    let names = json_of(&place, &["space", "list"]).1;
    let server = names["spaces"][0]["server"].as_str().unwrap().to_owned();
    assert_eq!(run(&place, &["kill", "--signal", "KILL", &server]).0, 0);
    let (code, _, err) = ended(waiting.wait_with_output().unwrap());
    assert!(code == 1 && err.contains("its tuples are lost"), "{err}");
    assert_eq!(json_of(&place, &["space", "list"]).1["spaces"][0]["lost"], true);
    assert_eq!(run(&place, &["space", "delete", "work"]).0, 0);
    assert_eq!(run(&place, &["space", "create", "work"]).0, 0, "another server is started");
    run(&place, &["halt"]);
    place.is_cleared();
}

/// The servers of a space: the one that answers, and the copies.
fn servers(place: &Place) -> (String, Vec<String>) {
    let space = &json_of(place, &["space", "list"]).1["spaces"][0];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let copies = space["copies"].as_array().unwrap().iter().map(text).collect();
    (text(&space["server"]), copies)
}

#[test]
fn a_space_with_a_copy_outlives_the_servers_that_are_killed_one_after_another() {
    let place = machine();
    assert_eq!(run(&place, &["add", "local", "local"]).0, 0);
    assert_eq!(run(&place, &["space", "create", "work", "--copies", "1"]).0, 0);
    assert_eq!(servers(&place).1.len(), 1, "it is made when its copy stands");
    let waiting = begin(&place, &["take", "work", "late", "?int"]);
    await_waiting(&place, "work", 1);
    for number in 1..=4 {
        assert_eq!(run(&place, &["out", "work", "task", &number.to_string()]).0, 0);
        let (server, copies) = servers(&place);
        // By turns the one that answers and the copy.
        let victim = if number % 2 == 0 { &copies[0] } else { &server };
        assert_eq!(run(&place, &["kill", "--signal", "KILL", victim]).0, 0);
        let stands = eventually(LIMIT, || {
            let (now, copies) = servers(&place);
            now != *victim && copies.len() == 1 && copies[0] != *victim
        });
        assert!(
            stands,
            "{:?} after {victim}\n{}\n{}",
            servers(&place),
            run(&place, &["names"]).1,
            std::fs::read_to_string("/proc/loadavg").unwrap()
        );
    }
    // The end of a server's starter must not be taken for the server's own: no server is the task
    // that the machine has started.
    let is_starters = |task: &Value| {
        task["program"].as_str().is_some_and(|program| !program.is_empty() && program != "-")
    };
    let mut tasks = Value::Null;
    let all_ended = eventually(LIMIT, || {
        tasks = json_of(&place, &["ps", "--all"]).1;
        !tasks["tasks"].as_array().unwrap().iter().any(is_starters)
    });
    assert!(all_ended, "{tasks}");
    for number in 1..=4 {
        let taken = run(&place, &["take", "work", "task", "?int"]);
        assert_eq!(taken.1, format!("task\t{number}\n"), "{}", taken.2);
    }
    run(&place, &["out", "work", "late", "5"]);
    assert_eq!(ended(waiting.wait_with_output().unwrap()).1, "late\t5\n");
    run(&place, &["halt"]);
    place.is_cleared();
}

#[test]
fn a_host_that_was_to_be_left_kept_its_spaces_and_never_ended() {
    let place = machine();
    assert_eq!(run(&place, &["add", "local", "local"]).0, 0);
    for (name, copies) in [("alone", "0"), ("copied", "1")] {
        assert_eq!(run(&place, &["space", "create", name, "--copies", copies]).0, 0);
        for number in ["1", "2"] {
            assert_eq!(run(&place, &["out", name, "task", number]).0, 0);
        }
    }
    let hosts = json_of(&place, &["conf"]).1;
    let first = hosts["hosts"][0]["name"].as_str().unwrap().to_owned();
    assert_eq!(run(&place, &["del", "--drain", &first]).0, 0);
    let has_left = eventually(LIMIT, || {
        let (code, out, _) = run(&place, &["conf", "--json"]);
        let conf: Value = serde_json::from_str(&out).unwrap_or_default();
        code == 0 && conf["hosts"].as_array().is_some_and(|hosts| hosts.len() == 2)
    });
    assert!(has_left, "{}", run(&place, &["ps", "--all"]).1);
    for name in ["alone", "copied"] {
        let dumped = run(&place, &["space", "dump", name]);
        assert_eq!(dumped.1.lines().count(), 2, "{name}: {}", dumped.2);
        assert_eq!(run(&place, &["take", name, "task", "?int"]).1, "task\t1\n");
    }
    run(&place, &["halt"]);
    place.is_cleared();
}

/// The servers of all spaces, by their names.
fn all_servers(place: &Place) -> Vec<String> {
    let list = json_of(place, &["space", "list"]).1;
    let spaces = list["spaces"].as_array().unwrap().iter();
    spaces.map(|space| space["server"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_host_that_joins_gets_its_share_of_the_spaces_with_all_that_is_in_them() {
    let place = machine();
    let names = ["one", "two", "three", "four"];
    let waiting = names.map(|name| {
        assert_eq!(run(&place, &["space", "create", name]).0, 0);
        for number in ["1", "2"] {
            assert_eq!(run(&place, &["out", name, "task", number]).0, 0);
        }
        let waiting = begin(&place, &["take", name, "late", "?int"]);
        await_waiting(&place, name, 1);
        waiting
    });
    let first = all_servers(&place).remove(0);
    assert_eq!(run(&place, &["add", "local"]).0, 0);
    let is_shared = || {
        let servers = all_servers(&place);
        let stay = servers.iter().filter(|server| **server == first).count();
        (servers.len(), stay) == (4, 2)
            && names.iter().all(|name| row(&place, name)["copies"] == json!([]))
    };
    assert!(eventually(LIMIT, is_shared), "{first}: {}", json_of(&place, &["space", "list"]).1);
    for (name, waiting) in names.into_iter().zip(waiting) {
        assert_eq!(run(&place, &["take", name, "task", "?int"]).1, "task\t1\n");
        assert_eq!(run(&place, &["out", name, "late", "5"]).0, 0);
        assert_eq!(ended(waiting.wait_with_output().unwrap()).1, "late\t5\n", "{name}");
        assert_eq!(row(&place, name)["tuples"], 1);
    }
    run(&place, &["halt"]);
    place.is_cleared();
}

/// The plan for the second one knew nothing of the moves to the first one.
#[test]
fn hosts_that_joined_one_after_the_other_got_unequal_shares_of_the_spaces() {
    let place = machine();
    for name in ["one", "two", "three", "four", "five", "six"] {
        assert_eq!(run(&place, &["space", "create", name]).0, 0);
    }
    for _ in 0..2 {
        assert_eq!(run(&place, &["add", "local"]).0, 0);
    }
    let are_equal = || {
        let servers = all_servers(&place);
        let of = |server| servers.iter().filter(|other| *other == server).count();
        servers.len() == 6 && servers.iter().all(|server| of(server) == 2)
    };
    assert!(eventually(LIMIT, are_equal), "{}", json_of(&place, &["space", "list"]).1);
    run(&place, &["halt"]);
    place.is_cleared();
}

#[test]
fn a_space_that_spills_refuses_what_no_disk_has_room_for() {
    BUILT.call_once(|| place::build("pvmtuples", "pvm-space"));
    let place = Place::new();
    let up = place.command(&["up"]).env("PVM_SPILL_DIR", "/dev/null/missing").output().unwrap();
    assert_eq!(ended(up).0, 0);
    run(&place, &["space", "create", "deep", "--limit", "400", "--full", "spill"]);
    assert_eq!(run(&place, &["out", "deep", "x"]).0, 0);
    assert_eq!(run(&place, &["out", "deep", "x"]).0, 0);
    let (code, _, err) = run(&place, &["out", "deep", "y", "--timeout", "30"]);
    assert!(code == 1 && err.contains("the disk under the space is full or fails"), "{err}");
    // It takes no room to take one, and then there is some.
    assert_eq!(run(&place, &["take", "deep", "x"]).0, 0);
    assert_eq!(run(&place, &["out", "deep", "z"]).0, 0);
    run(&place, &["halt"]);
    place.is_cleared();
}
