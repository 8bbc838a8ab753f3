//! Durable spaces: what was answered outlives a halt, the death of all processes, and damage behind
//! it.
//!
//! `DURABLE_ROUNDS=100` kills everything so often.
#![forbid(unsafe_code)]

use pvm_e2e::{Output, Place, Running};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;
use testbed::eventually;

const LIMIT: Duration = Duration::from_secs(240);
const WORKERS: usize = 3;

fn pvm(place: &Place, words: &[&str]) -> Output {
    let mut command = place.installed("pvm");
    command.args(words);
    Running::start(command).finish(LIMIT)
}

fn succeed(place: &Place, words: &[&str]) -> Output {
    let done = pvm(place, words);
    assert_eq!(done.code(), 0, "pvm {words:?}: {}{}", done.out, done.err);
    done
}

/// A place, and a directory for its durable spaces.
fn place() -> (Place, PathBuf) {
    let place = Place::new();
    let directory = place.home().join("disk");
    std::fs::create_dir(&directory).expect("a new directory");
    (place, directory)
}

fn create(place: &Place, directory: &Path) -> Output {
    create_with(place, directory, "0")
}

fn create_with(place: &Place, directory: &Path, copies: &str) -> Output {
    let directory = directory.to_string_lossy();
    succeed(place, &["space", "create", "kept", "--durable", &directory, "--copies", copies])
}

/// The only file of the directory that ends so.
fn file(directory: &Path, end: &str) -> PathBuf {
    let files = std::fs::read_dir(directory).expect("it is there");
    let paths = files.map(|file| file.expect("it can be read").path());
    let mut paths = paths.filter(|path| path.to_string_lossy().ends_with(end));
    paths.next().unwrap_or_else(|| panic!("no file {end}"))
}

#[test]
fn a_durable_space_is_there_after_a_halt_and_its_end_leaves_no_file() {
    let (place, directory) = place();
    succeed(&place, &["up"]);
    create(&place, &directory);
    for number in ["1", "2", "3"] {
        succeed(&place, &["out", "kept", "task", number]);
    }
    succeed(&place, &["take", "kept", "task", "2"]);
    succeed(&place, &["halt"]);
    succeed(&place, &["up"]);
    assert_ne!(pvm(&place, &["read", "kept", "task", "1"]).code(), 0, "nobody has made it again");
    assert_eq!(create(&place, &directory).err, "");
    let dumped = succeed(&place, &["space", "dump", "kept"]).out;
    assert_eq!(dumped.lines().count(), 2, "{dumped}");
    assert!(dumped.contains("\"value\":1") && dumped.contains("\"value\":3"), "{dumped}");
    // A dump is loaded into another space.
    let written = place.home().join("dump");
    std::fs::write(&written, &dumped).expect("a file");
    succeed(&place, &["space", "create", "other"]);
    succeed(&place, &["space", "load", "other", &written.to_string_lossy()]);
    assert_eq!(succeed(&place, &["space", "dump", "other"]).out, dumped);
    succeed(&place, &["space", "delete", "kept"]);
    let left = std::fs::read_dir(&directory).expect("it is there").count();
    assert_eq!(left, 0, "files of a space that was deleted");
    create(&place, &directory);
    assert_eq!(succeed(&place, &["space", "dump", "kept"]).out, "");
    succeed(&place, &["halt"]);
}

#[test]
fn what_is_whole_of_a_damaged_file_is_kept_and_the_rest_is_named() {
    let (place, directory) = place();
    succeed(&place, &["up"]);
    create(&place, &directory);
    for number in ["1", "2", "3"] {
        succeed(&place, &["out", "kept", number]);
    }
    succeed(&place, &["halt"]);
    let path = file(&directory, ".tuples");
    let mut bytes = std::fs::read(&path).expect("the file");
    let near_the_end = bytes.len() - 100;
    bytes[near_the_end] ^= 1;
    std::fs::write(&path, &bytes).expect("the file");
    succeed(&place, &["up"]);
    let said = create(&place, &directory).err;
    assert!(said.contains("bytes from byte") && said.contains("damaged-1"), "{said}");
    assert_eq!(std::fs::read(file(&directory, ".damaged-1")).expect("a copy"), bytes);
    let dumped = succeed(&place, &["space", "dump", "kept"]).out;
    assert!(dumped.contains("\"value\":1") && !dumped.contains("\"value\":3"), "{dumped}");
    succeed(&place, &["space", "delete", "kept"]);
    // Without its beginning there is nothing to keep.
    std::fs::write(&path, b"nonsense").expect("the file");
    let directory = directory.to_string_lossy();
    let refused = pvm(&place, &["space", "create", "kept", "--durable", &directory]);
    assert_ne!(refused.code(), 0);
    assert!(refused.err.contains("holds no space that can be read"), "{}", refused.err);
    succeed(&place, &["space", "create", "kept", "--durable", &directory]);
    succeed(&place, &["halt"]);
}

