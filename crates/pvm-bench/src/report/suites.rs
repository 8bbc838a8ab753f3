//! A section for each suite.

use super::html::{details, element, escaped, number, paragraph, pivot, table};
use super::plot::{Axis, Series, colour, curves};
use super::{applications, echo, java, linpack, nas, seeds, two_nodes};
use crate::case::Suite;
use crate::figures::{Figures, Key, Row};
use crate::ranking::Contest;
use std::collections::BTreeMap;

/// The section.
pub(super) fn section(
    figures: &Figures,
    suite: &Suite,
    rows: &[&Row],
    contests: &[Contest],
) -> String {
    let mut text = element("h2", "", &escaped(suite.title)) + &paragraph(suite.method);
    text += &match suite.name {
        "echo" => echo::content(figures, rows),
        "linpack" => linpack::content(figures, rows),
        "applications" => applications::content(contests),
        "java" => java::content(figures, rows),
        "nas" => nas::content(figures),
        "two-nodes" => plots(contests) + &two_nodes::content(rows),
        _ => plots(contests),
    };
    text += &medians(rows);
    text += &details(
        "Every row: median, mean, deviation, extremes and their iterations",
        &every_row(rows),
    );
    let printed = seeds::tables(suite.name);
    if !printed.is_empty() {
        text += &details("The tables as printed in the document", &printed);
    }
    element("section", "", &text)
}

/// For each test and number of tasks the best way of each system.
fn plots(contests: &[Contest]) -> String {
    let mut groups: BTreeMap<(&str, u32), Vec<&Contest>> = BTreeMap::new();
    for contest in contests {
        groups.entry((&contest.test, contest.tasks)).or_default().push(contest);
    }
    let mut text = String::new();
    for ((test, tasks), group) in groups {
        let mut series: Vec<Series> = Vec::new();
        for contest in &group {
            for entry in &contest.entries {
                let point = (contest.size as f64, entry.typical);
                match series.iter_mut().find(|one| one.name == entry.system) {
                    Some(one) => one.points.push(point),
                    None => series.push(Series {
                        name: entry.system.clone(),
                        points: vec![point],
                        colour: colour(&entry.system),
                        way: 0,
                    }),
                }
            }
        }
        series.sort_by(|a, b| a.name.cmp(&b.name));
        let x = Axis { label: if test == "sum" { "words" } else { "bytes" }, log: true };
        let y = Axis { label: "time, us", log: true };
        text += &curves(&format!("{test}, {tasks} tasks"), x, y, &series);
    }
    element("div", "plots", &text)
}

/// Sizes and systems: the medians.
fn medians(rows: &[&Row]) -> String {
    let first = rows.first();
    let same = |of: fn(&Row) -> (&str, u32)| {
        first.is_none_or(|one| rows.iter().all(|row| of(row) == of(one)))
    };
    let same_test = same(|row| (&row.key.test, row.key.tasks));
    let same_unit = same(|row| (&row.unit, 0));
    let label = |row: &Row| {
        let Key { test, tasks, size, .. } = &row.key;
        let what = if same_test {
            String::new()
        } else {
            format!(" {test}, {tasks} task{}", if *tasks == 1 { "" } else { "s" })
        };
        let unit = if same_unit { String::new() } else { format!(", {}", row.unit) };
        format!("{size}{what}{unit}")
    };
    let cells: Vec<_> = rows
        .iter()
        .filter_map(|row| Some((label(row), row.key.who(), number(row.typical()?))))
        .collect();
    let unit =
        first.filter(|_| same_unit).map_or_else(String::new, |row| format!(", {}", row.unit));
    element("h3", "", &format!("Medians{}", escaped(&unit))) + &pivot("size", &cells)
}

fn every_row(rows: &[&Row]) -> String {
    let head = [
        "test",
        "tasks",
        "size",
        "system",
        "unit",
        "rounds",
        "count",
        "median",
        "mean",
        "deviation",
        "minimum",
        "at",
        "maximum",
        "at",
    ];
    let lines: Vec<Vec<String>> = rows
        .iter()
        .filter_map(|row| {
            let all = row.summary()?;
            let key = &row.key;
            Some(vec![
                key.test.clone(),
                key.tasks.to_string(),
                key.size.to_string(),
                key.who(),
                row.unit.clone(),
                row.rounds.len().to_string(),
                all.count.to_string(),
                number(row.typical()?),
                number(all.mean),
                number(all.sd),
                number(all.min),
                all.min_at.to_string(),
                number(all.max),
                all.max_at.to_string(),
            ])
        })
        .collect();
    table(&head, &lines)
}
