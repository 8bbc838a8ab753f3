//! The echo suite: curves, the figures of table 1, the plane of figure 5, single round trips.

use super::html::{element, number, paragraph, table};
use super::plot::{Axis, Series, colour, curves, points};
use super::{get, network, seeds};
use crate::figures::{Figures, Row};
use crate::statistics::{Fit, Summary};

const BYTES: Axis = Axis { label: "bytes", log: true };
const TIME: Axis = Axis { label: "one way, us", log: true };
const BANDWIDTH: Axis = Axis { label: "bandwidth, MB/s", log: true };
const LATENCY: Axis = Axis { label: "latency, us", log: true };
/// The size of the messages whose bandwidths the report has.
const LARGE: u64 = 1_000_000;

/// The figures of one way to send with one system, for all sizes.
struct SizeSweep<'a> {
    system: &'a str,
    name: String,
    /// The number of the sweep among those of the system.
    number: usize,
    rows: Vec<&'a Row>,
}

impl SizeSweep<'_> {
    /// Bytes and median time in us.
    fn times(&self) -> Vec<(f64, f64)> {
        self.rows.iter().filter_map(|row| Some((row.key.size as f64, row.typical()?))).collect()
    }

    fn at(&self, size: u64) -> Option<&Row> {
        self.rows.iter().find(|row| row.key.size == size).copied()
    }

    fn series(&self, points: Vec<(f64, f64)>) -> Series {
        let (name, way) = (self.name.clone(), self.number);
        Series { name, points, colour: colour(self.system), way }
    }

    /// Smallest time of an empty message, in us: the report's latency.
    fn latency(&self) -> Option<Summary> {
        self.at(0)?.summary()
    }

    /// In MB/s at 1 MB.
    fn bandwidth(&self) -> Option<f64> {
        Some(LARGE as f64 / self.at(LARGE)?.typical()?)
    }
}

fn sweeps<'a>(rows: &[&'a Row]) -> Vec<SizeSweep<'a>> {
    let mut all: Vec<SizeSweep<'a>> = Vec::new();
    for row in rows.iter().filter(|row| row.key.test == "echo") {
        let name = row.key.who();
        match all.iter_mut().find(|way| way.name == name) {
            Some(way) => way.rows.push(row),
            None => {
                let number = all.iter().filter(|way| way.system == row.key.system).count();
                all.push(SizeSweep { system: &row.key.system, name, number, rows: vec![row] });
            }
        }
    }
    all
}

/// The plots and tables.
pub(super) fn content(figures: &Figures, rows: &[&Row]) -> String {
    let sweeps = sweeps(rows);
    let times: Vec<Series> = sweeps.iter().map(|way| way.series(way.times())).collect();
    let rate = |(bytes, time): (f64, f64)| (bytes, bytes / time);
    let rates: Vec<Series> =
        sweeps.iter().map(|way| way.series(way.times().into_iter().map(rate).collect())).collect();
    let drawn = curves("Time of a message", BYTES, TIME, &times)
        + &curves("Bandwidth", BYTES, BANDWIDTH, &rates)
        + &plane(&sweeps, network::point(rows))
        + &vector(&sweeps, 0);
    element("div", "plots", &drawn)
        + &element("h3", "", "Latency, bandwidth and what the line through the times says")
        + &characteristics(figures, &sweeps)
        + &by_calls(&sweeps)
        + &hops(&sweeps, !figures.place.hosts.is_empty())
        + &network::content(rows)
        + &get::content(rows)
}

