//! The preparations before the first measurement.

use pvm_cli::failure::{Failure, Status};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Makes the folder for the report. The value becomes true when the user ends the measurement.
pub(crate) fn prepared(out: &Path) -> Result<Arc<AtomicBool>, Failure> {
    std::fs::create_dir_all(out).map_err(|error| {
        Failure::new(Status::Refused, format!("cannot make {}: {error}", out.display()))
    })?;
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&stop))?;
    }
    Ok(stop)
}

/// Refuses what no system can add to this host's machine, before anything is built.
pub(crate) fn check_hosts(hosts: &[String], own: &str) -> Result<(), Failure> {
    for (at, host) in hosts.iter().enumerate() {
        let why = if host.is_empty() {
            "--hosts: a name is empty".to_owned()
        } else if host == own || host == "localhost" {
            format!("--hosts: {host} is this host, which takes part anyway")
        } else if hosts[..at].contains(host) {
            format!("--hosts: {host} is named twice")
        } else {
            continue;
        };
        let text = format!("{why}\n  name the other hosts, for instance --hosts one,two");
        return Err(Failure::new(Status::Usage, text));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_that_no_system_can_add_were_tried_by_all_of_them() {
        let said = |hosts: &[&str]| {
            let hosts: Vec<String> = hosts.iter().map(|&host| host.to_owned()).collect();
            check_hosts(&hosts, "here").map_err(|failure| failure.text().to_owned())
        };
        assert!(said(&["one", ""]).unwrap_err().contains("a name is empty"));
        assert!(said(&["here"]).unwrap_err().contains("here is this host"));
        assert!(said(&["localhost"]).unwrap_err().contains("localhost is this host"));
        assert!(said(&["one", "two", "one"]).unwrap_err().contains("one is named twice"));
        assert_eq!(said(&["one", "two"]), Ok(()));
        assert_eq!(said(&[]), Ok(()));
    }
}
