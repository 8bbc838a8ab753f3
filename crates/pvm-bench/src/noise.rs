//! The noise of the rows of a suite and system: their distance from themselves if they are measured
//! again.

use super::statistics::{Summary, median, scatter, student_tail};

/// One of ten rows may be wild, or may have changed: it does not tell what the others do by
/// themselves.
const WILD: usize = 10;

/// The square of the standard deviation of the difference of two averages; none if one of them
/// is of a single value, which has no deviation.
pub(super) fn variance_of_averages(a: &[f64], b: &[f64]) -> Option<f64> {
    let (a, b) = (Summary::of(a)?, Summary::of(b)?);
    let variance = a.sd.powi(2) / a.count as f64 + b.sd.powi(2) / b.count as f64;
    (a.count.min(b.count) > 1).then_some(variance)
}

/// The statistics of many rows that were measured twice.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Noise {
    /// The standard deviation of the differences between the two runs.
    runs: f64,
    /// The number of rows from which it is known.
    rows: usize,
}

impl Noise {
    /// From the differences between the runs: most rows have not changed, and a few wild ones do
    /// not count. What the middle of the rows scatters says too little where more than a few lie
    /// far out, as they do: a process gets other pages and other turns each time it is started.
    pub(super) fn of(differences: &[f64]) -> Self {
        Self {
            runs: scatter(differences).max(tame_deviation(differences)),
            rows: differences.len(),
        }
    }

    /// The greater one, if this one stands on few rows.
    pub(super) fn or(self, other: Self, rows_min: usize) -> Self {
        if self.rows < rows_min && other.runs > self.runs { other } else { self }
    }

    /// The probability of a distance of at least `difference` in a row whose own rounds have this
    /// variance. Few rows know the noise badly, which Student's distribution takes into account.
    pub(super) fn chance_of(self, difference: f64, own: f64) -> f64 {
        let deviation = (self.runs.powi(2) + own).sqrt();
        if deviation > 0.0 {
            student_tail(difference / deviation, self.rows.saturating_sub(1) as f64)
        } else {
            f64::from(difference == 0.0)
        }
    }
}

/// The standard deviation of all but the wildest tenth, about the median.
fn tame_deviation(values: &[f64]) -> f64 {
    let Some(middle) = median(values) else { return 0.0 };
    let mut squares: Vec<f64> = values.iter().map(|value| (value - middle).powi(2)).collect();
    squares.sort_unstable_by(f64::total_cmp);
    squares.truncate(squares.len() - squares.len().div_ceil(WILD));
    Summary::of(&squares).map_or(0.0, |all| all.mean.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_few_rows_say_counts_less() {
        let few = Noise { runs: 1.0, rows: 3 };
        let many = Noise { runs: 1.0, rows: 200 };
        assert!(few.chance_of(4.0, 0.0) > 0.05 && many.chance_of(-4.0, 0.0) < 0.001);
        assert!(many.chance_of(4.0, 3.0) > 0.04);
        assert_eq!(few.or(many, 8), few);
        assert_eq!(few.or(Noise { runs: 2.0, ..many }, 8).rows, 200);
        assert_eq!(many.or(Noise { runs: 2.0, ..few }, 8), many);
    }

    /// Open MPI's echo in two quick runs of a quiet computer: the bests of 25 rows, as logarithms
    /// of their ratios. Two of them were called changed, as half of all lie within a twentieth of
    /// each other, which says little of the rest.
    #[test]
    fn rows_that_lie_far_out_are_part_of_the_noise_if_they_are_many() {
        let rows = [
            -0.237, -0.194, -0.043, -0.01, -0.01, -0.007, -0.003, -0.003, -0.002, -0.002, 0.0,
            0.021, 0.027, 0.035, 0.037, 0.054, 0.1, 0.136, 0.16, 0.185, 0.215, 0.231, 0.266, 0.288,
            0.312,
        ];
        assert!(Noise::of(&rows).chance_of(0.312, 0.0) > 0.005);
        let mut changed = rows.map(|row| row / 8.0);
        changed[24] = 0.312;
        assert!(Noise::of(&changed).chance_of(0.312, 0.0) < 1e-6, "and one alone is not");
    }

    #[test]
    fn the_variance_of_averages_comes_from_their_values() {
        let variance = variance_of_averages(&[1.0, 3.0], &[5.0, 5.0]).unwrap();
        assert!((variance - 1.0).abs() < 1e-12);
        assert_eq!(variance_of_averages(&[1.0], &[5.0, 5.0]), None);
        let still = Noise::of(&[0.0; 9]);
        assert_eq!((still.chance_of(0.0, 0.0), still.chance_of(0.1, 0.0)), (1.0, 0.0));
    }
}
