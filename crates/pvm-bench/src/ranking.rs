//! The fastest system of each case, its factor, and the certainty of that.

use super::figures::{Figures, Row};
use super::statistics::{Summary, geometric_mean, median};
use super::suite::interfaces;
use super::system::Kind;
use pvm_cli::table::{Side, Table};
use std::collections::BTreeMap;

/// Parts of a `total` that is reported as well: systems divide their work among them differently,
/// so they are no contests of their own.
pub(crate) const PARTS: [&str; 3] = ["send", "receive", "verify"];

/// One system at one thing, in the best of its ways.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Entry {
    /// The system.
    pub(crate) system: String,
    /// The system and the way.
    pub(crate) who: String,
    /// The median of its rounds' medians.
    pub(crate) typical: f64,
    /// The least and the greatest of those medians; none if there is one only.
    pub(crate) range: Option<(f64, f64)>,
}

impl Entry {
    /// Whether their rounds nowhere meet.
    fn is_apart_from(&self, other: &Self) -> bool {
        matches!((self.range, other.range), (Some(a), Some(b)) if a.1 < b.0 || b.1 < a.0)
    }
}

/// All systems at one thing; the best stands first.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Contest {
    /// Name of the suite.
    pub(crate) suite: String,
    /// The operation.
    pub(crate) test: String,
    /// By how many tasks.
    pub(crate) tasks: u32,
    /// With what size.
    pub(crate) size: u64,
    /// The unit of the values.
    pub(crate) unit: String,
    /// The systems.
    pub(crate) entries: Vec<Entry>,
    rate: bool,
}

impl Contest {
    /// By what factor `system` is better than the best of the others (below 1: worse).
    pub(crate) fn lead_of(&self, system: &str) -> Option<f64> {
        let own = self.entry(system)?;
        let other = self.entries.iter().find(|entry| entry.system != system)?;
        self.factor(own, other)
    }

    /// Whether no other one is better; none if it was not measured.
    pub(crate) fn is_first(&self, system: &str) -> Option<bool> {
        Some(self.entry(system)?.typical == self.entries.first()?.typical)
    }

    /// By what factor `system` is better than `other` (below 1: worse).
    pub(crate) fn factor_to(&self, system: &str, other: &str) -> Option<f64> {
        self.factor(self.entry(system)?, self.entry(other)?)
    }

    /// Whether the rounds of the first and of the second nowhere meet.
    pub(crate) fn is_sure(&self) -> bool {
        matches!(self.entries.as_slice(), [first, second, ..] if first.is_apart_from(second))
    }

    /// Whether the rounds of `system`, which is not the first, and those of the first nowhere meet.
    pub(crate) fn is_surely_behind(&self, system: &str) -> bool {
        let (first, own) = (self.entries.first(), self.entry(system));
        matches!((first, own), (Some(first), Some(own)) if first.is_apart_from(own))
    }

    /// The entry of that system.
    pub(crate) fn entry(&self, system: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.system == system)
    }

    /// A time that the clock cannot see has none: MPI's broadcast of no bytes sends nothing.
    fn factor(&self, own: &Entry, other: &Entry) -> Option<f64> {
        let (own, other) = (own.typical, other.typical);
        (own > 0.0 && other > 0.0).then_some(if self.rate { own / other } else { other / own })
    }
}

/// Everything at which at least two systems were measured.
pub(crate) fn contests(figures: &Figures) -> Vec<Contest> {
    let mut found: BTreeMap<(&str, &str, u32, u64), Vec<&Row>> = BTreeMap::new();
    for row in &figures.rows {
        let key = &row.key;
        // Interfaces of our own are not compared with other systems.
        if PARTS.contains(&&*key.test) || interfaces::NAMES.contains(&&*key.system) {
            continue;
        }
        found.entry((&key.suite, &key.test, key.tasks, key.size)).or_default().push(row);
    }
    let made = found.into_values().filter_map(|rows| contest(&rows));
    made.filter(|contest| contest.entries.len() > 1).collect()
}

fn contest(rows: &[&Row]) -> Option<Contest> {
    let first = rows.first()?;
    let rate = first.is_rate();
    let better = |a: f64, b: f64| if rate { a > b } else { a < b };
    let mut entries: Vec<Entry> = Vec::new();
    for row in rows {
        let Some(typical) = row.typical() else { continue };
        let range = range(&row.medians());
        let entry = Entry { system: row.key.system.clone(), who: row.key.who(), typical, range };
        match entries.iter_mut().find(|other| other.system == entry.system) {
            Some(other) if better(entry.typical, other.typical) => *other = entry,
            Some(_) => {}
            None => entries.push(entry),
        }
    }
    entries.sort_by(|a, b| a.typical.total_cmp(&b.typical));
    if rate {
        entries.reverse();
    }
    let key = &first.key;
    let (suite, test) = (key.suite.clone(), key.test.clone());
    Some(Contest {
        suite,
        test,
        tasks: key.tasks,
        size: key.size,
        unit: first.unit.clone(),
        entries,
        rate,
    })
}

