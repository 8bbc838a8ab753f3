//! Statistics of many measurements of one thing: the only place where figures are worked out.

use serde::{Deserialize, Serialize};

/// Statistics of the measurements of one row, in their unit. Iterations count from 0, as in the
/// seed's tables.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Summary {
    /// The number of values.
    pub(crate) count: usize,
    /// Their average.
    pub(crate) mean: f64,
    /// The middle one; of two, their average.
    pub(crate) median: f64,
    /// The smallest.
    pub(crate) min: f64,
    /// The largest.
    pub(crate) max: f64,
    /// Standard deviation of the sample (divided by count - 1); 0 of a single one.
    pub(crate) sd: f64,
    /// The index of the smallest value.
    pub(crate) min_at: usize,
    /// The index of the largest value.
    pub(crate) max_at: usize,
}

impl Summary {
    /// The summary of these values; none for no values.
    pub(crate) fn of(values: &[f64]) -> Option<Self> {
        let count = values.len();
        let by_value =
            |a: &(usize, &f64), b: &(usize, &f64)| a.1.total_cmp(b.1).then(b.0.cmp(&a.0));
        let (max_at, &max) = values.iter().enumerate().max_by(by_value)?;
        let (min_at, &min) = values.iter().enumerate().min_by(|a, b| a.1.total_cmp(b.1))?;
        let mean = values.iter().sum::<f64>() / count as f64;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let sd = if count > 1 { (squares / (count - 1) as f64).sqrt() } else { 0.0 };
        Some(Self { count, mean, median: median(values)?, min, max, sd, min_at, max_at })
    }
}

/// The middle one; of two, their average.
pub(crate) fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    let high = *sorted.get(middle)?;
    Some(if sorted.len() % 2 == 1 { high } else { f64::midpoint(sorted[middle - 1], high) })
}

/// The value below which `part` (0 to 1) of them lie, between two of them where it falls between.
pub(crate) fn quantile(values: &[f64], part: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().checked_sub(1)?;
    let place = part.clamp(0.0, 1.0) * last as f64;
    let low = place.floor() as usize;
    let high = (low + 1).min(last);
    Some(sorted[low] + (sorted[high] - sorted[low]) * (place - low as f64))
}

/// The distance of values from their middle, as a standard deviation that a few outliers do not
/// change: 1.4826 times the median of the distances from the median (Hampel).
pub(crate) fn scatter(values: &[f64]) -> f64 {
    let Some(middle) = median(values) else { return 0.0 };
    let distances: Vec<f64> = values.iter().map(|value| (value - middle).abs()).collect();
    1.4826 * median(&distances).unwrap_or(0.0)
}

/// The probability that a value of Student's distribution with so many degrees of freedom lies at
/// least so many deviations from 0, on either side. With `t = sqrt(freedom) tan(angle)` that is a
/// ratio of two integrals over powers of the cosine.
pub(crate) fn student_tail(deviations: f64, freedom: f64) -> f64 {
    // More than the greatest is the normal distribution, of fewer than one nothing is known.
    let freedom = freedom.clamp(1.0, 1000.0);
    let power = |angle: f64| angle.cos().max(0.0).powf(freedom - 1.0);
    let from = |begin: f64| simpson(begin, std::f64::consts::FRAC_PI_2, power);
    from((deviations.abs() / freedom.sqrt()).atan()) / from(0.0)
}

/// The integral by Simpson's rule.
fn simpson(begin: f64, end: f64, function: impl Fn(f64) -> f64) -> f64 {
    const PAIRS: u32 = 500;
    let step = (end - begin) / f64::from(2 * PAIRS);
    let at = |place: u32| function(begin + step * f64::from(place));
    let sum: f64 =
        (0..PAIRS).map(|pair| at(2 * pair) + 4.0 * at(2 * pair + 1) + at(2 * pair + 2)).sum();
    sum * step / 3.0
}

/// The mean of factors: the root of their product.
pub(crate) fn geometric_mean(factors: &[f64]) -> Option<f64> {
    let logarithms: f64 = factors.iter().map(|factor| factor.ln()).sum();
    (!factors.is_empty()).then(|| (logarithms / factors.len() as f64).exp())
}

/// A message time as a start-up time and a time for each byte: `time = alpha + beta * bytes`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Fit {
    /// Start-up time.
    pub(crate) alpha: f64,
    /// Time for each further byte.
    pub(crate) beta: f64,
}

