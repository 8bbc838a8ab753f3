//! `pvm kill`.

use crate::failure::{Failure, Status};
use crate::operator::Operator;
use crate::options::tasks::{KillOptions, Victim};
use crate::show::{show, show_json};
use crate::{signals, tasks};
use pvm_wire::request::Request;
use pvm_wire::{Code, Tid};
use serde_json::{Value, json};

/// Sends a signal to tasks; quiet if all were there.
pub(crate) fn kill(options: &KillOptions) -> Result<(), Failure> {
    let mut operator = Operator::connect()?;
    let mut told = Vec::new();
    for tid in victims(&mut operator, &options.victims)? {
        told.push((tid, send(&mut operator, tid, options.signal)?));
    }
    if options.json {
        let rows = told.iter().map(|(tid, there)| {
            let error = (!there).then(|| Code::NoTask.text());
            json!({"tid": tid.to_string(), "ok": there, "error": error})
        });
        let rows: Vec<Value> = rows.collect();
        show_json(&json!({"signal": options.signal, "tasks": rows}))?;
    } else if options.verbose {
        let signal = signals::name(options.signal);
        for (tid, _) in told.iter().filter(|(_, there)| *there) {
            show(format_args!("{tid} was sent {signal}\n"))?;
        }
    }
    let missing = told.iter().filter(|(_, there)| !there).map(|(tid, _)| tid.to_string());
    let missing: Vec<String> = missing.collect();
    if missing.is_empty() {
        return Ok(());
    }
    let text = format!("no such task: {}\n  `pvm ps` lists them", missing.join(" "));
    Err(Failure::new(Status::Refused, text))
}

fn victims(operator: &mut Operator, named: &[Victim]) -> Result<Vec<Tid>, Failure> {
    let mut tids = Vec::new();
    for victim in named {
        match victim {
            Victim::Task(tid) => tids.push(*tid),
            Victim::All => {
                let tasks = tasks::of_programs(operator, Tid::NONE)?;
                tids.extend(tasks.iter().map(|task| task.tid));
            }
        }
    }
    let mut seen = Vec::new();
    tids.retain(|tid| {
        !seen.contains(tid) && {
            seen.push(*tid);
            true
        }
    });
    Ok(tids)
}

/// False if there is no such task.
fn send(operator: &mut Operator, tid: Tid, signal: i32) -> Result<bool, Failure> {
    let refused = |code| Failure::refused(&tid.to_string(), code);
    // As in PVM, a signal to a task that does not exist is no error of the machine.
    match operator.ask(&Request::TaskStatus { tid }) {
        Ok(_) => {}
        Err(Code::NoTask) => return Ok(false),
        Err(code) => return Err(refused(code)),
    }
    operator.ask(&Request::Signal { tid, signal }).map_err(refused)?;
    Ok(true)
}
