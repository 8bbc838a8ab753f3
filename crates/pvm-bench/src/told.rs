//! The output of a measured program.

/// A test, a size, the unit and the values.
pub(crate) type MeasuredRow = (String, u64, &'static str, Vec<f64>);

/// The rows that a program printed: see `benchmarks/suites/measure.h`. Times in ns become us,
/// without the cost of reading the clock.
pub(crate) fn rows(output: &str, factor: f64) -> Vec<MeasuredRow> {
    let mut clock_ns = 0.0;
    let mut rows = Vec::new();
    // A program that was ended may have been in the middle of a line.
    for line in output.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n')) {
        let words: Vec<&str> = line.split('\t').collect();
        match words[..] {
            ["clock", ns] => clock_ns = ns.parse().unwrap_or(0.0),
            ["row", test, size, unit, values] => {
                let Ok(size) = size.parse() else { continue };
                let values = values.split(' ').filter_map(|value| value.parse::<f64>().ok());
                let (unit, values): (_, Vec<f64>) = match unit {
                    "ns" => ("us", values.map(|ns| micros(factor * (ns - clock_ns))).collect()),
                    "s" => ("s", values.collect()),
                    "Mflop/s" => ("Mflop/s", values.collect()),
                    "MB/s" => ("MB/s", values.collect()),
                    "MHz" => ("MHz", values.collect()),
                    _ => continue,
                };
                if !values.is_empty() {
                    rows.push((test.to_owned(), size, unit, values));
                }
            }
            _ => {}
        }
    }
    rows
}

/// Microseconds, rounded to a tenth of a nanosecond: further digits are noise, and make files
/// long.
fn micros(ns: f64) -> f64 {
    ((ns * 10.0).round() / 10_000.0).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_program_tells_becomes_rows() {
        let output = "noise\nclock\t20\nrow\techo\t8\tns\t1020 2020\nrow\tlu\t100\tMflop/s\t5.5\n\
                      row\techo\tx\tns\t1\nrow\techo\t8\tns\t\nrow\techo\t8\tparsecs\t1\n\
                      row\techo\t9\tns\t1 2";
        let rows = rows(output, 0.5);
        assert_eq!(rows.len(), 2);
        assert_eq!(rows[0], ("echo".to_owned(), 8, "us", vec![0.5, 1.0]));
        assert_eq!(rows[1], ("lu".to_owned(), 100, "Mflop/s", vec![5.5]));
    }

    #[test]
    fn a_clock_that_costs_more_than_what_is_measured_gives_no_negative_time() {
        assert_eq!(rows("clock\t50\nrow\tx\t0\tns\t20\n", 1.0)[0].3, [0.0]);
    }
}
