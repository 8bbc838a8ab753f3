//! The network below the messages: UDP echo and TCP stream of the link at hand.

use super::html::{element, number, paragraph, table};
use crate::figures::Row;
use crate::statistics::Summary;

/// The system to which these rows belong.
const SYSTEM: &str = "network";

/// Latency in us and bandwidth in MB/s, for the plane of figure 5.
pub(super) fn point(rows: &[&Row]) -> Option<(f64, f64)> {
    let own = || rows.iter().filter(|row| row.key.system == SYSTEM);
    let latency = own().filter(|row| !row.is_rate()).min_by_key(|row| row.key.size)?;
    let rates = own().filter(|row| row.is_rate()).filter_map(|row| row.typical());
    Some((latency.summary()?.min, rates.max_by(f64::total_cmp)?))
}

/// The table.
pub(super) fn content(rows: &[&Row]) -> String {
    let lines: Vec<Vec<String>> = rows
        .iter()
        .filter(|row| row.key.system == SYSTEM)
        .filter_map(|row| {
            let Summary { min, max, sd, .. } = row.summary()?;
            let (test, size, unit) = (row.key.test.clone(), row.key.size.to_string(), &row.unit);
            let way = if row.is_rate() { "" } else { ", one way" };
            let typical = number(row.typical()?);
            Some(vec![
                test,
                size,
                format!("{unit}{way}"),
                typical,
                number(min),
                number(max),
                number(sd),
            ])
        })
        .collect();
    if lines.is_empty() {
        return String::new();
    }
    let head = ["test", "bytes", "unit", "median", "minimum", "maximum", "deviation"];
    element("h3", "", "The network itself")
        + &table(&head, &lines)
        + &paragraph(
            "Between two tasks of one host this is the loopback device, which messages through \
             shared memory do not touch.",
        )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::Key;

    fn row(test: &str, size: u64, unit: &str, value: f64) -> Row {
        let (suite, test, system) = ("echo".to_owned(), test.to_owned(), SYSTEM.to_owned());
        let key = Key { suite, test, tasks: 2, size, system, variant: String::new() };
        Row { key, unit: unit.to_owned(), rounds: vec![vec![value, 2.0 * value]] }
    }

    #[test]
    fn the_smallest_datagram_and_the_best_stream_are_the_point_of_the_plane() {
        let rows = [
            row("UDP echo", 100, "us", 9.0),
            row("UDP echo", 4, "us", 8.0),
            row("TCP stream", 50_000, "MB/s", 1000.0),
            row("TCP stream, kernel's window", 50_000, "MB/s", 2000.0),
        ];
        let rows: Vec<&Row> = rows.iter().collect();
        assert_eq!(point(&rows), Some((8.0, 3000.0)));
        assert_eq!(content(&rows).matches("<tr>").count(), 5);
        assert_eq!((point(&rows[..2]), content(&[])), (None, String::new()));
    }
}
