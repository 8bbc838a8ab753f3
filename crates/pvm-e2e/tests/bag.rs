//! What tasks do in a space with a copy, while its servers and the hosts' daemons are killed, can
//! have happened one after the other.
//!
//! `BAG_OPERATIONS=10000000 BAG_KILLS=500` does so many operations beside so many kills.
#![forbid(unsafe_code)]

use pvm_e2e::{Machine, Running};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::{Duration, Instant};

const WORKERS: u64 = 4;
/// In the check.
const OPERATIONS: u64 = 10_000;
const KILLS: u64 = 6;
const LIMIT: Duration = Duration::from_secs(240);

/// When a call began and ended, in nanoseconds.
type Span = (u64, u64);

/// What all workers did.
#[derive(Default)]
struct History {
    put: BTreeMap<u64, Span>,
    taken: BTreeMap<u64, Span>,
    nothing: Vec<Span>,
}

impl History {
    fn read(&mut self, text: &str) -> Result<(), String> {
        for line in text.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            let [what, numbers @ ..] = words.as_slice() else { continue };
            let numbers: Vec<u64> = numbers.iter().filter_map(|word| word.parse().ok()).collect();
            let [number, begun, ended] = numbers[..] else { return Err(format!("{line}?")) };
            let span = (begun, ended);
            let again = match *what {
                "P" => self.put.insert(number, span),
                "T" => self.taken.insert(number, span),
                _ => {
                    self.nothing.push(span);
                    None
                }
            };
            if again.is_some() {
                return Err(format!("{number} was put or taken twice"));
            }
        }
        Ok(())
    }

    /// Whether one order explains all of it. `left` is what is in the space at the end. As no
    /// number is put twice, it is enough to look at the times at which a tuple was certainly there:
    /// from the end of its put to the beginning of its take.
    fn judge(&self, left: &[u64]) -> Result<(), String> {
        let there: BTreeSet<u64> = left.iter().copied().collect();
        if there.len() != left.len() {
            return Err("a tuple is there twice".to_owned());
        }
        for (number, taken) in &self.taken {
            if self.put.get(number).is_none_or(|put| put.0 > taken.1) {
                return Err(format!("{number} was taken before it was put"));
            }
            if there.contains(number) {
                return Err(format!("{number} was taken and is there"));
            }
        }
        let is_known = |number: &u64| self.taken.contains_key(number) || there.contains(number);
        if let Some(lost) = self.put.keys().find(|number| !is_known(number)) {
            return Err(format!("{lost} is lost"));
        }
        if let Some(unknown) = there.iter().find(|number| !self.put.contains_key(number)) {
            return Err(format!("{unknown} was never put"));
        }
        self.oldest_first()?;
        self.nothing_was_true()
    }

    fn take_begun(&self, number: u64) -> u64 {
        self.taken.get(&number).map_or(u64::MAX, |taken| taken.0)
    }

    /// Nobody has taken a tuple while one that was certainly put before it was certainly there.
    fn oldest_first(&self) -> Result<(), String> {
        let mut by_end: Vec<_> = self
            .put
            .iter()
            .map(|(number, put)| (put.1, self.take_begun(*number), *number))
            .collect();
        by_end.sort_unstable();
        let mut by_begin: Vec<_> = self.put.iter().map(|(number, put)| (put.0, *number)).collect();
        by_begin.sort_unstable();
        let (mut older, mut last) = (by_end.iter().peekable(), (0, 0));
        for (begun, number) in by_begin {
            while let Some((_, taken, first)) = older.next_if(|(end, ..)| *end < begun) {
                last = last.max((*taken, *first));
            }
            if self.taken.get(&number).is_some_and(|taken| taken.1 < last.0) {
                return Err(format!("{number} was taken before {}, which is older", last.1));
            }
        }
        Ok(())
    }

    /// Whoever was told that nothing was there looked at a moment at which that may have been so.
    fn nothing_was_true(&self) -> Result<(), String> {
        let spans = self.put.iter().map(|(number, put)| (put.1, self.take_begun(*number)));
        let mut spans: Vec<Span> = spans.filter(|(from, to)| from < to).collect();
        spans.sort_unstable();
        // Together they cover these times without a gap.
        let mut covered: Vec<Span> = Vec::new();
        for (from, to) in spans {
            match covered.last_mut() {
                Some(last) if from <= last.1 => last.1 = last.1.max(to),
                _ => covered.push((from, to)),
            }
        }
        for (begun, ended) in &self.nothing {
            let place = covered.partition_point(|(from, _)| from <= begun);
            if place > 0 && covered[place - 1].1 >= *ended {
                return Err(format!("something was there from {begun} to {ended}"));
            }
        }
        Ok(())
    }
}

