//! `pvm bench --compare A B`: what changed beyond noise.
//!
//! A computer is never twice the same: two runs of the same programs differ by more than the rounds
//! of one run do (clock, memory, neighbours). How much they differ is learned from the two runs
//! themselves: most rows have not changed, so the scatter of the rows' changes is the noise. A row has
//! changed if its change is more than [`CHANGE_MIN`] and more than [`SCATTERS`] times that scatter, if
//! its measurements in A and in B hardly meet, if the medians of its rounds lie further apart than
//! they spread, and if its best measurement has changed, too: others' work makes programs slower and
//! never faster, so it moves medians by a factor of ten and hardly the best. What all rows have in
//! common is told as one sentence. A row of one round is not judged: two tasks may have shared a processor for as
//! long as a round lasts, and then its best measurement is slow as well.

use super::figures::{Figures, Load, Row};
use super::statistics::{Summary, median, quantile, scatter};
use crate::failure::Failure;
use crate::table::{Side, Table};
use std::collections::BTreeMap;

/// Less is never told.
const CHANGE_MIN: f64 = 1.1;
/// Of a normal distribution, five deviations are passed once in two million.
const SCATTERS: f64 = 5.0;
/// Of a row of fewer nobody knows how far its rounds lie apart.
const ROUNDS_MIN: usize = 2;
/// The quarters between which the middle of the measurements lies.
const MIDDLE: (f64, f64) = (0.25, 0.75);

/// A row that is in both runs.
#[derive(Debug)]
struct Pair<'a> {
    a: &'a Row,
    b: &'a Row,
    /// Logarithm of B to A.
    change: f64,
}

impl Pair<'_> {
    /// Whether the best measurement went the same way, and half as far at least.
    fn best_changed(&self) -> bool {
        let best = |row: &Row| {
            let all = row.summary()?;
            let best = if row.is_rate() { all.max } else { all.min };
            (best > 0.0).then(|| best.ln())
        };
        let (Some(a), Some(b)) = (best(self.a), best(self.b)) else { return false };
        let least = CHANGE_MIN.ln().max(self.change.abs() / 2.0);
        (b - a) * self.change.signum() >= least
    }

    /// Whether the medians of the rounds lie further apart than those of A or of B spread.
    fn rounds_are_apart(&self) -> bool {
        let medians = |row: &Row| Summary::of(&row.medians());
        let (Some(a), Some(b)) = (medians(self.a), medians(self.b)) else { return false };
        let gap = (b.min - a.max).max(a.min - b.max);
        gap > (a.max - a.min).max(b.max - b.min)
    }

    /// What noise does not do to a row.
    fn is_beyond_noise(&self) -> bool {
        are_apart(self) && self.rounds_are_apart() && self.best_changed()
    }
}

/// What is to be said.
#[derive(PartialEq, Debug)]
struct Verdict<'a> {
    /// How many rows are in both and were judged.
    common: usize,
    /// How many are in both, but of one round in A or in B.
    single: usize,
    /// The change that the rows of each suite and system have in common, as a factor, if it is one.
    shifts: Vec<(String, f64)>,
    /// The rows that changed more than the others of their suite and system: A, B, and the factor.
    changed: Vec<(&'a Row, &'a Row, f64)>,
}

/// Prints it.
pub(crate) fn compare(a: &Figures, b: &Figures) -> Result<(), Failure> {
    crate::show::show(text(&verdict(a, b)) + &busy("A", a) + &busy("B", b))?;
    Ok(())
}

/// What others' work leaves to be said.
fn busy(name: &str, figures: &Figures) -> String {
    let share = figures.load.typical();
    if share <= Load::MAX {
        return String::new();
    }
    let share = 100.0 * share;
    format!(
        "{name} was measured while others took {share:.0} % of the processors' time: small changes are not seen\n"
    )
}

