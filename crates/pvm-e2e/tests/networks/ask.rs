//! Questions to a machine of several hosts, asked on one of them.

use pvm_e2e::{Hosts, Output};
use serde_json::Value;

/// The JSON that a command printed.
pub(crate) fn json(output: &Output) -> Value {
    serde_json::from_str(&output.out)
        .unwrap_or_else(|e| panic!("{e}: no JSON: {}{}", output.out, output.err))
}

/// The names of the machine's hosts as `host` sees them, sorted.
pub(crate) fn members(hosts: &Hosts, host: &str) -> Vec<String> {
    let conf = json(&hosts.run(host, &["pvm", "conf", "--json"]));
    let rows = conf["hosts"].as_array().expect("hosts");
    let mut names: Vec<String> =
        rows.iter().map(|row| row["name"].as_str().expect("a name").to_owned()).collect();
    names.sort();
    names
}

/// Every one of these hosts sees these members.
pub(crate) fn all_see(hosts: &Hosts, members: &[&str]) {
    for host in members {
        assert_eq!(self::members(hosts, host), members, "as {host} sees it");
    }
}

/// The address at which the daemon on `host` listens for others: ADDRESS:PORT. ADDRESS:PORT.
pub(crate) fn listener(hosts: &Hosts, host: &str) -> String {
    let sockets = hosts.run(host, &["ss", "-Hltn"]).out;
    let places = sockets.lines().filter_map(|line| line.split_whitespace().nth(3));
    // One may listen for this computer alone.
    let outward = places.filter(|at| !at.starts_with("127."));
    let port = outward.filter_map(|at| at.rsplit(':').next()).find(|port| *port != "22");
    let port = port.unwrap_or_else(|| panic!("no listener on {host}: {sockets}"));
    format!("10.77.0.{}:{port}", host.trim_start_matches('h'))
}
