//! SimGrid's time-independent traces: lines *rank action arguments*, in a file for each rank or one
//! for all.
//!
//! Sends do not wait for their receivers, as in PVM, so `isend` is `send`, and its `wait` does
//! nothing. An `irecv` receives at its wait. A call of all ranks becomes the messages that a plain
//! library would send: binomial trees, dissemination, pairwise exchange.

mod collective;
mod plain;
mod rows;
mod words;

use self::collective::Call;
use self::plain::{Flops, plain};
use self::rows::Rows;
use self::words::{computing, size};
use crate::action::{Action, Matching, TaskNumber};
use crate::error::Error;
use crate::kernel::Map;
use crate::program::Source;
use crate::unit::Time;
use std::collections::VecDeque;
use std::io::{BufRead, Seek};

/// The most receives of a rank that were begun and not waited for.
const BEGUN_MAX: usize = 1 << 16;

/// The ranks of a time-independent trace.
#[derive(Debug)]
pub struct Ranks<R> {
    rows: Rows<R>,
    /// The state of each rank that has had other than plain lines.
    ranks: Map<TaskNumber, Rank>,
    flops: Flops,
}

/// The state of a rank between two lines.
#[derive(Debug, Default)]
struct Rank {
    /// The actions of its last line that were not returned yet.
    ahead: VecDeque<Action>,
    /// Receives that were begun.
    begun: VecDeque<Action>,
    /// The number of sends that were begun; their waits do nothing.
    sent: usize,
    /// The number of calls of all ranks so far.
    calls: u32,
}

impl<R: BufRead + Seek> Ranks<R> {
    /// Opens a file for each rank, or one file whose lines begin with the rank. `flops` is the
    /// number of flops in a second.
    pub fn new(mut files: Vec<R>, flops: f64) -> Result<Self, Error> {
        let rows = match files.len() {
            1 => Rows::index(files.remove(0))?,
            _ => Rows::each(files),
        };
        Ok(Self { rows, ranks: Map::default(), flops: Flops::new(flops) })
    }
}

impl<R: BufRead + Seek + Send> Source for Ranks<R> {
    fn tasks(&self) -> TaskNumber {
        self.rows.count() as TaskNumber
    }

    fn matching(&self) -> Matching {
        Matching::Messages
    }

    fn next(&mut self, task: TaskNumber) -> Result<Option<Action>, Error> {
        let ranks = self.tasks();
        loop {
            let ahead = self.ranks.get_mut(&task).and_then(|rank| rank.ahead.pop_front());
            if let Some(action) = ahead {
                return Ok(Some(action));
            }
            if let Some((action, used)) = plain(self.rows.ahead(task)?, (task, ranks), self.flops) {
                self.rows.used(task, used);
                return Ok(Some(action));
            }
            // Other lines, and lines of which a part is not read yet.
            let Some(text) = self.rows.next(task)? else { return Ok(None) };
            if let Some((action, _)) = plain(text.as_bytes(), (task, ranks), self.flops) {
                return Ok(Some(action));
            }
            if is_nothing(text, task) {
                continue;
            }
            let rank = self.ranks.entry(task).or_default();
            let done = rank.line(text, task, ranks, self.flops.each);
            done.map_err(|what| self.rows.wrong(task, what))?;
        }
    }
}

impl Rank {
    /// Reads a line.
    fn line(
        &mut self,
        text: &str,
        task: TaskNumber,
        ranks: TaskNumber,
        flop: f64,
    ) -> Result<(), String> {
        let mut words = text.split_ascii_whitespace();
        if words.next().and_then(|word| word.parse().ok()) != Some(task) {
            return Err(format!("it is not rank {task}'s"));
        }
        let what = words.next().ok_or("it ends behind the rank")?.to_ascii_lowercase();
        let words: Vec<&str> = words.collect();
        match what.as_str() {
            "compute" => self.put(Action::Compute(computing(&words, flop)?)),
            "send" | "isend" => {
                let (to, tag, bytes) = message(&words, ranks)?;
                self.sent += usize::from(what == "isend");
                self.put(Action::Send { time: Time::ZERO, bytes, to, tag })
            }
            "recv" | "irecv" => {
                let (from, tag, bytes) = message(&words, ranks)?;
                let action = Action::Receive { time: Time::ZERO, bytes, from, tag };
                if what == "recv" { self.put(action) } else { self.begin(action) }
            }
            "wait" => self.wait(&words, task),
            "waitall" => {
                self.ahead.append(&mut self.begun);
                self.sent = 0;
                Ok(())
            }
            _ => self.call(&what, &words, (task, ranks), flop),
        }
    }