fn verdict<'a>(a: &'a Figures, b: &'a Figures) -> Verdict<'a> {
    let of_b: BTreeMap<_, &Row> = b.rows.iter().map(|row| (&row.key, row)).collect();
    let mut single = 0;
    let mut families: BTreeMap<(&str, &str), Vec<Pair<'a>>> = BTreeMap::new();
    for row in &a.rows {
        let Some(pair) = of_b.get(&row.key).and_then(|other| pair(row, other)) else { continue };
        if pair.a.rounds.len().min(pair.b.rounds.len()) < ROUNDS_MIN {
            single += 1;
        } else {
            families.entry((&row.key.suite, &row.key.system)).or_default().push(pair);
        }
    }
    let common = families.values().map(Vec::len).sum();
    let mut verdict = Verdict { common, single, shifts: Vec::new(), changed: Vec::new() };
    // The whole scatter: a suite of few rows knows too little of it.
    let all: Vec<f64> = families.values().flatten().map(|pair| pair.change).collect();
    let noise = scatter(&all);
    for ((suite, system), pairs) in &families {
        let changes: Vec<f64> = pairs.iter().map(|pair| pair.change).collect();
        let middle = median(&changes).unwrap_or(0.0);
        let bound = CHANGE_MIN.ln().max(SCATTERS * noise.max(scatter(&changes)));
        let apart = pairs.iter().filter(|pair| pair.is_beyond_noise()).count();
        // Whether nearly all of them went the same way, and most beyond what they scatter themselves.
        if middle.abs() > CHANGE_MIN.ln().max(2.0 * scatter(&changes)) && 2 * apart > pairs.len() {
            verdict.shifts.push((format!("{suite} on {system}"), middle.exp()));
        }
        let told = pairs.iter().filter(|pair| pair.change.abs() > bound && pair.is_beyond_noise());
        verdict.changed.extend(told.map(|pair| (pair.a, pair.b, pair.change.exp())));
    }
    verdict
}

fn pair<'a>(a: &'a Row, b: &'a Row) -> Option<Pair<'a>> {
    let (before, after) = (a.typical()?, b.typical()?);
    (before > 0.0 && after > 0.0).then(|| Pair { a, b, change: (after / before).ln() })
}

/// Whether the middle parts of all measurements of the two do not meet.
fn are_apart(pair: &Pair<'_>) -> bool {
    let middle = |row: &Row| {
        let all = row.rounds.concat();
        Some((quantile(&all, MIDDLE.0)?, quantile(&all, MIDDLE.1)?))
    };
    match (middle(pair.a), middle(pair.b)) {
        (Some(a), Some(b)) => a.1 < b.0 || b.1 < a.0,
        _ => false,
    }
}

fn text(verdict: &Verdict<'_>) -> String {
    if verdict.common + verdict.single == 0 {
        return "the two runs have no row in common\n".to_owned();
    }
    let single = match verdict.single {
        0 => String::new(),
        count => format!("{count} rows not judged: measured in one round only in A or in B\n"),
    };
    if verdict.common == 0 { single } else { judged(verdict) + &single }
}

fn judged(verdict: &Verdict<'_>) -> String {
    if verdict.shifts.is_empty() && verdict.changed.is_empty() {
        return format!("nothing changed beyond noise ({} rows compared)\n", verdict.common);
    }
    let mut text = String::new();
    for (family, factor) in &verdict.shifts {
        text += &format!("{family}: all rows together changed by a factor of {factor:.2}\n");
    }
    let mut table = Table::new(&[
        ("SUITE", Side::Left),
        ("TEST", Side::Left),
        ("TASKS", Side::Right),
        ("SIZE", Side::Right),
        ("SYSTEM", Side::Left),
        ("A", Side::Right),
        ("B", Side::Right),
        ("B/A", Side::Right),
    ]);
    for (a, b, factor) in &verdict.changed {
        let number = |row: &Row| format!("{:.4} {}", row.typical().unwrap_or(0.0), row.unit);
        let key = &a.key;
        let (tasks, size) = (key.tasks.to_string(), key.size.to_string());
        let (suite, test) = (key.suite.clone(), key.test.clone());
        table.row([
            suite,
            test,
            tasks,
            size,
            key.who(),
            number(a),
            number(b),
            format!("{factor:.2}"),
        ]);
    }
    if !verdict.changed.is_empty() {
        text += &table.to_string();
    }
    text + &format!("{} of {} rows changed beyond noise\n", verdict.changed.len(), verdict.common)
}

#[cfg(test)]
mod tests {
    use super::super::figures::Figures;
    use super::super::sample::sample;
    use super::*;

