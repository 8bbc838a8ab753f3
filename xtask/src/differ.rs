//! `cargo xtask differ`: random sequences of calls on the original and on ours, and where they
//! differ.
//!
//! The programs stand in `conformance/random`. What a step of theirs does depends on the seed and
//! its number alone, so steps can be left out: one whose difference is known (`known.txt`) is, and
//! the rest is compared on; what is not known is minimised and printed as the command that shows
//! it.

use crate::outside;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::UNIX_EPOCH;

/// Steps of a sequence.
const STEPS: u32 = 150;
/// The number of times that a sequence is run again without a step; then it is given up.
const AGAIN_MAX: usize = 80;
/// The number of runs that the minimising of one difference may take.
const MINIMISE_MAX: usize = 120;

/// The output of a run, by step, and how it ended.
struct RunOutput {
    steps: BTreeMap<u32, String>,
    status: String,
}

/// One system: a shell that starts a machine for each sequence.
struct Side {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Side {
    fn start(root: &Path, kind: &str, prefix: &Path) -> Result<Self, String> {
        let mut command = Command::new("bash");
        command.arg(root.join("conformance/random/session.sh")).arg(kind).arg(prefix);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|e| format!("bash: {e}"))?;
        let input = child.stdin.take().ok_or("no input")?;
        let output = BufReader::new(child.stdout.take().ok_or("no output")?);
        Ok(Self { child, input, output })
    }

    fn run(
        &mut self,
        sequence: &Sequence<'_>,
        left_out: &BTreeSet<u32>,
    ) -> Result<RunOutput, String> {
        let gone = |e: std::io::Error| format!("a session of random calls ended: {e}");
        writeln!(self.input, "{}", sequence.words(left_out)).map_err(gone)?;
        let mut told = RunOutput { steps: BTreeMap::new(), status: String::new() };
        let mut step = 0;
        let mut bytes = Vec::new();
        loop {
            bytes.clear();
            if self.output.read_until(b'\n', &mut bytes).map_err(gone)? == 0 {
                return Err("a session of random calls ended: its machine did not start".to_owned());
            }
            let line = String::from_utf8_lossy(&bytes);
            let line = line.trim_end();
            if let Some(status) = line.strip_prefix("== ") {
                told.status = status.to_owned();
                return Ok(told);
            }
            if line == "end" {
                step = u32::MAX;
            }
            let (number, rest) = line.split_once(' ').unwrap_or((line, ""));
            let text = number.parse().map_or(line, |number| {
                step = number;
                rest
            });
            if text.is_empty() {
                continue;
            }
            let text = without_ids(text);
            told.steps.entry(step).and_modify(|all| *all += &format!(" | {text}")).or_insert(text);
        }
    }
}

impl Drop for Side {
    fn drop(&mut self) {
        // It ends its machine, too; if it has ended already, so has that.
        let _ = Command::new("kill").arg(self.child.id().to_string()).status();
        let _ = self.child.wait();
    }
}

/// Task ids, as the library's own messages have them.
fn without_ids(line: &str) -> String {
    let is_id = |word: &str| {
        let hex = word.strip_prefix('t').unwrap_or_default();
        hex.len() >= 5 && hex.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    let ends = |c: char| !c.is_ascii_alphanumeric();
    line.split_inclusive(ends)
        .map(|piece| {
            let word = piece.trim_end_matches(ends);
            if is_id(word) { piece.replacen(word, "tX", 1) } else { piece.to_owned() }
        })
        .collect()
}

struct Sequence<'a> {
    program: &'a str,
    seed: u32,
}

impl Sequence<'_> {
    fn words(&self, left_out: &BTreeSet<u32>) -> String {
        let left_out: Vec<String> = left_out.iter().map(u32::to_string).collect();
        format!("{} {} {STEPS} {}", self.program, self.seed, left_out.join(" "))
    }
}

/// A difference that is meant.
struct AllowedDifference {
    original: String,
    ours: String,
}

fn known(root: &Path) -> Result<Vec<AllowedDifference>, String> {
    let path = root.join("conformance/random/known.txt");
    let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let parsed = lines.map(|line| {
        let fields: Vec<&str> = line.split('\t').collect();
        match fields.as_slice() {
            &[original, ours, reason] if !reason.is_empty() => {
                Ok(AllowedDifference { original: original.to_owned(), ours: ours.to_owned() })
            }
            _ => Err(format!("{}: not three fields: {line}", path.display())),
        }
    });
    parsed.collect()
}

