//! Several hosts on this computer, each with a network, name, process table, `/tmp` and sshd of its
//! own.
//!
//! `testbed` makes them; here is what tests ask of them. They share the file system otherwise, so
//! one installation and one home serve all. Where they cannot be made (no root, a tool missing) the
//! test is skipped by name.

use crate::output::{Output, Running};
use crate::program;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use testbed::eventually;
use testbed::hosts::{self, Network};

/// No command of the tests needs longer.
const LIMIT: Duration = Duration::from_secs(120);
/// The time within which a process has ended.
const END: Duration = Duration::from_secs(60);

/// Lists the processes of a host.
const PROCESSES: &str = "ps -eo pid=,args=";
/// Lists the files in a host's `/tmp`. A checkout that lies there is mounted, and so are the
/// folders that lead to it.
const FILES: &str = "find /tmp -xdev -mindepth 1 '(' -not -type d -o -name 'neopvm*' ')'";
/// Lists the sockets of a host that listen.
const SOCKETS: &str = "ss -Hltnux";

/// False for a process of sshd, and for one that lists processes.
fn is_ours(line: &str) -> bool {
    !line.contains(" sshd: ") && !line.contains(PROCESSES)
}

/// Hosts `h1` to `hN` on one switch. Gone when dropped, and when the test's process ends.
#[derive(Debug)]
pub struct Hosts {
    network: Network,
    count: u32,
}

impl Hosts {
    /// Makes `count` hosts; returns none if they cannot be made, and prints the reason on standard
    /// error.
    pub fn up(count: u32) -> Option<Self> {
        Self::make(count, None)
    }

    /// Makes `count` hosts, with every cable shaped to `rate`, such as `100mbit`.
    pub fn shaped(count: u32, rate: &str) -> Option<Self> {
        Self::make(count, Some(rate))
    }

    fn make(count: u32, rate: Option<&str>) -> Option<Self> {
        match Network::up(count, rate) {
            Ok(network) => {
                let hosts = Self { network, count };
                hosts.set(&[]);
                Some(hosts)
            }
            Err(refusal) => {
                eprint!("{}", refusal.words);
                let must = std::env::var_os("CI").is_some_and(|value| value == "true");
                assert!(refusal.impossible && !must, "no hosts: {}", refusal.words);
                None
            }
        }
    }

    /// The names, `h1` first.
    pub fn names(&self) -> Vec<String> {
        (1..=self.count).map(|number| format!("h{number}")).collect()
    }

    /// The folder of the hosts.
    pub fn folder(&self) -> &Path {
        self.network.folder()
    }

    /// HOME on all of them.
    pub fn home(&self) -> PathBuf {
        self.folder().join("home")
    }

    /// A file of one host: `hosts` is its `/etc/hosts`, `ssh/...` its `~/.ssh/...`.
    pub fn file(&self, host: &str, name: &str) -> PathBuf {
        self.folder().join(host).join(name)
    }

    /// Sets variables for every later session, beside the installation's place in PATH.
    pub fn set(&self, environment: &[(&str, &str)]) {
        let path = std::env::var("PATH").unwrap_or_default();
        let prefix = program::prefix();
        let mut words = vec![
            "env".to_owned(),
            format!("HOME={}", self.home().display()),
            format!("PATH={}:{path}:/usr/sbin:/sbin", prefix.join("bin").display()),
            "PVM_ALLOW_ROOT=1".to_owned(),
            "LC_ALL=C".to_owned(),
        ];
        words.extend(environment.iter().map(|(name, value)| format!("{name}={value}")));
        self.tool(&words.iter().map(String::as_str).collect::<Vec<_>>());
    }

    /// `hosts.sh` with these words: `cut h2`, `nat h3`, `crash h2` and others.
    pub fn tool(&self, words: &[&str]) {
        let output = Running::start(self.command(words)).finish(LIMIT);
        assert_eq!(output.code(), 0, "hosts.sh {words:?}: {}{}", output.out, output.err);
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new("bash");
        command.arg(hosts::script()).args(words).env("HOSTS_DIR", self.folder());
        command
    }

