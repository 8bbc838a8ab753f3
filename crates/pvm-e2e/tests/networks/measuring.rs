//! `pvm bench --hosts`: one task on each of two hosts, both routes, the network below, C and Java.
//! How fast stands nowhere here.

use pvm_e2e::{Hosts, Running, eventually, prefix};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The limit of a short run on a computer where sixteen other processes want the processors.
const LIMIT: Duration = Duration::from_secs(600);
/// The time within which a process has ended.
const END: Duration = Duration::from_secs(60);

/// A place with a compiler and ssh and without MPI, which needs most of a minute to meet between
/// these hosts.
fn tools(hosts: &Hosts) -> PathBuf {
    let folder = hosts.home().join("tools");
    fs::create_dir_all(&folder).expect("a folder");
    for name in ["cc", "as", "ld", "sh", "ssh"] {
        symlink(Path::new("/usr/bin").join(name), folder.join(name)).expect("a link");
    }
    folder
}

#[test]
fn between_two_hosts_both_routes_the_network_itself_and_java_are_measured() {
    let Some(hosts) = Hosts::up(2) else { return };
    // Both hosts see this folder, unlike /tmp.
    let out = hosts.home().join("bench");
    let arguments =
        ["echo", "java", "--quick", "--rounds", "1", "--limit", "60", "--hosts", "h2", "--out"];
    let path = format!("PATH={}", tools(&hosts).display());
    let pvm = prefix().join("bin/pvm").display().to_string();
    let program = ["/usr/bin/env", &path, &pvm, "bench"];
    let command = [&program[..], &arguments[..], &[out.to_str().expect("a path")]].concat();
    let output = Running::start(hosts.on("h1", &command)).finish(LIMIT);
    // The original may be missing or not know how to meet us: that is told and the rest is
    // measured.
    assert!([0, 5].contains(&output.code()), "{output:?}");
    assert!(output.err.contains("Open MPI is not there"), "{}", output.err);
    let text = fs::read_to_string(out.join("figures.json")).expect("figures");
    let figures: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(figures["place"]["hosts"][0], "h2");
    let problems = figures["problems"].as_array().expect("problems").iter();
    let ours: Vec<_> = problems.filter(|one| one["what"].to_string().contains("NeoPVM")).collect();
    assert!(ours.is_empty(), "{ours:?}");
    let rows = figures["rows"].as_array().expect("rows");
    let count = |system: &str, test: &str, variant: &str| {
        let fits = |row: &&Value| {
            row["system"] == system && row["test"] == test && row["variant"] == variant
        };
        rows.iter().filter(fits).count()
    };
    for variant in ["direct raw", "direct inplace", "daemons raw"] {
        assert_eq!(count("NeoPVM", "echo", variant), 9, "{variant}");
    }
    assert_eq!((count("network", "UDP echo", ""), count("network", "TCP stream", "")), (4, 1));
    assert!(count("NeoPVM", "get", "") > 0 && count("NeoPVM", "ask", "") > 0);
    let peers = figures["peers"].as_array().expect("peers").iter();
    let java = peers.filter(|peer| peer["system"] == "Java" && peer["missing"].is_null()).count();
    for (variant, there) in [("C to C", 1), ("C to Java", java), ("Java to Java", java)] {
        assert_eq!(count("NeoPVM", "total", variant), 2 * there, "{variant}: {}", output.err);
    }
    let report = fs::read_to_string(out.join("report.html")).expect("a report");
    assert!(
        report.contains("NeoPVM: gamma, the cost of a further hop") && report.contains("on h2")
    );
    assert!(!report.contains("no daemon in the way"), "there is one between hosts");
    // The original leaves its log.
    for host in hosts.names() {
        assert!(
            eventually(END, || hosts.processes(&host).is_empty()),
            "{:?}",
            hosts.processes(&host)
        );
    }
}
