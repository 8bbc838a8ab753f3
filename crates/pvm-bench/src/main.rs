//! `pvm-bench`, which `pvm bench` starts: measures this machine's messages beside its peers and
//! writes a report.
//!
//! A suite ([`suite`]) says which programs are run with which arguments; they are built for each
//! system that is there ([`system`]) and run in turns, round after round, each in a machine of its
//! own ([`machine`]), so that a busy moment of the computer meets all of them, within a time that
//! the suite has ([`budget`]). What they print
//! becomes [`figures`]; [`statistics`] is the only place that works something out of them, for the
//! report ([`report`]) and for the comparison of two runs ([`compare`]).

#![forbid(unsafe_code)]
// `println!` and `eprintln!` panic where nobody can read: `show` and `remark` do not.
#![warn(clippy::print_stdout, clippy::print_stderr)]

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
mod script;
mod session;
mod start;
mod statistics;
mod suite;
mod surroundings;
mod system;
mod told;

use case::{Length, Suite};
use clap::Parser as _;
use figures::Figures;
use pvm_cli::failure::{Failure, Status};
use pvm_cli::options::bench::BenchOptions;
use session::Session;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;
use system::Tools;

/// The command line. `pvm` has read it already, and shows the help.
#[derive(Debug, clap::Parser)]
#[command(name = "pvm bench", version, args_conflicts_with_subcommands = true)]
struct Options {
    #[command(flatten)]
    bench: BenchOptions,
    #[command(subcommand)]
    words: Option<Action>,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Runs a measurement of NeoPVM's source tree, or lists them
    Script(script::ScriptOptions),
}

fn main() -> ExitCode {
    let options = Options::parse();
    let measured = match &options.words {
        Some(Action::Script(options)) => script::run(options),
        None => bench(&options.bench),
    };
    match measured {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            pvm_cli::show::remark(&failure);
            ExitCode::from(failure.status as u8)
        }
    }
}

/// Measures, or compares what was measured.
fn bench(options: &BenchOptions) -> Result<(), Failure> {
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

fn chosen(names: &[String]) -> Result<Vec<Suite>, Failure> {
    suite::named(names).map_err(|unknown| {
        let known = || suite::every().map(|suite| suite.name);
        let meant = pvm_cli::nearest::to(&unknown, known());
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
    pvm_cli::show::show(format!(
        "{told}\nreport: {}\n",
        file.canonicalize().unwrap_or(file).display()
    ))?;
    Ok(())
}

/// Reports at the end, and in the exit status, that something was not measured.
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

#[cfg(test)]
mod tests {
    #[test]
    fn completions_offer_the_suites_that_there_are() {
        let suites: Vec<_> = super::suite::every().map(|suite| (suite.name, suite.title)).collect();
        assert_eq!(suites, pvm_cli::options::bench::SUITES);
    }
}