#[test]
fn two_machines_do_not_keep_one_space_and_a_missing_directory_is_named() {
    let (place, directory) = place();
    let other = Place::new();
    succeed(&place, &["up"]);
    create(&place, &directory);
    succeed(&other, &["up"]);
    for (directory, what) in [(&*directory, "in use"), (Path::new("/no/such"), "No such file")] {
        let directory = directory.to_string_lossy();
        let refused = pvm(&other, &["space", "create", "kept", "--durable", &directory]);
        assert_ne!(refused.code(), 0);
        assert!(refused.err.contains(what), "{}", refused.err);
    }
    succeed(&other, &["halt"]);
    succeed(&place, &["halt"]);
}

/// The content of the workers' files.
#[derive(Default)]
struct WorkerFiles {
    /// Answered, and asked for without an answer.
    put: BTreeSet<i64>,
    asked: BTreeSet<i64>,
    taken: BTreeSet<i64>,
    /// Takes without an answer: each may have taken one.
    open_takes: usize,
}

impl WorkerFiles {
    fn read(&mut self, file: &Path) {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        let mut open = false;
        for line in text.lines() {
            let Some((what, number)) = line.split_once(' ') else { continue };
            let Ok(number) = number.parse() else { continue };
            open = what == "t";
            match what {
                "p" => drop(self.asked.insert(number)),
                "P" => drop(self.put.insert(number)),
                "T" => assert!(self.taken.insert(number), "{number} was taken twice"),
                _ => {}
            }
        }
        self.open_takes += usize::from(open);
    }

    fn judge(&self, there: &[i64]) {
        let set: BTreeSet<i64> = there.iter().copied().collect();
        assert_eq!(set.len(), there.len(), "a tuple is there twice");
        let unknown: Vec<_> = set.iter().filter(|one| !self.asked.contains(one)).collect();
        assert!(unknown.is_empty(), "never put: {unknown:?}");
        let again: Vec<_> = set.intersection(&self.taken).collect();
        assert!(again.is_empty(), "taken, and there: {again:?}");
        let gone: Vec<_> =
            self.put.iter().filter(|one| !set.contains(one) && !self.taken.contains(one)).collect();
        let most = self.open_takes;
        assert!(gone.len() <= most, "lost: {gone:?}, and {most} takes were not answered");
    }
}

fn numbers(dump: &str) -> Vec<i64> {
    let number = |line: &str| {
        let (_, rest) = line.split_once("\"value\":").expect("a field");
        rest.trim_end_matches(['}', ']']).parse().expect("a number")
    };
    dump.lines().map(number).collect()
}

/// Kills everything at a moment that is another one in each round, and has the space made again of
/// what the disks have.
fn every_process_dies((hosts, copies): (&str, &str), otherwise: u32) {
    let rounds = std::env::var("DURABLE_ROUNDS").ok().and_then(|text| text.parse().ok());
    let (place, directory) = place();
    let program = place.compile("durable.c");
    let mut files = BTreeMap::new();
    let mut answered = 0;
    for round in 0..rounds.unwrap_or(otherwise) {
        succeed(&place, &["up", "--local", hosts]);
        assert!(!create_with(&place, &directory, copies).err.contains("holds no space"));
        let mut known = WorkerFiles::default();
        files.values().for_each(|file: &PathBuf| known.read(file));
        known.judge(&numbers(&succeed(&place, &["space", "dump", "kept"]).out));
        answered = known.put.len();
        let workers: Vec<Running> = (0..WORKERS)
            .map(|worker| {
                let seed = (round as usize * WORKERS + worker + 1).to_string();
                let file = place.home().join(format!("said-{seed}"));
                files.insert(seed.clone(), file.clone());
                let mut command = place.command(&program);
                command.arg(file).arg(seed);
                Running::start(command)
            })
            .collect();
        let is_at_work = |file: &PathBuf| {
            std::fs::read_to_string(file).is_ok_and(|said| said.matches("P ").count() >= 3)
        };
        let begun = eventually(LIMIT, || files.values().all(is_at_work));
        let errors = workers.iter().map(Running::errors_so_far).collect::<String>();
        assert!(begun, "the workers do not begin: {errors}");
        std::thread::sleep(Duration::from_millis(u64::from(round * 37 % 150)));
        if copies != "0" && round % 2 == 1 {
            // The copy takes over before it dies, too.
            kill_a_server(&place);
            std::thread::sleep(Duration::from_millis(u64::from(round * 61 % 400)));
        }
        place.kill_all();
        drop(workers);
    }
    println!("{answered} puts were answered");
    assert!(answered > 20, "only {answered} puts were answered");
}

