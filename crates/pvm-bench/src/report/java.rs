//! The messages between C and Java: the tables of the PBJ document again, each beside what it
//! printed.

use super::html::{element, number, paragraph, table};
use super::plot::{Axis, Series, colour, curves};
use super::seeds::{self, Pbj};
use crate::figures::{Figures, Row};
use crate::ranking::PARTS;

const BYTES: Axis = Axis { label: "bytes", log: true };
const TIME: Axis = Axis { label: "ms", log: true };
const MEGABYTE: u64 = 1_000_000;

/// Loop, plots, and a table for each size.
pub(super) fn content(figures: &Figures, rows: &[&Row]) -> String {
    let tests = || PARTS.into_iter().chain(["total"]);
    let plots: String = tests().map(|test| plot(test, rows)).collect();
    let mut sizes: Vec<u64> = of_test(rows, "total").map(|row| row.key.size).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let hosts = if figures.place.hosts.is_empty() { "same" } else { "different" };
    let tables: String = sizes.into_iter().map(|size| sized(size, hosts, rows)).collect();
    counted(rows) + &element("div", "plots", &plots) + &tables
}

fn of_test<'a>(rows: &'a [&Row], test: &'a str) -> impl Iterator<Item = &'a Row> {
    rows.iter().copied().filter(move |row| row.key.test == test)
}

fn plot(test: &str, rows: &[&Row]) -> String {
    let mut all: Vec<Series> = Vec::new();
    for row in of_test(rows, test) {
        let Some(us) = row.typical() else { continue };
        let (name, point) = (row.key.who(), (row.key.size as f64, us / 1000.0));
        let colour = colour(&row.key.system);
        let way = all.iter().filter(|one| one.colour == colour).count();
        match all.iter_mut().find(|one| one.name == name) {
            Some(one) => one.points.push(point),
            None => all.push(Series { name, points: vec![point], colour, way }),
        }
    }
    curves(&format!("Messages there and back: {test}"), BYTES, TIME, &all)
}

/// One of the tables 5.2 to 5.8.
fn sized(size: u64, hosts: &str, rows: &[&Row]) -> String {
    let printed = seeds::pbj();
    let of_2004 = |variant: &str| {
        let (sender, receiver) = variant.split_once(" to ")?;
        printed.iter().find(|row| {
            (&*row.sender, &*row.receiver, &*row.hosts) == (sender, receiver, hosts)
                && row.megabytes * MEGABYTE == size
        })
    };
    let mut lines = Vec::new();
    for total in of_test(rows, "total").filter(|row| row.key.size == size) {
        let mut line = vec![total.key.who()];
        for part in PARTS {
            let same = |row: &&Row| {
                (&row.key.system, &row.key.variant, row.key.size)
                    == (&total.key.system, &total.key.variant, size)
            };
            let part = of_test(rows, part).find(same).and_then(Row::typical);
            line.push(part.map_or_else(String::new, milliseconds));
        }
        line.push(total.typical().map_or_else(String::new, milliseconds));
        let then = of_2004(&total.key.variant).filter(|_| total.key.system == "NeoPVM");
        line.extend(then.map_or_else(<[String; 4]>::default, |row| row.ms.clone()));
        lines.push(line);
    }
    let name = printed.iter().find(|row| row.megabytes * MEGABYTE == size);
    let name = name.map_or_else(String::new, |row| format!("Table {} again: ", row.table));
    let head = [
        "ms",
        "send",
        "receive",
        "verify",
        "total",
        "send in 2004",
        "receive in 2004",
        "verify in 2004",
        "total in 2004",
    ];
    element("h4", "", &format!("{name}{} MB, {hosts} host{}", size / MEGABYTE, plural(hosts)))
        + &table(&head, &lines)
}

fn plural(hosts: &str) -> &'static str {
    if hosts == "same" { "" } else { "s" }
}

fn milliseconds(us: f64) -> String {
    number(us / 1000.0)
}

/// Table 5.1 again, in a sentence.
fn counted(rows: &[&Row]) -> String {
    let seconds = |language: &str| {
        of_test(rows, "loop").find(|row| row.key.variant == language).and_then(Row::typical)
    };
    let (Some(c), Some(java)) = (seconds("C"), seconds("Java")) else { return String::new() };
    paragraph(&format!(
        "The loop of a billion additions (table 5.1): C {} s, Java {} s, {} times as long; in 2004 \
         C {} s, Java {} s.",
        number(c),
        number(java),
        number(java / c),
        Pbj::LOOP_C_S,
        Pbj::LOOP_JAVA_S
    ))
}

#[cfg(test)]
mod tests {
    use super::super::super::figures::{Computer, Key};
    use super::*;

    fn figures() -> Figures {
        let mut figures = Figures::new(true, Computer::default(), Vec::new());
        let mut add = |test: &str, system: &str, variant: &str, size, unit, value| {
            let (suite, test) = ("java".to_owned(), test.to_owned());
            let (system, variant) = (system.to_owned(), variant.to_owned());
            figures.add(Key { suite, test, tasks: 2, size, system, variant }, unit, vec![value]);
        };
        for (system, variant, factor) in [
            ("NeoPVM", "C to C", 1.0),
            ("NeoPVM", "Java to Java", 3.0),
            ("PVM 3.4.6", "C to C", 9.0),
        ] {
            for (test, us) in
                [("send", 100.0), ("receive", 200.0), ("verify", 50.0), ("total", 350.0)]
            {
                add(test, system, variant, 4_000_000, "us", factor * us);
            }
        }
        add("loop", "this computer", "C", 1_000_000_000, "s", 0.25);
        add("loop", "this computer", "Java", 1_000_000_000, "s", 0.5);
        figures
    }

    #[test]
    fn our_times_stand_beside_those_of_2004_of_the_same_pairing_and_size() {
        let figures = figures();
        let rows: Vec<&Row> = figures.of_suite("java").collect();
        let html = content(&figures, &rows);
        assert!(html.contains("Table 5.4 again: 4 MB, same host"), "{html}");
        let line = |name: &str| html.lines().find(|line| line.contains(name)).unwrap().to_owned();
        let ours = line("NeoPVM, Java to Java</td>");
        for cell in ["0.300", "0.600", "0.150", "1.05", "47", "120", "7", "175"] {
            assert!(ours.contains(&format!(">{cell}<")), "{cell} in {ours}");
        }
        // What the document measured was not the original in today's release.
        assert!(!line("PVM 3.4.6, C to C</td>").contains(">46<"));
        assert_eq!(html.matches("<svg").count(), 4);
        assert!(html.contains("C 0.250 s, Java 0.500 s, 2.00 times as long; in 2004 C 0.063 s"));
    }

    #[test]
    fn between_hosts_the_documents_figures_of_two_hosts_stand_there() {
        let mut figures = figures();
        figures.place.hosts = vec!["h2".to_owned()];
        let rows: Vec<&Row> = figures.of_suite("java").collect();
        let html = content(&figures, &rows);
        assert!(html.contains("4 MB, different hosts") && html.contains(">535<"), "{html}");
    }
}
