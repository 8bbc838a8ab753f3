//! Rounds in which all take turns, case by case.

use super::answer::Verdict;
use super::contender::{Around, Contender, Why};
use crate::bar::Bar;
use crate::figures::{Answer, Figures, Key, Problem};
use crate::place;
use crate::process::{End, Ended, last_words};
use crate::suite::nas::SUITE;
use pvm_cli::failure::{Failure, Status};
use pvm_cli::options::bench::cases::{Case, Class};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// A program that has not ended in this many runs is left out, because each of them lasts the whole
/// limit.
const HANGS_MAX: u32 = 2;
/// A system counts as too slow only after this time, and only if it has taken
/// [`TIMES_SLOWER_MAX`] times as long as another one.
const LIMIT_MIN: Duration = Duration::from_secs(30);
const TIMES_SLOWER_MAX: u32 = 20;

/// The number and the length of measurements.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    /// The number of times that each case is measured.
    pub(super) rounds: u32,
    /// No run may take longer, if the classes' own limits are not to count.
    pub(super) limit: Option<Duration>,
}

/// The state of a race.
pub(super) struct Race<'a> {
    cases: &'a [Case],
    contenders: &'a [Contender],
    around: Around<'a>,
    rules: Rules,
    figures: Figures,
    bar: Bar,
    /// The programs that have failed at a benchmark; they do not run it again.
    failed: BTreeSet<(usize, Case)>,
    /// The number of times that each contender did not end.
    hangs: BTreeMap<usize, u32>,
    /// The time of the fastest run of each case, start and end included.
    fastest: BTreeMap<Case, Duration>,
}

impl<'a> Race<'a> {
    /// Between these, at these.
    pub(super) fn new(
        cases: &'a [Case],
        contenders: &'a [Contender],
        around: Around<'a>,
        rules: Rules,
        figures: Figures,
    ) -> Self {
        let turns = contenders.iter().flat_map(|who| cases.iter().map(move |&case| (who, case)));
        let turns = turns.filter(|(who, case)| who.takes_part(*case));
        let weights: Vec<u64> = turns.map(|(_, case)| case.weight()).collect();
        let (runs, one) = (weights.len() * rules.rounds as usize, weights.iter().sum::<u64>());
        let bar = Bar::weighted(runs, one * u64::from(rules.rounds));
        let (failed, hangs, fastest) = Default::default();
        Self { cases, contenders, around, rules, figures, bar, failed, hangs, fastest }
    }

    /// All rounds.
    pub(super) fn run(mut self) -> Result<Figures, Failure> {
        let start = Instant::now();
        self.say_what_is_missing();
        for _ in 0..self.rules.rounds {
            for &case in self.cases {
                for (at, contender) in self.contenders.iter().enumerate() {
                    if contender.takes_part(case) {
                        self.turn(at, case)?;
                    }
                }
            }
        }
        self.bar.end();
        self.figures.took_s = start.elapsed().as_secs_f64();
        Ok(self.figures)
    }

    fn say_what_is_missing(&self) {
        for peer in &self.figures.peers {
            if let Some(missing) = &peer.missing {
                self.bar.say(&format!("{} is not there: it needs {missing}", peer.system));
            }
        }
        for cut in &self.figures.cuts {
            self.bar.say(cut);
        }
        for problem in &self.figures.problems {
            self.bar.say(&format!("{} {}", problem.what, problem.how));
        }
    }

    fn turn(&mut self, at: usize, case: Case) -> Result<(), Failure> {
        if self.around.stop.load(Ordering::Relaxed) {
            self.bar.end();
            return Err(Failure::new(Status::Refused, "stopped: nothing was written"));
        }
        let what = format!("{} on {}", case.text(), self.contenders[at].text());
        self.bar.heavy_step(SUITE.name, &what, case.weight());
        if self.is_out(at) || self.failed.contains(&(at, case)) {
            return Ok(());
        }
        let program = match self.contenders[at].program(case) {
            Ok(program) => program,
            Err(why) => {
                self.failed.insert((at, case));
                self.cut(why);
                return Ok(());
            }
        };
        self.figures.load.others.extend(place::others());
        let (limit, start) = (self.limit_of(case), Instant::now());
        let outcome = self.contenders[at].run(&program, case, limit, self.around);
        // What was cut short by the user is no problem of the system's.
        if !self.around.stop.load(Ordering::Relaxed) {
            self.count_hangs(at, &outcome);
            let told = judged(&self.contenders[at], case, limit, outcome);
            self.keep(at, case, what, told.map(|told| (told, start.elapsed())));
        }
        Ok(())
    }

