//! Commands where something is in their way: a daemon that is stopped, processes that hold what
//! they should let go, names that are none, answers that nobody can read.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "support/place.rs"]
mod place;

use place::Place;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Nothing here takes a tenth of it.
const TIME_MAX: Duration = Duration::from_secs(60);

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The exit status and the output of a child; that it ends at all.
fn end_of(mut child: Child) -> (i32, String, String) {
    let end = Instant::now() + TIME_MAX;
    while child.try_wait().unwrap().is_none() {
        if Instant::now() > end {
            child.kill().unwrap();
            panic!("it did not end: {:?}", child.wait_with_output());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
    (status.code().unwrap_or(-1), text(&stdout), text(&stderr))
}

fn begin(mut command: Command) -> Child {
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn pvm(place: &Place, args: &[&str]) -> (i32, String, String) {
    end_of(begin(place.command(args)))
}

/// The console with these lines.
fn console(place: &Place, lines: &str) -> Child {
    let mut command = place.command(&[]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    child
}

/// `pvmd` in this place.
fn pvmd(place: &Place, args: &[&str]) -> Command {
    let inside = place.command(&[]);
    let mut command = Command::new(Path::new(env!("CARGO_BIN_EXE_pvm")).with_file_name("pvmd"));
    command.args(args).env_clear().stdin(Stdio::null()).current_dir(place.home());
    command.envs(inside.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command
}

fn number(place: &Place, field: &str) -> String {
    let (_, told, _) = pvm(place, &["status", "--json"]);
    let (_, rest) = told.split_once(&format!("\"{field}\":")).unwrap();
    rest.chars().take_while(char::is_ascii_digit).collect()
}

fn send(signal: &str, pid: &str) {
    assert!(Command::new("kill").args(["-s", signal, pid]).status().unwrap().success());
}

fn script(place: &Place, name: &str, text: &str) -> PathBuf {
    let path = place.home().join(name);
    testbed::write_program(&path, format!("#!/bin/sh\n{text}\n"));
    path
}

#[test]
fn a_stopped_daemon_is_named_by_every_command_and_ended_by_halt() {
    let place = Place::new();
    assert_eq!(pvm(&place, &["up"]).0, 0);
    let (parent, daemon) = (number(&place, "parent_pid"), number(&place, "daemon_pid"));
    let open = console(&place, "conf\n");
    // As Ctrl-Z does where pvmd was started by hand.
    send("STOP", &parent);
    send("STOP", &daemon);
    let commands: [&[&str]; 8] = [
        &["ps"],
        &["conf"],
        &["status"],
        &["names"],
        &["up"],
        &["run", "true"],
        &["kill", "t40001"],
        &["add", "local"],
    ];
    let mut running: Vec<Child> = commands.map(|args| begin(place.command(args))).into();
    running.push(console(&place, "conf\n"));
    for child in running {
        let (code, out, said) = end_of(child);
        let wanted = [format!("(process {parent}) is stopped"), format!("kill -CONT {parent}")];
        assert!(code == 4 && wanted.iter().all(|text| said.contains(text)), "{code} {out}{said}");
    }
    let (code, out, said) = pvm(&place, &["halt"]);
    assert_eq!((code, out.starts_with("stopped 1 host")), (0, true), "{out}{said}");
    assert!(said.contains(&format!("(process {parent}) was stopped")), "{said}");
    end_of(open);
    place.is_cleared();
}

#[test]
fn what_holds_the_output_of_a_program_that_has_ended_is_told_to_end() {
    let place = Place::new();
    let (code, out, _) = pvm(&place, &["run", "sh", "-c", "sleep 1000 & echo $!; exit 3"]);
    assert_eq!(code, 3);
    let left = PathBuf::from("/proc").join(out.trim());
    assert!(out.trim().parse::<u32>().is_ok() && !left.exists(), "{out}");
    // What has a session of its own goes on without the output.
    let script = "setsid sleep 1000 & echo $!; exit 4";
    let (code, out, _) = pvm(&place, &["run", "sh", "-c", script]);
    assert_eq!(code, 4);
    let _ = Command::new("kill").arg(out.trim()).status();
}

#[test]
fn a_script_goes_on_behind_the_task_that_it_has_started() {
    let place = Place::new();
    let script =
        format!("echo quit | {} >/dev/null; sleep 3; echo behind", env!("CARGO_BIN_EXE_pvm"));
    let (code, out, said) = pvm(&place, &["run", "sh", "-c", &script]);
    assert_eq!((code, out.as_str()), (0, "behind\n"), "{said}");
}

#[test]
fn where_no_process_can_be_started_the_limit_is_named_and_nothing_panics() {
    let place = Place::new();
    let root = rustix::process::getuid().is_root();
    let folder = place.home().join("nobody");
    std::fs::create_dir(&folder).unwrap();
    std::fs::set_permissions(&folder, PermissionsExt::from_mode(0o777)).unwrap();
    let other = ["setpriv", "--reuid=54321", "--regid=54321", "--clear-groups"];
    let mut named = false;
    for most in 2..=7 {
        let inside = place.command(&[]);
        let mut limited = Command::new("prlimit");
        limited.arg(format!("--nproc={most}:{most}")).args(other.iter().filter(|_| root));
        limited.args([env!("CARGO_BIN_EXE_pvm"), "run", "true"]).env_clear().stdin(Stdio::null());
        limited.envs(inside.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let Ok(child) = limited.env("PVM_TMP", &folder).stderr(Stdio::piped()).spawn() else {
            eprintln!("skipped: there is no `prlimit` (package util-linux)");
            return;
        };
        let (code, _, said) = end_of(child);
        assert!(code != 101 && !said.contains("panicked"), "{most}: {code} {said}");
        named |= said.contains("`ulimit -u` allows");
    }
    assert!(named || !root, "no limit was met");
    let left = Command::new("find").arg(&folder).args(["-name", "pvmd.sock"]).output().unwrap();
    assert_eq!(text(&left.stdout), "");
}

#[test]
fn a_host_is_found_in_any_letters_with_and_without_its_domain() {
    let place = Place::new();
    assert_eq!(pvm(&place, &["up", "--name", "Lab2"]).0, 0);
    for name in ["Lab2", "lab2", "LAB2", "lab2.site.org"] {
        let (code, _, said) = pvm(&place, &["ps", name]);
        assert_eq!((code, said.as_str()), (0, ""), "{name}");
        let (_, out, _) = end_of(console(&place, &format!("ps -n{name}\nquit\n")));
        assert!(!out.contains("unknown host"), "{name}: {out}");
    }
    assert_eq!(pvm(&place, &["ps", "lab2.2"]).0, 1);
}

#[test]
fn a_name_that_is_none_is_refused_and_one_with_controls_is_shown_and_not_obeyed() {
    let place = Place::new();
    for name in ["x\ny", "a b", "x\u{1b}[31m", "", &"x".repeat(256)] {
        let (code, _, said) = pvm(&place, &["up", "--name", name]);
        assert!(code == 2 && said.contains("not a name for a host"), "{name:?}: {said}");
        let (code, _, said) = end_of(begin(pvmd(&place, &["--name", name])));
        assert!(code == 1 && said.contains("not a name for a host"), "{name:?}: {said}");
    }
    assert_eq!(pvm(&place, &["up"]).0, 0);
    let odd = place.home().join("x\u{1b}[31m\nforged");
    testbed::copy_program(Path::new("/bin/sleep"), &odd);
    let mut running = place.command(&["run", odd.to_str().unwrap(), "1000"]).spawn().unwrap();
    place.await_tasks(1);
    let (_, shown, _) = pvm(&place, &["ps"]);
    let (_, list, _) = end_of(console(&place, "ps\nquit\n"));
    assert!(shown.lines().count() == 2 && shown.contains(r"x\u{1b}[31m\nforged"), "{shown:?}");
    assert!(!list.contains('\u{1b}') && list.contains(r"\nforged"), "{list:?}");
    assert_eq!(pvm(&place, &["halt"]).0, 0);
    running.wait().unwrap();
}

#[test]
fn halts_at_once_all_succeed() {
    let place = Place::new();
    for _ in 0..2 {
        assert_eq!(pvm(&place, &["up"]).0, 0);
        let halts: Vec<Child> = (0..6).map(|_| begin(place.command(&["halt"]))).collect();
        for halt in halts {
            let (code, out, said) = end_of(halt);
            // Who came when all was over is told so.
            assert!(code == 0 || code == 3, "{code} {out}{said}");
        }
        place.is_cleared();
    }
}

#[test]
fn the_machine_of_a_pvm_run_is_recommended_to_nobody() {
    let place = Place::new();
    let mut run = place.command(&["run", "sh", "-c", "echo ready; sleep 1000"]);
    let mut run = run.stdout(Stdio::piped()).spawn().unwrap();
    let mut out = std::io::BufReader::new(run.stdout.take().unwrap());
    let mut line = String::new();
    std::io::BufRead::read_line(&mut out, &mut line).unwrap();
    let (code, _, said) = pvm(&place, &["halt"]);
    send("TERM", &run.id().to_string());
    run.wait().unwrap();
    assert!(code == 3 && !said.contains("run-") && said.contains("`pvm up`"), "{said}");
}

#[test]
fn an_answer_that_cannot_be_written_is_a_failure() {
    let place = Place::new();
    let full = || Stdio::from(std::fs::File::options().write(true).open("/dev/full").unwrap());
    for args in [&["help"][..], &["--help"], &["--version"], &["help", "run"], &["ps", "--help"]] {
        let output = place.command(args).stdout(full()).output().unwrap();
        let said = text(&output.stderr);
        assert!(
            output.status.code() == Some(1) && said.contains("No space left"),
            "{args:?} {said}"
        );
    }
    for args in ["--version", "--help"] {
        let output = pvmd(&place, &[args]).stdout(full()).output().unwrap();
        let said = text(&output.stderr);
        assert!(output.status.code() == Some(1) && said.contains("No space left"), "{args} {said}");
    }
    // A daemon is not there for its first line.
    let mut daemon = pvmd(&place, &[]).stdout(full()).stderr(full()).spawn().unwrap();
    let end = Instant::now() + TIME_MAX;
    while pvm(&place, &["ps"]).0 != 0 {
        assert!(Instant::now() < end && daemon.try_wait().unwrap().is_none());
    }
    assert_eq!(pvm(&place, &["halt"]).0, 0);
    daemon.wait().unwrap();
}

#[test]
fn a_token_on_a_computer_that_is_in_the_machine_is_kept_and_the_member_named() {
    let place = Place::new();
    assert_eq!(pvm(&place, &["up", "--name", "here"]).0, 0);
    let (code, token, said) = pvm(&place, &["token"]);
    assert_eq!(code, 0, "{said}");
    let file = place.home().join("token");
    std::fs::write(&file, token).unwrap();
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o600)).unwrap();
    let bearer = pvmd(&place, &["--token-file", file.to_str().unwrap(), "--name", "again"]);
    let (code, _, said) = end_of(begin(bearer));
    assert!(code == 1 && said.contains("is in the machine already, as here"), "{said}");
    assert!(said.contains("the token is not used up") && !said.contains("exit status"), "{said}");
}

#[test]
fn pvm_rsh_may_have_any_name_and_is_named_where_it_fails() {
    let place = Place::new();
    let shell = script(&place, "far", "echo \"$*\" >> calls; echo no way there >&2; exit 1");
    let up = place.command(&["up"]).env("PVM_RSH", &shell).output().unwrap();
    assert!(up.status.success());
    let (code, _, said) = pvm(&place, &["add", "me@elsewhere"]);
    assert!(code == 1 && said.contains(&*shell.to_string_lossy()), "{said}");
    assert!(said.contains("PVM_RSH") && said.contains("no way there"), "{said}");
    assert!(!said.contains("openssh") && !said.contains("sshd"), "{said}");
    let calls = std::fs::read_to_string(place.home().join("calls")).unwrap();
    assert!(calls.contains("-l me") && calls.contains("elsewhere exec /bin/sh -c"), "{calls}");
    let missing = place.home().join("not-there");
    let examined =
        place.command(&["doctor", "elsewhere"]).env("PVM_RSH", missing).output().unwrap();
    let told = text(&examined.stdout);
    assert!(told.contains("not-there") && told.contains("unset PVM_RSH"), "{told}");
}
