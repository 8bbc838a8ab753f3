//! A tuple space whose servers are killed or stopped while it moves to a host that joins, or away
//! from one that is left: operations of workers can have happened one after the other.
//!
//! `MOVES_ROUNDS=100` does so many moves.
#![forbid(unsafe_code)]

use pvm_e2e::bag::{Bag, numbers};
use pvm_e2e::{Machine, Running, eventually, process};
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::{Read as _, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(120);
const WORKERS: u64 = 2;
/// A worker rests for so many microseconds between operations.
const PAUSE: &str = "500";
/// The number of moves in the check.
const ROUNDS: u64 = 6;
/// Kills come up to so many milliseconds behind the event that begins a move.
const LATEST: u64 = 60;

/// A machine whose workers put and take in a space with a copy.
struct Bed {
    machine: Machine,
    workers: Vec<Running>,
    files: Vec<PathBuf>,
    stop: PathBuf,
}

impl Bed {
    fn up() -> Self {
        let machine = Machine::local(3);
        for name in ["other", "bag"] {
            let made = machine.pvm(&["space", "create", name, "--copies", "1"]);
            assert_eq!(made.code(), 0, "{}", made.err);
        }
        let home = machine.place().home();
        let stop = home.join("stop");
        let files: Vec<PathBuf> =
            (1..=WORKERS).map(|seed| home.join(format!("said-{seed}"))).collect();
        let begin = |(file, seed): (&PathBuf, u64)| {
            let [file, stop] = [file, &stop].map(|path| path.to_string_lossy().into_owned());
            let words = [file, seed.to_string(), "0".to_owned(), PAUSE.to_owned(), stop];
            machine.begin("bag.c", &words.each_ref().map(String::as_str))
        };
        let workers = files.iter().zip(1..).map(begin).collect();
        Self { machine, workers, files, stop }
    }

    fn list(&self) -> Vec<Value> {
        let output = self.machine.pvm(&["space", "list", "--json"]);
        let list: Value = serde_json::from_str(&output.out).unwrap_or_default();
        list["spaces"].as_array().cloned().unwrap_or_default()
    }

    /// Waits until each space has its copy on a host that stays.
    fn await_copies(&self) {
        let is_whole = |space: &Value| {
            space["lost"] == false && space["copies"].as_array().is_some_and(|all| all.len() == 1)
        };
        let all_are = || {
            let list = self.list();
            list.len() == 2 && list.iter().all(is_whole)
        };
        assert!(eventually(LIMIT, all_are), "{:?}\n{}", self.list(), self.machine.log());
    }

    /// Waits until each worker has done something since.
    fn await_work(&mut self) {
        for (worker, file) in self.workers.iter_mut().zip(&self.files) {
            let size = || std::fs::metadata(file).map_or(0, |of| of.len());
            let before = size();
            let works = eventually(LIMIT, || size() > before + 500 || !worker.is_running());
            assert!(works && worker.is_running(), "{}", worker.errors_so_far());
        }
    }

    fn servers(&self) -> BTreeSet<u32> {
        let all = self.machine.place().processes().into_iter();
        all.filter(|(_, line)| line.contains("pvmtuples --behind")).map(|(pid, _)| pid).collect()
    }

    /// The host, by name, of the server that answers for the bag.
    fn host_of_bag(&self) -> Option<String> {
        let number = |tid: &str| u32::from_str_radix(tid.trim_start_matches('t'), 16).ok();
        let bag = self.list().into_iter().find(|space| space["name"] == "bag")?;
        let host = number(bag["server"].as_str()?)? >> 18;
        let conf = self.machine.pvm(&["conf", "--json"]).out;
        let conf: Value = serde_json::from_str(&conf).ok()?;
        let is_it = |row: &&Value| {
            row["tid"].as_str().and_then(number).is_some_and(|tid| tid >> 18 == host)
        };
        Some(conf["hosts"].as_array()?.iter().find(is_it)?["name"].as_str()?.to_owned())
    }

    fn judge(mut self) {
        std::fs::write(&self.stop, "").expect("a file");
        self.workers.drain(..).for_each(|worker| drop(self.machine.expect_success(worker)));
        let mut bag = Bag::default();
        self.files.iter().for_each(|file| bag.read(file).expect("once"));
        println!("(answered, not answered) {:?}", bag.counts());
        let mut dump = self.machine.place().installed("pvm");
        dump.args(["space", "dump", "bag"]);
        // Without its answer all that is there would count as lost.
        bag.judge(&numbers(&self.machine.succeed(dump).out)).expect("one order");
        self.machine.halt();
    }
}

fn rounds() -> u64 {
    let set = std::env::var("MOVES_ROUNDS").ok().and_then(|text| text.parse().ok());
    set.unwrap_or(ROUNDS)
}

/// One move: a host joins, or the host of the bag is left, by turns; then one server dies.
fn round(bed: &mut Bed, number: u64) {
    bed.await_copies();
    bed.await_work();
    let before = bed.servers();
    if number.is_multiple_of(2) {
        assert_eq!(bed.machine.pvm(&["add", "local"]).code(), 0);
    } else {
        let host = bed.host_of_bag().expect("a server");
        assert_eq!(bed.machine.pvm(&["del", "--drain", &host]).code(), 0);
        // The server sees this within three seconds; then the space moves.
        std::thread::sleep(Duration::from_millis(number * 997 % 3000));
    }
    std::thread::sleep(Duration::from_millis(number * 37 % LATEST));
    let now = bed.servers();
    // By turns one that was there and, if there is one, one that has just been started.
    let new: Vec<u32> = now.difference(&before).copied().collect();
    let old: Vec<u32> = now.intersection(&before).copied().collect();
    let from = if number.is_multiple_of(3) && !new.is_empty() { new } else { old };
    if let Some(victim) = from.get(number as usize / 2 % from.len().max(1)) {
        process::kill(*victim);
        assert!(eventually(LIMIT, || !process::lives(*victim)), "{victim} lives on");
    }
}

#[test]
fn a_server_that_is_killed_while_spaces_move_loses_no_tuple_and_gives_none_twice() {
    let mut bed = Bed::up();
    (0..rounds()).for_each(|number| round(&mut bed, number));
    bed.await_copies();
    bed.await_work();
    bed.judge();
}

/// The primary gives the copy up after six seconds and goes on alone. When the copy goes on, it
/// must not count as one with what it had before.
#[test]
fn a_copy_that_stood_still_gives_no_tuple_back_that_was_taken_meanwhile() {
    let machine = Machine::local(2);
    let succeed = |words: &[&str]| {
        let done = machine.pvm(words);
        assert_eq!(done.code(), 0, "pvm {words:?}: {}{}", done.out, done.err);
        done.out
    };
    let space = || {
        let list = machine.pvm(&["space", "list", "--json"]).out;
        let list: Value = serde_json::from_str(&list).unwrap_or_default();
        list["spaces"][0].clone()
    };
    let copy = || space()["copies"][0].as_str().map(str::to_owned);
    succeed(&["space", "create", "bag", "--copies", "1"]);
    succeed(&["out", "bag", "1"]);
    let stopped = copy().expect("a copy");
    succeed(&["kill", "--signal", "STOP", &stopped]);
    succeed(&["out", "bag", "2"]);
    assert_eq!(succeed(&["take", "bag", "1"]), "1\n");
    succeed(&["kill", "--signal", "CONT", &stopped]);
    assert!(eventually(LIMIT, || copy().is_some()), "{}\n{}", space(), machine.log());
    let server = space()["server"].as_str().expect("a server").to_owned();
    succeed(&["kill", "--signal", "KILL", &server]);
    assert_eq!(succeed(&["take", "bag", "?int", "--timeout", "60"]), "2\n");
    assert_eq!(machine.pvm(&["take", "bag", "?int", "--timeout", "0"]).code(), 1);
    machine.halt();
}

/// The folder of a host below the first one, and a socket in it for a daemon that leaves: it closes
/// its connections before its socket goes.
fn leaving_host(machine: &Machine) -> (PathBuf, UnixListener) {
    let folder = machine.socket().ancestors().nth(2).expect("a folder").join("0");
    std::fs::create_dir(&folder).expect("a folder");
    let listener = UnixListener::bind(folder.join("pvmd.sock")).expect("a socket");
    (folder, listener)
}

#[test]
fn a_halt_that_met_a_host_that_was_leaving_halted_nothing() {
    let machine = Machine::start();
    let daemon = machine.socket().to_path_buf();
    let (folder, listener) = leaving_host(&machine);
    std::thread::spawn(move || {
        let mut bytes = [0; 1 << 16];
        for client in listener.incoming() {
            let mut client = client.expect("a client");
            let hello = client.read(&mut bytes).expect("a hello");
            if hello == 0 {
                continue;
            }
            let mut daemon = UnixStream::connect(&daemon).expect("a daemon");
            daemon.write_all(&bytes[..hello]).expect("a daemon");
            let welcome = daemon.read(&mut bytes).expect("a welcome");
            client.write_all(&bytes[..welcome]).expect("a client");
            // It has greeted, and leaves before it answers a question.
            let _question = client.read(&mut bytes);
            return std::fs::remove_dir_all(folder).expect("a folder");
        }
    });
    let halted = machine.pvm(&["halt"]);
    assert_eq!(halted.code(), 0, "{}{}", halted.out, halted.err);
    assert!(halted.out.starts_with("stopped 1 host"), "{}", halted.out);
}

#[test]
fn a_task_joined_no_machine_while_the_lowest_host_was_leaving() {
    let machine = Machine::start();
    let (leaving, listener) = leaving_host(&machine);
    std::thread::spawn(move || listener.incoming().for_each(drop));
    let made = machine.pvm(&["space", "create", "bag"]);
    std::fs::remove_dir_all(&leaving).expect("a folder");
    assert_eq!(made.code(), 0, "{}{}", made.out, made.err);
    machine.halt();
}
