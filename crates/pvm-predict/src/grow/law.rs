//! Curves over the number of tasks through the values of recordings.

use super::sketch::Deed;
use std::collections::BTreeMap;

/// The measured sizes and times of one deed of a role.
#[derive(Clone, Debug, Default)]
pub(super) struct Samples {
    /// By number of tasks and step of a short row: the sum of bytes, and the number of deeds.
    bytes: BTreeMap<(u32, u32), (f64, f64)>,
    /// By number of tasks, and separately for the first step of a row: the sums of times, and the
    /// number of deeds.
    spent: BTreeMap<(u32, bool), ([f64; 4], f64)>,
}

impl Samples {
    /// Adds a measured deed; `step` is 0 in a row whose steps have equal sizes.
    pub(super) fn add(&mut self, (tasks, step): (u32, u32), is_first: bool, deed: &Deed) {
        let seen = self.bytes.entry((tasks, step)).or_default();
        *seen = (seen.0 + deed.bytes as f64, seen.1 + 1.0);
        let spent = &deed.spent;
        let (times, count) = self.spent.entry((tasks, is_first)).or_default();
        let all = [spent.idle, spent.computing, spent.calls, spent.own];
        times.iter_mut().zip(all).for_each(|(sum, time)| *sum += time.0 as f64);
        *count += 1.0;
    }

    /// The sums of computing in picoseconds and of bytes in a recording.
    pub(super) fn seen(&self, tasks: u32) -> (f64, f64) {
        let bytes = self.bytes.range((tasks, 0)..=(tasks, u32::MAX)).map(|(_, (sum, _))| sum).sum();
        let spent = self.spent.range((tasks, false)..=(tasks, true));
        (spent.map(|(_, (times, _))| times[1]).sum(), bytes)
    }

    /// The curve of the sizes, from recordings of fewer than `below` tasks, or from all if there
    /// are none.
    pub(super) fn bytes(&self, below: u32) -> Law {
        let below = self.bytes.keys().next().map_or(below, |(tasks, _)| below.max(tasks + 1));
        let seen = self.bytes.iter().filter(|((tasks, _), _)| *tasks < below);
        let points =
            seen.map(|((tasks, step), (sum, count))| Point::of(*tasks, *step, sum / count));
        Law::of_sizes(&points.collect::<Vec<_>>())
    }

    /// The curves of the times in the first step of a row, or in the other steps.
    pub(super) fn times(&self, below: u32, is_first: bool) -> [Law; 4] {
        let seen = self.spent.iter().filter(|((_, first), _)| *first == is_first);
        let below = seen.clone().next().map_or(below, |((tasks, _), _)| below.max(tasks + 1));
        let seen = seen.filter(|((tasks, _), _)| *tasks < below);
        [0, 1, 2, 3].map(|which| {
            let points = seen
                .clone()
                .map(|((tasks, _), (sums, count))| Point::of(*tasks, 0, sums[which] / count));
            Law::of_times(&points.collect::<Vec<_>>())
        })
    }
}

/// A measured value.
#[derive(Clone, Copy, Debug)]
struct Point {
    tasks: f64,
    step: f64,
    value: f64,
}

impl Point {
    fn of(tasks: u32, step: u32, value: f64) -> Self {
        Self { tasks: f64::from(tasks), step: f64::from(step), value }
    }
}

/// A curve.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Law {
    /// `factor * tasks^power * growth^step`
    Power { factor: f64, power: f64, growth: f64 },
    /// `fixed + slope * term(tasks)`
    Line { fixed: f64, slope: f64, term: Term },
}

/// The term of a line.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Term {
    Tasks,
    Share,
    /// The square of the share.
    Square,
}

impl Term {
    const ALL: [Self; 3] = [Self::Share, Self::Tasks, Self::Square];

    fn at(self, tasks: f64) -> f64 {
        match self {
            Self::Tasks => tasks,
            Self::Share => 1.0 / tasks,
            Self::Square => 1.0 / (tasks * tasks),
        }
    }
}

