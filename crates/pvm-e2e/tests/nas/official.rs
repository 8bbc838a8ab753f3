//! The official values, kept beside what the programs know of them: a wrong digit in a program is
//! found.

use crate::report::Report;

const TABLE: &str = include_str!("official.csv");

/// Each official value of the benchmark and class was worked out, within the official tolerance.
pub(crate) fn check(report: &Report, name: &str, class: &str) {
    let own = format!("{},{class},", name.to_uppercase());
    let lines: Vec<&str> = TABLE.lines().filter(|line| line.starts_with(&own)).collect();
    assert!(!lines.is_empty(), "{own}");
    // The ranks of IS change from iteration to iteration; the programs compare each of them.
    if name == "is" {
        assert!(!report.quantities.is_empty(), "{report:#?}");
        return;
    }
    let tolerance = match name {
        "cg" => 1e-10,
        // For a real and for an imaginary part; the official one is for both together.
        "ft" => 5e-12,
        _ => 1e-8,
    };
    for line in lines {
        let value: f64 = line.rsplit(',').next().and_then(|word| word.parse().ok()).expect(line);
        let near = |got: f64| ((got - value) / value).abs() <= tolerance;
        let found = report.quantities.iter().filter_map(|one| one.got).any(near);
        assert!(found, "{line}: {report:#?}");
    }
}
