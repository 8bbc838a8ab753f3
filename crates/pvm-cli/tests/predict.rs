//! `pvm predict` on made traces. No machine is needed.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "support/fields.rs"]
mod fields;
#[path = "support/folder.rs"]
mod folder;

use fields::fields;
use folder::Folder;
use serde_json::Value;
use std::process::Output;

fn pvm(args: &[&str]) -> Output {
    folder::pvm("predict", args)
}

fn done(args: &[&str]) -> String {
    folder::printed("predict", args)
}

fn refused(args: &[&str]) -> String {
    let output = pvm(args);
    assert!(!output.status.success(), "{args:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn a_pattern_is_made_checked_and_predicted_alike_each_time() {
    let folder = Folder::new("pattern");
    let stations = folder.file("stations");
    done(&["generate", "exchange", "--tasks", "4", "--rounds", "3", "--stations", &stations]);
    let checked: Value = serde_json::from_str(&done(&["check", &stations, "--json"])).unwrap();
    assert_eq!(checked["actions"], 4 * 3 * 7);
    let args = ["--network", "ethernet-10", "--model", "thesis", "--seeds", "3", "--json"];
    let args: Vec<&str> = [stations.as_str()].into_iter().chain(args).collect();
    let told = done(&args);
    assert_eq!(told, done(&args), "the same bytes");
    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(
        fields(&told),
        "collisions events high inputs lost low path put_off resent seconds sections stations"
    );
    assert!(told["low"].as_f64() < told["high"].as_f64(), "{told}");
    assert_eq!(
        fields(&told["stations"][0]),
        "algorithmic blocked bytes calls computing messages net own_bytes own_messages phases \
         receiving seconds sending service station transport"
    );
    assert_eq!(told["stations"].as_array().unwrap().len(), 4);
}

#[test]
fn packets_are_simulated_where_there_are_some() {
    let folder = Folder::new("packets");
    let ranks = folder.file("pairs.ti");
    let made = ["generate", "pairs", "--tasks", "2", "--rounds", "5", "--bytes", "65536"];
    done(&[&made[..], &["--compute", "0", "-o", &ranks]].concat());
    let told = |network: &str| -> Value {
        serde_json::from_str(&done(&[&ranks, "--network", network, "--json"])).unwrap()
    };
    let (tbf, cable, line) = (told("tbf-10"), told("ethernet-10"), told("ibm-sp-2"));
    assert_eq!(tbf["inputs"]["depth"], "packet");
    assert_eq!(line["inputs"]["depth"], "line");
    // Ten messages of 46 frames and a bit, each as long as 1514 bytes at 10 Mb/s.
    let seconds = tbf["seconds"].as_f64().unwrap();
    assert!((0.53..0.55).contains(&seconds), "{seconds}");
    assert!(cable["collisions"].as_f64() > Some(0.0), "{cable}");
    let flow = done(&[&ranks, "--network", "tbf-10", "--depth", "flow", "--json"]);
    let flow: Value = serde_json::from_str(&flow).unwrap();
    assert_eq!(flow["inputs"]["depth"], "flow");
    let flow = flow["seconds"].as_f64().unwrap();
    assert!((0.53..0.56).contains(&flow), "{flow} without a burst that passes free");
}

#[test]
fn a_simulated_run_is_a_trace() {
    let folder = Folder::new("trace");
    let (ranks, trace) = (folder.file("ring.ti"), folder.file("ring.trace"));
    done(&["generate", "ring", "--tasks", "3", "--rounds", "4", "-o", &ranks]);
    done(&[&ranks, "--network", "ibm-sp-2", "--as-trace", &trace]);
    let shown = folder::printed("trace", &["profile", "--json", &trace]);
    let shown: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(shown["matched"], 12, "{shown}");
    // What was predicted is recorded as well, and predicts itself.
    let seconds = |file: &str| -> f64 {
        let told = done(&[file, "--network", "ibm-sp-2", "--probes", "--json"]);
        serde_json::from_str::<Value>(&told).unwrap()["seconds"].as_f64().unwrap()
    };
    let (first, second) = (seconds(&ranks), seconds(&trace));
    assert!((first - second).abs() < 1e-6, "{first} {second}");
    let told = done(&["check", &trace]);
    assert!(told.contains("12 messages"), "{told}");
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let folder = Folder::new("threads");
    let ranks = folder.file("exchange.ti");
    done(&["generate", "exchange", "--tasks", "48", "--rounds", "1", "-o", &ranks]);
    let told = |threads| done(&[&ranks, "--depth", "packet", "--threads", threads, "--json"]);
    let alone = told("1");
    assert!(alone.contains("\"seconds\""), "{alone}");
    assert_eq!(told("2"), alone);
    assert_eq!(told("5"), alone);
}

#[test]
fn what_is_wrong_is_named_with_its_place_and_what_may_be_meant() {
    let folder = Folder::new("wrong");
    let (station, other) = (folder.file("station.0"), folder.file("x.toml"));
    std::fs::write(&station, "c 5 0 0 0\nr 1 5 0 0\n").unwrap();
    std::fs::write(&other, "[network]\nkind = \"switch\"\nrate = \"-1 Mb/s\"\n").unwrap();
    let told = refused(&[&station]);
    assert!(
        told.contains("standstill: 1 tasks wait") && told.contains("task 0 waits for task 0"),
        "{told}"
    );
    let told = refused(&[&station, "--network", "swich-100"]);
    assert!(told.contains("did you mean switch-100?"), "{told}");
    let told = refused(&[&station, "--network", &other]);
    assert!(
        told.contains("x.toml: line 3 of the platform: rate: \"-1 Mb/s\" is negative"),
        "{told}"
    );
    std::fs::write(&station, "c 5 0 0 0\ns 1 5 0 9\n").unwrap();
    let told = refused(&[&station]);
    assert!(told.contains("station.0: task 0, line 2: station 9 has no file"), "{told}");
    std::fs::write(&station, "hello\n").unwrap();
    assert!(refused(&["check", &station]).contains("no trace that is known here"));
}

#[test]
fn networks_are_listed_and_can_be_begun_with() {
    let folder = Folder::new("networks");
    let all: Value = serde_json::from_str(&done(&["networks", "--json"])).unwrap();
    let (ranks, file) = (folder.file("pairs.ti"), folder.file("own.toml"));
    done(&["generate", "pairs", "--tasks", "2", "-o", &ranks]);
    for known in all.as_array().unwrap() {
        let name = known["name"].as_str().unwrap();
        std::fs::write(&file, done(&["networks", name])).unwrap();
        let seconds = |network: &str| {
            let told = done(&[&ranks, "--network", network, "--depth", "line", "--json"]);
            serde_json::from_str::<Value>(&told).unwrap()["seconds"].as_f64().unwrap()
        };
        let (own, known) = (seconds(&file), seconds(name));
        assert!((own - known).abs() < 1e-6 * known, "{name}: {own} and {known}");
    }
}

#[test]
fn a_grid_of_what_if_is_a_table_and_a_picture() {
    let folder = Folder::new("grid");
    let ranks = folder.file("ring.ti");
    done(&["generate", "ring", "--tasks", "3", "--rounds", "5", "-o", &ranks]);
    let told = done(&["what-if", &ranks]);
    let rows: Vec<&str> = told.lines().skip(1).collect();
    assert_eq!(rows.len(), 4, "two networks, two overheads: {told}");
    assert!(rows[0].starts_with("ethernet-10 ") && rows[3].starts_with("ethernet-100 "), "{told}");
    let (svg, png) = (folder.file("bars.svg"), folder.file("bars.png"));
    let wide = ["what-if", &ranks, "--network", "switch-100", "--speed", "1,2,4"];
    let wide = [&wide[..], &["--overhead", "1", "--json"]].concat();
    let json: Value = serde_json::from_str(&done(&[&wide[..], &["-o", &svg]].concat())).unwrap();
    done(&[&wide[..], &["-o", &png]].concat());
    assert_eq!(json.as_array().unwrap().len(), 3);
    assert_eq!(
        fields(&json[0]),
        "blocked calls collisions computing network overhead seconds speed"
    );
    let computing = |place: usize| json[place]["computing"].as_f64().unwrap();
    assert!((computing(0) / computing(2) - 4.0).abs() < 1e-6, "{json}");
    assert!(std::fs::read_to_string(&svg).unwrap().contains("switch-100, speed 4"));
    assert!(std::fs::read(&png).unwrap().starts_with(b"\x89PNG"));
}

#[test]
fn tasks_are_placed_and_share_the_cores_of_their_host() {
    let folder = Folder::new("placed");
    let ranks = folder.file("four.ti");
    std::fs::write(&ranks, "0 compute 1e9\n1 compute 1e9\n2 compute 1e9\n3 compute 1e9\n").unwrap();
    let told = |more: &[&str]| -> f64 {
        let told = done(&[&[&*ranks, "--json"], more].concat());
        serde_json::from_str::<Value>(&told).unwrap()["seconds"].as_f64().unwrap()
    };
    assert_eq!(told(&[]), 1.0);
    assert_eq!(told(&["--place", "block:2", "--cores", "1"]), 2.0);
    assert_eq!(told(&["--cores", "2", "--computers", "1", "--speed", "4"]), 0.5);
    let wrong = refused(&[&ranks, "--place", "0,1"]);
    assert!(wrong.contains("there are 4 tasks, and 2 have a host"), "{wrong}");
    let wrong = refused(&[&ranks, "--speed=-1"]);
    assert!(wrong.contains("a factor lies between"), "{wrong}");
}

#[test]
fn a_sealed_prediction_is_scored() {
    let folder = Folder::new("sealed");
    let (ranks, seal, runs) = (folder.file("r.ti"), folder.file("r.seal"), folder.file("runs"));
    std::fs::write(&ranks, "0 compute 1e9\n").unwrap();
    let hash = done(&["seal", &ranks, "-o", &seal]);
    let sealed: Value = serde_json::from_str(&std::fs::read_to_string(&seal).unwrap()).unwrap();
    assert_eq!(fields(&sealed), "platform prediction seal sha256");
    // The hash of a file is that which the system's own tool gives.
    let tool = std::process::Command::new("sha256sum").args([&ranks, &seal]).output().unwrap();
    let tool = String::from_utf8(tool.stdout).unwrap();
    let hashes: Vec<&str> = tool.lines().map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!(sealed["sha256"][&ranks], hashes[0]);
    assert!(hash.starts_with(hashes[1]), "{hash}");
    assert!(refused(&["seal", &ranks, "-o", &seal]).contains("exists"), "it is not written over");
    let verdict = |runs: &[&str]| -> Value {
        let told = done(&[&["score", &seal], runs, &["--json"]].concat());
        serde_json::from_str(&told).unwrap()
    };
    let near = verdict(&["1.01", "1.02", "1.01", "1.0", "1.0", "1.0"]);
    assert_eq!(fields(&near), "error goal high interval low median predicted runs verdict");
    assert_eq!(near["verdict"], "met", "{near}");
    assert_eq!(verdict(&["1.1", "1.1", "1.1", "1.1", "1.1"])["verdict"], "missed");
    assert_eq!(verdict(&["0.8", "1.0", "1.2", "0.9", "1.1"])["verdict"], "open");
    // Runs that differ by much, and are all far away.
    assert_eq!(verdict(&["2.0", "2.5", "3.0", "2.2", "2.8"])["verdict"], "missed");
    std::fs::write(&runs, "noise\n{\"seconds\": 0.99}\n{\"seconds\": 1.01}\n").unwrap();
    assert_eq!(verdict(&[&runs])["median"], 1.0);
    let wrong = refused(&["score", &seal, "1", "--section", "solve"]);
    assert!(wrong.contains("no such section"), "{wrong}");
    assert!(refused(&["score", &ranks, "1"]).contains("no sealed prediction"));
    assert!(refused(&["score", &seal, "0"]).contains("more than 0 s"));
}

#[test]
fn three_recordings_grow_to_a_program_of_more_tasks() {
    let folder = Folder::new("growth");
    let made = |pattern: &str, tasks: u32| {
        let file = folder.file(&format!("{pattern}-{tasks}.ti"));
        let tasks = tasks.to_string();
        let pattern = ["generate", pattern, "--tasks", &tasks, "--compute", "500"];
        done(&[&pattern[..], &["--bytes", "20000", "--rounds", "4", "-o", &file]].concat());
        file
    };
    let files = [4, 6, 8].map(|tasks| made("exchange", tasks));
    let told = |args: &[&str]| -> Value {
        let network = ["--network", "tbf-10", "--json"];
        serde_json::from_str(&done(&[args, &network].concat())).unwrap()
    };
    let grown = told(&[&files[0], &files[1], &files[2], "--tasks", "12"]);
    let whole = told(&[&made("exchange", 12)]);
    assert_eq!(grown["seconds"], whole["seconds"], "the pattern of 12 tasks is the grown one");
    assert_eq!(grown["inputs"]["growth"]["tasks"], serde_json::json!([4, 6, 8]));
    assert_eq!(whole["inputs"]["growth"], Value::Null);
    let ring = made("ring", 10);
    let said = refused(&[&files[0], &files[1], &ring, "--tasks", "12"]);
    assert!(said.contains("growth: the recordings do not fit one another: task "), "{said}");
    let few = refused(&[&files[0], &files[1], "--tasks", "12"]);
    assert!(few.contains("3 different numbers of tasks"), "{few}");
}

#[test]
fn sixteen_tasks_of_mg_are_what_recordings_of_two_four_and_eight_tell() {
    let trace = |tasks: u32| {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../benchmarks/predict/growth");
        format!("{folder}/mg-{tasks}.trace")
    };
    let timed = |args: &[&str]| {
        let told: Value = serde_json::from_str(&done(&[args, &["--json"]].concat())).unwrap();
        let sections = told["sections"].as_array().unwrap().clone();
        let timed = sections.into_iter().find(|section| section["name"] == "timed").unwrap();
        (timed["seconds"].as_f64().unwrap(), told["inputs"]["growth"].clone())
    };
    for network in ["tbf-10", "switch-1000"] {
        let network = ["--network", network];
        let files = [trace(2), trace(4), trace(8)];
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        let (grown, growth) = timed(&[&files[..], &network, &["--tasks", "16"]].concat());
        let (whole, none) = timed(&[&[trace(16).as_str()], &network[..]].concat());
        assert!((0.9..1.1).contains(&(grown / whole)), "{network:?}: {grown} for {whole}");
        assert_eq!((growth["roles"].as_u64(), none), (Some(2), Value::Null), "{growth}");
    }
}
