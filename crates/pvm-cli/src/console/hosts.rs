//! Console commands about hosts: `add`, `conf`, `delete`, `mstat`.

use crate::console::session::{Next, Session};
use pvm_wire::request::{HostResult, Reply, Request};
use pvm_wire::{Blob, Code, Tid};
use std::collections::BTreeSet;

fn text_of(outcome: i32) -> String {
    Code::from_number(outcome).map_or_else(|| format!("Error {outcome}"), |code| code.to_string())
}

fn lines(names: &[String]) -> Vec<Blob> {
    names.iter().map(|name| name.as_str().into()).collect()
}

fn good(results: &[HostResult]) -> usize {
    results.iter().filter(|result| result.outcome >= 0).count()
}

/// `add HOST ...`
pub(crate) fn add(session: &mut Session, args: &[String]) -> Next {
    let request = Request::AddHosts { hosts: lines(args) };
    let Some(Reply::HostResults { results }) = session.ask("pvm_addhosts", &request) else {
        return Next::Go;
    };
    let mut text = format!("{} successful\n                    HOST     DTID\n", good(&results));
    for (name, result) in args.iter().zip(&results) {
        if result.outcome < 0 {
            text += &format!("{name:>24} {}\n", text_of(result.outcome));
        } else {
            text += &format!("{name:>24} {:>8x}\n", result.outcome);
            session.added.push(Tid::from_c_int(result.outcome));
        }
    }
    // In the place of the original's "auto-diagnosis" stands what the daemon found out.
    let known = |result: &HostResult| result.outcome == Code::DupHost.number();
    let details = args.iter().zip(&results).filter(|(_, r)| !r.detail.is_empty() && !known(r));
    for (name, result) in details {
        text += &format!("\n{name}: {}\n", result.detail.trim_end());
    }
    session.say(text);
    Next::Go
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
            if result.outcome < 0 { text_of(result.outcome) } else { "deleted".to_owned() };
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
        "{} host{}, {} data format{}\n                    HOST     DTID     ARCH   SPEED       DSIG\n",
        hosts.len(),
        plural(hosts.len()),
        formats.len(),
        plural(formats.len())
    );
    for host in &hosts {
        let (name, arch) = (host.name.to_text(), host.arch.to_text());
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
            Ok(Reply::Number { value }) if value < 0 => text_of(value),
            Ok(_) => "ok".to_owned(),
            Err(code) => code.to_string(),
        };
        session.say(format!("{name:>24}  {status}\n"));
    }
    Next::Go
}
