//! `pvm predict networks`.

use super::input::no_network;
use crate::failure::{Failure, Status};
use crate::options::predict::NetworksOptions;
use crate::show::{show, show_json};
use crate::table::{Side, Table};
use pvm_predict::platform::{BuiltIn, built_in};
use serde_json::{Value, json};

/// Lists them, or prints one.
pub(super) fn networks(options: &NetworksOptions) -> Result<(), Failure> {
    if let Some(name) = &options.name {
        let known = built_in().find(|known| known.name == name);
        return print(known.ok_or_else(|| no_network(name))?);
    }
    if options.json {
        let all: Vec<Value> = built_in().map(as_json).collect();
        return Ok(show_json(&Value::Array(all))?);
    }
    let mut table = Table::new(&[
        ("NETWORK", Side::Left),
        ("0 B", Side::Right),
        ("1 MB", Side::Right),
        ("ABOUT", Side::Left),
    ]);
    for known in built_in() {
        let platform = known.platform();
        let (none, million) = facts(known);
        let cells = [format!("{:.1} us", none * 1e6), format!("{:.2} MB/s", 1.0 / million)];
        let [none, million] = cells;
        table.row([known.name.to_owned(), none, million, platform.about]);
    }
    Ok(show(table)?)
}

/// The times of a message without data, and of one of a million bytes, alone.
fn facts(known: &BuiltIn) -> (f64, f64) {
    let line = known.platform().line();
    let none = line.latency.seconds();
    (none, none + line.time_of(1_000_000).seconds())
}

fn as_json(known: &BuiltIn) -> Value {
    let (none, million) = facts(known);
    let half = known.row().map(|row| row.half);
    json!({"name": known.name, "about": known.platform().about, "seconds_0": none,
        "seconds_1e6": million, "half": half})
}

fn print(known: &BuiltIn) -> Result<(), Failure> {
    let text = known.text().map_or_else(|| as_file(known), |text| Ok(text.to_owned()))?;
    Ok(show(text)?)
}

/// A row of the published table as a file.
fn as_file(known: &BuiltIn) -> Result<String, Failure> {
    let platform = known.platform();
    let (none, million) = facts(known);
    let rate = 1.0 / (million - none);
    if !rate.is_finite() {
        return Err(Failure::new(Status::Refused, format!("{}: it has no rate", known.name)));
    }
    Ok(format!(
        "name = \"{}\"\nabout = \"{}\"\n\n[network]\nkind = \"line\"\nlatency = \"{} us\"\nrate = \
         \"{rate} MB/s\"\n{}",
        known.name,
        platform.about,
        none * 1e6,
        platform.line().topology.to_toml(),
    ))
}
