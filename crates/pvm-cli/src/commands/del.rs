//! `pvm del`.

use crate::commands::{conf, status};
use crate::failure::{Failure, Status};
use crate::operator::Operator;
use crate::options::hosts::DelOptions;
use crate::outcome;
use crate::progress::Board;
use crate::progress::Progress;
use crate::show::{show, show_json};
use crate::tasks;
use pvm_wire::request::{HostResult, Reply, Request};
use pvm_wire::{Blob, Code, HostIndex};
use serde_json::{Value, json};
use std::time::Duration;

/// Between two looks at whether a host has left.
const LOOK: Duration = Duration::from_millis(100);

/// Removes hosts, at once or when their tasks have ended; quiet if all goes well.
pub(crate) fn del(options: &DelOptions) -> Result<(), Failure> {
    let mut operator = Operator::connect()?;
    let names = &options.hosts;
    let (before, own) = match options.wait {
        true => (conf::hosts(&mut operator)?, status::of(&mut operator)?.host),
        false => (Vec::new(), HostIndex::default()),
    };
    let results = ask(&mut operator, names, options.drain)?;
    if options.wait {
        let good = names.iter().zip(&results).filter(|(_, result)| outcome::is_good(result));
        let host = |name: &String| match name.as_str() {
            "." => Some(own),
            name => tasks::member(&before, &name.into()).map(|host| host.tid.host()),
        };
        let named = good.filter_map(|(name, _)| Some((name.clone(), host(name)?)));
        operator = wait_for(operator, named.collect(), own)?;
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

/// Waits until none of them is in the machine any more. The host `own`, which is asked, ends when
/// it has left; another host of this computer is asked from then on. Returns the connection to the
/// host that was asked last.
fn wait_for(
    mut operator: Operator,
    mut waited: Vec<(String, HostIndex)>,
    mut own: HostIndex,
) -> Result<Operator, Failure> {
    let all: Vec<String> = waited.iter().map(|(name, _)| name.clone()).collect();
    let mut board = Board::new(all.clone(), "still has tasks");
    loop {
        let hosts = conf::hosts(&mut operator);
        let own_has_left = hosts.is_err() && operator.has_ended();
        let has_left = |host: HostIndex| match &hosts {
            Ok(hosts) => !hosts.iter().any(|info| info.tid.host() == host),
            Err(_) => own_has_left && host == own,
        };
        let left: Vec<_> = waited.extract_if(.., |(_, host)| has_left(*host)).collect();
        for (name, _) in &left {
            let places = all.iter().enumerate().filter(|(_, other)| *other == name);
            places.for_each(|(place, _)| board.set(place, "has left"));
        }
        if waited.is_empty() {
            return Ok(operator);
        }
        match hosts {
            Ok(_) => {}
            Err(failure) if !own_has_left => return Err(failure),
            Err(_) => (operator, own) = other_host(&waited)?,
        }
        board.look();
        std::thread::sleep(LOOK);
    }
}

/// A connection to another host of this computer.
fn other_host(waited: &[(String, HostIndex)]) -> Result<(Operator, HostIndex), Failure> {
    loop {
        let mut operator = Operator::connect_if_running()?.ok_or_else(|| unseen(waited))?;
        match status::of(&mut operator) {
            Ok(status) => return Ok((operator, status.host)),
            Err(failure) if !operator.has_ended() => return Err(failure),
            Err(_) => {}
        }
    }
}

/// This host has ended first, so the others are not seen from here.
fn unseen(waited: &[(String, HostIndex)]) -> Failure {
    let names: Vec<&str> = waited.iter().map(|(name, _)| name.as_str()).collect();
    let text = format!(
        "this host has ended, and it is not known here whether {} has left\n  see `pvm conf` on \
         another host",
        names.join(", ")
    );
    Failure::new(Status::Daemon, text)
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
