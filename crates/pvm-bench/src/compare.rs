//! `pvm bench --compare A B`: what changed beyond noise.
//!
//! A computer is never twice the same: two runs of the same programs differ by more than the rounds
//! of one run do (clock, memory, neighbours). How much is learned from the two runs themselves:
//! others' work makes programs slower and never faster, so it moves medians by a factor of ten and
//! hardly the best measurement. The noise of a row's best has two parts: how far the bests of the
//! rows of its suite and system scatter between A and B (most rows have not changed), and how far
//! its own rounds lie apart. Where more tasks than processors wait for their turns, times are
//! multiples of such turns, and that rounds agree is luck: there the rounds of all such rows of the
//! suite and system are taken together. A row has changed if noise hardly does that to the best of
//! any of all rows ([`CHANCE_MAX`]), if (where tasks wait for their turns) it went more than twice
//! as far as two rounds of one run lie apart in any such row ([`CROWD_GAPS`]), if its median went
//! the same way by [`CHANGE_MIN`], if its measurements in A and in B hardly meet, and if the
//! medians of its rounds lie further apart than they spread. What all rows have in common is told
//! as one sentence. A row of one round is not judged: two tasks may have shared a processor for as
//! long as a round lasts, and then its best measurement is slow as well.

use super::figures::{Figures, Load, Row};
use super::noise::{Noise, variance_of_averages};
use super::statistics::{Summary, median, quantile, scatter};
use pvm_cli::failure::Failure;
use pvm_cli::table::{Side, Table};
use std::collections::BTreeMap;

/// Smaller changes are never reported.
const CHANGE_MIN: f64 = 1.1;
/// The probability that a comparison of two runs of one program calls any row changed by chance:
/// with 400 rows each of them has a 400th of it.
const CHANCE_MAX: f64 = 0.05;
/// Fewer rows do not tell how far the rows of a suite and system scatter; then those of all do.
const FAMILY_MIN: usize = 8;
/// With more tasks than processors the best values of two runs may differ by this many times the
/// distance that rounds of one run have been seen apart: a few rounds of each row have not shown
/// all that the scheduler does.
const CROWD_GAPS: f64 = 2.0;
/// The quarters between which the middle of the measurements lies.
const MIDDLE: (f64, f64) = (0.25, 0.75);

/// A row that is in both runs.
#[derive(Debug)]
struct Pair<'a> {
    a: &'a Row,
    b: &'a Row,
    /// Logarithm of B to A.
    change: f64,
    /// Logarithm of B to A, of the best measurements.
    best: f64,
    /// The variance that the rounds leave to `best`; none if one of the runs has one round only.
    own: Option<f64>,
    /// The largest spread of the rounds of either run.
    gap: f64,
    /// More tasks than processors.
    is_crowded: bool,
}

impl<'a> Pair<'a> {
    /// None if there is something that has no logarithm.
    fn of(a: &'a Row, b: &'a Row, cores: u32) -> Option<Self> {
        let (before, after) = (a.typical()?, b.typical()?);
        let logarithms =
            |row: &Row| -> Vec<f64> { bests(row).iter().map(|best| best.ln()).collect() };
        let (rounds_a, rounds_b) = (logarithms(a), logarithms(b));
        let best = |rounds: &[f64]| {
            let all = Summary::of(rounds)?;
            Some(if a.is_rate() { all.max } else { all.min })
        };
        let best = best(&rounds_b)? - best(&rounds_a)?;
        let own = variance_of_averages(&rounds_a, &rounds_b);
        let gap = span(&rounds_a).max(span(&rounds_b));
        let is_crowded = cores > 0 && a.key.tasks > cores;
        let change = (after / before).ln();
        (change.is_finite() && best.is_finite()).then_some(Pair {
            a,
            b,
            change,
            best,
            own,
            gap,
            is_crowded,
        })
    }

    /// Whether the best measurement went the same way, and half as far at least.
    fn best_changed(&self) -> bool {
        let least = CHANGE_MIN.ln().max(self.change.abs() / 2.0);
        self.best * self.change.signum() >= least
    }

    /// Whether the medians of the rounds lie further apart than those of A or of B spread.
    fn rounds_are_apart(&self) -> bool {
        let medians = |row: &Row| Summary::of(&row.medians());
        let (Some(a), Some(b)) = (medians(self.a), medians(self.b)) else { return false };
        let gap = (b.min - a.max).max(a.min - b.max);
        gap > (a.max - a.min).max(b.max - b.min)
    }

    /// Noise seldom changes a row so much.
    fn is_beyond_noise(&self) -> bool {
        are_apart(self) && self.rounds_are_apart() && self.best_changed()
    }
}

/// The best measurement of each round.
fn bests(row: &Row) -> Vec<f64> {
    let best = |all: Summary| if row.is_rate() { all.max } else { all.min };
    row.rounds.iter().filter_map(|round| Summary::of(round).map(best)).collect()
}

