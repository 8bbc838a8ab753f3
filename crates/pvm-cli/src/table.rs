//! Tables for people: columns as wide as their widest cell, two blanks between them.

use crate::text;
use std::fmt;

/// On which side of its column a cell stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// Names and texts.
    Left,
    /// Numbers.
    Right,
}

/// Rows under a heading.
#[derive(Debug)]
pub struct Table {
    sides: Vec<Side>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these columns.
    pub fn new(columns: &[(&str, Side)]) -> Self {
        let (names, sides) = columns.iter().map(|&(name, side)| (name.to_owned(), side)).unzip();
        Self { sides, rows: vec![names] }
    }

    /// Adds a row; cells that are missing are empty.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().map(|cell| text::plain(&cell)).collect());
    }

    /// The heading and the rows.
    pub fn rows(&self) -> &[Vec<String>] {
        &self.rows
    }

    fn width(&self, column: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths: Vec<usize> = (0..self.sides.len()).map(|column| self.width(column)).collect();
        for row in &self.rows {
            let mut line = String::new();
            for ((cell, side), &width) in row.iter().zip(&self.sides).zip(&widths) {
                line += if line.is_empty() { "" } else { "  " };
                // Not by the width of `format!`, which ends at 65535.
                let blanks = " ".repeat(width - cell.chars().count());
                match side {
                    Side::Left => line.extend([cell, blanks.as_str()]),
                    Side::Right => line.extend([blanks.as_str(), cell]),
                }
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_they_must_be() {
        let mut table =
            Table::new(&[("HOST", Side::Left), ("PID", Side::Right), ("X", Side::Left)]);
        table.row(["a".to_owned(), "12345".to_owned(), "b".to_owned()]);
        table.row(["longer".to_owned(), "1".to_owned()]);
        assert_eq!(table.to_string(), "HOST      PID  X\na       12345  b\nlonger      1\n");
    }

    #[test]
    fn a_name_forges_no_row_and_colours_no_terminal() {
        let mut table = Table::new(&[("NAME", Side::Left), ("N", Side::Right)]);
        table.row(["x\u{1b}[31m\nforged  1".to_owned(), "2".to_owned()]);
        let row = table.to_string().lines().nth(1).map(str::to_owned);
        assert_eq!(row.as_deref(), Some(r"x\u{1b}[31m\nforged  1  2"));
        assert_eq!(table.to_string().lines().count(), 2);
    }

    #[test]
    fn a_cell_may_be_longer_than_any_terminal() {
        let mut table = Table::new(&[("NAME", Side::Left), ("N", Side::Right)]);
        table.row(["x".repeat(70_000), "1".to_owned()]);
        let heading = format!("NAME{}  N\n", " ".repeat(69_996));
        assert!(table.to_string().starts_with(&heading));
    }
}
