//! How far the rows of a suite and system lie from themselves if they are measured again.

use super::statistics::{Summary, scatter, student_tail};

/// The square of the standard deviation of the difference of two averages; none if one of them stands on a single value,
/// which says nothing of that.
pub(super) fn variance_of_averages(a: &[f64], b: &[f64]) -> Option<f64> {
    let (a, b) = (Summary::of(a)?, Summary::of(b)?);
    let variance = a.sd.powi(2) / a.count as f64 + b.sd.powi(2) / b.count as f64;
    (a.count.min(b.count) > 1).then_some(variance)
}

/// What is known of many rows that were measured twice.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Noise {
    /// Standard deviation of what lies between the two runs.
    runs: f64,
    /// How many rows tell it.
    rows: usize,
}

impl Noise {
    /// From the differences between the runs: most rows have not changed, and a few wild ones do not count.
    pub(super) fn of(differences: &[f64]) -> Self {
        Self { runs: scatter(differences), rows: differences.len() }
    }

    /// The greater one, if this one stands on few rows.
    pub(super) fn or(self, other: Self, rows_min: usize) -> Self {
        if self.rows < rows_min && other.runs > self.runs { other } else { self }
    }

    /// How likely something as far as `difference` is in a row whose own rounds have this variance. Few rows know
    /// the noise badly, which Student's distribution reckons with.
    pub(super) fn chance_of(self, difference: f64, own: f64) -> f64 {
        let deviation = (self.runs.powi(2) + own).sqrt();
        if deviation > 0.0 {
            student_tail(difference / deviation, self.rows.saturating_sub(1) as f64)
        } else {
            f64::from(difference == 0.0)
        }
    }
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

    #[test]
    fn the_variance_of_averages_comes_from_their_values() {
        let variance = variance_of_averages(&[1.0, 3.0], &[5.0, 5.0]).unwrap();
        assert!((variance - 1.0).abs() < 1e-12);
        assert_eq!(variance_of_averages(&[1.0], &[5.0, 5.0]), None);
        let still = Noise::of(&[0.0; 9]);
        assert_eq!((still.chance_of(0.0, 0.0), still.chance_of(0.1, 0.0)), (1.0, 0.0));
    }
}
