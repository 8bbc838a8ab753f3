//! One-sided reading beside explicit messages: figure 4 of the report of 1997.

use super::html::{element, number, paragraph, pivot};
use super::plot::{Axis, Series, colour, curves};
use crate::figures::Row;

const BYTES: Axis = Axis { label: "bytes", log: true };
const TIME: Axis = Axis { label: "us", log: true };

/// A plot and a table for each number of readers.
pub(super) fn content(rows: &[&Row]) -> String {
    let own: Vec<&Row> = rows.iter().copied().filter(|row| way(row).is_some()).collect();
    let mut crowds: Vec<u32> = own.iter().map(|row| row.key.tasks).collect();
    crowds.sort_unstable();
    crowds.dedup();
    if crowds.is_empty() {
        return String::new();
    }
    let (mut plots, mut tables) = (String::new(), String::new());
    for tasks in crowds {
        let readers =
            if tasks == 2 { "one reader".to_owned() } else { format!("{} readers", tasks - 1) };
        let all: Vec<&Row> = own.iter().copied().filter(|row| row.key.tasks == tasks).collect();
        plots += &curves(
            &format!("Reading another task's memory: {readers}"),
            BYTES,
            TIME,
            &series(&all),
        );
        let cells: Vec<_> = all
            .iter()
            .filter_map(|row| Some((row.key.size.to_string(), name(row), number(row.typical()?))))
            .collect();
        tables += &(element("h4", "", &format!("{readers}, us")) + &pivot("bytes", &cells));
    }
    element("h3", "", "Exposed memory beside explicit messages")
        + &element("div", "plots", &plots)
        + &paragraph(
            "\"get\" is NeoPVM's neopvm_get_memory and MPI_Get with its flush; \"asked for\" is an \
             empty message to the \
             owner and his message with the data, in turn where several ask. Between hosts Open \
             MPI reads by messages \
             (its osc pt2pt). PVM 3.4.6 has no exposed memory.",
        )
        + &tables
}

/// The line of a plot to which a row belongs; none for a row of neither.
fn way(row: &Row) -> Option<usize> {
    match &*row.key.test {
        "get" => Some(0),
        "ask" => Some(1),
        _ => None,
    }
}

fn name(row: &Row) -> String {
    let what = if way(row) == Some(0) { "get" } else { "asked for" };
    format!("{}, {what}", row.key.system)
}

fn series(rows: &[&Row]) -> Vec<Series> {
    let mut all: Vec<Series> = Vec::new();
    for row in rows {
        let (Some(way), Some(time)) = (way(row), row.typical()) else { continue };
        let (name, point) = (name(row), (row.key.size as f64, time));
        match all.iter_mut().find(|one| one.name == name) {
            Some(one) => one.points.push(point),
            None => {
                let colour = colour(&row.key.system);
                all.push(Series { name, points: vec![point], colour, way });
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::Key;

    #[test]
    fn readers_have_a_plot_and_a_table_for_each_number_of_them() {
        let row = |test: &str, tasks: u32, size: u64| {
            let (suite, test, system) = ("echo".to_owned(), test.to_owned(), "NeoPVM".to_owned());
            let key = Key { suite, test, tasks, size, system, variant: String::new() };
            Row { key, unit: "us".to_owned(), rounds: vec![vec![1.0]] }
        };
        let rows: Vec<Row> = [("get", 2), ("ask", 2), ("get", 3), ("echo", 2)]
            .into_iter()
            .flat_map(|(test, tasks)| [8, 1000].map(|size| row(test, tasks, size)))
            .collect();
        let rows: Vec<&Row> = rows.iter().collect();
        let html = content(&rows);
        assert_eq!((html.matches("<svg").count(), html.matches("<table").count()), (2, 2));
        assert!(html.contains("NeoPVM, asked for") && html.contains("2 readers, us"));
        assert_eq!(content(&rows[6..]), "");
    }
}
