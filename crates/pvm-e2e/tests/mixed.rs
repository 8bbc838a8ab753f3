//! One machine of hosts with different layouts: 64-bit and 32-bit little-endian, and 64-bit
//! big-endian in an emulator. `cargo xtask mixed` builds what they need and runs them with
//! `NEOPVM_FOREIGN`, the folder of the other installations.
#![forbid(unsafe_code)]

use pvm_e2e::{Output, Place, Running, eventually, has, prefix};
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(120);
/// The time within which a process has ended.
const END: Duration = Duration::from_secs(60);

/// A machine whose first host is of this computer's kind.
struct Mixed {
    place: Place,
}

fn foreign(kind: &str) -> PathBuf {
    let folder = std::env::var_os("NEOPVM_FOREIGN").expect("NEOPVM_FOREIGN: cargo xtask mixed");
    PathBuf::from(folder).join(kind)
}

impl Mixed {
    fn start() -> Self {
        let machine = Self { place: Place::new() };
        let ssh = machine.place.home().join("ssh-here");
        pvm_e2e::write_program(&ssh, include_str!("../programs/ssh_here.sh"));
        machine.pvm(&["up"]);
        machine
    }

    fn command(&self, mut command: Command) -> Command {
        command.env("PVM_RSH", self.place.home().join("ssh-here"));
        command
    }

    fn pvm(&self, arguments: &[&str]) -> Output {
        let mut command = self.command(self.place.installed("pvm"));
        command.args(arguments);
        self.succeed(command)
    }

    fn succeed(&self, command: Command) -> Output {
        let output = self.finish(command);
        assert_eq!(output.code(), 0, "{}{}\n{}", output.out, output.err, self.log());
        output
    }

    fn finish(&self, command: Command) -> Output {
        let output = Running::start(command).wait(LIMIT);
        assert!(output.status.is_some(), "no end: {}{}\n{}", output.out, output.err, self.log());
        output
    }

    /// One more host, of that kind.
    fn add(&self, kind: &str) {
        let pvmd = foreign(kind).join("bin/pvmd");
        // `$`: it is on the computer of another member, and meant to be.
        self.pvm(&["add", &format!("${kind} dx={}", pvmd.display())]);
    }

    /// The program for hosts of that kind.
    fn compile(&self, kind: &str) -> String {
        let to = self.place.home().join(format!("mixed-{kind}"));
        let source = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("programs/mixed.c");
        let prefix = if kind == "native" { prefix() } else { foreign(kind) };
        let compiler =
            if kind == "native" { "cc".to_owned() } else { format!("{kind}-linux-gnu-gcc") };
        let mut command = Command::new(compiler);
        command.args(["-O1", "-w", "-o"]).arg(&to).arg(source);
        command.arg(format!("-I{}", prefix.join("include").display()));
        command.arg(format!("-L{}", prefix.join("lib").display()));
        command.arg(format!("-Wl,-rpath,{}", prefix.join("lib").display())).arg("-lpvm3");
        self.succeed(command);
        to.display().to_string()
    }

    /// Runs the program here, with partners.
    fn exchange(&self, partners: &[&str]) -> Output {
        let mut command = self.command(self.place.command(self.compile("native")));
        command.args(partners);
        self.succeed(command)
    }

    fn log(&self) -> String {
        let logs = self.place.files().into_iter().filter(|path| path.ends_with("pvml"));
        logs.filter_map(|path| std::fs::read_to_string(path).ok()).collect()
    }

    fn halt(self) {
        self.pvm(&["halt"]);
        // The folders that ssh_here.sh made; they are empty once the daemons there have ended.
        for kind in ["i686", "s390x"] {
            let folder = self.place.runtime().join(kind);
            let gone = || std::fs::remove_dir(&folder).is_ok() || !folder.exists();
            assert!(eventually(END, gone), "left behind: {:#?}", self.place.files());
        }
        self.place.assert_nothing_left();
    }
}

#[test]
#[ignore = "needs builds for other machines: cargo xtask mixed"]
fn hosts_with_wide_and_narrow_longs_agree_on_every_type() {
    let machine = Mixed::start();
    machine.add("i686");
    let output = machine.exchange(&["i686", &machine.compile("i686")]);
    assert!(output.out.contains("i686 LINUX 0x00408841"), "{}", output.out);
    assert!(output.out.contains("2 tasks agree"), "{}{}", output.out, machine.log());
    machine.halt();
}

#[test]
#[ignore = "needs builds for other machines: cargo xtask mixed"]
fn hosts_of_both_byte_orders_agree_on_every_type() {
    let machine = Mixed::start();
    machine.add("i686");
    machine.add("s390x");
    let (narrow, big) = (machine.compile("i686"), machine.compile("s390x"));
    let output = machine.exchange(&["i686", &narrow, "s390x", &big]);
    assert!(output.out.contains("s390x LINUXS390 0x0658ef59"), "{}", output.out);
    assert!(output.out.contains("3 tasks agree"), "{}{}", output.out, machine.log());
    // Two of a kind on each, through shared memory there.
    let all = ["i686", &narrow, "s390x", &big, "s390x", &big, "i686", &narrow];
    let output = machine.exchange(&all);
    assert!(output.out.contains("5 tasks agree"), "{}{}", output.out, machine.log());
    machine.halt();
}

#[test]
#[ignore = "needs builds for other machines: cargo xtask mixed"]
fn tasks_with_narrow_longs_share_memory_with_wide_ones() {
    let machine = Mixed::start();
    let narrow = machine.compile("i686");
    let output = machine.exchange(&[".", &narrow, ".", &machine.compile("native"), ".", &narrow]);
    assert!(output.out.contains("4 tasks agree"), "{}{}", output.out, machine.log());
    machine.halt();
}

/// Their numbers in shared memory would be read backwards.
#[test]
#[ignore = "needs builds for other machines: cargo xtask mixed"]
fn a_task_of_the_other_byte_order_is_refused_by_name() {
    assert!(has("qemu-s390x", "qemu-user"));
    let machine = Mixed::start();
    let mut command = machine.place.command("qemu-s390x");
    command.args(["-L", "/usr/s390x-linux-gnu", &machine.compile("s390x")]);
    let output = machine.finish(command);
    assert_eq!(output.code(), 3, "{}{}", output.out, output.err);
    assert!(machine.log().contains("another order of bytes than this host"), "{}", machine.log());
    machine.halt();
}
