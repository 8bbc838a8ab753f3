//! The table: each case with the times of all, and what our times are to NPB's.

use crate::figures::{Answer, Figures, Key, Row};
use crate::statistics::{geometric_mean, median};
use crate::suite::nas::SUITE;
use crate::system::Kind;
use pvm_cli::table::{Side, Table};
use std::collections::BTreeMap;

/// NPB prints hundredths of a second: shorter times are its rounding.
const SECONDS_MIN: f64 = 0.1;

/// One line of the table.
#[derive(Debug)]
struct Line {
    test: String,
    tasks: u32,
    /// The medians, a column each.
    times: Vec<Option<f64>>,
    mops: Option<f64>,
    /// The longest time that one of our tasks was in PVM's calls, over the whole run, in seconds.
    in_pvm: Option<f64>,
    /// The ratio of our time to the better one of NPB's, where both are known.
    ratio: Option<f64>,
}

/// Systems and ways, in the order in which they took turns, ours first.
fn columns(figures: &Figures) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for row in rows(figures) {
        if !all.contains(&row.key.who()) {
            all.push(row.key.who());
        }
    }
    all.sort_by_key(|who| who != Kind::Ours.name());
    all
}

fn rows(figures: &Figures) -> impl Iterator<Item = &Row> {
    figures.of_suite(SUITE.name)
}

fn lines(figures: &Figures) -> Vec<Line> {
    let columns = columns(figures);
    let mut cases: Vec<(&str, u32)> = Vec::new();
    for row in rows(figures) {
        let case = (row.key.test.as_str(), row.key.tasks);
        if !cases.contains(&case) {
            cases.push(case);
        }
    }
    cases.into_iter().map(|case| line(figures, &columns, case)).collect()
}

fn line(figures: &Figures, columns: &[String], (test, tasks): (&str, u32)) -> Line {
    let is_case = |key: &Key| key.test == test && key.tasks == tasks;
    let of = || rows(figures).filter(|row| is_case(&row.key));
    let time = |who: &String| of().find(|row| row.key.who() == *who)?.typical();
    let best = |is_wanted: &dyn Fn(&str) -> bool| {
        let times = of().filter(|row| is_wanted(&row.key.system)).filter_map(Row::typical);
        times.min_by(f64::total_cmp)
    };
    let ours = best(&|system| system == Kind::Ours.name());
    let npb = best(&|system| [Kind::OpenMpi, Kind::Mpich].iter().any(|kind| kind.name() == system));
    let both = ours.zip(npb).filter(|(_, npb)| *npb >= SECONDS_MIN);
    let of_ours = |answer: &&Answer| is_case(&answer.key) && answer.key.system == Kind::Ours.name();
    let answer = figures.answers.iter().find(of_ours);
    Line {
        test: test.to_owned(),
        tasks,
        times: columns.iter().map(time).collect(),
        mops: answer.and_then(|answer| median(&answer.mops)),
        in_pvm: answer.and_then(|answer| Some(answer.communication.as_ref()?.seconds())),
        ratio: both.map(|(ours, npb)| ours / npb),
    }
}

/// The means of the ratios, for each class and number of tasks: `W on 4 tasks`.
fn means(lines: &[Line]) -> Vec<(String, usize, f64)> {
    let mut groups: BTreeMap<(&str, u32), Vec<f64>> = BTreeMap::new();
    for line in lines {
        let class = line.test.split_once('.').map_or("", |(_, class)| class);
        groups.entry((class, line.tasks)).or_default().extend(line.ratio);
    }
    let mean = |((class, tasks), ratios): ((&str, u32), Vec<f64>)| {
        let plural = if tasks == 1 { "" } else { "s" };
        Some((format!("{class} on {tasks} task{plural}"), ratios.len(), geometric_mean(&ratios)?))
    };
    groups.into_iter().filter_map(mean).collect()
}

fn seconds(value: f64) -> String {
    if value < 10.0 { format!("{value:.3}") } else { format!("{value:.1}") }
}

fn cells(line: &Line) -> Vec<String> {
    let mut cells = vec![line.test.clone(), line.tasks.to_string()];
    cells.extend(line.times.iter().map(|time| time.map_or_else(|| "-".to_owned(), seconds)));
    cells.push(line.mops.map_or_else(|| "-".to_owned(), |mops| format!("{mops:.0}")));
    cells.push(line.in_pvm.map_or_else(|| "-".to_owned(), seconds));
    cells.push(line.ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}")));
    cells
}

fn head(figures: &Figures) -> Vec<String> {
    let mut head = vec!["benchmark".to_owned(), "tasks".to_owned()];
    head.extend(columns(figures).iter().map(|who| format!("{who}, s")));
    head.extend(["Mop/s", "in PVM, s", "to NPB"].map(str::to_owned));
    head
}