/// The curves are tried in order, the plainest first. A later curve is taken only if its error is
/// smaller by this factor.
const WORTH: f64 = 0.5;
/// Errors below this come from rounding sizes to whole items.
const EXACT: f64 = 1e-4;

impl Law {
    pub(super) const NONE: Self = Self::constant(0.0);

    const fn constant(value: f64) -> Self {
        Self::Power { factor: value, power: 0.0, growth: 1.0 }
    }

    pub(super) fn at(&self, tasks: u32, step: u32) -> f64 {
        let tasks = f64::from(tasks);
        let value = match *self {
            Self::Power { factor, power, growth } => {
                factor * tasks.powf(power) * growth.powf(f64::from(step))
            }
            Self::Line { fixed, slope, term } => fixed + slope * term.at(tasks),
        };
        value.max(0.0)
    }

    /// The curve of sizes. Sizes are exact, so the first curve that meets all of them is taken.
    fn of_sizes(points: &[Point]) -> Self {
        let mean = mean(points);
        let lines = Term::ALL.iter().filter_map(|term| Self::line(points, *term));
        let all = [Some(Self::constant(mean)), Self::power(points)];
        Self::best(points, all.into_iter().flatten().chain(lines))
    }

    /// The curve of times. Times vary, so a curve must not fall below 0, nor bend more than the
    /// measured values show.
    fn of_times(points: &[Point]) -> Self {
        let is_sound = |law: &Self| match law {
            Self::Line { fixed, slope, .. } => *fixed >= 0.0 && *slope >= 0.0,
            Self::Power { .. } => true,
        };
        let lines = Term::ALL.iter().filter_map(|term| Self::line(points, *term));
        let shares = Term::ALL.iter().filter_map(|term| Self::share(points, *term));
        let all = [Self::constant(mean(points))].into_iter().chain(shares);
        Self::best(points, all.chain(lines.filter(is_sound)))
    }

    fn best(points: &[Point], all: impl Iterator<Item = Self>) -> Self {
        let mut best = (Self::NONE, f64::INFINITY);
        for law in all {
            let error = law.error(points);
            if error + EXACT * EXACT < best.1 * WORTH {
                best = (law, error);
            }
        }
        best.0
    }

    /// The mean square of relative errors.
    fn error(&self, points: &[Point]) -> f64 {
        let least = points.iter().map(|point| point.value).fold(0.0, f64::max) / 1000.0;
        let errors = points.iter().map(|point| {
            let told = self.at(point.tasks as u32, point.step as u32);
            let base = point.value.max(least);
            if base > 0.0 { ((told - point.value) / base).powi(2) } else { 0.0 }
        });
        errors.sum::<f64>() / points.len().max(1) as f64
    }

    /// A power of the number of tasks, and of a factor for each step.
    fn power(points: &[Point]) -> Option<Self> {
        if points.iter().any(|point| point.value <= 0.0) {
            return None;
        }
        let (mut sums, mut right) = ([[0.0; 3]; 3], [0.0; 3]);
        for point in points {
            let row = [1.0, point.tasks.ln(), point.step];
            for (place, factor) in row.iter().enumerate() {
                right[place] += factor * point.value.ln();
                sums[place].iter_mut().zip(row).for_each(|(sum, other)| *sum += factor * other);
            }
        }
        let [fixed, power, growth] = solve(sums, right)?;
        Some(Self::Power { factor: fixed.exp(), power, growth: growth.exp() })
    }

    /// A line with the least relative errors.
    fn line(points: &[Point], term: Term) -> Option<Self> {
        let (mut sums, mut right) = ([[0.0; 3]; 3], [0.0; 3]);
        for point in points {
            let weight = weight(points, point);
            let row = [1.0, term.at(point.tasks), 0.0];
            for (place, factor) in row.iter().enumerate() {
                right[place] += weight * factor * point.value;
                let each = sums[place].iter_mut().zip(row);
                each.for_each(|(sum, other)| *sum += weight * factor * other);
            }
        }
        let [fixed, slope, _] = solve(sums, right)?;
        Some(Self::Line { fixed, slope, term })
    }