    /// A command on a host.
    pub fn on(&self, host: &str, words: &[&str]) -> Command {
        self.command(&[&["on", host], words].concat())
    }

    /// A command on the switch, where every cable ends.
    pub fn on_switch(&self, words: &[&str]) -> Command {
        self.command(&[&["switch"], words].concat())
    }

    /// Runs a command on a host to any end.
    pub fn finish(&self, host: &str, words: &[&str]) -> Output {
        Running::start(self.on(host, words)).finish(LIMIT)
    }

    /// Runs a command on a host to its good end.
    pub fn run(&self, host: &str, words: &[&str]) -> Output {
        let output = self.finish(host, words);
        assert_eq!(
            output.code(),
            0,
            "{host}: {words:?}: {:?}\n--- output\n{}--- errors\n{}--- logs\n{}",
            output.status,
            output.out,
            output.err,
            self.logs()
        );
        output
    }

    /// Runs a line of shell on a host to its good end.
    pub fn shell(&self, host: &str, line: &str) -> Output {
        self.run(host, &["sh", "-c", line])
    }

    /// A packet filter on a host: what comes in and is met by `rule` of nft.
    pub fn wall(&self, host: &str, rule: &str) {
        let chain = "add chain inet wall in { type filter hook input priority 0; }";
        let words = format!("add table inet wall; {chain}; add rule inet wall in {rule}");
        self.run(host, &["nft", &words]);
    }

    /// Compiles a program of `programs/` and puts it where spawn finds it on every host.
    pub fn compile(&self, source: &str) -> String {
        let name = source.split('.').next().expect("a name");
        let bin = self.home().join("pvm3/bin/LINUX64");
        std::fs::create_dir_all(&bin).expect("a folder");
        let to = bin.join(name);
        if !to.exists() {
            program::provide(source, &to);
        }
        to.to_string_lossy().into_owned()
    }

    /// Starts a machine on `host` and adds others from there.
    pub fn machine(&self, host: &str, others: &[&str]) {
        self.run(host, &["pvm", "up"]);
        if !others.is_empty() {
            self.run(host, &[&["pvm", "add"], others].concat());
        }
    }

    /// Halts the machine of `host` and proves that nothing is left on any host.
    pub fn halt(&self, host: &str) {
        self.run(host, &["pvm", "halt"]);
        self.assert_nothing_left();
    }

    /// The processes of a host besides sshd and its sessions' shells: `PID COMMAND`. `PID COMMAND`.
    pub fn processes(&self, host: &str) -> Vec<String> {
        let output = self.shell(host, PROCESSES);
        output.out.lines().filter(|line| is_ours(line)).map(|line| line.trim().to_owned()).collect()
    }

    /// Our leftovers on a host: processes, files in `/tmp`, and sockets that listen (but sshd's).
    /// One command finds all: each halt of a test asks on each host.
    pub fn left(&self, host: &str) -> Vec<String> {
        let output = self.shell(host, &format!("{PROCESSES}; {FILES}; {SOCKETS}"));
        let ours = |line: &&str| is_ours(line) && !line.contains(":22 ");
        output.out.lines().filter(ours).map(|line| line.trim().to_owned()).collect()
    }

    /// A moment from now nothing of ours is on any host.
    pub fn assert_nothing_left(&self) {
        for host in self.names() {
            let gone = eventually(END, || self.left(&host).is_empty());
            assert!(gone, "left on {host}: {:#?}\n{}", self.left(&host), self.logs());
        }
    }

    /// The daemons' logs on all hosts, their last lines.
    pub fn logs(&self) -> String {
        let tail = "find /tmp -name 'pvml*' -exec tail -n 25 {} +";
        let of = |host: &String| {
            let output = self.finish(host, &["sh", "-c", tail]);
            let sshd = std::fs::read_to_string(self.file(host, "sshd.log")).unwrap_or_default();
            format!("{host}:\n{}{}sshd: {sshd}", output.out, output.err)
        };
        self.names().iter().map(of).collect()
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{}", self.logs());
        }
    }
}
