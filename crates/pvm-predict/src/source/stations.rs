//! The simulator's input of the thesis: lines `c`, `s`, `m`, `r` of its figure 3.6, in a file for
//! each station.
//!
//! A line is *kind, time in microseconds, bytes, source, destinations*. The bytes of a message
//! contain PVM's header. A receive takes bytes of its source, whatever messages they came in.

use super::lines::Lines;
use crate::action::{Action, Matching, TaskNumber};
use crate::error::Error;
use crate::program::Source;
use crate::unit::{BYTES_MAX, Time};
use std::io::BufRead;

/// The longest time of a line: 11 days.
const MICROSECONDS_MAX: u64 = 1_000_000_000_000;

/// The source: a file for each station.
#[derive(Debug)]
pub struct Stations<R> {
    files: Vec<Lines<R>>,
}

impl<R: BufRead> Stations<R> {
    /// Opens the stations' files, given in their order.
    pub fn new(files: impl IntoIterator<Item = R>) -> Self {
        Self { files: files.into_iter().map(Lines::new).collect() }
    }
}

impl<R: BufRead + Send> Source for Stations<R> {
    fn tasks(&self) -> TaskNumber {
        self.files.len() as TaskNumber
    }

    fn matching(&self) -> Matching {
        Matching::Bytes
    }

    fn next(&mut self, task: TaskNumber) -> Result<Option<Action>, Error> {
        let count = self.tasks();
        let file = &mut self.files[task as usize];
        let parsed = match file.next(task)? {
            Some(text) => parse(text, task, count),
            None => return Ok(None),
        };
        parsed.map(Some).map_err(|what| Error::Line { task, line: file.number(), what })
    }
}

fn parse(text: &str, task: TaskNumber, count: TaskNumber) -> Result<Action, String> {
    let mut words = text.split_ascii_whitespace();
    let what = words.next().unwrap_or_default();
    if !matches!(what, "c" | "s" | "m" | "r") {
        return Err(format!("{what:?} is none of c, s, m, r"));
    }
    let time = number(words.next(), "time in microseconds", MICROSECONDS_MAX)?;
    let bytes = number(words.next(), "number of bytes", BYTES_MAX)?;
    let source = station(words.next(), count)?;
    let time = Time::microseconds(time);
    if what == "c" {
        return Ok(Action::Compute(time));
    }
    let to: Result<Vec<TaskNumber>, String> =
        words.map(|word| station(Some(word), count)).collect();
    let to = to?;
    match (what, to.as_slice()) {
        (_, []) => Err("it names no destination".to_owned()),
        ("r", [to]) if *to == task => Ok(Action::Receive { time, bytes, from: source, tag: 0 }),
        ("r", _) => Err(format!("a receive of station {task} that says it is another one's")),
        (_, _) if source != task => {
            Err(format!("a send of station {task} that says station {source} sends it"))
        }
        ("s", [to]) => Ok(Action::Send { time, bytes, to: *to, tag: 0 }),
        ("s", _) => Err("s has one destination, m has several".to_owned()),
        (_, to) if to.iter().enumerate().any(|(place, one)| to[..place].contains(one)) => {
            Err("a multicast names a station twice".to_owned())
        }
        _ => Ok(Action::Multicast { time, bytes, to: to.into(), tag: 0 }),
    }
}

fn number(word: Option<&str>, name: &str, limit: u64) -> Result<u64, String> {
    let word = word.ok_or_else(|| format!("the {name} is missing"))?;
    let number: u64 = word.parse().map_err(|_| format!("{word:?} is no {name}"))?;
    if number > limit { Err(format!("{name} {number} is above {limit}")) } else { Ok(number) }
}

fn station(word: Option<&str>, count: TaskNumber) -> Result<TaskNumber, String> {
    let number = number(word, "number of a station", u64::from(u32::MAX))?;
    if number >= u64::from(count) {
        return Err(format!("station {number} has no file: there are {count}"));
    }
    Ok(number as TaskNumber)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(texts: &[&str]) -> Result<Vec<Action>, Error> {
        let mut source = Stations::new(texts.iter().map(|text| text.as_bytes()));
        let mut actions = Vec::new();
        for task in 0..source.tasks() {
            while let Some(action) = source.next(task)? {
                actions.push(action);
            }
        }
        Ok(actions)
    }

    #[test]
    fn figure_3_6_is_read() {
        let text = "c\t3356\t0\t0\t0\ns 234 48 0 2\nm 184 58 0 1 2 3\nr 188 16 2 0\n";
        let actions = all(&[text, "", "", ""]).expect("it is sound");
        let time = Time::microseconds;
        assert_eq!(
            actions,
            [
                Action::Compute(time(3356)),
                Action::Send { time: time(234), bytes: 48, to: 2, tag: 0 },
                Action::Multicast { time: time(184), bytes: 58, to: [1, 2, 3].into(), tag: 0 },
                Action::Receive { time: time(188), bytes: 16, from: 2, tag: 0 },
            ]
        );
    }

    #[test]
    fn a_wrong_line_is_named_with_station_and_line() {
        for (line, what) in [
            ("x 1 2 0 1", "none of c, s, m, r"),
            ("s 1 2 0", "no destination"),
            ("s 1 2 0 7", "station 7 has no file"),
            ("s 1 2 1 0", "station 1 sends it"),
            ("r 1 2 1 1", "another one's"),
            ("s -1 2 0 1", "\"-1\" is no time"),
            ("s 1 2 0 1 1", "m has several"),
            ("m 1 2 0 1 0 1", "a station twice"),
            ("c 99999999999999999999 0 0 0", "no time"),
            ("c 1000000000001 0 0 0", "above 1000000000000"),
            ("s 1 1000000000001 0 1", "above 1000000000000"),
            ("c", "the time in microseconds is missing"),
        ] {
            let told = all(&[&format!("# head\n\n{line}\n"), ""]).expect_err(line).to_string();
            assert!(told.starts_with("task 0, line 3: ") && told.contains(what), "{line}: {told}");
        }
        let long = "c ".to_owned() + &"1".repeat(70_000);
        let told = all(&[&long]).expect_err("too long").to_string();
        assert_eq!(told, "task 0, line 1: longer than 65536 bytes");
        let mut source = Stations::new([&b"c \xff 0 0 0\n"[..]]);
        assert!(source.next(0).expect_err("no text").to_string().ends_with("not text"));
    }
}
