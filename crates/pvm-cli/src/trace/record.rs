//! `pvm trace record` and `pvm trace stop`.

use crate::failure::{Failure, Status};
use crate::operator::Operator;
use crate::options::trace::{RecordOptions, StopOptions};
use crate::recording::{NAME, Outcome, Recording, Which};
use crate::show::{remark, show_json};
use pvm_wire::request::{Reply, Request};
use serde_json::json;
use signal_hook::consts::{SIGINT, SIGTERM};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Records until something ends it.
pub(super) fn record(options: &RecordOptions) -> Result<(), Failure> {
    let which = if options.all { Which::All } else { Which::Tasks(options.tasks.clone()) };
    let enough = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        let registered = signal_hook::flag::register(signal, enough.clone());
        registered.map_err(|error| Failure::new(Status::Daemon, error.to_string()))?;
    }
    // Whoever records nothing says so before a file is made.
    Operator::connect()?;
    let sockets = pvm::locate::sockets();
    let (path, bytes) = (&options.output, Some(options.max_size));
    let mut recording = Recording::begin(&sockets, path, bytes, which)?;
    recording.be_found()?;
    remark(format_args!(
        "pvm: recording into {}; Ctrl-C or `pvm trace stop` ends it",
        path.display()
    ));
    while !enough.load(Ordering::Relaxed) && !recording.is_over() {
        let token = recording.token();
        recording.step()?;
        recording.wait(token, Duration::from_millis(50))?;
    }
    let outcome = recording.finish();
    if options.json {
        let Outcome { records, lost, is_cut } = outcome;
        let output = path.to_string_lossy();
        let told = json!({"output": output, "records": records, "lost": lost, "complete": !is_cut});
        show_json(&told)?;
    } else {
        told(path, outcome);
    }
    if outcome.is_cut {
        return Err(Failure::new(Status::Refused, format!("{} is incomplete", path.display())));
    }
    Ok(())
}

/// Says what came of a recording.
pub(crate) fn told(path: &Path, outcome: Outcome) {
    let Outcome { records, lost, is_cut } = outcome;
    let path = path.display();
    match lost {
        _ if is_cut => remark(format_args!("pvm: `pvm trace show {path}` reads what was written")),
        0 => remark(format_args!("pvm: {path}: {records} records")),
        lost => {
            remark(format_args!("pvm: {path}: {records} records, {lost} lost (pvm trace show)"))
        }
    }
}

/// Has all recordings of the machine complete their files.
pub(super) fn stop(options: &StopOptions) -> Result<(), Failure> {
    let mut operator = Operator::connect()?;
    let failed = |code| Failure::new(Status::Daemon, format!("cannot stop recordings: {code}"));
    let pattern = NAME.into();
    let found = operator.ask(&Request::MailboxInfo { pattern }).map_err(failed)?;
    let Reply::Mailboxes { mailboxes } = found else {
        return Err(Failure::unexpected("trace stop"));
    };
    let mut stopped = 0;
    for entry in mailboxes.iter().flat_map(|named| &named.entries) {
        let signal = Request::Signal { tid: entry.owner, signal: SIGINT };
        stopped += usize::from(operator.ask(&signal).is_ok());
    }
    if options.json {
        show_json(&json!({"stopped": stopped}))?;
    } else if stopped == 0 {
        remark(format_args!("pvm: nothing is recorded by `pvm trace record`"));
    }
    Ok(())
}