    /// Noise of a few percent, the same for the same seed.
    fn noisy(seed: u64, figures: &mut Figures) {
        let mut state = seed;
        let mut next = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 40) as f64 / (1_u64 << 24) as f64 - 0.5
        };
        for row in &mut figures.rows {
            let of_run = 1.0 + 0.1 * next();
            for round in &mut row.rounds {
                let of_round = of_run * (1.0 + 0.04 * next());
                round.iter_mut().for_each(|value| *value *= of_round * (1.0 + 0.02 * next()));
            }
        }
    }

    /// Two hundred rows.
    fn large() -> Figures {
        let mut figures = sample(1.0);
        for copy in 1..22 {
            let mut more = sample(1.0).rows;
            more.iter_mut().for_each(|row| row.key.test = format!("test{copy}"));
            figures.rows.extend(more);
        }
        figures
    }

    #[test]
    fn two_runs_that_differ_by_noise_have_not_changed() {
        for seed in 0..50 {
            let (mut a, mut b) = (large(), large());
            noisy(2 * seed + 1, &mut a);
            noisy(2 * seed + 2, &mut b);
            let said = text(&verdict(&a, &b));
            assert!(said.starts_with("nothing changed beyond noise (198"), "seed {seed}: {said}");
        }
    }

    #[test]
    fn one_row_that_doubled_is_found_and_no_other() {
        for seed in 0..50 {
            let (mut a, mut b) = (large(), large());
            noisy(2 * seed + 1, &mut a);
            noisy(2 * seed + 2, &mut b);
            b.rows[7].rounds.iter_mut().flatten().for_each(|value| *value *= 2.0);
            let verdict = verdict(&a, &b);
            assert!(verdict.shifts.is_empty());
            assert_eq!(verdict.changed.len(), 1, "seed {seed}");
            assert_eq!(verdict.changed[0].0.key, a.rows[7].key);
        }
    }

    #[test]
    fn a_system_that_became_slower_as_a_whole_is_told_in_a_sentence() {
        let (mut a, mut b) = (large(), large());
        noisy(1, &mut a);
        noisy(2, &mut b);
        let ours = b.rows.iter_mut().filter(|row| row.key.system == "NeoPVM");
        ours.for_each(|row| row.rounds.iter_mut().flatten().for_each(|value| *value *= 1.5));
        let verdict = verdict(&a, &b);
        let names: Vec<&str> = verdict.shifts.iter().map(|(name, _)| &**name).collect();
        assert_eq!(names, ["echo on NeoPVM"]);
        assert!((verdict.shifts[0].1 - 1.5).abs() < 0.1);
    }

    /// Two runs of the same programs on a computer that others kept busy all the time; thirteen
    /// quantiles of the measurements of each round. Of MPICH, whose tasks spin, the medians went from milliseconds
    /// to microseconds in all rows; the best measurements did not, and neither did all rounds.
    fn recorded() -> (Figures, Figures) {
        let read = |text| serde_json::from_str(text).unwrap();
        (read(include_str!("recorded/a.json")), read(include_str!("recorded/b.json")))
    }

    #[test]
    fn two_real_runs_in_a_row_have_not_changed_however_busy_the_computer_was() {
        let (a, b) = recorded();
        for (a, b) in [(&a, &b), (&b, &a)] {
            let said = text(&verdict(a, b));
            assert!(said.starts_with("nothing changed beyond noise (72 rows"), "{said}");
            assert!(busy("B", b).contains("others took 100 %"));
        }
    }

    #[test]
    fn a_row_of_a_real_run_that_became_ten_times_as_slow_is_found() {
        let (a, mut b) = recorded();
        let slower = |row: &Row| row.key.variant == "daemons, packed" && row.key.size == 1000;
        let row = b.rows.iter_mut().find(|row| slower(row)).unwrap();
        row.rounds.iter_mut().flatten().for_each(|value| *value *= 10.0);
        let verdict = verdict(&a, &b);
        assert_eq!(verdict.changed.len(), 1);
        assert!(slower(verdict.changed[0].0));
    }

    /// Two tasks that shared a processor for the only round that the suite's time allowed: seen as 1.1 and 229 us.
    #[test]
    fn a_row_of_one_round_was_called_changed_when_that_round_was_disturbed() {
        let (a, mut b) = recorded();
        let disturbed = |row: &Row| row.key.system == "NeoPVM" && row.key.size == 100;
        let all = b.rows.iter_mut().filter(|row| disturbed(row));
        let mut count = 0;
        for row in all {
            row.rounds.truncate(1);
            row.rounds.iter_mut().flatten().for_each(|value| *value *= 200.0);
            count += 1;
        }
        assert!(count > 0);
        for (a, b) in [(&a, &b), (&b, &a)] {
            let said = text(&verdict(a, b));
            let judged = 72 - count;
            assert!(
                said.starts_with(&format!("nothing changed beyond noise ({judged} rows")),
                "{said}"
            );
            assert!(
                said.contains(&format!("{count} rows not judged: measured in one round only")),
                "{said}"
            );
        }
    }

    #[test]
    fn runs_of_one_round_say_that_nothing_was_judged() {
        let mut a = sample(1.0);
        a.rows.iter_mut().for_each(|row| row.rounds.truncate(1));
        assert_eq!(
            text(&verdict(&a, &a)),
            "9 rows not judged: measured in one round only in A or in B\n"
        );
    }

    #[test]
    fn runs_of_different_suites_have_nothing_in_common() {
        let (a, mut b) = (sample(1.0), sample(1.0));
        b.rows.iter_mut().for_each(|row| row.key.suite = "linpack".to_owned());
        assert_eq!(text(&verdict(&a, &b)), "the two runs have no row in common\n");
    }
}
