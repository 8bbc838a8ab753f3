//! `pvm bench`: measures this machine's messages beside its peers and writes a report.
//!
//! A suite ([`suite`]) says which programs are run with which arguments; they are built for each
//! system that is there ([`system`]) and run in turns, round after round, each in a machine of its own
//! ([`machine`]), so that a busy moment of the computer meets all of them, within a time that the
//! suite has ([`budget`]). What they print
//! becomes [`figures`]; [`statistics`] is the only place that works something out of them, for the
//! report ([`report`]) and for the comparison of two runs ([`compare`]).

mod bar;
mod budget;
mod case;
mod compare;
mod figures;
mod java;
mod machine;
mod marked;
pub(crate) mod nas;
mod noise;
mod place;
mod process;
mod ranking;
mod report;
#[cfg(test)]
mod sample;
mod session;
mod start;
mod statistics;
mod suite;
mod surroundings;
mod system;
mod told;

use crate::failure::{Failure, Status};
use crate::options::bench::BenchOptions;
use case::{Length, Suite};
use figures::Figures;
use session::Session;
use std::path::Path;
use std::time::Duration;
use system::Tools;

/// Measures, or compares what was measured.
pub(crate) fn bench(options: &BenchOptions) -> Result<(), Failure> {
    if let [a, b] = options.compare.as_slice() {
        return compare::compare(&Figures::read(a)?, &Figures::read(b)?);
    }
    if let Some(file) = &options.report {
        return rendered(&Figures::read(file)?, &options.out);
    }
    let figures = if options.suites.iter().any(|name| name == suite::nas::SUITE.name) {
        nas::measure(options)?
    } else {
        measure(options)?
    };
    figures.write(&options.out)?;
    rendered(&figures, &options.out)?;
    end(&figures)
}

/// The suites of [`suite::ALL`].
fn measure(options: &BenchOptions) -> Result<Figures, Failure> {
    let suites = chosen(&options.suites)?;
    if let Some(option) = options.nas.given() {
        let text = format!(
            "{option} is for the NAS Parallel Benchmarks\n  name them: `pvm bench nas {option} ...`"
        );
        return Err(Failure::new(Status::Usage, text));
    }
    start::check_hosts(&options.hosts, &place::here(&[]).host)?;
    let tools = Tools::find(options.sources.as_deref(), "suites", "measure.c")?;
    let stop = start::prepared(&options.out)?;
    let length = if options.quick { Length::Quick } else { Length::Full };
    let rounds = options.rounds.unwrap_or_else(|| length.pick(3, 2));
    let limit = options.limit.map(|seconds| Duration::from_secs(seconds.into()));
    let session = Session { tools, length, rounds, limit, hosts: options.hosts.clone(), stop };
    session.measure(&suites, &options.out)
}

/// The suites' names, each with what it is.
pub(crate) fn suites() -> impl Iterator<Item = (&'static str, &'static str)> {
    suite::every().map(|suite| (suite.name, suite.title))
}

fn chosen(names: &[String]) -> Result<Vec<Suite>, Failure> {
    suite::named(names).map_err(|unknown| {
        let known = || suite::every().map(|suite| suite.name);
        let meant = crate::nearest::to(&unknown, known());
        let meant = meant.map_or_else(String::new, |name| format!(" (did you mean {name}?)"));
        let all: Vec<&str> = known().collect();
        Failure::new(
            Status::Usage,
            format!("no such suite: {unknown}{meant}\n  there are {}", all.join(", ")),
        )
    })
}

fn rendered(figures: &Figures, out: &Path) -> Result<(), Failure> {
    let file = out.join("report.html");
    figures::put(&file, &report::page(figures))?;
    let told =
        if figures.answers.is_empty() { ranking::text(figures) } else { nas::table::text(figures) };
    crate::show::show(format!(
        "{told}\nreport: {}\n",
        file.canonicalize().unwrap_or(file).display()
    ))?;
    Ok(())
}

/// What was not measured is told at the end, too, and the exit status says that there is some.
fn end(figures: &Figures) -> Result<(), Failure> {
    if figures.problems.is_empty() {
        return Ok(());
    }
    let mut text = format!("measured in part: {} things did not go well", figures.problems.len());
    for problem in &figures.problems {
        text += &format!("\n  {}: {}", problem.what, problem.how);
        for line in problem.last_words.lines() {
            text += &format!("\n    {line}");
        }
    }
    Err(Failure::new(Status::Partial, text))
}
