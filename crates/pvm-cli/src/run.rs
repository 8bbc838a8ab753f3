//! `pvm run`: starts tasks, stands between them and the terminal, ends as they end.
//!
//! One thread each waits for answers, for standard input and for signals; all of them end in one
//! channel, and the loop in [`running`] is the only place that decides. It never writes output
//! itself, as a slow reader would keep it from hearing a signal: another thread does ([`writer`]).

pub(crate) mod ending;
pub(crate) mod events;
mod job;
mod own;
pub(crate) mod program;
mod running;
pub(crate) mod streams;
mod traced;
mod writer;

use crate::failure::Failure;
use crate::options::tasks::RunOptions;
use events::Events;
use running::Running;
use std::process::ExitCode;
use traced::Traced;

/// Runs the program to its end.
pub(crate) fn run(options: &RunOptions) -> Result<ExitCode, Failure> {
    if let Some(interface) = options.interface {
        return job::run(options, interface);
    }
    let (own, mut operator) = own::machine()?;
    let vmid = own.as_ref().map(|own| own.vmid.as_str());
    let socket = own.as_ref().map(|own| own.bound.socket.clone());
    let traced = options
        .trace
        .as_deref()
        .map(|file| Traced::begin(socket, file, options.alone))
        .transpose()?;
    let start = program::start(&mut operator, options, vmid)?;
    if let Some(traced) = &traced {
        traced.expect(start.tasks());
    }
    let (asker, answers) = operator.split()?;
    let events = Events::listen(asker, answers)?;
    let mut running = Running::new(events, &start, options)?;
    running.report_failed(&start);
    let ended = running.until_finished();
    let ending = running.finish();
    if let Some(traced) = traced {
        traced.finish();
    }
    ended?;
    Ok(ExitCode::from(ending.status()))
}
