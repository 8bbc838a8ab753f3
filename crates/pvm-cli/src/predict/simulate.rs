//! A prediction: one run for each seed, on all cores, and what they come to.

use super::input::{self, Trace, at};
use super::tell::{self, Prediction};
use crate::failure::{Failure, Status};
use crate::options::predict::{Depth, ModelName, SimulateOptions};
use crate::progress::Progress;
use crate::show::remark;
use crate::threads::shortage;
use pvm_predict::as_trace::AsTrace;
use pvm_predict::platform::{Network, Platform};
use pvm_predict::report::{Event, Report, Watcher};
use pvm_predict::source::Wish;
use pvm_predict::{Error, Source, model};
use pvm_trace::{Limits, Writer};
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Predicts, and tells.
pub(super) fn simulate(options: &SimulateOptions) -> Result<(), Failure> {
    let wish = Wish { by_processor: !options.wall, without_probes: !options.probes };
    let trace = Trace::find(&options.files, wish)?;
    for sentence in trace.lacks().sentences() {
        remark(format_args!("pvm: {}: {sentence}", trace.files[0].display()));
    }
    let platform = input::platform(&options.network)?;
    let (model, depth) = (options.model, options.depth);
    let plan = Plan { trace: &trace, platform: &platform, model, depth };
    let stop = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(signal_hook::consts::SIGINT, Arc::clone(&stop))?;
    let progress = Progress::start("simulating");
    let reports = plan.all(options.seeds, &stop)?;
    if let Some(path) = &options.as_trace {
        plan.write(path)?;
    }
    drop(progress);
    let told = (reports.len() as u32) < options.seeds;
    if told {
        remark(format_args!(
            "pvm: interrupted: {} of {} runs are done",
            reports.len(),
            options.seeds
        ));
    }
    let tasks = reports[0].stations.len();
    let sections = trace.sections(&reports[0])?;
    if let Some(master) = options.master.filter(|master| *master as usize >= tasks) {
        let text = format!("--master {master}: there are the tasks 0 to {}", tasks - 1);
        return Err(Failure::new(Status::Usage, text));
    }
    let (trace, platform, reports) = (&trace, &platform, &reports);
    tell::tell(&Prediction { options, trace, platform, reports, sections })
}

/// What each run is.
struct Plan<'a> {
    trace: &'a Trace,
    platform: &'a Platform,
    model: ModelName,
    depth: Option<Depth>,
}

/// A run may be stopped by the user.
struct Stoppable<'a>(&'a AtomicBool);

impl Watcher for Stoppable<'_> {
    fn event(&mut self, _: Event<'_>) -> Result<(), Error> {
        Ok(())
    }

    fn goes_on(&mut self, _: u64) -> bool {
        !self.0.load(Ordering::Relaxed)
    }
}

impl Plan<'_> {
    /// All runs, in the order of their seeds; those that are done when the user stops them.
    fn all(&self, seeds: u32, stop: &AtomicBool) -> Result<Vec<Report>, Failure> {
        let next = AtomicU32::new(0);
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let work = || {
            let mut done = Vec::new();
            loop {
                let seed = next.fetch_add(1, Ordering::Relaxed);
                if seed >= seeds || (stop.load(Ordering::Relaxed) && seed > 0) {
                    return Ok(done);
                }
                match self.run(u64::from(seed) + 1, &mut Stoppable(stop)) {
                    Ok(report) => done.push((seed, report)),
                    Err(Error::Stopped(_)) => return Ok(done),
                    Err(error) => return Err(self.trace.wrong(&error)),
                }
            }
        };
        let mut done = std::thread::scope(|scope| {
            let others = cores.min(seeds as usize).saturating_sub(1);
            let begun: Result<Vec<_>, _> = (0..others)
                .map(|_| std::thread::Builder::new().spawn_scoped(scope, work))
                .collect();
            let mut done = work()?;
            for thread in begun.map_err(|error| shortage(&error))? {
                done.extend(thread.join().expect("a run does not panic")?);
            }
            Ok::<_, Failure>(done)
        })?;
        done.sort_by_key(|(seed, _)| *seed);
        if done.is_empty() {
            return Err(Failure::new(Status::Refused, "interrupted before a run was done"));
        }
        Ok(done.into_iter().map(|(_, report)| report).collect())
    }

    fn run(&self, seed: u64, watcher: &mut dyn Watcher) -> Result<Report, Error> {
        let mut source = self.trace.open().map_err(unreadable)?;
        self.run_on(source.as_mut(), seed, watcher)
    }

    fn run_on(
        &self,
        source: &mut dyn Source,
        seed: u64,
        watcher: &mut dyn Watcher,
    ) -> Result<Report, Error> {
        match (self.model, self.platform.network) {
            (ModelName::Thesis, Network::Cable(rules)) => {
                model::thesis::run(source, rules.rate, seed, watcher)
            }
            (ModelName::Thesis, _) => {
                let what = format!(
                    "--model thesis has a shared cable, and {} is none: --network ethernet-10 or ethernet-100",
                    self.platform.name
                );
                Err(Error::Unfit(what))
            }
            (ModelName::Ours, _) => match input::depth(self.depth, self.platform, source.tasks()) {
                Depth::Packet => model::packet::run(source, self.platform, seed, watcher),
                Depth::Line => {
                    model::line::run(source, self.platform.line(), self.platform.host, watcher)
                }
            },
        }
    }

    /// Writes the first seed's run as a trace.
    fn write(&self, path: &Path) -> Result<(), Failure> {
        let mut source = self.trace.open()?;
        let wrong = |error: &Error| self.trace.wrong(error);
        let file = File::create(path).map_err(|error| at(path, &error))?;
        let out = BufWriter::with_capacity(1 << 18, file);
        let mut writer =
            Writer::new(out, Limits::default(), 1).map_err(|error| wrong(&error.into()))?;
        let mut watcher =
            AsTrace::begin(&mut writer, source.as_ref()).map_err(|error| wrong(&error))?;
        self.run_on(source.as_mut(), 1, &mut watcher).map_err(|error| wrong(&error))?;
        drop(watcher);
        writer.finish().map(drop).map_err(|error| wrong(&error.into()))
    }
}

/// A file that could be opened a moment ago and cannot be now.
fn unreadable(failure: Failure) -> Error {
    Error::Io(std::io::Error::other(failure.text().to_owned()))
}
