//! The tables of the documents that the suites repeat, as they were printed.

use super::html::{escaped, pivot};

/// Dongarra and Dunigan, 1997.
const MESSAGES: &str = include_str!("../../../../benchmarks/seeds/message-passing-1997.csv");
/// Mattson, Douglas and Schultz, 1993.
const TWO_NODES: &str = include_str!("../../../../benchmarks/seeds/two-nodes-1993.csv");
/// Ahmad, 1997.
const EXPRESS: &str = include_str!("../../../../benchmarks/seeds/express-pvm-1997.csv");
/// The PBJ document, 2004: messages, and the loop.
const PBJ: &str = include_str!("../../../../benchmarks/seeds/pbj-2004.csv");
const PBJ_LOOP: &str = include_str!("../../../../benchmarks/seeds/pbj-loop-2004.csv");

/// A row of the tables 5.2 to 5.8 of the PBJ document.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Pbj {
    /// C or Java.
    pub(super) sender: String,
    /// C or Java.
    pub(super) receiver: String,
    /// The size in units of 1 000 000 bytes.
    pub(super) megabytes: u64,
    /// `same` or `different`.
    pub(super) hosts: String,
    /// Sending, receiving, verifying and the total, as printed.
    pub(super) ms: [String; 4],
    /// Number of the table.
    pub(super) table: String,
}

impl Pbj {
    /// Table 5.1.
    pub(super) const LOOP_C_S: &str = "0.063";
    /// Seconds of the loop in Java.
    pub(super) const LOOP_JAVA_S: &str = "0.177";
}

/// The tables 5.2 to 5.8 of the PBJ document.
pub(super) fn pbj() -> Vec<Pbj> {
    let row = |r: Vec<String>| {
        let megabytes = r[2].parse().ok()?;
        let [sender, receiver, _, hosts, send, receive, verify, total, table] =
            <[String; 9]>::try_from(r).ok()?;
        let ms = [send, receive, verify, total];
        Some(Pbj { sender, receiver, megabytes, hosts, ms, table })
    };
    records(PBJ).filter_map(row).collect()
}

/// A row of the tables A.1 to A.9 of the report of 1993, as printed.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct RoundTrip {
    /// Number of the table.
    pub(super) table: String,
    /// The size of the message in bytes.
    pub(super) bytes: u64,
    /// All in ms.
    pub(super) average: String,
    /// The deviation of the sample.
    pub(super) deviation: String,
    /// The middle one.
    pub(super) median: String,
    /// With its iteration.
    pub(super) minimum: String,
    /// With its iteration.
    pub(super) maximum: String,
}

/// The tables A.1 to A.9.
pub(super) fn round_trips() -> Vec<RoundTrip> {
    let row = |r: Vec<String>| {
        let bytes = r[1].parse().ok()?;
        let [_, _, average, deviation, median, min, max, min_at, max_at, table] =
            <[String; 10]>::try_from(r).ok()?;
        let (minimum, maximum) = (format!("{min} ({min_at})"), format!("{max} ({max_at})"));
        Some(RoundTrip { table, bytes, average, deviation, median, minimum, maximum })
    };
    records(TWO_NODES).filter(|record| record[9].starts_with('A')).filter_map(row).collect()
}

/// A machine of the report of 1997 with its figures for the plane of its figure 5.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Machine {
    /// Its name.
    pub(super) name: String,
    /// The latency of an empty message, in us.
    pub(super) latency_us: f64,
    /// The bandwidth of messages of 1 MB, in MB/s.
    pub(super) bandwidth_mb_s: f64,
    /// The message system whose calls were measured, as the report names it.
    pub(super) message_system: String,
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
            "latency n=0" => {
                let message_system = record[3].clone();
                all.push(Machine { name, latency_us: value, bandwidth_mb_s: 0.0, message_system });
            }
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
        "java" => java(),
        _ => String::new(),
    }
}

fn java() -> String {
    let of = |table: &str| {
        let all = records(PBJ_LOOP).filter(|record| table.contains(&record[0]));
        let cells: Vec<_> = all.map(|r| (r[2].clone(), r[1].clone(), r[3].clone())).collect();
        pivot("run", &cells)
    };
    let mut text =
        titled("Tables C.1 and C.2 of 2004: the loop of a billion additions, s", &of("C.1 C.2"));
    let all = pbj();
    let mut tables: Vec<&str> = all.iter().map(|row| &*row.table).collect();
    tables.dedup();
    for table in tables {
        let mut cells = Vec::new();
        for row in all.iter().filter(|row| row.table == table) {
            let host = if row.hosts == "same" { "same host" } else { "different hosts" };
            let name = format!("{} to {}, {host}", row.sender, row.receiver);
            for (part, ms) in ["send", "receive", "verify", "total"].iter().zip(&row.ms) {
                cells.push((name.clone(), (*part).to_owned(), ms.clone()));
            }
        }
        let megabytes = all.iter().find(|row| row.table == table).map_or(0, |row| row.megabytes);
        let title = format!("Table {table} of 2004: {megabytes} MB, ms");
        text += &titled(&title, &pivot("from, to", &cells));
    }
    text
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
        for suite in crate::suite::ALL {
            assert!(tables(suite.name).contains("<td"), "{}", suite.name);
        }
    }

    #[test]
    fn every_record_has_the_fields_of_its_file() {
        let files = [(MESSAGES, 8), (TWO_NODES, 10), (EXPRESS, 8), (PBJ, 9), (PBJ_LOOP, 4)];
        for (csv, fields) in files {
            assert!(records(csv).all(|record| record.len() == fields));
        }
    }

    #[test]
    fn the_tables_of_the_pbj_document_are_whole_and_its_loop_is_the_average_that_it_prints() {
        let all = pbj();
        assert_eq!(all.len(), 7 * 8);
        let find = |sender: &str, receiver: &str, megabytes, hosts: &str| {
            let found = all.iter().find(|row| {
                (&*row.sender, &*row.receiver, row.megabytes, &*row.hosts)
                    == (sender, receiver, megabytes, hosts)
            });
            found.unwrap().ms.join(" ")
        };
        assert_eq!(find("Java", "C", 64, "different"), "780 6611 187 7589");
        assert_eq!(find("C", "C", 1, "same"), "8 11 1 20");
        let average = |language: &str| {
            records(PBJ_LOOP).find(|r| r[0] == "5.1" && r[1] == language).unwrap()[3].clone()
        };
        assert_eq!((&*average("C"), &*average("Java")), (Pbj::LOOP_C_S, Pbj::LOOP_JAVA_S));
    }
}