/// A sentence that says which answers were right.
fn verdict(figures: &Figures) -> String {
    let ours = figures.answers.iter().filter(|one| one.key.system == Kind::Ours.name());
    let wrong = figures.problems.iter().filter(|one| one.how.starts_with("NOT VERIFIED")).count();
    let verified = format!("{} answers of NeoPVM verified", ours.count());
    if wrong == 0 {
        format!("{verified}.")
    } else {
        format!("{verified}, {wrong} runs NOT VERIFIED.")
    }
}

fn mean_text((what, count, mean): &(String, usize, f64)) -> String {
    format!("{what}: {mean:.2} times NPB's time (geometric mean of {count})")
}

/// For a terminal.
pub(crate) fn text(figures: &Figures) -> String {
    let head: Vec<String> = head(figures).iter().map(|name| name.to_uppercase()).collect();
    let side = |at: usize| if at == 0 { Side::Left } else { Side::Right };
    let columns: Vec<(&str, Side)> =
        head.iter().enumerate().map(|(at, name)| (name.as_str(), side(at))).collect();
    let mut table = Table::new(&columns);
    let lines = lines(figures);
    lines.iter().for_each(|line| table.row(cells(line)));
    let means: String = means(&lines).iter().map(|mean| mean_text(mean) + "\n").collect();
    format!("{table}{means}{}\n", verdict(figures))
}

/// The report's: head and rows, sentences, and what was compared with the official values.
pub(crate) struct Html {
    /// Names of the columns.
    pub(crate) head: Vec<String>,
    /// Rows of the table.
    pub(crate) rows: Vec<Vec<String>>,
    /// The sentences below the table.
    pub(crate) sentences: Vec<String>,
    /// Benchmark, tasks, system, quantity, got, wanted, error.
    pub(crate) quantities: Vec<Vec<String>>,
}

/// The part of the report.
pub(crate) fn html(figures: &Figures) -> Html {
    let lines = lines(figures);
    let sentences = means(&lines).iter().map(mean_text).chain([verdict(figures)]).collect();
    let rows = lines.iter().map(cells).collect();
    let quantities = figures.answers.iter().flat_map(quantities).collect();
    Html { head: head(figures), rows, sentences, quantities }
}

fn quantities(answer: &Answer) -> Vec<Vec<String>> {
    let key = &answer.key;
    let number =
        |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| value.to_string());
    let row = |one: &crate::figures::Quantity| {
        let error = one.error.map_or_else(|| "-".to_owned(), |error| format!("{error:.1e}"));
        let mut row = vec![key.test.clone(), key.tasks.to_string(), key.who(), one.name.clone()];
        row.extend([number(one.got), number(one.wanted), error]);
        row
    };
    answer.quantities.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::{Communication, Computer};

    fn figures() -> Figures {
        let mut figures = Figures::new(true, Computer::default(), Vec::new());
        let ways = [("NeoPVM", ""), ("Open MPI", "NPB"), ("Open MPI", "NPB, tasks yield")];
        for (test, times) in
            [("CG.W", [0.5, 1.5, 1.0]), ("IS.W", [0.2, 0.1, 0.3]), ("IS.S", [0.01, 0.0, 0.01])]
        {
            for ((system, variant), time) in ways.into_iter().zip(times) {
                let (suite, test) = ("nas".to_owned(), test.to_owned());
                let (system, variant) = (system.to_owned(), variant.to_owned());
                let key = Key { suite, test, tasks: 4, size: 7000, system, variant };
                figures.add(key.clone(), "s", vec![time]);
                let communication = Some(Communication {
                    send_seconds: 0.05,
                    receive_seconds: 0.2,
                    messages: 10.0,
                    bytes: 1e6,
                });
                let (verified, mops, quantities) = (true, vec![100.0], Vec::new());
                let answer = Answer { key, verified, mops, quantities, communication };
                figures.answers.push(answer);
            }
        }
        figures
    }

    #[test]
    fn the_better_one_of_npb_s_ways_counts_and_what_is_below_its_print_does_not() {
        let text = text(&figures());
        let line =
            |test: &str| text.lines().find(|line| line.starts_with(test)).unwrap().to_owned();
        let words =
            |test: &str| line(test).split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(words("CG.W"), ["CG.W", "4", "0.500", "1.500", "1.000", "100", "0.250", "0.50"]);
        assert_eq!(words("IS.W").last().unwrap(), "2.00");
        assert_eq!(words("IS.S").last().unwrap(), "-");
        assert!(
            text.contains("W on 4 tasks: 1.00 times NPB's time (geometric mean of 2)"),
            "{text}"
        );
        assert!(text.contains("3 answers of NeoPVM verified.") && !text.contains("S on 4 tasks"));
    }
}