    fn put(&mut self, action: Action) -> Result<(), String> {
        self.ahead.push_back(action);
        Ok(())
    }

    fn begin(&mut self, action: Action) -> Result<(), String> {
        if self.begun.len() >= BEGUN_MAX {
            return Err(format!("more than {BEGUN_MAX} receives that nobody waits for"));
        }
        self.begun.push_back(action);
        Ok(())
    }

    /// `wait source destination tag`: for a receive that was begun, or for a send, which has ended.
    fn wait(&mut self, words: &[&str], task: TaskNumber) -> Result<(), String> {
        let asked: Vec<i64> = words.iter().filter_map(|word| word.parse().ok()).collect();
        let place = match *asked.as_slice() {
            [source, to, tag] if to == i64::from(task) => self.begun.iter().position(|one| {
                matches!(one, Action::Receive { from, tag: its, .. }
                    if i64::from(*from) == source && i64::from(*its) == tag)
            }),
            [_, _, _] => None,
            [] if !self.begun.is_empty() => Some(0),
            [] => None,
            _ => return Err("wait names source, destination and tag, or nothing".to_owned()),
        };
        match place.and_then(|place| self.begun.remove(place)) {
            Some(action) => self.put(action),
            None if self.sent > 0 => {
                self.sent -= 1;
                Ok(())
            }
            None => Err("it waits for what was not begun".to_owned()),
        }
    }

    fn call(
        &mut self,
        what: &str,
        words: &[&str],
        (task, ranks): (TaskNumber, TaskNumber),
        flop: f64,
    ) -> Result<(), String> {
        let call = Call::parse(what, words, ranks, flop)?;
        self.calls = self.calls.wrapping_add(1);
        // Tags of programs are not negative, so negative ones are free.
        let tag = -1 - (self.calls & 0x3fff_ffff) as i32;
        call.expand(task, ranks, tag, &mut self.ahead);
        Ok(())
    }
}

/// True for lines that do nothing.
fn is_nothing(text: &str, task: TaskNumber) -> bool {
    let mut words = text.split_ascii_whitespace();
    let is_own = words.next().is_some_and(|word| word.parse() == Ok(task));
    let known = ["init", "finalize", "comm_size", "comm_dup", "test"];
    is_own
        && words.next().is_some_and(|word| known.iter().any(|one| one.eq_ignore_ascii_case(word)))
}

