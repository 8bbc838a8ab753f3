//! `pvm add`.

use crate::adding;
use crate::failure::{Failure, Status};
use crate::hostline::{self, NewHost};
use crate::operator::Operator;
use crate::options::hosts::AddOptions;
use crate::outcome;
use crate::show::{show, show_json};
use pvm_wire::Tid;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

/// Adds hosts; quiet if all goes well.
pub(crate) fn add(options: &AddOptions) -> Result<(), Failure> {
    let mut extra = options.option.clone();
    extra.extend(options.push.then(|| "push".to_owned()));
    extra.extend(options.tunnel.then(|| "tunnel".to_owned()));
    let hosts = hosts_of(&options.hosts, options.hostfile.as_deref(), &extra)?;
    let mut operator = Operator::connect()?;
    let results = adding::add(&mut operator, &hosts, Duration::from_secs(options.timeout))?;
    let names: Vec<String> = hosts.into_iter().map(|host| host.shown).collect();
    let rows = names.iter().zip(&results);
    if options.json {
        let rows: Vec<Value> =
            rows.map(|(name, result)| outcome::json(name, result, true)).collect();
        show_json(&json!({ "hosts": rows }))?;
    } else if options.verbose {
        for (name, result) in rows.filter(|(_, result)| outcome::is_good(result)) {
            show(format_args!("{name} was added: {}\n", Tid::from_c_int(result.outcome)))?;
        }
    }
    outcome::check("added", &names, &results)
}

/// The hosts that a command line names: those of the file if it names no others.
pub(crate) fn hosts_of(
    words: &[String],
    file: Option<&Path>,
    options: &[String],
) -> Result<Vec<NewHost>, Failure> {
    let options = hostline::options(options)?;
    let Some(path) = file else {
        return words.iter().map(|word| hostline::wanted(word, &options, None)).collect();
    };
    let file = hostline::read(path)?;
    let faults = hostline::faults(path, &file);
    if !faults.is_empty() {
        return Err(Failure::new(Status::Usage, faults.join("\n")));
    }
    if words.is_empty() {
        return Ok(hostline::listed(&file, &options));
    }
    words.iter().map(|word| hostline::wanted(word, &options, Some(&file))).collect()
}