impl Fit {
    /// Least squares of the relative differences: each (bytes, time) counts alike. With plain least
    /// squares the longest messages, hundreds of times dearer, would decide the start-up time, too.
    pub(crate) fn of(points: &[(f64, f64)]) -> Option<Self> {
        let [mut w, mut wx, mut wy, mut wxx, mut wxy] = [0.0; 5];
        for &(x, y) in points.iter().filter(|(_, y)| *y > 0.0) {
            let weight = 1.0 / (y * y);
            w += weight;
            wx += weight * x;
            wy += weight * y;
            wxx += weight * x * x;
            wxy += weight * x * y;
        }
        let determinant = w * wxx - wx * wx;
        // Two different sizes are needed; rounding leaves a little of what is nothing.
        (determinant > 1e-12 * w * wxx).then(|| Self {
            alpha: (wy * wxx - wx * wxy) / determinant,
            beta: (w * wxy - wx * wy) / determinant,
        })
    }

    /// The size at which half of the greatest bandwidth is reached, for messages of one hop.
    pub(crate) fn half_size(self) -> f64 {
        self.alpha / self.beta
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_says_which_iterations_were_the_extremes() {
        let summary = Summary::of(&[5.0, 1.0, 9.0, 1.0, 9.0]).unwrap();
        assert_eq!((summary.min_at, summary.max_at), (1, 2));
        assert_eq!((summary.count, summary.mean, summary.median), (5, 5.0, 5.0));
        assert_eq!((summary.min, summary.max, summary.sd), (1.0, 9.0, 4.0));
        assert_eq!(Summary::of(&[7.0]).unwrap().sd, 0.0);
        assert_eq!(Summary::of(&[]), None);
    }

    #[test]
    fn the_standard_deviation_is_the_one_of_the_seed() {
        // sqrt((sum2 - sum*sum/n) / (n-1)) of 2, 4, 4, 4, 5, 5, 7, 9: 32 / 7 under the root.
        let summary = Summary::of(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]).unwrap();
        assert!((summary.sd - (32.0_f64 / 7.0).sqrt()).abs() < 1e-12);
        assert_eq!(summary.median, 4.5);
    }

    #[test]
    fn quantiles_lie_between_the_values() {
        let values = [4.0, 1.0, 3.0, 2.0];
        assert_eq!(quantile(&values, 0.0), Some(1.0));
        assert_eq!(quantile(&values, 1.0), Some(4.0));
        assert_eq!(quantile(&values, 0.5), Some(2.5));
        assert_eq!(quantile(&[], 0.5), None);
    }

    #[test]
    fn a_wild_value_does_not_change_the_scatter_much() {
        assert!((scatter(&[1.0, 2.0, 3.0, 4.0, 1000.0]) - 1.4826).abs() < 1e-9);
        assert_eq!(scatter(&[]), 0.0);
    }

    #[test]
    fn students_distribution_is_that_of_the_tables() {
        let close = |deviations, freedom, chance: f64| {
            let found = student_tail(deviations, freedom);
            assert!((found / chance - 1.0).abs() < 0.01, "{deviations} {freedom}: {found}");
        };
        close(12.706, 1.0, 0.05);
        close(4.303, 2.0, 0.05);
        close(31.599, 2.0, 0.001);
        close(4.587, 10.0, 0.001);
        close(3.3, 1000.0, 0.001);
        close(0.0, 5.0, 1.0);
    }

    #[test]
    fn alpha_and_beta_come_back_from_a_line() {
        let points: Vec<_> = [0.0, 100.0, 1e4, 1e6].iter().map(|&n| (n, 3.0 + 0.002 * n)).collect();
        let fit = Fit::of(&points).unwrap();
        assert!((fit.alpha - 3.0).abs() < 1e-6 && (fit.beta - 0.002).abs() < 1e-9);
        assert!((fit.half_size() - 1500.0).abs() < 1e-2);
        assert_eq!(Fit::of(&[(8.0, 1.0), (8.0, 2.0)]), None);
        assert_eq!(Fit::of(&[]), None);
    }

    #[test]
    fn factors_have_a_geometric_mean() {
        assert!((geometric_mean(&[2.0, 8.0]).unwrap() - 4.0).abs() < 1e-12);
        assert_eq!(geometric_mean(&[]), None);
    }
}
