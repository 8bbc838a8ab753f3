//! A virtual machine for one test.

use crate::output::{Output, Running};
use crate::place::Place;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use testbed::{eventually, process};

/// A daemon is ready within this, also where many tests share few cores.
const START: Duration = Duration::from_secs(60);
/// No program of the tests needs longer, on a computer that is ten times slower than ours.
const LIMIT: Duration = Duration::from_secs(240);
/// The time within which a process has ended.
const END: Duration = Duration::from_secs(60);

/// A machine of one host, or of several on this computer. It ends with this value, and with the
/// test's process.
#[derive(Debug)]
pub struct Machine {
    place: Place,
    daemon: Option<Running>,
    socket: PathBuf,
}

impl Machine {
    /// One host, bound to the life of this process.
    pub fn start() -> Self {
        Self::start_in(Place::new())
    }

    /// One host, in a place that is there already.
    pub fn start_in(place: Place) -> Self {
        Self::start_with(place, &[])
    }

    /// One host in that place, with these variables in its environment.
    pub fn start_with(place: Place, variables: &[(&str, &std::ffi::OsStr)]) -> Self {
        let mut command = place.installed("pvmd");
        command.arg("--bound").envs(variables.iter().copied());
        let mut daemon = Running::start(command);
        let ready = eventually(START, || daemon.so_far().contains('\n') || !daemon.is_running());
        let said = daemon.so_far();
        assert!(
            ready && said.ends_with('\n'),
            "the daemon did not start: {said}{}",
            daemon.errors_so_far()
        );
        Self { place, socket: PathBuf::from(said.trim_end()), daemon: Some(daemon) }
    }

    /// A machine of `hosts` hosts on this computer.
    pub fn local(hosts: u32) -> Self {
        Self::local_with(hosts, &[])
    }

    /// A machine of `hosts` hosts on this computer, with these variables in their environments.
    pub fn local_with(hosts: u32, variables: &[(&str, &str)]) -> Self {
        let place = Place::new();
        let mut machine = Self { place, daemon: None, socket: PathBuf::new() };
        let mut up = machine.place.installed("pvm");
        up.args(["up", "--local", &hosts.to_string()]).envs(variables.iter().copied());
        let done = machine.finish(up, LIMIT);
        assert_eq!(done.code(), 0, "pvm up --local {hosts}: {}{}", done.out, done.err);
        machine.socket = machine.place.runtime();
        machine
    }

    /// The place in which it lives.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// Path of the first host's local socket.
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// Process id of the host's parent process.
    pub fn parent(&self) -> u32 {
        self.daemon.as_ref().expect("one host").pid()
    }

    /// Process id of the host's daemon process.
    pub fn daemon(&self) -> Option<u32> {
        let mut children = process::children(self.parent()).into_iter();
        children.find(|child| process::command_line(*child).contains("--daemon"))
    }

    /// Process ids of the daemon processes of all hosts.
    pub fn daemons(&self) -> Vec<u32> {
        let all = self.place.processes().into_iter();
        all.filter(|(_, line)| line.contains("--daemon")).map(|(pid, _)| pid).collect()
    }

    /// Kills one of the daemons, and lets the machine work for `rest`, or for as long as it needed
    /// to answer again: else a busy computer would do nothing but start daemons. False if there was
    /// none to kill.
    pub fn kill_daemon(&self, which: usize, rest: Duration) -> bool {
        let daemons = self.daemons();
        let Some(daemon) = daemons.get(which % daemons.len().max(1)) else { return false };
        process::kill(*daemon);
        let killed = Instant::now();
        let answers = || self.daemons().len() >= daemons.len() && self.pvm(&["conf"]).code() == 0;
        eventually(START, answers);
        std::thread::sleep(killed.elapsed().max(rest));
        true
    }

    /// A program of `programs/`, compiled, with its arguments.
    pub fn program(&self, source: &str, arguments: &[&str]) -> Command {
        let mut command = self.place.command(self.place.compile(source));
        command.args(arguments);
        command
    }

    /// Starts such a program beside the machine.
    pub fn begin(&self, source: &str, arguments: &[&str]) -> Running {
        Running::start(self.program(source, arguments))
    }

    /// Runs such a program to its good end.
    pub fn run(&self, source: &str, arguments: &[&str]) -> Output {
        self.succeed(self.program(source, arguments))
    }

    /// Runs a command to its good end.
    pub fn succeed(&self, command: Command) -> Output {
        self.expect_success(Running::start(command))
    }

    /// Waits for the good end of a running program.
    pub fn expect_success(&self, mut running: Running) -> Output {
        let words = process::command_line(running.pid());
        let output = running.wait(LIMIT);
        let ended = output.status.map_or_else(
            || format!("no end; alive: {:#?}", self.place.processes()),
            |status| status.to_string(),
        );
        assert!(
            output.code() == 0,
            "{words}: {ended}\n--- output\n{}--- errors\n{}--- log\n{}",
            output.out,
            output.err,
            self.log()
        );
        output
    }

    /// Runs a command to any end.
    pub fn finish(&self, command: Command, limit: Duration) -> Output {
        Running::start(command).finish(limit)
    }

    /// Runs `pvm` with arguments to any end.
    pub fn pvm(&self, arguments: &[&str]) -> Output {
        let mut command = self.place.installed("pvm");
        command.args(arguments);
        self.finish(command, LIMIT)
    }

    /// The daemons' logs, their last lines.
    pub fn log(&self) -> String {
        let files = self.place.files();
        let logs = files.iter().filter(|path| {
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("pvml"))
        });
        let texts = logs.filter_map(|path| std::fs::read(path).ok());
        let lines: Vec<String> = texts
            .flat_map(|text| {
                String::from_utf8_lossy(&text).lines().map(str::to_owned).collect::<Vec<_>>()
            })
            .collect();
        lines[lines.len().saturating_sub(40)..].join("\n")
    }

    /// Halts the machine and proves that it leaves nothing.
    pub fn halt(mut self) {
        let halted = self.pvm(&["halt"]);
        assert_eq!(halted.code(), 0, "pvm halt: {}{}", halted.out, halted.err);
        if let Some(daemon) = self.daemon.take() {
            let ended = daemon.finish(END);
            assert!(ended.status.is_some(), "the daemon lives on after the halt");
        }
        self.place.assert_nothing_left();
    }
}