/// The range of the medians, if there are more than one.
fn range(medians: &[f64]) -> Option<(f64, f64)> {
    let summary = Summary::of(medians).filter(|summary| summary.count > 1)?;
    Some((summary.min, summary.max))
}

/// A test with all its sizes and numbers of tasks.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Standing {
    /// Name of the suite.
    pub(crate) suite: String,
    /// The operation.
    pub(crate) test: String,
    /// In how many contests.
    pub(crate) contests: usize,
    /// In how many of them the first is surely the first.
    pub(crate) sure: usize,
    /// The number of times that each system is the first, the most frequent in front.
    pub(crate) firsts: Vec<(String, usize)>,
    /// By what factor NeoPVM is better than each peer, over all sizes (geometric mean).
    pub(crate) factors: Vec<(String, f64)>,
}

/// The tests, in the order of their names.
pub(crate) fn standings(contests: &[Contest]) -> Vec<Standing> {
    let mut tests: BTreeMap<(&str, &str), Vec<&Contest>> = BTreeMap::new();
    for contest in contests {
        tests.entry((&contest.suite, &contest.test)).or_default().push(contest);
    }
    tests.into_iter().map(|((suite, test), all)| standing(suite, test, &all)).collect()
}

fn standing(suite: &str, test: &str, all: &[&Contest]) -> Standing {
    let ours = Kind::Ours.name();
    let mut firsts: BTreeMap<&str, usize> = BTreeMap::new();
    for first in all.iter().filter_map(|contest| contest.entries.first()) {
        *firsts.entry(&first.system).or_default() += 1;
    }
    let mut firsts: Vec<(String, usize)> =
        firsts.into_iter().map(|(system, count)| (system.to_owned(), count)).collect();
    firsts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let peers = Kind::ALL.into_iter().map(Kind::name).filter(|name| *name != ours);
    let factors = peers.filter_map(|peer| {
        let each: Vec<f64> =
            all.iter().filter_map(|contest| contest.factor_to(ours, peer)).collect();
        Some((peer.to_owned(), geometric_mean(&each)?))
    });
    Standing {
        suite: suite.to_owned(),
        test: test.to_owned(),
        contests: all.len(),
        sure: all.iter().filter(|contest| contest.is_sure()).count(),
        firsts,
        factors: factors.collect(),
    }
}

/// The contests that NeoPVM ought to win: messages up to 1 MB, where they were measured.
pub(crate) fn messages(contests: &[Contest]) -> impl Iterator<Item = &Contest> {
    let bytes = |contest: &Contest| contest.size * if contest.test == "sum" { 8 } else { 1 };
    contests.iter().filter(move |contest| {
        ["echo", "two-nodes", "primitives"].contains(&&*contest.suite)
            && bytes(contest) <= 1_000_000
            && contest.entry(Kind::Ours.name()).is_some()
    })
}

/// The contests in which NeoPVM is not the first.
pub(crate) fn not_first(contests: &[Contest]) -> Vec<&Contest> {
    let is_behind = |contest: &&Contest| contest.is_first(Kind::Ours.name()) == Some(false);
    messages(contests).filter(is_behind).collect()
}

/// Whether it is, in a sentence, if messages were measured.
pub(crate) fn sentence(contests: &[Contest]) -> Option<String> {
    let all = messages(contests).count();
    let behind = not_first(contests).len();
    (all > 0).then(|| match behind {
        0 => format!("NeoPVM is the first in all {all} rows of messages up to 1 MB."),
        _ => format!("NeoPVM is not the first in {behind} of {all} rows of messages up to 1 MB."),
    })
}

/// The standings for a terminal.
pub(crate) fn text(figures: &Figures) -> String {
    let contests = contests(figures);
    let mut table = Table::new(&[
        ("SUITE", Side::Left),
        ("TEST", Side::Left),
        ("ROWS", Side::Right),
        ("FIRST", Side::Left),
        ("NEOPVM IS FASTER BY", Side::Left),
    ]);
    for standing in standings(&contests) {
        let firsts: Vec<String> =
            standing.firsts.iter().map(|(system, count)| format!("{system} {count}")).collect();
        let factors: Vec<String> = standing
            .factors
            .iter()
            .map(|(peer, factor)| format!("{factor:.2} than {peer}"))
            .collect();
        table.row([
            standing.suite,
            standing.test,
            standing.contests.to_string(),
            firsts.join(", "),
            factors.join(", "),
        ]);
    }
    format!("{table}{}", sentence(&contests).unwrap_or_default())
}

