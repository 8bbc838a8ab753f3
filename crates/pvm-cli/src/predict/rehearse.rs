//! `pvm predict rehearse`: a trace's messages for real, while computing is slept.

mod ahead;

use super::input::Trace;
use super::script::{self, BYTES_MAX, Script, Step, WORDS_MAX};
use super::simulate::interrupt;
use super::stage::{self, Played, Setting};
use crate::failure::{Failure, Status};
use crate::options::predict::RehearseOptions;
use crate::progress::Progress;
use crate::show::{remark, show, show_json};
use crate::table::{Side, Table};
use pvm_predict::source::Wish;
use pvm_predict::{Action, Source};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// More tasks are refused: each is a process.
const TASKS_MAX: u32 = 1024;
/// Words of all scripts at most: this process holds them until the tasks have them.
const ALL_WORDS_MAX: usize = 64 << 20;

/// Rehearses a trace.
pub(super) fn rehearse(options: &RehearseOptions) -> Result<(), Failure> {
    let wish = Wish { by_processor: !options.wall, without_probes: !options.probes };
    let trace = Trace::find(&options.files, wish)?;
    for sentence in trace.lacks().sentences() {
        remark(format_args!("pvm: {}: {sentence}", trace.files[0].display()));
    }
    let mut source = trace.open()?;
    let scripts = scripts(&trace, source.as_mut())?;
    let setting = Setting { hosts: options.on.clone(), direct: !options.routed };
    let stop = interrupt()?;
    let least = ahead::least(&trace, &stop)?;
    let progress = Progress::start(&format!("rehearsing, {least} at least"));
    let played = stage::play(&scripts, &setting, &stop)?;
    drop(progress);
    let name = |number| source.section(number).map_or_else(|| number.to_string(), str::to_owned);
    let sections: Vec<(String, f64)> =
        sections(&played).into_iter().map(|(number, time)| (name(number), time)).collect();
    if options.json {
        return Ok(show_json(&as_json(&played, &sections))?);
    }
    show(table(&played))?;
    show(format_args!("\n{:.6} s\n", longest(&played)))?;
    for (name, time) in sections {
        show(format_args!("section {name}: {time:.6} s of one task at most\n"))?;
    }
    Ok(())
}

/// The script of each task.
fn scripts(trace: &Trace, source: &mut dyn Source) -> Result<Vec<Script>, Failure> {
    if source.tasks() > TASKS_MAX {
        let text = format!(
            "{} tasks are more than {TASKS_MAX}, and each is a process\n  `pvm predict` simulates \
             them",
            source.tasks()
        );
        return Err(Failure::new(Status::Refused, text));
    }
    let matching = source.matching();
    let (mut scripts, mut words) = (Vec::new(), 0);
    for task in 0..source.tasks() {
        let mut script = Script::default();
        if source.is_started(task) {
            script.push(&Step::Await);
        }
        while let Some(action) = next(trace, source, task)? {
            let bytes = script::sent(&action);
            if bytes > BYTES_MAX {
                let text = format!(
                    "task {task} sends a message of {bytes} bytes; a rehearsal sends {BYTES_MAX} \
                     at most\n  `pvm predict` simulates longer ones"
                );
                return Err(Failure::new(Status::Refused, text));
            }
            if !script.act(&action, matching) {
                let text = format!(
                    "task {task}: more than {} MiB of actions, which a rehearsal holds in memory",
                    WORDS_MAX >> 17
                );
                return Err(Failure::new(Status::Refused, text));
            }
        }
        words += script.len();
        if words > ALL_WORDS_MAX {
            let text = format!(
                "more than {} MiB of actions of all tasks, which a rehearsal holds in memory\n  \
                 `pvm predict` reads longer traces",
                ALL_WORDS_MAX >> 17
            );
            return Err(Failure::new(Status::Refused, text));
        }
        scripts.push(script);
    }
    Ok(scripts)
}

fn next(trace: &Trace, source: &mut dyn Source, task: u32) -> Result<Option<Action>, Failure> {
    source.next(task).map_err(|error| trace.wrong(&error))
}

fn longest(played: &[Played]) -> f64 {
    played.iter().map(|part| part.seconds).fold(0.0, f64::max)
}

/// For each section, the time of the task that was in it longest.
fn sections(played: &[Played]) -> BTreeMap<u32, f64> {
    let mut most = BTreeMap::new();
    for part in played {
        let mut own: BTreeMap<u32, f64> = BTreeMap::new();
        let ends = part.sections.iter().skip(1).map(|(_, at)| *at).chain([part.seconds]);
        for ((section, begin), end) in part.sections.iter().zip(ends) {
            *own.entry(*section).or_default() += end - begin;
        }
        for (section, time) in own.into_iter().filter(|(section, _)| *section != 0) {
            let known: &mut f64 = most.entry(section).or_default();
            *known = known.max(time);
        }
    }
    most
}

fn table(played: &[Played]) -> Table {
    let mut table =
        Table::new(&[("TASK", Side::Right), ("SECONDS", Side::Right), ("SLEPT", Side::Right)]);
    for (part, number) in played.iter().zip(0u32..) {
        table.row([
            number.to_string(),
            format!("{:.6}", part.seconds),
            format!("{:.6}", part.slept),
        ]);
    }
    table
}

fn as_json(played: &[Played], sections: &[(String, f64)]) -> Value {
    let tasks = played
        .iter()
        .zip(0u32..)
        .map(|(part, task)| json!({"task": task, "seconds": part.seconds, "slept": part.slept}));
    let named = |(name, time): &(String, f64)| json!({"name": name, "seconds": time});
    json!({"seconds": longest(played), "tasks": tasks.collect::<Vec<_>>(),
        "sections": sections.iter().map(named).collect::<Vec<_>>()})
}