#[test]
fn the_judge_finds_what_no_order_explains() {
    let of = |lines: &str, left: &[u64]| {
        let mut history = History::default();
        history.read(lines).and_then(|()| history.judge(left))
    };
    assert_eq!(of("P 1 0 5\nT 1 3 9\nN 0 10 11\nP 2 12 14", &[2]), Ok(()));
    for (wrong, left) in [
        ("P 1 0 5\nT 1 6 7\nT 1 8 9", &[][..]),
        ("P 1 0 5", &[]),
        ("T 1 6 7", &[]),
        ("P 1 8 9\nT 1 6 7", &[]),
        ("P 1 0 5\nT 1 6 7", &[1]),
        ("P 1 0 5\nN 0 6 7", &[1]),
        ("P 1 0 5\nP 2 4 9\nT 1 7 20\nN 0 6 8\nT 2 10 11", &[3]),
        ("P 1 0 5\nP 2 6 9\nT 2 10 11\nT 1 12 13", &[]),
    ] {
        assert!(of(wrong, left).is_err(), "{wrong}");
    }
}

/// Processes of the machine with these words in their command lines.
fn processes(machine: &Machine, words: &str) -> Vec<u32> {
    let all = machine.place().processes().into_iter();
    all.filter(|(_, line)| line.contains(words)).map(|(pid, _)| pid).collect()
}

fn kill(pid: u32) {
    let pid = rustix::process::Pid::from_raw(pid.cast_signed()).expect("a process");
    // It may have ended meanwhile.
    let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
}

/// True if the space has all its copies.
fn is_whole(machine: &Machine) -> bool {
    let list = machine.pvm(&["space", "list"]).out;
    list.contains("bag") && !list.contains("missing") && !list.contains("lost")
}

#[test]
fn operations_beside_killed_servers_and_daemons_can_have_happened_one_after_the_other() {
    let set = |name| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let (wanted, kills) = (set("BAG_OPERATIONS"), set("BAG_KILLS").unwrap_or(KILLS));
    let each = wanted.unwrap_or(OPERATIONS) / WORKERS;
    let machine = Machine::local(3);
    let made = machine.pvm(&["space", "create", "bag", "--copies", "1"]);
    assert_eq!(made.code(), 0, "{}", made.err);
    let file = |worker: u64| machine.place().home().join(format!("said-{worker}"));
    let files: Vec<PathBuf> = (1..=WORKERS).map(file).collect();
    let mut workers: Vec<Running> = files
        .iter()
        .zip(1..)
        .map(|(file, seed): (_, u64)| {
            let words = [file.to_string_lossy().into_owned(), seed.to_string(), each.to_string()];
            machine.begin("bag.c", &words.each_ref().map(String::as_str))
        })
        .collect();
    let begun = Instant::now();
    let (mut servers, mut daemons) = (0_u64, 0_u64);
    while servers + daemons < kills && workers.iter_mut().any(Running::is_running) {
        assert!(wanted.is_some() || begun.elapsed() < LIMIT, "{servers} {daemons}: no end");
        if !is_whole(&machine) {
            continue;
        }
        let is_server = (servers + daemons) % 4 != 3;
        let words = if is_server { "pvmtuples" } else { "--daemon" };
        let all = processes(&machine, words);
        if let Some(victim) = all.get((servers + daemons) as usize % all.len().max(1)) {
            kill(*victim);
            *(if is_server { &mut servers } else { &mut daemons }) += 1;
        }
    }
    // So many operations take longer than a program of the tests may.
    while wanted.is_some() && workers.iter_mut().any(Running::is_running) {
        std::thread::sleep(Duration::from_millis(100));
    }
    for worker in workers {
        machine.expect_success(worker);
    }
    println!("{servers} servers and {daemons} daemons killed in {:?}", begun.elapsed());
    let mut history = History::default();
    for file in files {
        let text = std::fs::read_to_string(file).expect("what a worker said");
        history.read(&text).expect("once");
    }
    let dump = machine.pvm(&["space", "dump", "bag"]).out;
    let number = |line: &str| {
        let (_, rest) = line.split_once("\"value\":").expect("a field");
        rest.trim_end_matches(['}', ']']).parse().expect("a number")
    };
    let left: Vec<u64> = dump.lines().map(number).collect();
    history.judge(&left).expect("one order");
    assert!(servers >= kills / 2, "only {servers} servers were killed");
    machine.halt();
}
