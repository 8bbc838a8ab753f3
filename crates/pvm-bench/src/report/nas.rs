//! The NAS Parallel Benchmarks: one table of times, and what was compared with the official values.

use super::html::{details, paragraph, table};
use crate::figures::Figures;
use crate::nas::table as told;

/// The table and the text below it.
pub(super) fn content(figures: &Figures) -> String {
    let told = told::html(figures);
    let head: Vec<&str> = told.head.iter().map(String::as_str).collect();
    let mut text = table(&head, &told.rows);
    text += &told.sentences.iter().map(|sentence| paragraph(sentence)).collect::<String>();
    let head = ["benchmark", "tasks", "system", "quantity", "got", "wanted", "relative error"];
    text + &details("Every quantity that was verified", &table(&head, &told.quantities))
}
