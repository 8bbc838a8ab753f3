//! Adds many hosts at once: one request for each host, so that each answer is printed when it
//! comes.

use crate::failure::Failure;
use crate::hostline::NewHost;
use crate::operator::Operator;
use crate::progress::Board;
use pvm_wire::Code;
use pvm_wire::request::{Failure as Cause, HostResult, Reply, Request};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Adds all hosts and returns a result for each, in their order. A host without a result by the end
/// of `patience` is reported as one that cannot be started.
pub(crate) fn add(
    operator: &mut Operator,
    hosts: &[NewHost],
    patience: Duration,
) -> Result<Vec<HostResult>, Failure> {
    let lost = |code| Failure::refused("adding hosts", code);
    let end = Instant::now() + patience;
    let mut results: Vec<Option<HostResult>> = vec![None; hosts.len()];
    let mut asked = BTreeMap::new();
    for (place, host) in hosts.iter().enumerate() {
        if is_repeated(hosts, place) {
            results[place] = Some(refusal(Code::DupHost, "it is named twice", ""));
            continue;
        }
        let request = Request::AddHosts { hosts: vec![host.line.to_line()] };
        asked.insert(operator.send(&request).map_err(lost)?, place);
    }
    let names = hosts.iter().map(|host| host.shown.clone()).collect();
    let mut board = Board::new(names, "is being started");
    while !asked.is_empty() {
        let wake = board.next_look().map_or(end, |at| at.min(end));
        match operator.next_before(wake).map_err(lost)? {
            Some((id, reply)) => {
                let Some(place) = asked.remove(&id) else { continue };
                let result = result_in(reply)?;
                board.set(place, if result.outcome >= 0 { "is in" } else { "cannot be added" });
                results[place] = Some(result);
            }
            None if Instant::now() >= end => break,
            None => board.look(),
        }
    }
    let late = || {
        let text = format!("it has not joined within {} s", patience.as_secs());
        refusal(Code::CantStart, &text, "`pvm conf`, because it may still join")
    };
    Ok(results.into_iter().map(|result| result.unwrap_or_else(late)).collect())
}

fn result_in(reply: Reply) -> Result<HostResult, Failure> {
    match reply {
        Reply::HostResults { mut results } if results.len() == 1 => Ok(results.remove(0)),
        Reply::Failed { code } => Ok(HostResult { outcome: code.number(), failure: None }),
        _ => Err(Failure::unexpected("adding hosts")),
    }
}

fn refusal(code: Code, detail: &str, remedy: &str) -> HostResult {
    let failure = Cause { remedy: remedy.to_owned(), ..Cause::of(detail) };
    HostResult { outcome: code.number(), failure: Some(failure) }
}

/// As in the original the second of two equal names is one too many.
fn is_repeated(hosts: &[NewHost], place: usize) -> bool {
    let own = &hosts[place];
    let may_repeat = own.is_local() || own.line.again;
    !may_repeat && hosts[..place].iter().any(|other| other.line.name == own.line.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hostline::wanted;
    use pvm_wire::hostfile::HostLine;

    #[test]
    fn a_host_named_twice_is_asked_for_once() {
        let host = |word: &str| wanted(word, &HostLine::default(), None).unwrap();
        let hosts = ["a", "local", "me@a sp=5", "local"].map(host);
        let repeated: Vec<bool> = (0..hosts.len()).map(|at| is_repeated(&hosts, at)).collect();
        assert_eq!(repeated, [false, false, true, false]);
    }
}
