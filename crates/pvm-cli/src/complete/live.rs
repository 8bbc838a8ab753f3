//! Candidates from the running machine and from the user's ssh. A machine that is not there, or
//! that takes its time, knows nothing.

use super::ground::{Candidate, Kind};
use crate::operator::Operator;
use crate::options::bench::SUITES;
use crate::{signals, tasks};
use pvm_space::registry;
use pvm_wire::Tid;
use pvm_wire::request::{HostInfo, Reply, Request};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The longest wait for an answer, because the user has pressed a key and waits.
const ANSWER_TIME_MAX: Duration = Duration::from_millis(300);

/// The candidates of a kind.
pub(crate) fn of(kind: Kind) -> Vec<Candidate> {
    match kind {
        Kind::Host => hosts().unwrap_or_default().iter().map(candidate).collect(),
        // The first host cannot leave. Which host that is may change meanwhile, so the machine
        // decides in the end.
        Kind::OtherHost => hosts().unwrap_or_default().iter().skip(1).map(candidate).collect(),
        Kind::NewHost => new_hosts(),
        Kind::Victim => victims().unwrap_or_default(),
        Kind::Name => names().unwrap_or_default(),
        Kind::Space => spaces().unwrap_or_default(),
        Kind::Signal => signals::names().map(|name| Candidate::new(name, "")).collect(),
        Kind::Suite => SUITES.iter().map(|(name, about)| Candidate::new(name, about)).collect(),
        Kind::File | Kind::Program | Kind::Nothing => Vec::new(),
    }
}

fn hosts() -> Option<Vec<HostInfo>> {
    hosts_of(&mut Operator::connect_quickly(ANSWER_TIME_MAX)?)
}

fn hosts_of(operator: &mut Operator) -> Option<Vec<HostInfo>> {
    match operator.ask(&Request::Config) {
        Ok(Reply::Hosts { hosts }) => Some(hosts),
        _ => None,
    }
}

fn candidate(host: &HostInfo) -> Candidate {
    Candidate::new(&host.name.to_text(), &format!("{} {}", host.tid, host.arch.to_text()))
}

fn victims() -> Option<Vec<Candidate>> {
    let mut operator = Operator::connect_quickly(ANSWER_TIME_MAX)?;
    let hosts = hosts_of(&mut operator)?;
    let tasks = tasks::of_programs(&mut operator, Tid::NONE).ok()?;
    let about = |task| format!("{} on {}", program(task), tasks::host_name(&hosts, task));
    let mut found = vec![Candidate::new("all", "every task")];
    found.extend(tasks.iter().map(|task| Candidate::new(&task.tid.to_string(), &about(task))));
    Some(found)
}

fn program(task: &pvm_wire::request::TaskInfo) -> String {
    let name = task.name.to_text();
    let file = Path::new(&name).file_name().map(|file| file.to_string_lossy().into_owned());
    file.unwrap_or_else(|| "a program".to_owned())
}

fn names() -> Option<Vec<Candidate>> {
    let mut operator = Operator::connect_quickly(ANSWER_TIME_MAX)?;
    match operator.ask(&Request::MailboxInfo { pattern: "*".into() }) {
        Ok(Reply::Mailboxes { mailboxes }) => {
            Some(mailboxes.iter().map(|one| Candidate::new(&one.name.to_text(), "")).collect())
        }
        _ => None,
    }
}

fn spaces() -> Option<Vec<Candidate>> {
    let names = names()?;
    let spaces = names.iter().filter_map(|name| registry::space_of(&name.word));
    Some(spaces.map(|name| Candidate::new(name, "a tuple space")).collect())
}

/// `local`, and the hosts that the user's ssh has heard of and that are not in the machine.
fn new_hosts() -> Vec<Candidate> {
    let members = hosts().unwrap_or_default();
    let folder = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".ssh"));
    let read = |name: &str| {
        let file = folder.as_ref().map(|folder| folder.join(name));
        file.and_then(|file| std::fs::read_to_string(file).ok()).unwrap_or_default()
    };
    let mut known = configured(&read("config"));
    known.extend(met(&read("known_hosts")));
    known.sort();
    known.dedup();
    known.retain(|name| tasks::member(&members, &name.as_str().into()).is_none());
    let mut found = vec![Candidate::new("local", "one more host on this computer")];
    found.extend(known.iter().map(|name| Candidate::new(name, "known to ssh")));
    found
}

/// The `Host` lines of ssh's configuration, patterns left out.
fn configured(config: &str) -> Vec<String> {
    let lines = config.lines().filter_map(|line| {
        let (key, names) = line.trim().split_once([' ', '\t', '='])?;
        key.eq_ignore_ascii_case("host").then_some(names)
    });
    let names = lines.flat_map(str::split_whitespace);
    names.filter(|name| !name.contains(['*', '?', '!', '"'])).map(str::to_owned).collect()
}

/// The first words of ssh's list of known keys, as far as they can be read and name no port.
fn met(known: &str) -> Vec<String> {
    let lines = known.lines().filter(|line| !line.starts_with(['#', '|', '@', ' ']));
    let words = lines.filter_map(|line| line.split_whitespace().next());
    let names = words.flat_map(|word| word.split(','));
    names.filter(|name| !name.contains(['*', '?', '!', '[', ':'])).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_of_ssh_name_hosts() {
        let config = "Host lab2 lab3\n  Port 22\nhost *\nMatch host x\nHost=pi1\n";
        assert_eq!(configured(config), ["lab2", "lab3", "pi1"]);
        let known = "# x\nlab4,10.0.0.4 ssh-ed25519 A\n|1|hash= ssh-rsa B\n[lab5]:2222 ssh-rsa C\n";
        assert_eq!(met(known), ["lab4", "10.0.0.4"]);
    }
}