/// Table 1 of the report for the systems here.
fn characteristics(figures: &Figures, sweeps: &[SizeSweep<'_>]) -> String {
    let head = [
        "system",
        "latency (smallest), us",
        "median, us",
        "in cycles",
        "bandwidth at 1 MB, MB/s",
        "alpha, us",
        "beta, ns per byte",
        "n-half, bytes",
        "r-infinity, MB/s",
    ];
    let lines: Vec<Vec<String>> = sweeps
        .iter()
        .filter_map(|way| {
            let latency = way.latency()?;
            let fit = Fit::of(&way.times());
            let told = |value: Option<f64>| {
                value.filter(|value| value.is_finite()).map_or_else(String::new, number)
            };
            Some(vec![
                way.name.clone(),
                number(latency.min),
                number(latency.median),
                number(latency.min * figures.place.mhz),
                told(way.bandwidth()),
                told(fit.map(|fit| fit.alpha)),
                told(fit.map(|fit| 1000.0 * fit.beta)),
                told(fit.map(Fit::half_size)),
                told(fit.map(|fit| 1.0 / fit.beta)),
            ])
        })
        .collect();
    table(&head, &lines)
}

/// Names of calls in table 1 of the report, and the calls that are measured here in their place.
const CALLS: [(&str, &str); 7] = [
    ("NX", "NX"),
    ("MPL", "MPL"),
    ("CMMD", "CMMD"),
    ("Vertex", "Vertex"),
    ("MPSC", "MPSC"),
    ("TCGMSG", "TCGMSG"),
    ("PVM", "NeoPVM, direct raw"),
];

/// The rows of table 1 for the calls that NeoPVM has: printed values and today's.
fn by_calls(sweeps: &[SizeSweep<'_>]) -> String {
    let line = |machine: seeds::Machine| {
        let (_, ours) =
            CALLS.iter().find(|(calls, _)| machine.message_system.starts_with(calls))?;
        let sweep = sweeps.iter().find(|sweep| sweep.name == *ours)?;
        let (latency, bandwidth) = (sweep.latency()?, sweep.bandwidth()?);
        Some(vec![
            machine.name,
            machine.message_system,
            number(machine.latency_us),
            number(latency.min),
            number(machine.bandwidth_mb_s),
            number(bandwidth),
        ])
    };
    let lines: Vec<Vec<String>> = seeds::machines().into_iter().filter_map(line).collect();
    if lines.is_empty() {
        return String::new();
    }
    let head = ["machine", "calls", "latency, us", "today", "bandwidth, MB/s", "today"];
    element("h3", "", "Rows of table 1 of 1997, and the same calls today") + &table(&head, &lines)
}

/// A message through the daemons has two hops more than a direct one.
fn hops(sweeps: &[SizeSweep<'_>], several_hosts: bool) -> String {
    let latency = |system: &str, variant: &str| {
        let way = sweeps.iter().find(|way| way.name == format!("{system}, {variant}"))?;
        way.at(0)?.typical()
    };
    let mut text = String::new();
    for system in ["NeoPVM", "PVM 3.4.6"] {
        if let (Some(direct), Some(daemons)) =
            (latency(system, "direct raw"), latency(system, "daemons raw"))
        {
            text += &paragraph(&format!(
                "{system}: gamma, the cost of a further hop, is {} us: through the daemons (3 \
                 hops) {} us, direct \
                 (1 hop) {} us.",
                number((daemons - direct) / 2.0),
                number(daemons),
                number(direct)
            ));
        }
    }
    if !text.is_empty() && !several_hosts {
        text += &paragraph(
            "Between tasks of one host NeoPVM has no daemon in the way on either route: both are \
             shared memory.",
        );
    }
    text
}

/// Figure 5: latency of empty messages and bandwidth of 1 MB, with the machines of the report.
fn plane(sweeps: &[SizeSweep<'_>], network: Option<(f64, f64)>) -> String {
    let seed = seeds::machines();
    let old = Series {
        name: "machines of 1997".to_owned(),
        points: seed.iter().map(|machine| (machine.latency_us, machine.bandwidth_mb_s)).collect(),
        colour: "var(--other)",
        way: 0,
    };
    let mut all = vec![(old, seed.iter().map(|machine| machine.name.clone()).collect::<Vec<_>>())];
    for way in sweeps {
        if let (Some(latency), Some(bandwidth)) = (way.latency(), way.bandwidth()) {
            all.push((way.series(vec![(latency.min, bandwidth)]), vec![way.name.clone()]));
        }
    }
    if let Some(point) = network {
        let name = "UDP and TCP of this network".to_owned();
        let series = Series { name: name.clone(), points: vec![point], colour: colour(""), way: 0 };
        all.push((series, vec![name]));
    }
    points("Latency and bandwidth (figure 5 of 1997)", LATENCY, BANDWIDTH, &all)
}

/// Each round trip of the first round, of the first way of each system.
fn vector(sweeps: &[SizeSweep<'_>], size: u64) -> String {
    let first = sweeps.iter().filter(|way| way.number == 0);
    let series: Vec<Series> = first
        .filter_map(|way| {
            let round = way.at(size)?.rounds.first()?;
            let points = round.iter().enumerate().map(|(at, &time)| (at as f64, time)).collect();
            Some(Series { name: way.name.clone(), points, colour: colour(way.system), way: 0 })
        })
        .collect();
    let x = Axis { label: "iteration", log: false };
    curves("Each empty message of a round", x, TIME, &series)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::Key;

    fn row(system: &str, size: u64) -> Row {
        let key = Key {
            suite: "echo".to_owned(),
            test: "echo".to_owned(),
            tasks: 2,
            size,
            system: system.to_owned(),
            variant: String::new(),
        };
        Row { key, unit: "us".to_owned(), rounds: vec![vec![2.0, 1.0]] }
    }

    #[test]
    fn a_machine_of_1997_stands_beside_the_same_calls_of_today() {
        let rows = [row("Vertex", 0), row("Vertex", LARGE), row("CPS", 0)];
        let rows: Vec<&Row> = rows.iter().collect();
        let text = by_calls(&sweeps(&rows));
        // Vertex ran on two machines; the others are not measured here.
        assert_eq!(text.matches("<tr>").count(), 3, "{text}");
        assert!(text.contains("nCUBE 2") && text.contains("154") && text.contains("1.00"));
        assert!(!text.contains("Meiko"), "{text}");
    }
}