/// Whether `text` is as `pattern`, in which `*` stands for anything.
fn is_like(pattern: &str, text: &str) -> bool {
    let Some((before, after)) = pattern.split_once('*') else { return pattern == text };
    let Some(rest) = text.strip_prefix(before) else { return false };
    (0..=rest.len()).filter(|&at| rest.is_char_boundary(at)).any(|at| is_like(after, &rest[at..]))
}

/// The first difference of two runs.
#[derive(PartialEq, Eq)]
enum First {
    Nowhere,
    /// The original crashed or hung there, which is no difference of ours.
    OriginalEnds(u32),
    At(u32, String, String),
}

fn first_difference(original: &RunOutput, ours: &RunOutput) -> First {
    let last = original.steps.keys().next_back().copied().unwrap_or(0);
    for (&step, text) in &original.steps {
        if original.status != "0" && step == last {
            return First::OriginalEnds(step);
        }
        let other =
            ours.steps.get(&step).cloned().unwrap_or_else(|| format!("(status {})", ours.status));
        if *text != other {
            return First::At(step, text.clone(), other);
        }
    }
    if ours.status != original.status {
        return First::At(
            last,
            format!("(status {})", original.status),
            format!("(status {})", ours.status),
        );
    }
    First::Nowhere
}

struct Both {
    original: Side,
    ours: Side,
    known: Vec<AllowedDifference>,
    /// Differences that were there once and not again.
    unsteady: usize,
}

impl Both {
    fn start(root: &Path, prefix: &Path) -> Result<Self, String> {
        let prefix = prefix.canonicalize().map_err(|e| format!("{}: {e}", prefix.display()))?;
        Ok(Self {
            original: Side::start(root, "original", &prefix)?,
            ours: Side::start(root, "ours", &prefix)?,
            known: known(root)?,
            unsteady: 0,
        })
    }

    fn compare(
        &mut self,
        sequence: &Sequence<'_>,
        left_out: &BTreeSet<u32>,
    ) -> Result<First, String> {
        let original = self.original.run(sequence, left_out)?;
        let ours = self.ours.run(sequence, left_out)?;
        Ok(first_difference(&original, &ours))
    }

    fn is_known(&self, original: &str, ours: &str) -> bool {
        self.known.iter().any(|one| is_like(&one.original, original) && is_like(&one.ours, ours))
    }

    /// Tells what differs in a sequence beside what is known; gives how many steps were left out.
    fn judge(&mut self, sequence: &Sequence<'_>) -> Result<Result<usize, String>, String> {
        let mut left_out = BTreeSet::new();
        for _ in 0..AGAIN_MAX {
            match self.compare(sequence, &left_out)? {
                First::Nowhere => return Ok(Ok(left_out.len())),
                First::OriginalEnds(step) => drop(left_out.insert(step)),
                First::At(step, original, ours) if self.is_known(&original, &ours) => {
                    // The end cannot be left out, and nothing is behind it.
                    if !left_out.insert(step) {
                        return Ok(Ok(left_out.len()));
                    }
                }
                First::At(step, original, ours) => {
                    // Once more, as what comes a moment later differs once.
                    let first = First::At(step, original.clone(), ours.clone());
                    if self.compare(sequence, &left_out)? == first {
                        let text = self.minimise(sequence, left_out, step)?;
                        let whole = format!(
                            "  in the whole sequence: {original}\n  ours:                  {ours}\n"
                        );
                        return Ok(Err(text + &whole));
                    }
                    self.unsteady += 1;
                }
            }
        }
        let Sequence { program, seed } = sequence;
        Ok(Err(format!(
            "{program} {seed}: given up after {AGAIN_MAX} runs, each without a step more\n"
        )))
    }

    /// Leaves out what the difference does not need, and says how to see it.
    fn minimise(
        &mut self,
        sequence: &Sequence<'_>,
        mut left_out: BTreeSet<u32>,
        step: u32,
    ) -> Result<String, String> {
        // The end of the program has a number of its own.
        let last = step.min(STEPS + 1);
        left_out.extend(last + 1..=STEPS);
        let mut tries = MINIMISE_MAX;
        let mut size = last.next_power_of_two() / 2;
        while size > 0 {
            for begin in (1..last).step_by(size as usize) {
                let chunk = (begin..last.min(begin + size)).filter(|one| !left_out.contains(one));
                let chunk: Vec<u32> = chunk.collect();
                if chunk.is_empty() || tries == 0 {
                    continue;
                }
                tries -= 1;
                let mut fewer = left_out.clone();
                fewer.extend(&chunk);
                let found = self.compare(sequence, &fewer)?;
                if matches!(&found, First::At(at, a, b) if *at == step && !self.is_known(a, b)) {
                    left_out = fewer;
                }
            }
            size /= 2;
        }
        let kept = self.original.run(sequence, &left_out)?;
        let other = self.ours.run(sequence, &left_out)?;
        let mut text = format!("{} {}: step {step}\n", sequence.program, sequence.seed);
        for (at, line) in &kept.steps {
            let same = other.steps.get(at).is_some_and(|other| other == line);
            text += &format!("    {at} {line}\n");
            if !same {
                let other = other.steps.get(at).map_or("(nothing)", String::as_str);
                text += &format!("  ! {at} {other}\n");
            }
        }
        Ok(text)
    }
}

