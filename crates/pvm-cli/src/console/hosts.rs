//! Console commands about hosts: `add`, `conf`, `delete`, `mstat`.

use crate::console::session::{Next, Session};
use crate::text;
use crate::{hostline, outcome};
use pvm_wire::hostfile::HostLine;
use pvm_wire::request::{Failure, HostResult, Reply, Request};
use pvm_wire::{Blob, Code, Tid};
use std::collections::BTreeSet;

fn lines(names: &[String]) -> Vec<Blob> {
    names.iter().map(|name| name.as_str().into()).collect()
}

fn good(results: &[HostResult]) -> usize {
    results.iter().filter(|result| outcome::is_good(result)).count()
}

/// `add HOST ...`
pub(crate) fn add(session: &mut Session, args: &[String]) -> Next {
    let Some(results) = ask_for(session, args) else { return Next::Go };
    let mut text = format!("{} successful\n                    HOST     DTID\n", good(&results));
    for (name, result) in args.iter().zip(&results) {
        if outcome::is_good(result) {
            text += &format!("{name:>24} {:>8x}\n", result.outcome);
            session.added.push(Tid::from_c_int(result.outcome));
        } else {
            text += &format!("{name:>24} {}\n", outcome::error(result));
        }
    }
    session.say(text + &diagnosis(args, &results));
    Next::Go
}

/// Asks for the hosts that make sense. The others are refused as the machine would.
fn ask_for(session: &mut Session, args: &[String]) -> Option<Vec<HostResult>> {
    let none = HostLine::default();
    let lines: Vec<Result<Blob, HostResult>> = args
        .iter()
        .map(|word| match hostline::wanted(word, &none, None) {
            Ok(wanted) => Ok(wanted.line.to_line()),
            Err(failure) => Err(HostResult {
                outcome: Code::BadParam.number(),
                failure: Some(Failure::of(failure.text())),
            }),
        })
        .collect();
    let hosts: Vec<Blob> = lines.iter().flatten().cloned().collect();
    let mut answers = Vec::new().into_iter();
    if !hosts.is_empty() {
        let request = Request::AddHosts { hosts };
        let Reply::HostResults { results } = session.ask("pvm_addhosts", &request)? else {
            return None;
        };
        answers = results.into_iter();
    }
    lines.into_iter().map(|line| line.map_or_else(Some, |_| answers.next())).collect()
}

/// The original runs its own tests here. Ours have been run by the host that tried to add the new
/// one.
fn diagnosis(args: &[String], results: &[HostResult]) -> String {
    let mut text = String::new();
    for (name, result) in args.iter().zip(results) {
        let reasons = outcome::reasons(result);
        if reasons.is_empty() || result.outcome == Code::DupHost.number() {
            continue;
        }
        if text.is_empty() {
            text += "\nAuto-Diagnosing Failed Hosts...\n";
        }
        text += &format!("{name}...\n{}\n\n", reasons.join("\n"));
    }
    text
}

/// `delete HOST ...`
pub(crate) fn delete(session: &mut Session, args: &[String]) -> Next {
    let request = Request::DelHosts { hosts: lines(args) };
    let Some(Reply::HostResults { results }) = session.ask("pvm_delhosts", &request) else {
        return Next::Go;
    };
    let mut text = format!("{} successful\n                    HOST  STATUS\n", good(&results));
    for (name, result) in args.iter().zip(&results) {
        let status =
            if outcome::is_good(result) { "deleted".to_owned() } else { outcome::error(result) };
        text += &format!("{name:>24}  {status}\n");
    }
    session.say(text);
    Next::Go
}

/// `conf`
pub(crate) fn conf(session: &mut Session, _: &[String]) -> Next {
    let hosts = session.hosts();
    let formats: BTreeSet<i32> = hosts.iter().map(|host| host.signature).collect();
    let plural = |count: usize| if count == 1 { "" } else { "s" };
    let mut text = format!(
        "{} host{}, {} data format{}\n                    HOST     DTID     ARCH   SPEED       \
         DSIG\n",
        hosts.len(),
        plural(hosts.len()),
        formats.len(),
        plural(formats.len())
    );
    for host in &hosts {
        let (name, arch) = (text::of(&host.name), text::of(&host.arch));
        text += &format!(
            "{name:>24} {:>8x} {arch:>8} {:>7} 0x{:08x}\n",
            host.tid.0, host.speed, host.signature
        );
    }
    session.say(text);
    Next::Go
}

/// `mstat HOST ...`
pub(crate) fn mstat(session: &mut Session, args: &[String]) -> Next {
    for name in args {
        let status = match session.machine.ask(&Request::HostStatus { name: name.as_str().into() })
        {
            Ok(Reply::Number { value }) if value < 0 => Code::from_number(value)
                .map_or_else(|| format!("Error {value}"), |code| code.to_string()),
            Ok(_) => "ok".to_owned(),
            Err(code) => code.to_string(),
        };
        session.say(format!("{name:>24}  {status}\n"));
    }
    Next::Go
}
