//! The line of a clock relative to another one, from comparisons with known errors.

/// A comparison, seen from the host whose line it is for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    pub(super) at: u64,
    pub(super) offset: i64,
    pub(super) error: u64,
}

/// A clock relative to another one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    pub(super) at: u64,
    pub(super) offset: i64,
    pub(super) drift: f64,
    pub(super) error: u64,
}

/// The largest drift between clocks that kernels steer: twice 500 ppm.
const DRIFT_MAX: f64 = 1e-3;

/// A line, given by its values at the first and at the last comparison.
type Ends = (f64, f64);

/// The line that all comparisons allow: one without drift if there is one, otherwise the middle
/// one. Its error covers all allowed lines, and so the clock itself as long as its rate is
/// constant. If no line is allowed, the line is fitted.
pub(super) fn line(samples: &[Sample]) -> Line {
    allowed(samples).unwrap_or_else(|| fitted(samples))
}

/// None if no line goes through all comparisons.
fn allowed(samples: &[Sample]) -> Option<Line> {
    let first = *samples.iter().min_by_key(|sample| sample.at)?;
    let last = samples.iter().map(|sample| sample.at).max()?;
    // Comparisons within a millisecond do not show the drift.
    let span = (last - first.at).max(1_000_000) as f64;
    let widest = samples.iter().map(|sample| spread(sample, &first).1.abs()).fold(0.0, f64::max);
    let far = widest + span * DRIFT_MAX + 1.0;
    let mut lines = vec![(-far, -far), (far, -far), (far, far), (-far, far)];
    let most = (last - first.at) as f64 * DRIFT_MAX;
    cut(&mut lines, |(begin, end)| most - (end - begin));
    cut(&mut lines, |(begin, end)| most + (end - begin));
    for sample in samples {
        let part = (sample.at - first.at) as f64 / span;
        let height = |(begin, end): Ends| begin + (end - begin) * part;
        let (low, high) = spread(sample, &first);
        cut(&mut lines, |ends| height(ends) - low);
        cut(&mut lines, |ends| high - height(ends));
    }
    let level = middle_of(samples.iter().map(|sample| spread(sample, &first)));
    let (begin, end) = match level {
        Some(level) => (level, level),
        None => {
            (middle(lines.iter().map(|ends| ends.0))?, middle(lines.iter().map(|ends| ends.1))?)
        }
    };
    let off = |ends: &Ends| (ends.0 - begin).abs().max((ends.1 - end).abs());
    let error = lines.iter().map(off).reduce(f64::max)?;
    Some(Line {
        at: first.at,
        offset: first.offset.saturating_add(begin.round() as i64),
        drift: (end - begin) / span * 1e9,
        // One nanosecond more for the rounding.
        error: error.ceil() as u64 + 1,
    })
}

/// The bounds of the offset, relative to the offset of the first comparison.
fn spread(sample: &Sample, first: &Sample) -> (f64, f64) {
    let offset = (i128::from(sample.offset) - i128::from(first.offset)) as f64;
    (offset - sample.error as f64, offset + sample.error as f64)
}

/// Keeps the part of a convex polygon on one side of a line, where `inside` is not negative.
fn cut(corners: &mut Vec<Ends>, inside: impl Fn(Ends) -> f64) {
    let all = std::mem::take(corners);
    for (place, corner) in all.iter().enumerate() {
        let next = all[(place + 1) % all.len()];
        let (here, there) = (inside(*corner), inside(next));
        if here >= 0.0 {
            corners.push(*corner);
        }
        if here.min(there) < 0.0 && here.max(there) > 0.0 {
            let part = here / (here - there);
            corners.push((
                corner.0 + (next.0 - corner.0) * part,
                corner.1 + (next.1 - corner.1) * part,
            ));
        }
    }
}

/// The middle of the intersection of these intervals; none if it is empty.
fn middle_of(mut spreads: impl Iterator<Item = (f64, f64)>) -> Option<f64> {
    let first = spreads.next()?;
    let (low, high) = spreads.fold(first, |(low, high), one| (low.max(one.0), high.min(one.1)));
    (low <= high).then(|| f64::midpoint(low, high))
}

/// The middle of the smallest and the largest number; none without numbers.
fn middle(all: impl Iterator<Item = f64> + Clone) -> Option<f64> {
    Some(f64::midpoint(all.clone().reduce(f64::min)?, all.reduce(f64::max)?))
}