/// The programs: C, two tasks, Fortran.
const PROGRAMS: [&str; 3] = ["calls", "pair", "fcalls"];
/// The number of seeds of each program that every check compares, beside a new one.
const CHECKED: u32 = 29;

/// A seed that was hardly ever used before. What differs is printed with it, to be seen again.
pub(crate) fn new_seed() -> u32 {
    // The clock is as good a source as any. Fortran's integers and C's have a sign.
    UNIX_EPOCH.elapsed().map_or(0, |now| (now.as_micros() % 1_000_000_007) as u32)
}

/// The comparison of `make check`: fixed seeds, and a new one.
pub(crate) fn check(root: &Path, prefix: &Path) -> Result<(), String> {
    let new = new_seed();
    println!("the new seed is {new}");
    run(root, prefix, &PROGRAMS, (1..CHECKED + 1).chain([new]))
}

/// The comparison of `make soak` in a round: so many new seeds of each program. None where the
/// original is not installed.
pub(crate) fn new_ones(root: &Path, prefix: &Path, count: u32) -> Result<(), String> {
    let needs = ["/usr/bin/pvmd", "/usr/include/pvm3.h", "gfortran"];
    if let Some(missing) = needs.into_iter().find(|name| !outside::is_there(name)) {
        println!("skipped: random calls beside the original need {missing}");
        return Ok(());
    }
    let first = new_seed();
    println!("random calls: seeds {first} to {}", first + count - 1);
    run(root, prefix, &PROGRAMS, first..first + count)
}

/// Compares sequences; an error if some differ, which are printed, or if there was nothing to
/// compare.
pub(crate) fn run(
    root: &Path,
    prefix: &Path,
    programs: &[&str],
    seeds: impl Iterator<Item = u32>,
) -> Result<(), String> {
    let mut both = Both::start(root, prefix)?;
    let (mut compared, mut left_out, mut differ) = (0, 0, 0);
    for (seed, program) in seeds.flat_map(|seed| programs.iter().map(move |one| (seed, one))) {
        match both.judge(&Sequence { program, seed })? {
            Ok(steps) => left_out += steps,
            Err(text) => {
                differ += 1;
                print!("{text}");
            }
        }
        compared += 1;
    }
    println!(
        "{compared} sequences of {STEPS} calls, {left_out} calls left out, {} differences not seen \
         again, {differ} differ",
        both.unsteady
    );
    match (compared, differ) {
        (0, _) => Err("no sequence was compared".to_owned()),
        (_, 0) => Ok(()),
        _ => Err(format!("{differ} sequences of random calls differ from the original's")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(steps: &[(u32, &str)], status: &str) -> RunOutput {
        let steps = steps.iter().map(|&(step, text)| (step, text.to_owned())).collect();
        RunOutput { steps, status: status.to_owned() }
    }

    #[test]
    fn the_first_difference_is_found_and_the_originals_end_is_none_of_ours() {
        let original = told(&[(1, "a"), (2, "b")], "0");
        assert!(first_difference(&original, &told(&[(1, "a"), (2, "b")], "0")) == First::Nowhere);
        let at = First::At(2, "b".into(), "c".into());
        assert!(first_difference(&original, &told(&[(1, "a"), (2, "c")], "0")) == at);
        let crashed = First::At(2, "b".into(), "(status 139)".into());
        assert!(first_difference(&original, &told(&[(1, "a")], "139")) == crashed);
        let died = told(&[(1, "a"), (2, "b")], "142");
        assert!(
            first_difference(&died, &told(&[(1, "a"), (2, "c")], "0")) == First::OriginalEnds(2)
        );
    }

    #[test]
    fn a_star_stands_for_anything_and_ids_are_hidden() {
        assert!(is_like("upk* = PvmNoData*", "upkint 5 0 = PvmNoData {5a}"));
        assert!(!is_like("upk* = PvmNoData", "upkint 5 0 = PvmNoData {5a}"));
        assert_eq!(without_ids("libpvm [t40002]: x(): to t4"), "libpvm [tX]: x(): to t4");
    }
}
