//! The tables of the documents that the suites repeat, as they were printed.

use super::html::{escaped, pivot};

/// Dongarra and Dunigan, 1997.
const MESSAGES: &str = include_str!("../../../../../benchmarks/seeds/message-passing-1997.csv");
/// Mattson, Douglas and Schultz, 1993.
const TWO_NODES: &str = include_str!("../../../../../benchmarks/seeds/two-nodes-1993.csv");
/// Ahmad, 1997.
const EXPRESS: &str = include_str!("../../../../../benchmarks/seeds/express-pvm-1997.csv");

/// A machine of the report of 1997 with its figures for the plane of its figure 5.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Machine {
    /// Its name.
    pub(super) name: String,
    /// Of an empty message, in us.
    pub(super) latency_us: f64,
    /// Of messages of 1 MB, in MB/s.
    pub(super) bandwidth_mb_s: f64,
}

/// Table 1 of the report of 1997.
pub(super) fn machines() -> Vec<Machine> {
    let mut all: Vec<Machine> = Vec::new();
    for record in records(MESSAGES).filter(|record| record[0] == "1") {
        let (Some(name), Ok(value)) = (record.get(1), record[6].parse()) else { continue };
        // One machine ran under two systems.
        let name =
            if record[2].starts_with("SUNMOS") { format!("{name} SUNMOS") } else { name.clone() };
        match &*record[4] {
            "latency n=0" => all.push(Machine { name, latency_us: value, bandwidth_mb_s: 0.0 }),
            "bandwidth n=1e6" => {
                if let Some(machine) = all.iter_mut().rfind(|machine| machine.name == name) {
                    machine.bandwidth_mb_s = value;
                }
            }
            _ => {}
        }
    }
    all.retain(|machine| machine.bandwidth_mb_s > 0.0);
    all
}

/// The printed tables of a suite.
pub(super) fn tables(suite: &str) -> String {
    match suite {
        "echo" => message_table(
            "1",
            "Table 1 of 1997: latency, bandwidth and n-half of that time's machines",
        ),
        "linpack" => message_table("2", "Table 2 of 1997: computation, and latency in cycles"),
        "two-nodes" => two_nodes(),
        "primitives" => {
            express("3", "Table 3 of 1997: one-to-one, us")
                + &express("4", "Table 4: global sum, ms, iPSC/860")
                + &express("5", "Table 5: global sum, ms, clusters of workstations")
        }
        "applications" => {
            (6..=17).map(|table| express(&table.to_string(), &application(table))).collect()
        }
        _ => String::new(),
    }
}

fn application(table: u32) -> String {
    let what = match table {
        6..=8 => "Gaussian elimination, row blocks",
        9..=11 => "Gaussian elimination, column blocks",
        12..=14 => "Gaussian elimination, scattered columns",
        _ => "N-body",
    };
    format!("Table {table} of 1997: {what}, s")
}

fn titled(title: &str, table: &str) -> String {
    format!("<h4>{}</h4>\n{table}", escaped(title))
}

fn message_table(table: &str, title: &str) -> String {
    let all = records(MESSAGES).filter(|record| record[0] == table);
    let cells: Vec<_> = all
        .map(|r| {
            (
                format!("{} {}", r[1], r[2]).trim_end().to_owned(),
                format!("{}, {}", r[4], r[5]),
                r[6].clone(),
            )
        })
        .collect();
    titled(title, &pivot("machine", &cells))
}

fn two_nodes() -> String {
    let of = |wanted: &str, column: usize| {
        let all = records(TWO_NODES).filter(|record| record[9].starts_with(wanted));
        all.map(|r| (r[1].clone(), r[0].clone(), r[column].clone())).collect::<Vec<_>>()
    };
    titled("Table 3.1 of 1993: average round trip, ms", &pivot("bytes", &of("3.1", 2)))
        + &titled(
            "Tables A.1 to A.9 of 1993: medians of the round trips, ms",
            &pivot("bytes", &of("A", 4)),
        )
}

fn express(table: &str, title: &str) -> String {
    let all = records(EXPRESS).filter(|record| record[0] == table);
    let cells: Vec<_> = all
        .map(|r| {
            let tasks =
                if ["3", "5"].contains(&table) { String::new() } else { format!(" on {}", r[3]) };
            let size = if table == "5" { format!("{} on {}", r[4], r[3]) } else { r[4].clone() };
            (size, format!("{} {}{tasks}", r[1], r[2]), r[6].clone())
        })
        .collect();
    titled(title, &pivot("size", &cells))
}

/// The lines of a file, without the first one. A field in quotes may hold commas.
fn records(csv: &str) -> impl Iterator<Item = Vec<String>> {
    csv.lines().skip(1).map(|line| {
        let mut fields = vec![String::new()];
        let mut quoted = false;
        for letter in line.chars() {
            match letter {
                '"' => quoted = !quoted,
                ',' if !quoted => fields.push(String::new()),
                _ => fields.last_mut().expect("there is one").push(letter),
            }
        }
        fields
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_printed_figures_are_there() {
        let machines = machines();
        assert_eq!(machines.len(), 28);
        let find = |name: &str| machines.iter().find(|machine| machine.name == name).unwrap();
        assert_eq!(
            (find("Cray T3D (PVM)").latency_us, find("Cray T3D (PVM)").bandwidth_mb_s),
            (21.0, 27.0)
        );
        assert_eq!(find("Intel Paragon").bandwidth_mb_s, 154.0);
        assert_eq!(find("Intel Paragon SUNMOS").bandwidth_mb_s, 171.0);
        for suite in crate::bench::suite::ALL {
            assert!(tables(suite.name).contains("<td"), "{}", suite.name);
        }
    }

    #[test]
    fn every_record_has_the_fields_of_its_file() {
        for (csv, fields) in [(MESSAGES, 8), (TWO_NODES, 10), (EXPRESS, 8)] {
            assert!(records(csv).all(|record| record.len() == fields));
        }
    }
}
