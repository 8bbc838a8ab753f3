//! The LINPACK suite: table 2 of the report of 1997 for this computer, and latency in lost
//! operations.

use super::html::{number, paragraph, table};
use crate::figures::{Figures, Row};
use crate::statistics::Summary;
use crate::system::Kind;

/// The table and its closing sentence.
pub(super) fn content(figures: &Figures, rows: &[&Row]) -> String {
    let best = |test: &str| {
        let row = rows.iter().find(|row| row.key.test == test)?;
        row.summary().map(|summary| summary.max)
    };
    let Some(mhz) = best("clock") else { return String::new() };
    let mut lines = Vec::new();
    for (precision, width) in [("double", 1.0), ("single", 2.0)] {
        let (Some(small), Some(large)) =
            (best(&format!("plain {precision}")), best(&format!("blocked {precision}")))
        else {
            continue;
        };
        let peak = width * figures.place.flops_per_cycle * mhz;
        lines.push(vec![
            precision.to_owned(),
            number(mhz),
            number(small),
            number(small / mhz),
            number(large),
            number(large / mhz),
            number(peak),
            format!("{:.0} %", 100.0 * large / peak),
        ]);
    }
    let head = [
        "precision",
        "clock, MHz",
        "LINPACK 100, Mflop/s",
        "flop/cycle",
        "LINPACK 1000, Mflop/s",
        "flop/cycle",
        "peak of a core, Mflop/s",
        "share of peak",
    ];
    table(&head, &lines) + &lost(figures, mhz, best("blocked double"))
}

/// The operations that a task could do in the time that a message takes to start.
fn lost(figures: &Figures, mhz: f64, mflops: Option<f64>) -> String {
    let empty = figures.of_suite("echo").filter(|row| row.key.size == 0);
    let ours = empty.filter(|row| row.key.system == Kind::Ours.name());
    let latency = ours.filter_map(Row::summary).min_by(by_min).map(|summary| summary.min);
    match (latency, mflops) {
        (Some(us), Some(mflops)) => paragraph(&format!(
            "Latency of NeoPVM: {} us, {} cycles; in that time this core does {} operations of \
             LINPACK 1000 that are \
             lost. The best of each is told, as in the report.",
            number(us),
            number(us * mhz),
            number(us * mflops)
        )),
        _ => paragraph("Latency stands here when the suite echo is measured in the same run."),
    }
}

fn by_min(a: &Summary, b: &Summary) -> std::cmp::Ordering {
    a.min.total_cmp(&b.min)
}

#[cfg(test)]
mod tests {
    use super::super::super::figures::Key;
    use super::super::super::sample::sample;
    use super::*;

    #[test]
    fn rates_become_operations_for_each_cycle_and_share_of_the_peak() {
        let mut figures = sample(1.0);
        figures.place.flops_per_cycle = 16.0;
        for (test, unit, value) in [
            ("clock", "MHz", 2000.0),
            ("plain double", "Mflop/s", 1000.0),
            ("blocked double", "Mflop/s", 8000.0),
        ] {
            let (suite, system) = ("linpack".to_owned(), "this computer".to_owned());
            let key = Key {
                suite,
                test: test.to_owned(),
                tasks: 1,
                size: 0,
                system,
                variant: String::new(),
            };
            figures.add(key, unit, vec![value / 2.0, value]);
        }
        let rows: Vec<&Row> = figures.of_suite("linpack").collect();
        let html = content(&figures, &rows);
        for cell in [">double<", ">0.500<", ">4.00<", ">32000<", ">25 %<"] {
            assert!(html.contains(cell), "{cell} in {html}");
        }
        // The fastest empty message takes 1 us.
        assert!(
            html.contains("1.00 us, 2000 cycles") && html.contains("does 8000 operations"),
            "{html}"
        );
    }
}