fn kill_a_server(place: &Place) {
    let is_server = |(_, line): &&(u32, String)| line.contains("pvmtuples");
    if let Some((pid, _)) = place.processes().iter().find(is_server) {
        pvm_e2e::process::kill(*pid);
    }
}

#[test]
fn what_was_answered_outlives_the_death_of_every_process_at_any_moment() {
    every_process_dies(("1", "0"), 8);
}

#[test]
fn what_was_answered_with_a_copy_outlives_the_death_of_every_process_of_all_hosts() {
    every_process_dies(("2", "1"), 6);
}

/// In a mount namespace of its own: the directory is a small file system.
const SMALL: &str = r#"
set -eu
mkdir "$HOME/small"
mount -t tmpfs -o size=6m none "$HOME/small"
pvm up >/dev/null
pvm space create kept --durable "$HOME/small"
head -c 300000 /dev/zero | tr '\0' x >"$HOME/text"
head -c 100000 "$HOME/text" >"$HOME/part"
put=0
while [ $put -lt 100 ] && pvm out kept text:"$(cat "$HOME/part")" $put 2>"$HOME/why"; do
  put=$((put + 1))
done
grep -q "the disk under the space is full" "$HOME/why"
[ $put -gt 10 ]
# What is there can be read and taken, and others have their spaces.
pvm space create other && pvm out other 1
[ "$(pvm space list --json | grep -c '"lost": *true')" = 0 ]
pvm take kept ?text 3 >/dev/null
pvm read kept ?text 4 >/dev/null
if pvm read kept ?text 3 --timeout 0; then exit 1; fi
# It outlives its machine.
pvm halt
pvm up >/dev/null
pvm space create kept --durable "$HOME/small" 2>"$HOME/why" || {
  mount -o remount,size=60m "$HOME/small"
  grep -q "the disk under" "$HOME/why"
  pvm space create kept --durable "$HOME/small"; }
[ "$(pvm space dump kept | wc -l)" = $((put - 1)) ]
pvm out kept one
pvm halt
"#;

#[test]
fn a_full_disk_refuses_what_is_put_and_loses_nothing() {
    let is_root = rustix::process::getuid().is_root();
    if !is_root || !pvm_e2e::has("unshare", "util-linux") {
        return eprintln!("skipped: a file system of its own needs root");
    }
    let place = Place::new();
    let mut command = place.command("unshare");
    let path = std::env::var("PATH").unwrap_or_default();
    let installed = pvm_e2e::prefix().join("bin");
    command.env("PATH", format!("{}:{path}", installed.display()));
    command.args(["--mount", "bash", "-xc", SMALL, "small"]);
    let output = Running::start(command).finish(Duration::from_secs(90));
    assert_eq!(output.code(), 0, "{}\n{}", output.out, output.err);
}

/// A machine with the space and the numbers 1 to 3 in it.
fn put_three(place: &Place, directory: &Path) {
    succeed(place, &["up"]);
    create(place, directory);
    for number in ["1", "2", "3"] {
        succeed(place, &["out", "kept", number]);
    }
}

/// Deletes the name of the space, as any task may.
fn unname(place: &Place) {
    let mut command = place.command(place.compile("unname.c"));
    command.arg("kept");
    let unnamed = Running::start(command).finish(LIMIT);
    assert_eq!(unnamed.code(), 0, "{}", unnamed.err);
}