/// The median over rows of how far the rounds of a row lie apart, as a share of the row.
pub(crate) fn spread(figures: &Figures) -> f64 {
    let apart = |row: &Row| {
        let (low, high) = range(&row.medians()).filter(|(low, _)| *low > 0.0)?;
        Some(high / low - 1.0)
    };
    let all: Vec<f64> = figures.rows.iter().filter_map(apart).collect();
    median(&all).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::super::sample::sample;
    use super::*;

    #[test]
    fn the_fastest_stands_first_and_the_factor_is_told() {
        let contests = contests(&sample(1.0));
        assert_eq!(contests.len(), 3);
        let first = &contests[1];
        assert_eq!((first.size, &*first.entries[0].system), (1000, "NeoPVM"));
        assert!((first.lead_of("NeoPVM").unwrap() - 1.5).abs() < 0.01);
        assert!((first.factor_to("NeoPVM", "PVM 3.4.6").unwrap() - 30.0).abs() < 0.3);
        assert!(first.is_sure() && not_first(&contests).is_empty());
        let standings = standings(&contests);
        assert_eq!((standings[0].contests, standings[0].sure), (3, 3));
        assert_eq!(standings[0].firsts, [("NeoPVM".to_owned(), 3)]);
    }

    #[test]
    fn where_we_are_not_first_is_told() {
        let figures = sample(2.0);
        let contests = contests(&figures);
        assert_eq!(not_first(&contests).len(), 3);
        assert!(contests[0].lead_of("NeoPVM").unwrap() < 1.0);
        assert!(text(&figures).ends_with("first in 3 of 3 rows of messages up to 1 MB."));
    }

    /// Of MPI's two systems one was surely first, and NeoPVM, whose rounds met those of the first,
    /// surely behind.
    #[test]
    fn who_is_surely_behind_was_asked_of_the_second_and_not_of_neopvm() {
        let mut figures = sample(1.0);
        let all = |row: &&mut Row| row.key.size == 1000;
        for row in figures.rows.iter_mut().filter(all) {
            let medians = match &*row.key.system {
                "Open MPI" => [1.0, 1.1, 1.2],
                "PVM 3.4.6" => [1.5, 1.6, 1.7],
                _ => [1.1, 8.0, 15.0],
            };
            row.rounds = medians.map(|time| vec![time]).to_vec();
        }
        let contests = contests(&figures);
        assert!(contests[1].is_sure() && !contests[1].is_surely_behind("NeoPVM"));
        assert!(contests[1].is_surely_behind("PVM 3.4.6"));
    }

    /// Seen with 0 us of Open MPI: NeoPVM was told to be 3e12 times as slow, and the mean of all
    /// sizes with it.
    #[test]
    fn a_time_that_the_clock_does_not_see_was_taken_for_a_factor() {
        let mut figures = sample(1.0);
        let unseen = |row: &&mut Row| row.key.system == "Open MPI" && row.key.size == 0;
        for row in figures.rows.iter_mut().filter(unseen) {
            row.rounds.iter_mut().flatten().for_each(|value| *value = 0.0);
        }
        let contests = contests(&figures);
        assert_eq!(contests[0].entries[0].system, "Open MPI");
        assert_eq!(contests[0].lead_of("NeoPVM"), None);
        assert_eq!(contests[0].is_first("NeoPVM"), Some(false));
        assert_eq!(not_first(&contests).len(), 1);
        let factors = &standings(&contests)[0].factors;
        let to_open_mpi = factors.iter().find(|(peer, _)| peer == "Open MPI").unwrap().1;
        assert!((to_open_mpi - 1.5).abs() < 0.01, "{to_open_mpi}");
    }

    #[test]
    fn where_no_messages_were_measured_nothing_is_said_of_them() {
        let mut figures = sample(1.0);
        assert_eq!(
            sentence(&contests(&figures)).unwrap(),
            "NeoPVM is the first in all 3 rows of messages up to 1 MB."
        );
        figures.rows.iter_mut().for_each(|row| row.key.suite = "applications".to_owned());
        assert_eq!(sentence(&contests(&figures)), None);
    }

    /// Seen where NeoPVM had no machine: it was told to be the first in all rows.
    #[test]
    fn where_it_was_not_measured_neopvm_was_called_the_first() {
        let mut figures = sample(1.0);
        figures.rows.retain(|row| row.key.system != "NeoPVM" || row.key.size == 0);
        let told = sentence(&contests(&figures)).unwrap();
        assert_eq!(told, "NeoPVM is the first in all 1 rows of messages up to 1 MB.");
        figures.rows.retain(|row| row.key.system != "NeoPVM");
        assert_eq!(sentence(&contests(&figures)), None);
    }

    #[test]
    fn of_rates_the_greatest_is_the_best() {
        let mut figures = sample(1.0);
        figures.rows.iter_mut().for_each(|row| row.unit = "Mflop/s".to_owned());
        let contests = contests(&figures);
        assert_eq!(contests[1].entries[0].system, "PVM 3.4.6");
        assert!(contests[1].lead_of("PVM 3.4.6").unwrap() > 1.0);
    }
}
