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
mod noise;
mod place;
mod process;
mod ranking;
mod report;
#[cfg(test)]
mod sample;
mod session;
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
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
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
    let suites = chosen(&options.suites)?;
    check_hosts(&options.hosts, &place::here(&[]).host)?;
    let tools = Tools::find(options.sources.as_deref())?;
    std::fs::create_dir_all(&options.out).map_err(|error| {
        Failure::new(Status::Refused, format!("cannot make {}: {error}", options.out.display()))
    })?;
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&stop))?;
    }
    let length = if options.quick { Length::Quick } else { Length::Full };
    let rounds = options.rounds.unwrap_or_else(|| length.pick(3, 2));
    let limit = options.limit.map(|seconds| Duration::from_secs(seconds.into()));
    let session = Session { tools, length, rounds, limit, hosts: options.hosts.clone(), stop };
    let figures = session.measure(&suites, &options.out)?;
    figures.write(&options.out)?;
    rendered(&figures, &options.out)?;
    end(&figures)
}

/// The suites' names, each with what it is.
pub(crate) fn suites() -> impl Iterator<Item = (&'static str, &'static str)> {
    suite::ALL.iter().map(|suite| (suite.name, suite.title))
}

fn chosen(names: &[String]) -> Result<Vec<Suite>, Failure> {
    suite::named(names).map_err(|unknown| {
        let known = || suite::ALL.iter().map(|suite| suite.name);
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
    crate::show::show(format!(
        "{}\nreport: {}\n",
        ranking::text(figures),
        file.canonicalize().unwrap_or(file).display()
    ))?;
    Ok(())
}

/// Refuses what no system can add to this host's machine, before anything is built.
fn check_hosts(hosts: &[String], own: &str) -> Result<(), Failure> {
    for (at, host) in hosts.iter().enumerate() {
        let why = if host.is_empty() {
            "--hosts: a name is empty".to_owned()
        } else if host == own || host == "localhost" {
            format!("--hosts: {host} is this host, which takes part anyway")
        } else if hosts[..at].contains(host) {
            format!("--hosts: {host} is named twice")
        } else {
            continue;
        };
        let text = format!("{why}\n  name the other hosts, for instance --hosts one,two");
        return Err(Failure::new(Status::Usage, text));
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_that_no_system_can_add_were_tried_by_all_of_them() {
        let said = |hosts: &[&str]| {
            let hosts: Vec<String> = hosts.iter().map(|&host| host.to_owned()).collect();
            check_hosts(&hosts, "here").map_err(|failure| failure.text().to_owned())
        };
        assert!(said(&["one", ""]).unwrap_err().contains("a name is empty"));
        assert!(said(&["here"]).unwrap_err().contains("here is this host"));
        assert!(said(&["localhost"]).unwrap_err().contains("localhost is this host"));
        assert!(said(&["one", "two", "one"]).unwrap_err().contains("one is named twice"));
        assert_eq!(said(&["one", "two"]), Ok(()));
        assert_eq!(said(&[]), Ok(()));
    }
}