/// *peer tag elements type*; without a type the elements are bytes.
fn message(words: &[&str], ranks: TaskNumber) -> Result<(TaskNumber, i32, u64), String> {
    let [peer, tag, rest @ ..] = words else {
        return Err("a message has peer, tag and size".to_owned());
    };
    let peer = peer
        .parse()
        .ok()
        .filter(|peer| *peer < ranks)
        .ok_or_else(|| format!("{peer:?} is none of the {ranks} ranks"))?;
    let tag = tag.parse().map_err(|_| format!("{tag:?} is no tag"))?;
    let bytes = match rest {
        [] => 0,
        [elements] => size(elements, None)?,
        [elements, kind, ..] => size(elements, Some(kind))?,
    };
    Ok((peer, tag, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    fn of(text: &str) -> Result<Vec<Vec<Action>>, Error> {
        let mut source = Ranks::new(vec![Cursor::new(text)], 1e9)?;
        let mut all = Vec::new();
        for task in 0..source.tasks() {
            let mut own = Vec::new();
            while let Some(action) = source.next(task)? {
                own.push(action);
            }
            all.push(own);
        }
        Ok(all)
    }

    #[test]
    fn lines_of_ranks_may_be_mixed() {
        let text = "0 init\n1 init\n0 compute 1000\n1 irecv 0 7 100\n0 send 1 7 100\n1 compute 5\n\
                    1 wait 0 1 7\n0 finalize\n1 finalize\n";
        let all = of(text).expect("it is sound");
        let send = Action::Send { time: Time::ZERO, bytes: 100, to: 1, tag: 7 };
        let receive = Action::Receive { time: Time::ZERO, bytes: 100, from: 0, tag: 7 };
        assert_eq!(all[0], [Action::Compute(Time::nanoseconds(1000)), send]);
        assert_eq!(all[1], [Action::Compute(Time::nanoseconds(5)), receive]);
    }

    #[test]
    fn every_send_of_a_call_of_all_has_its_receive() {
        let calls = [
            "barrier",
            "bcast 100 2",
            "reduce 80 5 1",
            "allreduce 64 9",
            "alltoall 10 10",
            "gather 8 8 0",
            "allgather 8 8",
            "scatter 8 8 3",
            "reducescatter 40 4",
        ];
        for ranks in [1u32, 2, 3, 5, 8] {
            let mut text = String::new();
            for rank in 0..ranks {
                for call in
                    calls.iter().filter(|_| ranks > 3).chain(["barrier", "allreduce 8 1"].iter())
                {
                    text += &format!("{rank} {call}\n");
                }
            }
            let all = of(&text).expect("it is sound");
            let mut open = std::collections::BTreeMap::new();
            for (task, actions) in (0u32..).zip(&all) {
                for action in actions {
                    match action {
                        Action::Send { to, tag, bytes, .. } => {
                            *open.entry((task, *to, *tag, *bytes)).or_insert(0) += 1
                        }
                        Action::Receive { from, tag, bytes, .. } => {
                            *open.entry((*from, task, *tag, *bytes)).or_insert(0) -= 1
                        }
                        _ => (),
                    }
                }
            }
            assert!(open.values().all(|count| *count == 0), "{ranks} ranks: {open:?}");
        }
    }

    /// Few ranks are read ahead, many are not. The last line ends without a newline.
    #[test]
    fn few_and_many_ranks_are_read_alike() {
        for ranks in [3u32, 5000] {
            let mut text = String::new();
            for round in 0..3 {
                for rank in 0..ranks {
                    text += &format!("{rank} compute {}\n{rank} COMPUTE 2e0\n", rank + round);
                    text += &format!("# {round}\n{rank} send {} {round} 7\n", (rank + 1) % ranks);
                }
            }
            let all = of(text.trim_end()).expect("it is sound");
            assert_eq!(all.len(), ranks as usize);
            for (rank, actions) in (0u32..).zip(&all) {
                let round = |round: u32| {
                    let to = (rank + 1) % ranks;
                    let send = Action::Send { time: Time::ZERO, bytes: 7, to, tag: round as i32 };
                    let computing = [u64::from(rank + round), 2].map(Time::nanoseconds);
                    computing.map(Action::Compute).into_iter().chain([send])
                };
                assert_eq!(actions, &(0..3).flat_map(round).collect::<Vec<_>>(), "rank {rank}");
            }
        }
        let far = "0 compute 1\n".repeat(7000) + "0 fly\n";
        let told = of(&far).expect_err("no action").to_string();
        assert!(told.starts_with("task 0, line 7001: "), "{told}");
    }

    #[test]
    fn a_wrong_line_is_named() {
        for (line, what) in [
            ("0 send 9 1 1", "\"9\" is none of the 2 ranks"),
            ("0 send 1", "peer, tag and size"),
            ("0 send 1 1 -5", "negative"),
            ("0 send 1 1 5 77", "no type"),
            ("0 compute nan", "less than nothing"),
            ("0 compute 1e40", "more than 10^6 s"),
            ("0 wait 1 0 3", "was not begun"),
            ("0 fly 1", "\"fly\" is no action"),
            ("0 bcast 10 9", "none of the 2 ranks"),
        ] {
            let told = of(&format!("1 init\n{line}\n")).expect_err(line).to_string();
            assert!(told.starts_with("task 0, line 2: ") && told.contains(what), "{line}: {told}");
        }
        assert!(of("4000000000 init\n").expect_err("too many").to_string().contains("rank"));
        assert!(of("x init\n").is_err());
    }
}