/// The line fitted to all comparisons, each weighted by its error; the error of the line covers the
/// worst one.
fn fitted(samples: &[Sample]) -> Line {
    let first = samples[0];
    let mut sums = [0.0; 5];
    for sample in samples {
        let x = sample.at as f64 - first.at as f64;
        let y = sample.offset as f64 - first.offset as f64;
        let weight = 1.0 / (sample.error as f64 + 1.0).powi(2);
        for (sum, more) in sums.iter_mut().zip([1.0, x, y, x * x, x * y]) {
            *sum += weight * more;
        }
    }
    let [w, x, y, xx, xy] = sums;
    let spread = w * xx - x * x;
    // Two comparisons at nearly one time do not show the drift.
    let drift = if spread > w * w * 1e6 { (w * xy - x * y) / spread } else { 0.0 };
    let begin = (y - drift * x) / w;
    let worst = samples.iter().map(|sample| {
        let x = sample.at as f64 - first.at as f64;
        let off = (sample.offset as f64 - first.offset as f64) - begin - drift * x;
        sample.error.saturating_add(off.abs().ceil() as u64)
    });
    let error = worst.max().unwrap_or(0).saturating_add(1);
    let offset = first.offset.saturating_add(begin.round() as i64);
    Line { at: first.at, offset, drift: drift * 1e9, error }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Comparisons every 50 ms of a clock that is ahead by this much and drifts; most answers are
    /// late, in either direction.
    fn compared(ahead: i64, drift_ppm: i64, count: u64) -> Vec<Sample> {
        let mut dice = 7u64;
        let mut late = || {
            dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            // From 20 us to 20 ms.
            20_000 << ((dice >> 33) % 11)
        };
        let sample = |number: u64| {
            let at = 1_000_000_000 + number * 50_000_000;
            let truth = ahead + (at - 1_000_000_000).cast_signed() * drift_ppm / 1_000_000;
            let (there, back) = (late(), late());
            let offset = truth + (there - back) / 2;
            Sample { at, offset, error: ((there + back) / 2).cast_unsigned() + 1 }
        };
        (0..count).map(sample).collect()
    }

    fn off(line: &Line, at: u64, truth: i64) -> u64 {
        let drifted = (at - line.at) as f64 * line.drift / 1e9;
        (line.offset + drifted.round() as i64).abs_diff(truth)
    }

    #[test]
    fn one_late_answer_made_the_stated_error_that_of_the_worst_one() {
        for (ahead, drift) in [(0, 0), (100_000_000_000, 40), (-5_000_000, -300)] {
            let samples = compared(ahead, drift, 200);
            let worst = samples.iter().map(|sample| sample.error).max().unwrap_or(0);
            let best = samples.iter().map(|sample| sample.error).min().unwrap_or(0);
            let line = line(&samples);
            assert!(line.error < 3 * best && worst > 100 * line.error, "{line:?}: {best}, {worst}");
            for sample in &samples {
                let truth = ahead + (sample.at - 1_000_000_000).cast_signed() * drift / 1_000_000;
                assert!(off(&line, sample.at, truth) <= line.error, "{line:?}");
            }
        }
    }

    #[test]
    fn a_clock_that_jumps_is_told_with_an_error_that_covers_the_jump() {
        let (before, after) = (compared(1000, 0, 40), compared(80_001_000, 0, 80));
        let samples: Vec<Sample> = before.iter().chain(&after[40..]).copied().collect();
        let line = line(&samples);
        for (number, sample) in samples.iter().enumerate() {
            let truth = if number < 40 { 1000 } else { 80_001_000 };
            assert!(off(&line, sample.at, truth) <= line.error, "{number}: {line:?}");
        }
    }

    #[test]
    fn few_comparisons_say_what_they_can() {
        let one = Sample { at: 5, offset: i64::MIN, error: 70 };
        assert!((70..100).contains(&line(&[one]).error));
        let other = Sample { at: u64::MAX, offset: i64::MAX, error: u64::MAX };
        let _ = line(&[one, other]);
        let narrow = Sample { at: 2_000_000_005, offset: i64::MIN + 20, error: 10 };
        let both = line(&[one, narrow]);
        assert!((10..=92).contains(&both.error), "{both:?}");
    }
}
