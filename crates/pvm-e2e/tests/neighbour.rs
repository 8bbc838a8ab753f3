//! Another user of the same computer, who knows where everything is.
#![forbid(unsafe_code)]

use pvm_e2e::{Machine, Output, Place, Running, copy_program, eventually, process};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The user nobody and his group.
const NOBODY: &str = "65534";

/// False where there is no other user to become.
fn can_become_nobody() -> bool {
    let can = rustix::process::getuid().is_root() && pvm_e2e::has("setpriv", "util-linux");
    if !can {
        eprintln!("skipped: to be another user needs root");
    }
    can
}

/// Lets others into the place, so that only what the daemon does itself keeps them out.
fn open_to_all(place: &Place) {
    let mut folders = vec![place.runtime()];
    folders.extend(place.runtime().parent().map(Path::to_path_buf));
    for folder in folders {
        fs::set_permissions(folder, PermissionsExt::from_mode(0o1777)).expect("ours");
    }
}

/// A program that another user may run.
fn lent(place: &Place, program: &str) -> PathBuf {
    let to = place.runtime().join("lent");
    copy_program(Path::new(program), &to);
    to
}

fn as_nobody(words: &[&str]) -> Output {
    let mut command = Command::new("setpriv");
    command.args(["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups", "--"]).args(words);
    command.current_dir("/");
    Running::start(command).finish(Duration::from_secs(90))
}

#[test]
fn another_user_gets_nowhere() {
    if !can_become_nobody() {
        return;
    }
    let machine = Machine::start();
    // A port for other computers is open, too.
    assert_eq!(machine.pvm(&["token"]).code(), 0);
    let mut command = machine.place().installed("pvm");
    command.args(["run", "--", "sleep", "1000"]);
    let running = Running::start(command);
    let task = || {
        let all = machine.place().processes();
        all.into_iter().find(|(_, line)| line == "sleep 1000" || line == "/usr/bin/sleep 1000")
    };
    assert!(eventually(Duration::from_secs(60), || task().is_some()), "{}", machine.log());
    let task = task().expect("just seen").0;
    open_to_all(machine.place());
    let program = lent(machine.place(), env!("CARGO_BIN_EXE_neighbour"));
    let folder = machine.socket().parent().expect("a folder");
    let conf = machine.pvm(&["conf", "--json"]).out;
    let is_address = |word: &&str| word.parse::<std::net::SocketAddr>().is_ok();
    let link = conf.split('"').find(is_address).expect("an address").to_owned();
    let daemon = machine.daemon().expect("a daemon");
    let pids = [machine.parent(), daemon, task].map(|pid| pid.to_string());
    let words = [
        &*program.to_string_lossy(),
        &*folder.to_string_lossy(),
        &pids[0],
        &pids[1],
        &pids[2],
        &link,
    ];
    let output = as_nobody(&words);
    assert_eq!(output.code(), 0, "{}{}", output.out, output.err);
    let tried = output.out.lines().count();
    assert!(tried >= 60, "only {tried} attempts: {}", output.out);
    let done: Vec<&str> = output.out.lines().filter(|line| !line.starts_with("refused ")).collect();
    assert!(done.is_empty(), "{done:#?}");
    eprintln!("{tried} attempts of another user, all refused");
    assert!([machine.parent(), daemon, task].into_iter().all(process::lives));
    fs::remove_file(program).expect("ours");
    drop(running);
    machine.halt();
}

/// He was there first and has put something of his own in the place of the folder.
#[test]
fn a_folder_of_another_user_is_neither_used_nor_asked() {
    if !can_become_nobody() {
        return;
    }
    let place = Place::new();
    open_to_all(&place);
    let user = place.runtime().join("neopvm-0");
    let host = user.join(place.vmid()).join("1");
    let path = host.to_string_lossy().into_owned();
    let script = format!(
        "mkdir -p {path} && chmod -R 755 {} && exec python3 -c 'import socket, time\n\
         s = socket.socket(socket.AF_UNIX)\ns.bind(\"{path}/pvmd.sock\")\ns.listen()\n\
         c = s.accept()[0]\nprint(len(c.recv(1)), flush=True)\ntime.sleep(60)'",
        user.display()
    );
    let mut command = Command::new("setpriv");
    command.args([
        "--reuid",
        NOBODY,
        "--regid",
        NOBODY,
        "--clear-groups",
        "--",
        "sh",
        "-c",
        &script,
    ]);
    let squatter = Running::start(command);
    let listens = || host.join("pvmd.sock").exists();
    assert!(eventually(Duration::from_secs(60), listens), "{}", squatter.errors_so_far());
    for words in [["up"].as_slice(), &["ps"], &["run", "--", "true"], &["halt"]] {
        let mut command = place.installed("pvm");
        command.args(words);
        let output = Running::start(command).finish(Duration::from_secs(90));
        assert_ne!(output.code(), 0, "{words:?} {}", output.out);
        let said = output.err.contains("another user") || output.err.contains("somebody else");
        assert!(said, "{words:?}: {}", output.err);
    }
    let exits = place.compile("exits.c");
    let output = Running::start(place.command(exits)).finish(Duration::from_secs(90));
    assert_ne!(output.code(), 0, "{}", output.out);
    // Nobody has told him a word.
    assert_eq!(squatter.so_far(), "0\n", "{}", squatter.errors_so_far());
    let _ = fs::remove_dir_all(&user);
}

/// He who could write there has put a link to a folder of ours in its place.
#[test]
fn a_link_in_the_place_of_the_folder_is_not_followed() {
    if !can_become_nobody() {
        return;
    }
    let place = Place::new();
    open_to_all(&place);
    let target = place.home().join("precious");
    fs::create_dir(&target).expect("a folder");
    let link = place.runtime().join("neopvm-0");
    let output = as_nobody(&["ln", "-s", &target.to_string_lossy(), &link.to_string_lossy()]);
    assert_eq!(output.code(), 0, "{}", output.err);
    let mut command = place.installed("pvm");
    command.arg("up");
    let output = Running::start(command).finish(Duration::from_secs(90));
    assert_ne!(output.code(), 0);
    assert!(output.err.contains("not a folder"), "{}", output.err);
    assert_eq!(fs::read_dir(&target).expect("ours").count(), 0);
    fs::remove_file(link).expect("ours");
}