/// From the least to the greatest.
fn span(values: &[f64]) -> f64 {
    Summary::of(values).map_or(0.0, |all| all.max - all.min)
}

/// The common properties of the rows of a suite and system.
struct Family {
    noise: Noise,
    /// The gaps of rows with more tasks than processors.
    crowd: Crowd,
}

/// The changes that occur by themselves in rows with more tasks than processors, wild ones
/// included; zeros if there are no such rows.
#[derive(Default)]
struct Crowd {
    /// Their average variance.
    variance: f64,
    /// The greatest gap between two rounds of the same run: what the scheduler has been seen to do
    /// to a best.
    gap: f64,
}

impl Crowd {
    fn of(pairs: &[Pair<'_>]) -> Self {
        let crowded = || pairs.iter().filter(|pair| pair.is_crowded);
        let variances: Vec<f64> = crowded().filter_map(|pair| pair.own).collect();
        Self {
            variance: Summary::of(&variances).map_or(0.0, |all| all.mean),
            gap: crowded().map(|pair| pair.gap).fold(0.0, f64::max),
        }
    }
}

impl Family {
    fn of(pairs: &[Pair<'_>], everywhere: Noise) -> Self {
        let bests: Vec<f64> = pairs.iter().map(|pair| pair.best).collect();
        let noise = Noise::of(&bests).or(everywhere, FAMILY_MIN);
        Self { noise, crowd: Crowd::of(pairs) }
    }

    /// Whether it is no luck that one of `rows` rows lies so far from itself.
    fn is_changed(&self, pair: &Pair<'_>, rows: usize) -> bool {
        let Some(own) = pair.own else { return false };
        let own = if pair.is_crowded { own.max(self.crowd.variance) } else { own };
        pair.change.abs() > CHANGE_MIN.ln()
            && pair.is_beyond_noise()
            && !(pair.is_crowded && pair.best.abs() <= CROWD_GAPS * self.crowd.gap)
            && self.noise.chance_of(pair.best, own) <= CHANCE_MAX / rows as f64
    }
}

/// The sentences about a comparison.
#[derive(PartialEq, Debug)]
struct Verdict<'a> {
    /// The number of rows that are in both files and were judged.
    common: usize,
    /// The number of rows that are in both files, but have one round only in A or in B.
    single: usize,
    /// The change that the rows of each suite and system have in common, as a factor, if it is one.
    shifts: Vec<(String, f64)>,
    /// The rows that changed more than the others of their suite and system: A, B, and the factor.
    changed: Vec<(&'a Row, &'a Row, f64)>,
}

/// Prints it.
pub(crate) fn compare(a: &Figures, b: &Figures) -> Result<(), Failure> {
    pvm_cli::show::show(text(&verdict(a, b)) + &busy("A", a) + &busy("B", b))?;
    Ok(())
}

/// A sentence about other programs that used the processors.
fn busy(name: &str, figures: &Figures) -> String {
    let share = figures.load.typical();
    if share <= Load::MAX {
        return String::new();
    }
    let share = 100.0 * share;
    format!(
        "{name} was measured while others took {share:.0} % of the processors' time: small changes \
         are not seen\n"
    )
}

fn verdict<'a>(a: &'a Figures, b: &'a Figures) -> Verdict<'a> {
    let of_b: BTreeMap<_, &Row> = b.rows.iter().map(|row| (&row.key, row)).collect();
    let cores = a.place.cores.min(b.place.cores);
    let mut single = 0;
    let mut families: BTreeMap<(&str, &str), Vec<Pair<'a>>> = BTreeMap::new();
    for row in &a.rows {
        let Some(pair) = of_b.get(&row.key).and_then(|other| Pair::of(row, other, cores)) else {
            continue;
        };
        if pair.own.is_none() {
            single += 1;
        } else {
            families.entry((&row.key.suite, &row.key.system)).or_default().push(pair);
        }
    }
    let common = families.values().map(Vec::len).sum();
    let mut verdict = Verdict { common, single, shifts: Vec::new(), changed: Vec::new() };
    let all: Vec<f64> = families.values().flatten().map(|pair| pair.best).collect();
    let everywhere = Noise::of(&all);
    for ((suite, system), pairs) in &families {
        let changes: Vec<f64> = pairs.iter().map(|pair| pair.change).collect();
        let middle = median(&changes).unwrap_or(0.0);
        let apart = pairs.iter().filter(|pair| pair.is_beyond_noise()).count();
        // Whether nearly all of them went the same way, and most beyond what they scatter
        // themselves. A few rows have nothing in common that could not be each one's own.
        if pairs.len() >= FAMILY_MIN
            && middle.abs() > CHANGE_MIN.ln().max(2.0 * scatter(&changes))
            && 2 * apart > pairs.len()
        {
            verdict.shifts.push((format!("{suite} on {system}"), middle.exp()));
        }
        let family = Family::of(pairs, everywhere);
        let told = pairs.iter().filter(|pair| family.is_changed(pair, common));
        verdict.changed.extend(told.map(|pair| (pair.a, pair.b, pair.change.exp())));
    }
    verdict
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

    /// The factorization on two tasks was the only row of its suite: 16.2 and 12.0 Gflop/s in two
    /// runs of the same.
    #[test]
    fn one_row_that_was_quicker_was_called_all_rows_of_its_suite() {
        let (mut a, mut b) = (large(), large());
        noisy(1, &mut a);
        noisy(2, &mut b);
        for (figures, factor) in [(&mut a, 1.0), (&mut b, 1.3)] {
            let mut row = figures.rows[7].clone();
            row.key.suite = "linpack".to_owned();
            row.rounds.iter_mut().flatten().for_each(|value| *value *= factor);
            figures.rows.push(row);
        }
        assert_eq!(verdict(&a, &b).shifts, []);
    }

    /// Two runs of the same programs on a computer that others kept busy all the time; thirteen
    /// quantiles of the measurements of each round. Of MPICH, whose tasks spin, the medians went
    /// from milliseconds to microseconds in all rows; the best measurements did not, and neither
    /// did all rounds.
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

    /// Two quick runs in a row on a quiet computer with two processors: NeoPVM's echo, thirteen
    /// quantiles of each round, and the primitives of MPICH among four and eight tasks, which spin.
    fn quiet() -> (Figures, Figures) {
        let read = |text| serde_json::from_str(text).unwrap();
        (read(include_str!("recorded/quiet-a.json")), read(include_str!("recorded/quiet-b.json")))
    }

    /// A sum among four tasks on two processors took 16.00, 16.00 ms in the rounds of the one run
    /// and 8.0, 5.3 ms in those of the other.
    #[test]
    fn a_row_that_waits_for_turns_on_the_processors_was_called_changed_on_a_quiet_computer() {
        let (a, b) = quiet();
        for (a, b) in [(&a, &b), (&b, &a)] {
            let said = text(&verdict(a, b));
            assert_eq!(said, "nothing changed beyond noise (69 rows compared)\n");
        }
    }

    /// An exchange of MPICH among four tasks on two processors took 2.7 ms in all rounds of the one
    /// run and 16.0 ms in those of the other.
    #[test]
    fn a_row_of_tasks_that_spin_was_called_changed_when_all_its_rounds_had_the_other_turns() {
        let (a, mut b) = quiet();
        let spins = |row: &&Row| row.key.system == "MPICH" && row.key.tasks == 4;
        let row = a.rows.iter().find(spins).expect("recorded");
        let other = b.rows.iter_mut().find(|other| other.key == row.key).expect("recorded");
        other.rounds =
            row.rounds.iter().map(|round| round.iter().map(|v| 5.9 * v).collect()).collect();
        for (a, b) in [(&a, &b), (&b, &a)] {
            assert_eq!(text(&verdict(a, b)), "nothing changed beyond noise (69 rows compared)\n");
        }
    }

    /// Tasks of ours sleep and are woken: their rows are judged by what they scatter themselves,
    /// not by what others do.
    #[test]
    fn a_row_of_more_tasks_than_processors_is_judged_where_its_rounds_agree() {
        let (mut a, mut b) = (large(), large());
        noisy(1, &mut a);
        noisy(2, &mut b);
        a.place.cores = 1;
        let row = &mut b.rows[7];
        assert!(row.key.tasks > 1);
        row.rounds.iter_mut().flatten().for_each(|value| *value *= 2.0);
        let verdict = verdict(&a, &b);
        assert_eq!(verdict.changed.len(), 1);
    }

    #[test]
    fn a_row_of_a_quiet_run_that_became_half_as_slow_again_is_found() {
        let (a, b) = quiet();
        let ours = |row: &&Row| row.key.system == "NeoPVM" && row.key.test == "echo";
        let (mut found, mut all) = (0, 0);
        for key in a.rows.iter().filter(ours).map(|row| &row.key) {
            let mut slower = b.clone();
            let row = slower.rows.iter_mut().find(|row| row.key == *key).unwrap();
            row.rounds.iter_mut().flatten().for_each(|value| *value *= 1.5);
            let verdict = verdict(&a, &slower);
            assert!(verdict.changed.iter().all(|(row, ..)| row.key == *key));
            found += verdict.changed.len();
            all += 1;
        }
        assert!(3 * found >= all, "{found} of {all}");
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

    /// Two tasks that shared a processor for the only round that the suite's time allowed: seen as
    /// 1.1 and 229 us.
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
