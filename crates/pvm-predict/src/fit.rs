//! Lines with breaks through measured times: the time of a message as a function of its size, with
//! intervals.

use crate::kernel::Dice;

/// A size, and the times measured for it.
#[derive(Clone, PartialEq, Debug)]
pub struct Seen {
    /// Bytes of a message.
    pub bytes: u64,
    /// The times in seconds: one for each try, at least one.
    pub times: Vec<f64>,
}

impl Seen {
    /// The median of the times.
    pub fn median(&self) -> f64 {
        median(&mut self.times.clone())
    }
}

/// A number with its interval of 95 %.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Estimate {
    /// The number that fits all measured times best.
    pub value: f64,
    /// The low end.
    pub low: f64,
    /// The high end.
    pub high: f64,
}

/// A line between two breaks.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Piece {
    /// The smallest measured size of the piece.
    pub from: u64,
    /// The largest measured size of the piece.
    pub to: u64,
    /// The time of a message without data, in seconds. For a piece of large sizes this is where its
    /// line meets size 0, which may be below 0.
    pub latency: Estimate,
    /// The time of a byte, in seconds.
    pub byte: Estimate,
}

impl Piece {
    /// The time of a message of this size, by the line.
    pub fn at(&self, bytes: u64) -> f64 {
        self.latency.value + self.byte.value * bytes as f64
    }
}

/// The fewest sizes of a piece: a line through two sizes would fit any times.
const PIECE_MIN: usize = 3;
/// A further break is used only if it lessens the sum of squares by this factor.
const WORTH: f64 = 0.5;
/// Pieces at most.
const PIECES_MAX: usize = 4;
/// The number of times that samples are redrawn for an interval.
const DRAWS: usize = 200;
/// The relative precision of times. Without it, times without noise would justify breaks without
/// end.
const EXACT: f64 = 1e-4;

/// The shortest time, in seconds. A time of 0 would make the relative error infinite.
const SHORTEST: f64 = 1e-12;

/// Fits lines with breaks through measured times, given by ascending size. The sum of squared
/// relative errors is least. Intervals come from redrawn times (bootstrap) with a fixed seed.
pub fn pieces(seen: &[Seen]) -> Vec<Piece> {
    let points: Vec<Point> = seen.iter().map(|one| (one.bytes as f64, one.median())).collect();
    if points.is_empty() {
        return Vec::new();
    }
    let ends = breaks(&points);
    let plain = lines(&points, &ends);
    let mut drawn = vec![(Vec::new(), Vec::new()); plain.len()];
    let mut dice = Dice::new(1, 0);
    for _ in 0..DRAWS {
        let again: Vec<Point> =
            seen.iter().map(|one| (one.bytes as f64, redrawn(one, &mut dice))).collect();
        for ((latencies, bytes), (latency, byte)) in drawn.iter_mut().zip(lines(&again, &ends)) {
            latencies.push(latency);
            bytes.push(byte);
        }
    }
    let begins = [0].into_iter().chain(ends.iter().copied());
    let ranges = begins.zip(ends.iter().map(|end| end - 1));
    let estimates = plain.into_iter().zip(drawn);
    ranges
        .zip(estimates)
        .map(|((first, last), ((latency, byte), (mut latencies, mut bytes)))| Piece {
            from: seen[first].bytes,
            to: seen[last].bytes,
            latency: estimate(latency, &mut latencies),
            byte: estimate(byte, &mut bytes),
        })
        .collect()
}

/// The median of some numbers, with its interval of 95 % from redrawn numbers.
pub fn median_of(times: &[f64]) -> Estimate {
    let seen = Seen { bytes: 0, times: times.to_vec() };
    let mut dice = Dice::new(1, 0);
    let mut drawn: Vec<f64> = (0..DRAWS).map(|_| redrawn(&seen, &mut dice)).collect();
    estimate(seen.median(), &mut drawn)
}

/// A size in bytes and a time in seconds.
type Point = (f64, f64);

/// The ends of pieces: the number of points up to each end.
fn breaks(points: &[Point]) -> Vec<usize> {
    let most = (points.len() / PIECE_MIN).clamp(1, PIECES_MAX);
    let (mut ends, mut sum) = best(points, 1);
    for pieces in 2..=most {
        let (finer, less) = best(points, pieces);
        if less > sum * WORTH {
            break;
        }
        (ends, sum) = (finer, less);
    }
    ends
}

/// The ends of this many pieces for which the sum of squares is least, and that sum.
fn best(points: &[Point], pieces: usize) -> (Vec<usize>, f64) {
    if pieces == 1 {
        return (vec![points.len()], squares(points));
    }
    let before = (pieces - 1) * PIECE_MIN;
    let mut found = (vec![points.len()], f64::INFINITY);
    for cut in before..=points.len() - PIECE_MIN {
        let (mut ends, mut sum) = best(&points[..cut], pieces - 1);
        sum += squares(&points[cut..]);
        if sum < found.1 {
            ends.push(points.len());
            found = (ends, sum);
        }
    }
    found
}