    fn is_out(&self, at: usize) -> bool {
        self.hangs.get(&at).is_some_and(|&hangs| hangs >= HANGS_MAX)
    }

    fn count_hangs(&mut self, at: usize, outcome: &Result<Ended, Why>) {
        if matches!(outcome, Ok(ended) if matches!(ended.end, End::Slow | End::Hung)) {
            *self.hangs.entry(at).or_default() += 1;
            if self.is_out(at) {
                let who = self.contenders[at].text();
                self.cut(format!("{who}: left out after {HANGS_MAX} runs without an end"));
            }
        }
    }

    /// The time that a run may take.
    fn limit_of(&self, case: Case) -> Duration {
        let of_class = match case.class {
            Some(Class::S) => 120,
            Some(Class::W) | None => 600,
            Some(Class::A) => 1800,
            Some(Class::B) => 7200,
        };
        let of_class = Duration::from_secs(of_class);
        let fastest = self.fastest.get(&case).map(|&time| (time * TIMES_SLOWER_MAX).max(LIMIT_MIN));
        self.rules.limit.unwrap_or_else(|| fastest.unwrap_or(of_class).min(of_class))
    }

    fn cut(&mut self, what: String) {
        if !self.figures.cuts.contains(&what) {
            self.bar.say(&what);
            self.figures.cuts.push(what);
        }
    }

    fn keep(
        &mut self,
        at: usize,
        case: Case,
        what: String,
        told: Result<(Verdict, Duration), Why>,
    ) {
        match told {
            Ok((told, took)) => {
                self.fastest.entry(case).and_modify(|time| *time = took.min(*time)).or_insert(took);
                self.add(key(&self.contenders[at], case), told);
            }
            Err((how, last_words)) => {
                self.bar.say(&format!("{what}: {how}"));
                self.failed.insert((at, case));
                self.figures.problems.push(Problem { what, how, last_words });
            }
        }
    }

    fn add(&mut self, key: Key, told: Verdict) {
        let Verdict { seconds, mops, verified, quantities, communication } = told;
        self.figures.add(key.clone(), "s", vec![seconds]);
        match self.figures.answers.iter_mut().find(|answer| answer.key == key) {
            Some(answer) => {
                answer.mops.push(mops);
                (answer.quantities, answer.communication) = (quantities, communication);
            }
            None => {
                let mops = vec![mops];
                let answer = Answer { key, verified, mops, quantities, communication };
                self.figures.answers.push(answer);
            }
        }
    }
}

fn key(contender: &Contender, case: Case) -> Key {
    Key {
        suite: SUITE.name.to_owned(),
        test: case.test(),
        tasks: case.tasks,
        size: case.size(),
        system: contender.kind.name().to_owned(),
        variant: contender.variant.to_owned(),
    }
}

/// The output of a run, if the run ended well and the answer was right.
fn judged(
    contender: &Contender,
    case: Case,
    limit: Duration,
    outcome: Result<Ended, Why>,
) -> Result<Verdict, Why> {
    let ended = outcome?;
    let said = last_words(&format!("{}\n{}", last_words(&ended.output), ended.errors));
    if matches!(ended.end, End::Slow | End::Hung) {
        return Err((ended.end.text(limit), said));
    }
    match contender.told(&ended.output, case) {
        Ok(told) if let Some(how) = told.reproach() => Err((how, String::new())),
        Ok(told) if ended.end == End::Good => Ok(told),
        // A program that failed has printed why, if not in the form of an answer.
        Err(how) if ended.end == End::Good => Err((how, said)),
        _ => Err((ended.end.text(limit), said)),
    }
}
