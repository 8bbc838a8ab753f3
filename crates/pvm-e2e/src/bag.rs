//! Histories of a tuple space, and whether the operations could have happened one after the other.
//!
//! Workers put tuples of one number, which no other tuple has, and take any one. As no number is
//! put twice, no search is needed: it is enough to look at the times at which a tuple was certainly
//! there, from the end of its put to the beginning of its take. A worker that was killed has left a
//! call without an end: such a put may have been done, and such a take may have taken one tuple.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufRead as _, BufReader};
use std::path::Path;

/// When a call began and ended, in nanoseconds.
type Span = (u64, u64);

/// A server has put back what a withdrawn call has taken so long after the call's end.
const BACK: u64 = 30_000_000_000;

/// The operations of all workers.
#[derive(Default, Debug)]
pub struct Bag {
    put: BTreeMap<u64, Span>,
    taken: BTreeMap<u64, Span>,
    nothing: Vec<Span>,
    /// Calls that were not answered within their limits: what they take comes back.
    withdrawn: Vec<Span>,
    /// Calls without an end: the numbers of puts, and when each has begun.
    open_puts: BTreeMap<u64, u64>,
    open_takes: Vec<u64>,
}

impl Bag {
    /// Reads what a worker has said (`programs/bag.c`); one that was killed may have said the last
    /// line in part.
    ///
    /// # Errors
    /// Something was put or taken twice, or the file cannot be read.
    pub fn read(&mut self, file: &Path) -> Result<(), String> {
        let failed = |error: io::Error| format!("{}: {error}", file.display());
        let mut lines = BufReader::new(std::fs::File::open(file).map_err(failed)?);
        let (mut line, mut open) = (String::new(), None);
        while lines.read_line(&mut line).map_err(failed)? > 0 && line.ends_with('\n') {
            self.line(line.trim_end(), &mut open)?;
            line.clear();
        }
        self.leave_open(open);
        Ok(())
    }

    /// Takes lines as [`Bag::read`] does.
    ///
    /// # Errors
    /// As there.
    pub fn said(&mut self, text: &str) -> Result<(), String> {
        let mut open = None;
        text.lines().try_for_each(|line| self.line(line, &mut open))?;
        self.leave_open(open);
        Ok(())
    }

    /// The call under way, if the worker has said that it begins.
    fn line(&mut self, line: &str, open: &mut Option<(char, u64, u64)>) -> Result<(), String> {
        let mut words = line.split(' ');
        let what = words.next().and_then(|word| word.chars().next());
        let numbers: Vec<u64> = words.filter_map(|word| word.parse().ok()).collect();
        let (Some(what), &[number, begun, ended]) = (what, numbers.as_slice()) else {
            return Err(format!("{line}?"));
        };
        let span = (begun, ended);
        *open = None;
        let again = match what {
            'P' => self.put.insert(number, span),
            'T' => self.taken.insert(number, span),
            'N' => {
                self.nothing.push(span);
                None
            }
            'U' => {
                self.withdrawn.push(span);
                None
            }
            _ => {
                *open = Some((what, number, begun));
                None
            }
        };
        again.map_or(Ok(()), |_| Err(format!("{number} was put or taken twice")))
    }

    fn leave_open(&mut self, open: Option<(char, u64, u64)>) {
        match open {
            Some(('p', number, begun)) => drop(self.open_puts.insert(number, begun)),
            Some((_, _, begun)) => self.open_takes.push(begun),
            None => {}
        }
    }

    /// The number of calls that were answered, and of those that were not.
    pub fn counts(&self) -> (usize, usize) {
        let answered = self.put.len() + self.taken.len() + self.nothing.len();
        (answered, self.withdrawn.len() + self.open_puts.len() + self.open_takes.len())
    }

    /// Whether one order explains all of it. `left` is what is in the space at the end.
    ///
    /// # Errors
    /// What no order explains.
    pub fn judge(mut self, left: &[u64]) -> Result<(), String> {
        let there: BTreeSet<u64> = left.iter().copied().collect();
        if there.len() != left.len() {
            return Err("a tuple is there twice".to_owned());
        }
        self.settle_open_puts(&there);
        for (number, taken) in &self.taken {
            if self.put.get(number).is_none_or(|put| put.0 > taken.1) {
                return Err(format!("{number} was taken before it was put"));
            }
            if there.contains(number) {
                return Err(format!("{number} was taken and is there"));
            }
        }
        if let Some(unknown) = there.iter().find(|number| !self.put.contains_key(number)) {
            return Err(format!("{unknown} was never put"));
        }
        self.settle_open_takes(&there)?;
        self.oldest_first()?;
        self.nothing_was_true()
    }

    /// A put without an end was done if its tuple was seen, at the latest when it was taken.
    fn settle_open_puts(&mut self, there: &BTreeSet<u64>) {
        for (number, begun) in std::mem::take(&mut self.open_puts) {
            let taken = self.taken.get(&number).map(|taken| taken.1);
            if let Some(ended) = taken.or_else(|| there.contains(&number).then_some(u64::MAX)) {
                self.put.insert(number, (begun, ended));
            }
        }
    }

    /// Each tuple that is missing was taken by a call without an end; which one is not known.
    fn settle_open_takes(&mut self, there: &BTreeSet<u64>) -> Result<(), String> {
        let is_known = |number: &u64| self.taken.contains_key(number) || there.contains(number);
        let missing: Vec<u64> = self.put.keys().copied().filter(|one| !is_known(one)).collect();
        let most = self.open_takes.len();
        if missing.len() > most {
            return Err(format!("{missing:?} are lost, and {most} takes were not answered"));
        }
        let begun = self.open_takes.iter().min().copied().unwrap_or(0);
        self.taken.extend(missing.into_iter().map(|number| (number, (begun, u64::MAX))));
        Ok(())
    }

    fn take_begun(&self, number: u64) -> u64 {
        self.taken.get(&number).map_or(u64::MAX, |taken| taken.0)
    }

    /// True if a call that was withdrawn may have held tuples back at this time.
    fn is_unsure(&self, (begun, ended): Span) -> bool {
        let touches = |other: &Span| other.0 <= ended && begun <= other.1.saturating_add(BACK);
        self.withdrawn.iter().any(touches)
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
            let is_too_early = |taken: &&Span| taken.1 < last.0 && !self.is_unsure(**taken);
            if self.taken.get(&number).filter(is_too_early).is_some() {
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
        for span in self.nothing.iter().filter(|span| !self.is_unsure(**span)) {
            let (begun, ended) = span;
            let place = covered.partition_point(|(from, _)| from <= begun);
            if place > 0 && covered[place - 1].1 >= *ended {
                return Err(format!("something was there from {begun} to {ended}"));
            }
        }
        Ok(())
    }
}

/// The numbers in what `pvm space dump` writes of such tuples.
///
/// # Panics
/// If it is no such dump.
pub fn numbers(dump: &str) -> Vec<u64> {
    let number = |line: &str| {
        let (_, rest) = line.split_once("\"value\":").expect("a field");
        rest.trim_end_matches(['}', ']']).parse().expect("a number")
    };
    dump.lines().map(number).collect()
}
