//! `pvm trace report`: one page with tables and pictures.

use super::draw::{self, Subject, escaped};
use super::place::{self, wrong};
use super::{profile, show};
use crate::failure::Failure;
use crate::options::trace::ReportOptions;
use crate::table::Table;
use pvm_trace::profile::Profile;

const STYLE: &str = "body{font:14px/1.4 system-ui,sans-serif;margin:2em auto;max-width:75em;\
                     padding:0 1em;background:#fff;color:#222}table{border-collapse:collapse;\
                     margin:1em 0}td,th{padding:.15em .7em;border-bottom:1px solid #ddd;\
                     text-align:right}td:first-child,th:first-child{text-align:left}\
                     svg{max-width:100%;height:auto}pre{white-space:pre-wrap}\
                     @media(prefers-color-scheme:dark){body{background:#1b1b1b;color:#ddd}}";

/// Writes the page.
pub(super) fn report(options: &ReportOptions) -> Result<(), Failure> {
    let mut trace = place::open(&options.file)?;
    let clocks = place::clocks(&options.file, &mut trace, options.raw)?;
    let found = Profile::of(&mut trace, &clocks).map_err(|error| wrong(&options.file, &error))?;
    let window = place::extent(&trace, &clocks);
    let mut subject = Subject { file: &options.file, trace: &mut trace, clocks: &clocks, window };
    let pictures = draw::all(&mut subject, &found)?;
    let name = options.file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    place::into(Some(&options.output), |out| {
        let name = escaped(&name);
        write!(out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">")?;
        writeln!(out, "<title>{name}</title><style>{STYLE}</style></head><body>")?;
        writeln!(out, "<h1>{name}</h1>")?;
        writeln!(out, "<pre>{}</pre>", lines(&profile::sums(&trace, &found)))?;
        for (heading, picture) in &pictures {
            writeln!(out, "<h2>{heading}</h2>\n{}", draw::svg(picture))?;
        }
        let tables = trace.tables();
        for (heading, rows) in [
            ("Functions", profile::functions(tables, &found)),
            ("Tasks", profile::tasks(tables, &found)),
            ("Pairs of tasks", profile::pairs(tables, &found)),
            ("Hosts and their clocks", show::hosts(&trace, &clocks)),
            ("Missing", show::gaps(&trace)),
        ] {
            write!(out, "<h2>{heading}</h2>\n{}", html(&rows))?;
        }
        Ok(writeln!(out, "</body></html>")?)
    })
}

/// Each line by itself, as texts in pictures are short.
fn lines(text: &str) -> String {
    text.lines().map(|line| escaped(line) + "\n").collect()
}

fn html(table: &Table) -> String {
    let mut out = String::from("<table>");
    for (place, row) in table.rows().iter().enumerate() {
        let tag = if place == 0 { "th" } else { "td" };
        out += "<tr>";
        row.iter().for_each(|cell| out += &format!("<{tag}>{}</{tag}>", escaped(cell)));
        out += "</tr>\n";
    }
    out + "</table>\n"
}