    /// A line through 0.
    fn share(points: &[Point], term: Term) -> Option<Self> {
        let (mut sum, mut right) = (0.0, 0.0);
        for point in points {
            let (weight, at) = (weight(points, point), term.at(point.tasks));
            sum += weight * at * at;
            right += weight * at * point.value;
        }
        (sum > 0.0).then(|| Self::Line { fixed: 0.0, slope: right / sum, term })
    }
}

fn mean(points: &[Point]) -> f64 {
    points.iter().map(|point| point.value).sum::<f64>() / points.len().max(1) as f64
}

fn weight(points: &[Point], point: &Point) -> f64 {
    let least = points.iter().map(|point| point.value).fold(0.0, f64::max) / 1000.0;
    let base = point.value.max(least);
    if base > 0.0 { 1.0 / (base * base) } else { 1.0 }
}

/// Solves three equations by elimination. An unknown that no equation determines is 0.
fn solve(mut sums: [[f64; 3]; 3], mut right: [f64; 3]) -> Option<[f64; 3]> {
    let scale: [f64; 3] = [0, 1, 2].map(|place| sums[place][place].max(f64::MIN_POSITIVE));
    let mut known = [false; 3];
    for place in 0..3 {
        let pivot = sums[place][place];
        if pivot <= scale[place] * 1e-9 {
            continue;
        }
        known[place] = true;
        for other in (0..3).filter(|other| *other != place) {
            let factor = sums[other][place] / pivot;
            let row = sums[place];
            sums[other].iter_mut().zip(row).for_each(|(one, two)| *one -= factor * two);
            right[other] -= factor * right[place];
        }
    }
    let found =
        [0, 1, 2].map(|place| if known[place] { right[place] / sums[place][place] } else { 0.0 });
    found.iter().all(|number| number.is_finite()).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn law(values: &[(u32, u32, f64)]) -> Law {
        let points = values.iter().map(|(tasks, step, value)| Point::of(*tasks, *step, *value));
        Law::of_sizes(&points.collect::<Vec<_>>())
    }

    #[test]
    fn sizes_that_halve_grow_or_stay_are_met() {
        let halves = law(&[(2, 0, 4096.0), (4, 0, 2048.0), (8, 0, 1024.0)]);
        assert_eq!(halves.at(16, 0).round() as u64, 512);
        let list = law(&[(2, 0, 12.0), (4, 0, 20.0), (8, 0, 36.0)]);
        assert_eq!(list.at(16, 0).round() as u64, 68);
        assert_eq!(law(&[(4, 0, 8.0), (9, 0, 8.0), (16, 0, 8.0)]).at(25, 0), 8.0);
        assert_eq!(law(&[(4, 0, 0.0), (9, 0, 0.0)]).at(25, 0), 0.0);
    }

    #[test]
    fn the_sizes_of_a_hypercube_double_with_each_step() {
        let doubled = law(&[
            (2, 0, 5600.0),
            (4, 0, 2800.0),
            (4, 1, 5600.0),
            (8, 0, 1400.0),
            (8, 1, 2800.0),
            (8, 2, 5600.0),
        ]);
        let told: Vec<u64> = (0..4).map(|step| doubled.at(16, step).round() as u64).collect();
        assert_eq!(told, [700, 1400, 2800, 5600]);
    }

    #[test]
    fn times_never_fall_below_none() {
        let points = [(2, 10.0), (4, 5.1), (8, 2.4)];
        let points = points.map(|(tasks, value)| Point::of(tasks, 0, value));
        let told = Law::of_times(&points).at(16, 0);
        assert!((1.0..1.5).contains(&told), "{told}");
    }
}
