//! The tables of figures in README.md and doc/performance.md, as a measurement writes them.
//!
//! In both documents a table stands between a line `<!-- bench-messages -->` and a line
//! `<!-- bench-messages ends -->`, with a sentence that has the date and the computer in front of
//! it.

use std::fs;
use std::path::Path;
use std::process::Command;

const BEGIN: &str = "<!-- bench-messages -->\n";
const END: &str = "<!-- bench-messages ends -->";
/// The columns and rows of the short table in README.
const SHORT_COLUMNS: [&str; 3] = ["NeoPVM", "Open MPI", "PVM 3.4.6"];
const SHORT_ROWS: [&str; 8] = [
    "8 B one way, us",
    "1 kB one way, us",
    "10 kB one way, us",
    "1 MB packed, us",
    "1 MB in place, us",
    "barrier of 4, us",
    "broadcast 1 MB to 4, us",
    "spawn 64, us a task",
];

/// A table: names of the columns, and rows of cells that begin with a name.
pub(super) struct Table {
    pub(super) head: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
}

impl Table {
    /// With all columns as wide as their longest cell if `aligned`.
    pub(super) fn text(&self, aligned: bool) -> String {
        let rule = self.head.iter().enumerate().map(|(at, _)| if at == 0 { "---" } else { "---:" });
        let rule: Vec<String> = rule.map(str::to_owned).collect();
        let all = [&self.head, &rule].into_iter().chain(&self.rows);
        let width = |column: usize| {
            let cells = all.clone().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.head.len()).map(width).collect();
        let line = |row: &Vec<String>| {
            let cells = row.iter().zip(&widths).enumerate();
            let cells = cells.map(|(at, (cell, width))| match (aligned, at) {
                (false, _) => format!("| {cell} "),
                (true, 0) => format!("| {cell:width$} "),
                (true, _) => format!("| {cell:>width$} "),
            });
            cells.collect::<String>() + "|\n"
        };
        all.clone().map(line).collect()
    }

    /// Some columns and rows of it.
    fn part(&self, columns: &[&str], rows: &[&str]) -> Self {
        let at = |name: &&str| self.head.iter().position(|head| head == name);
        let at: Vec<usize> = std::iter::once(0).chain(columns.iter().filter_map(at)).collect();
        let cells = |row: &Vec<String>| at.iter().map(|&at| row[at].clone()).collect();
        let wanted = self.rows.iter().filter(|row| rows.contains(&row[0].as_str()));
        Self { head: cells(&self.head), rows: wanted.map(cells).collect() }
    }
}

/// Writes the table into both documents, dated today.
pub(super) fn write(root: &Path, table: &Table) -> Result<(), String> {
    let what = measured()?;
    let long = format!("`make bench-messages` {what}\n\n{}", table.text(false));
    rewrite(&root.join("doc/performance.md"), &long)?;
    let short = table.part(&SHORT_COLUMNS, &SHORT_ROWS).text(false);
    let short = format!("Measured by `make bench-messages` {what}\n\n{short}");
    rewrite(&root.join("README.md"), &short)
}

/// When and where: `on 25 November 2026, on a virtual machine ...`.
fn measured() -> Result<String, String> {
    let told = |program: &str, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).env("LC_ALL", "C").output();
        let output = output.map_err(|error| format!("{program}: {error}"))?;
        Ok::<_, String>(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let date = told("date", &["+%-d %B %Y"])?;
    let (kernel, cores) = (told("uname", &["-r"])?, told("nproc", &[])?);
    let about = fs::read_to_string("/proc/cpuinfo").map_err(|error| error.to_string())?;
    let model = about.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    let model = model.map_or("an unknown processor", |(_, model)| model.trim());
    let load = fs::read_to_string("/proc/loadavg").map_err(|error| error.to_string())?;
    let load = load.split(' ').nth(2).unwrap_or("unknown").to_owned();
    let kernel: Vec<&str> = kernel.split(['.', '-']).take(2).collect();
    Ok(format!(
        "on {date}:\n{model}, {cores} processors, Linux {}, a load of {load} in the quarter of an \
         hour before.",
        kernel.join(".")
    ))
}

fn rewrite(file: &Path, table: &str) -> Result<(), String> {
    let said = |error: &dyn std::fmt::Display| format!("{}: {error}", file.display());
    let text = fs::read_to_string(file).map_err(|error| said(&error))?;
    let new =
        replaced(&text, table).ok_or_else(|| said(&"has no lines <!-- bench-messages -->"))?;
    fs::write(file, new).map_err(|error| said(&error))
}

fn replaced(text: &str, table: &str) -> Option<String> {
    let (before, rest) = text.split_once(BEGIN)?;
    let (_, behind) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}{table}{END}{behind}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let row = |cells: [&str; 4]| cells.map(str::to_owned).to_vec();
        let rows =
            vec![row(["8 B one way, us", "0.09", "0.10", "0.12"]), row(["x", "1", "2", "3"])];
        Table { head: row(["", "NeoPVM", "Open MPI", "MPICH"]), rows }
    }

    #[test]
    fn a_table_is_written_between_its_lines_and_nothing_else_is_touched() {
        let text = format!("a\n{BEGIN}old\n{END}\nb\n");
        let new = replaced(&text, "new\n").expect("the lines are there");
        assert_eq!(new, format!("a\n{BEGIN}new\n{END}\nb\n"));
        assert_eq!(replaced("a\nb\n", "new\n"), None);
    }

    #[test]
    fn the_short_table_has_the_same_cells_of_fewer_columns_and_rows() {
        let short = table().part(&["Open MPI"], &["8 B one way, us"]);
        assert_eq!(
            short.text(false),
            "|  | Open MPI |\n| --- | ---: |\n| 8 B one way, us | 0.10 |\n"
        );
        let aligned = table().text(true);
        let widths: Vec<usize> = aligned.lines().map(str::len).collect();
        assert!(widths.iter().all(|width| *width == widths[0]), "{aligned}");
    }
}
