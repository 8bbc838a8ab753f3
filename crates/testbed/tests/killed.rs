//! Nothing is left of a place when its caller, its keeper or both are killed.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![allow(clippy::zombie_processes, reason = "what is killed is ours to kill")]

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use testbed::{eventually, process};

const PROGRAM: &str = env!("CARGO_BIN_EXE_testbed");
/// The time within which a process has ended, also on a busy computer.
const END: Duration = Duration::from_secs(60);

/// A shell with a place, and a process in it that ignores all signals but SIGKILL, in a session of
/// its own. It tells the folder and the process, and waits.
struct Shell {
    process: Child,
    folder: PathBuf,
    sleeper: u32,
}

impl Shell {
    /// With the program `testbed` at that path.
    fn start(mut command: Command, program: &Path) -> Self {
        let program = program.display();
        let script = format!(
            "eval \"$({program} up 0 --for $$)\" || exit
            trap '' TERM HUP INT
            setsid sleep 1000 </dev/null >/dev/null 2>&1 &
            touch \"$TMPDIR/file\"
            echo \"$TESTBED $!\"
            read -r line; {program} down"
        );
        command.args(["-c", &script]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let (folder, sleeper) = line.trim_end().split_once(' ').expect("a folder and a process");
        let (folder, sleeper) = (PathBuf::from(folder), sleeper.parse().unwrap());
        assert!(folder.join("tmp/file").exists() && process::lives(sleeper), "{line}");
        assert!(eventually(END, || process::command_line(sleeper).starts_with("sleep")));
        Self { process, folder, sleeper }
    }

    fn bash() -> Self {
        Self::start(Command::new("bash"), Path::new(PROGRAM))
    }

    fn keeper(&self) -> u32 {
        keeper_of(&self.folder)
    }

    /// `kill -9`, and nobody else ends it.
    fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    #[track_caller]
    fn assert_nothing_left(&self) {
        assert!(eventually(END, || !self.folder.exists()), "{} is there", self.folder.display());
        assert!(eventually(END, || !process::lives(self.sleeper)), "the process lives");
        assert!(eventually(END, || !process::lives(self.keeper())), "the keeper lives");
    }
}

fn keeper_of(folder: &Path) -> u32 {
    let name = folder.file_name().unwrap().to_str().unwrap();
    name.strip_prefix("tb").unwrap().split_once('-').unwrap().0.parse().unwrap()
}

fn kill(process: u32) {
    process::kill(process);
    assert!(eventually(END, || !process::lives(process)));
}

#[test]
fn a_killed_caller_leaves_nothing() {
    let mut shell = Shell::bash();
    shell.kill();
    shell.assert_nothing_left();
}

#[test]
fn down_leaves_nothing() {
    let mut shell = Shell::bash();
    shell.process.stdin.take().unwrap().write_all(b"\n").unwrap();
    assert!(shell.process.wait().unwrap().success());
    shell.assert_nothing_left();
}

/// No other keeper looks into this folder, or it would take the place away before.
#[test]
fn down_works_after_the_keeper_was_killed() {
    let apart = std::env::temp_dir().join(format!("testbed-apart-{}", std::process::id()));
    fs::create_dir(&apart).unwrap();
    let mut command = Command::new("bash");
    command.env("TMPDIR", &apart);
    let mut shell = Shell::start(command, Path::new(PROGRAM));
    kill(shell.keeper());
    shell.process.stdin.take().unwrap().write_all(b"\n").unwrap();
    assert!(shell.process.wait().unwrap().success());
    shell.assert_nothing_left();
    fs::remove_dir(apart).unwrap();
}

#[test]
fn what_a_killed_keeper_and_its_killed_caller_leave_goes_with_the_next_one() {
    let mut shell = Shell::bash();
    kill(shell.keeper());
    shell.kill();
    let mut next = Shell::bash();
    shell.assert_nothing_left();
    assert!(next.folder.exists() && process::lives(next.sleeper), "the living one stays");
    next.kill();
    next.assert_nothing_left();
}

#[test]
fn two_at_once_do_not_touch_each_other() {
    let (mut one, mut other) = (Shell::bash(), Shell::bash());
    assert_ne!(one.folder, other.folder);
    one.kill();
    one.assert_nothing_left();
    assert!(other.folder.exists() && process::lives(other.sleeper));
    other.kill();
    other.assert_nothing_left();
}

/// Runs as root and as another user at once; the other user's keeper takes nothing of root's.
#[test]
fn a_user_has_places_beside_those_of_root() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: only root can become another user");
        return;
    }
    let mut ours = Shell::bash();
    let mut command = Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "bash"]);
    let copy = std::env::temp_dir().join(format!("testbed-program-{}", std::process::id()));
    fs::create_dir(&copy).unwrap();
    // The other user may not be able to read the checkout.
    fs::set_permissions(&copy, fs::Permissions::from_mode(0o755)).unwrap();
    testbed::copy_program(Path::new(PROGRAM), &copy.join("testbed"));
    let mut theirs = Shell::start(command, &copy.join("testbed"));
    theirs.kill();
    theirs.assert_nothing_left();
    fs::remove_dir_all(copy).unwrap();
    assert!(ours.folder.exists() && process::lives(ours.sleeper));
    ours.kill();
    ours.assert_nothing_left();
}

