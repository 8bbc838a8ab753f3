//! `pvm del`.

use crate::commands::conf;
use crate::failure::Failure;
use crate::operator::Operator;
use crate::options::hosts::DelOptions;
use crate::outcome;
use crate::progress::Board;
use crate::progress::Progress;
use crate::show::{show, show_json};
use crate::tasks;
use pvm_wire::request::{HostResult, Reply, Request};
use pvm_wire::{Blob, Code, Tid};
use serde_json::{Value, json};
use std::time::Duration;

/// Between two looks at whether a host has left.
const LOOK: Duration = Duration::from_millis(100);

/// Removes hosts, at once or when their tasks have ended; quiet if all goes well.
pub(crate) fn del(options: &DelOptions) -> Result<(), Failure> {
    let mut operator = Operator::connect()?;
    let names = &options.hosts;
    let before = if options.wait { conf::hosts(&mut operator)? } else { Vec::new() };
    let results = ask(&mut operator, names, options.drain)?;
    if options.wait {
        let good = names.iter().zip(&results).filter(|(_, result)| outcome::is_good(result));
        let named = good.filter_map(|(name, _)| {
            Some((name.clone(), tasks::member(&before, &name.as_str().into())?.tid))
        });
        wait_for(&mut operator, named.collect())?;
    }
    let rows = names.iter().zip(&results);
    if options.json {
        let rows: Vec<Value> =
            rows.map(|(name, result)| outcome::json(name, result, false)).collect();
        show_json(&json!({ "hosts": rows }))?;
    } else if options.verbose {
        let done = match (options.drain, options.wait) {
            (true, false) => "leaves with its last task",
            _ => "has left",
        };
        for (name, _) in rows.filter(|(_, result)| outcome::is_good(result)) {
            show(format_args!("{name} {done}\n"))?;
        }
    }
    outcome::check(if options.drain { "drained" } else { "deleted" }, names, &results)
        .map_err(|failure| explain(failure, &mut operator, &results))
}

fn ask(operator: &mut Operator, names: &[String], drain: bool) -> Result<Vec<HostResult>, Failure> {
    let hosts: Vec<Blob> = names.iter().map(|name| name.as_str().into()).collect();
    let what = format!("removing {}", names.join(", "));
    let _progress = Progress::start(&what);
    let request = if drain { Request::DrainHosts { hosts } } else { Request::DelHosts { hosts } };
    match operator.ask(&request) {
        Ok(Reply::HostResults { results }) if results.len() == names.len() => Ok(results),
        Ok(_) => Err(Failure::unexpected("del")),
        Err(code) => Err(Failure::refused(&what, code)),
    }
}

/// Until none of them is in the machine any more.
fn wait_for(operator: &mut Operator, mut waited: Vec<(String, Tid)>) -> Result<(), Failure> {
    let all: Vec<String> = waited.iter().map(|(name, _)| name.clone()).collect();
    let mut board = Board::new(all.clone(), "still has tasks");
    loop {
        let hosts = conf::hosts(operator)?;
        let has_left = |tid: Tid| !hosts.iter().any(|host| host.tid == tid);
        for (name, _) in waited.extract_if(.., |(_, tid)| has_left(*tid)) {
            let places = all.iter().enumerate().filter(|(_, other)| **other == name);
            places.for_each(|(place, _)| board.set(place, "has left"));
        }
        if waited.is_empty() {
            return Ok(());
        }
        board.look();
        std::thread::sleep(LOOK);
    }
}

/// Adds to a failure what PVM's word does not say.
fn explain(failure: Failure, operator: &mut Operator, results: &[HostResult]) -> Failure {
    let has = |code: Code| {
        results.iter().any(|result| result.outcome == code.number() && result.failure.is_none())
    };
    let mut failure = failure;
    if has(Code::NoHost)
        && let Ok(hosts) = conf::hosts(operator)
    {
        let names: Vec<String> = hosts.iter().map(|host| host.name.to_text()).collect();
        failure = failure.and(&format!("  the machine has {}", names.join(", ")));
    }
    if results.iter().any(|result| result.outcome == Code::BadParam.number()) {
        failure = failure.and("  to stop the whole machine: `pvm halt`");
    }
    failure
}