/// The sum of squared relative errors of the best line.
fn squares(points: &[Point]) -> f64 {
    let (latency, byte) = line(points);
    let off = |(bytes, time): &Point| (latency + byte * bytes - time) / time.max(SHORTEST);
    points.iter().map(|point| off(point).powi(2).max(EXACT * EXACT)).sum()
}

fn lines(points: &[Point], ends: &[usize]) -> Vec<(f64, f64)> {
    let begins = [0].into_iter().chain(ends.iter().copied());
    begins.zip(ends).map(|(begin, end)| line(&points[begin..*end])).collect()
}

/// The latency and the time of a byte with the least squared relative errors. The time of a byte is
/// not negative.
fn line(points: &[Point]) -> (f64, f64) {
    let mut sums = [0.0; 5];
    for (bytes, time) in points {
        let weight = 1.0 / time.max(SHORTEST).powi(2);
        let terms = [1.0, *bytes, bytes * bytes, *time, bytes * time];
        sums.iter_mut().zip(terms).for_each(|(sum, term)| *sum += weight * term);
    }
    let [one, x, xx, y, xy] = sums;
    let below = one * xx - x * x;
    let byte = if below > 1e-12 * one * xx { (one * xy - x * y) / below } else { 0.0 };
    let byte = byte.max(0.0);
    ((y - byte * x) / one, byte)
}

/// The median of as many times as were measured, each redrawn from them.
fn redrawn(seen: &Seen, dice: &mut Dice) -> f64 {
    let count = seen.times.len() as u64;
    let mut drawn: Vec<f64> = (0..count).map(|_| seen.times[dice.below(count) as usize]).collect();
    median(&mut drawn)
}

fn estimate(value: f64, drawn: &mut [f64]) -> Estimate {
    drawn.sort_by(f64::total_cmp);
    let at = |share: f64| drawn[((drawn.len() - 1) as f64 * share).round() as usize];
    Estimate { value, low: at(0.025).min(value), high: at(0.975).max(value) }
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    let half = times.len() / 2;
    if times.len().is_multiple_of(2) { (times[half - 1] + times[half]) / 2.0 } else { times[half] }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(bytes: u64, times: &[f64]) -> Seen {
        Seen { bytes, times: times.to_vec() }
    }

    /// 10 us and 1 ns a byte up to 4 KiB, then 40 us and 0.2 ns a byte.
    #[test]
    fn a_break_is_found_where_the_line_changes() {
        let time = |bytes: u64| {
            let (latency, byte) = if bytes <= 4096 { (10e-6, 1e-9) } else { (40e-6, 0.2e-9) };
            latency + byte * bytes as f64
        };
        let all: Vec<Seen> =
            (0..=20).map(|power| 1 << power).map(|bytes| seen(bytes, &[time(bytes)])).collect();
        let found = pieces(&all);
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!((found[0].to, found[1].from), (4096, 8192));
        assert!((found[0].latency.value - 10e-6).abs() < 1e-9, "{found:?}");
        assert!((found[1].byte.value - 0.2e-9).abs() < 1e-13, "{found:?}");
        assert_eq!(found[1].byte.low, found[1].byte.high);
    }

    #[test]
    fn what_is_one_line_has_no_break_and_its_interval_holds_the_truth() {
        let mut dice = Dice::new(7, 1);
        let all: Vec<Seen> = (0..=20)
            .map(|power| {
                let bytes = 1u64 << power;
                let exact = 20e-6 + 1e-9 * bytes as f64;
                let noise = |dice: &mut Dice| 0.95 + 0.1 * dice.below(1000) as f64 / 1000.0;
                seen(bytes, &(0..31).map(|_| exact * noise(&mut dice)).collect::<Vec<_>>())
            })
            .collect();
        let found = pieces(&all);
        let [piece] = found.as_slice() else { panic!("{found:?}") };
        assert!(piece.latency.low < 20e-6 && 20e-6 < piece.latency.high, "{piece:?}");
        assert!(piece.byte.low < 1e-9 && 1e-9 < piece.byte.high, "{piece:?}");
        assert!(piece.latency.high - piece.latency.low < 2e-6, "{piece:?}");
    }

    #[test]
    fn few_sizes_no_times_and_equal_sizes_make_no_nonsense() {
        assert!(pieces(&[]).is_empty());
        let one = pieces(&[seen(8, &[3.0, 1.0, 2.0])]);
        assert_eq!((one[0].latency.value, one[0].byte.value), (2.0, 0.0));
        let none = pieces(&[seen(0, &[0.0]), seen(0, &[0.0])]);
        assert!(none[0].at(5).is_finite(), "{none:?}");
        // Times that fall with the size give a byte no time.
        assert_eq!(pieces(&[seen(1, &[2.0]), seen(100, &[1.0])])[0].byte.value, 0.0);
        assert_eq!(median_of(&[1.0, 4.0]).value, 2.5);
    }
}