/// From outside of a PID namespace its keepers are not seen under the numbers in their names.
#[test]
fn a_place_of_another_pid_namespace_is_not_taken_for_a_left_one() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: only root can make PID namespaces");
        return;
    }
    let mut command = Command::new("unshare");
    command.args(["--pid", "--fork", "--kill-child", "--mount-proc", "bash", "-c"]);
    command.arg(format!("eval \"$({PROGRAM} up 0 --for $$)\"; echo \"$TESTBED\"; read -r line"));
    let mut inside = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(inside.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let folder = Path::new(line.trim_end());
    let mut sweeps = Shell::bash();
    assert!(folder.join("home").is_dir(), "{line}");
    inside.kill().unwrap();
    inside.wait().unwrap();
    assert!(eventually(END, || !inside_lives(folder)));
    sweeps.kill();
    let mut next = Shell::bash();
    assert!(eventually(END, || !folder.exists()), "{line} is there");
    next.kill();
    next.assert_nothing_left();
}

/// The keeper, which holds the lock of its folder.
fn inside_lives(folder: &Path) -> bool {
    fs::File::open(folder).is_ok_and(|folder| {
        let lock = rustix::fs::FlockOperation::NonBlockingLockExclusive;
        rustix::fs::flock(&folder, lock).is_err()
    })
}

/// The name of this test in a process of its own, which makes a place by the library.
#[test]
fn a_killed_test_leaves_nothing() {
    const INSIDE: &str = "TESTBED_TEST_INSIDE";
    if std::env::var_os(INSIDE).is_some() {
        let place = testbed::Place::new();
        let sleeper = place.command("sleep").arg("1000").spawn().unwrap();
        println!("\n{} {}", place.folder().display(), sleeper.id());
        std::thread::sleep(Duration::from_secs(100));
        return;
    }
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "a_killed_test_leaves_nothing", "--nocapture"]).env(INSIDE, "1");
    let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(process.stdout.take().unwrap()).lines().map(Result::unwrap);
    let line = lines.find(|line| line.starts_with('/')).expect("a folder and a process");
    let (folder, sleeper) = line.split_once(' ').unwrap();
    process.kill().unwrap();
    process.wait().unwrap();
    assert!(eventually(END, || !Path::new(folder).exists()), "{folder} is there");
    assert!(eventually(END, || !process::lives(sleeper.parse().unwrap())), "the process lives");
}

#[test]
fn what_cannot_be_made_is_told_and_leaves_nothing() {
    for (words, status, named) in [
        (&["up", "1"][..], 1, "needs --prefix"),
        (&["up", "--prefix", "/etc"], 1, "/etc/bin/pvmd: No such file"),
        (&["up", "2", "--prefix", "/etc"], 1, "/etc/bin/pvm: No such file"),
        (&["up", "x", "--prefix", "/etc"], 1, "x: not a number"),
        (&["down"], 1, "TESTBED is not set"),
        (&["nonsense"], 2, "testbed: nonsense is not a command\nusage"),
    ] {
        let folder = std::env::temp_dir().join(format!("testbed-none-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let mut command = Command::new(PROGRAM);
        command.args(words).env("TMPDIR", &folder).env_remove("TESTBED");
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{words:?}: {said}");
        assert!(said.contains(named), "{words:?}: {said}");
        assert!(eventually(END, || fs::read_dir(&folder).unwrap().next().is_none()), "{words:?}");
        fs::remove_dir(folder).unwrap();
    }
}