#[test]
fn a_deletion_was_told_as_done_though_the_file_of_a_copy_stayed() {
    let (place, directory) = place();
    succeed(&place, &["up", "--local", "2"]);
    create_with(&place, &directory, "1");
    let of_copy = file(&directory, ".2.tuples");
    std::fs::remove_file(&of_copy).expect("a file");
    // Nobody removes a directory that is not empty for a file.
    std::fs::create_dir_all(of_copy.join("other")).expect("a directory");
    let refused = pvm(&place, &["space", "delete", "kept"]);
    assert_ne!(refused.code(), 0, "{}", refused.out);
    let told = format!("remove {}/kept.*.tuples", directory.display());
    assert!(refused.err.contains("files of it may be left"), "{}", refused.err);
    assert!(refused.err.contains(&told), "{}", refused.err);
    std::fs::remove_dir_all(&of_copy).expect("a directory");
    create_with(&place, &directory, "1");
    assert_eq!(succeed(&place, &["space", "dump", "kept"]).out, "");
    succeed(&place, &["space", "delete", "kept"]);
    let left = std::fs::read_dir(&directory).expect("it is there").count();
    assert_eq!(left, 0, "the files of the copy go before the deletion is told");
    succeed(&place, &["halt"]);
}

#[test]
fn a_space_whose_name_was_deleted_was_written_over_when_it_was_made_again() {
    let (place, directory) = place();
    put_three(&place, &directory);
    unname(&place);
    create(&place, &directory);
    assert_eq!(numbers(&succeed(&place, &["space", "dump", "kept"]).out), [1, 2, 3]);
    succeed(&place, &["out", "kept", "4"]);
    succeed(&place, &["halt"]);
    succeed(&place, &["up"]);
    create(&place, &directory);
    assert_eq!(numbers(&succeed(&place, &["space", "dump", "kept"]).out), [1, 2, 3, 4]);
    succeed(&place, &["halt"]);
}

#[test]
fn a_space_whose_name_and_file_were_removed_was_empty_when_it_was_made_again() {
    let (place, directory) = place();
    put_three(&place, &directory);
    std::fs::remove_file(file(&directory, ".tuples")).expect("a file");
    unname(&place);
    create(&place, &directory);
    assert_eq!(numbers(&succeed(&place, &["space", "dump", "kept"]).out), [1, 2, 3]);
    succeed(&place, &["halt"]);
}

#[test]
fn what_was_put_after_the_directory_was_removed_was_answered_and_in_no_file() {
    let (place, directory) = place();
    succeed(&place, &["up"]);
    create(&place, &directory);
    succeed(&place, &["out", "kept", "1"]);
    // A file that is gone is written anew.
    std::fs::remove_file(file(&directory, ".tuples")).expect("a file");
    succeed(&place, &["out", "kept", "2"]);
    assert!(file(&directory, ".tuples").exists());
    // Without the directory nothing is answered, and nothing is forgotten.
    std::fs::remove_dir_all(&directory).expect("a directory");
    let late = pvm(&place, &["out", "kept", "3", "--timeout", "0.2"]);
    assert_ne!(late.code(), 0, "it is in no file");
    let refused = pvm(&place, &["out", "kept", "4"]);
    assert_ne!(refused.code(), 0);
    assert!(refused.err.contains("disk"), "{}", refused.err);
    let list = succeed(&place, &["space", "list"]).out;
    assert!(!list.contains("lost"), "{list}");
    std::fs::create_dir(&directory).expect("a new directory");
    let comes_back = || pvm(&place, &["out", "kept", "5"]).code() == 0;
    assert!(eventually(LIMIT, comes_back), "the directory is there again");
    place.kill_all();
    succeed(&place, &["up"]);
    create(&place, &directory);
    let mut there = numbers(&succeed(&place, &["space", "dump", "kept"]).out);
    // The third one was not answered: it may have come before it was known that the directory is
    // gone, or not at all.
    there.retain(|number| *number != 3);
    assert_eq!(there, [1, 2, 5]);
    succeed(&place, &["halt"]);
}

#[test]
fn while_messages_kept_coming_a_durable_space_answered_nobody() {
    let (place, directory) = place();
    let program = place.compile("withdrawals.c");
    succeed(&place, &["up"]);
    create(&place, &directory);
    let mut command = place.command(&program);
    command.arg("kept");
    let mut flood = Running::start(command);
    assert!(eventually(LIMIT, || flood.so_far().contains("begun")), "no flood");
    succeed(&place, &["out", "kept", "1"]);
    assert!(flood.is_running(), "the flood has ended");
    place.kill_all();
    drop(flood);
    succeed(&place, &["up"]);
    create(&place, &directory);
    assert_eq!(numbers(&succeed(&place, &["space", "dump", "kept"]).out), [1]);
    succeed(&place, &["halt"]);
}
