//! A prediction: one run for each seed, on all cores, and what they come to.

use super::crew::Threads;
use super::input::{self, Trace, at};
use super::tell::{self, Prediction};
use crate::failure::{Failure, Status};
use crate::options::predict::{ChangeOptions, Depth, ModelName, SimulateOptions};
use crate::progress::Progress;
use crate::show::remark;
use crate::threads::shortage;
use pvm_predict::as_trace::AsTrace;
use pvm_predict::platform::{Network, Platform};
use pvm_predict::report::{Event, Report, Watcher};
use pvm_predict::source::Wish;
use pvm_predict::what_if::Lighter;
use pvm_predict::{Crew, Error, Source, model};
use pvm_trace::{Limits, Writer};
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Predicts, and tells.
pub(super) fn simulate(options: &SimulateOptions) -> Result<(), Failure> {
    predicted(options, tell::tell)
}

/// Predicts, and hands on what came of it.
pub(super) fn predicted(
    options: &SimulateOptions,
    then: impl FnOnce(&Prediction<'_>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let wish = Wish { by_processor: !options.wall, without_probes: !options.probes };
    let trace = match options.tasks {
        Some(tasks) => Trace::grow(&options.files, tasks, wish, tell_lacks)?,
        None => {
            let trace = Trace::find(&options.files, wish)?;
            tell_lacks(&trace);
            trace
        }
    };
    let platform = changed(input::platform(&options.network)?, &options.change)?;
    let (model, depth) = (options.model, options.depth);
    let overhead = options.change.overhead;
    let threads = options.threads.map_or_else(cores, |threads| threads as usize);
    let plan = Plan { trace: &trace, platform: &platform, model, depth, overhead, threads };
    let stop = interrupt()?;
    let progress = Progress::start("simulating");
    let reports = plan.all(options.seeds, &stop)?;
    let mut bounds = Vec::new();
    for trace in &trace.bounds() {
        bounds.extend(Plan { trace, ..plan }.all(options.seeds, &stop)?);
    }
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
    let (trace, platform) = (&trace, &platform);
    then(&Prediction { options, trace, platform, reports: &reports, bounds: &bounds, sections })
}

fn tell_lacks(trace: &Trace) {
    for sentence in trace.lacks().sentences() {
        remark(format_args!("pvm: {}: {sentence}", trace.files[0].display()));
    }
}

/// True once the user has had enough.
pub(super) fn interrupt() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(signal_hook::consts::SIGINT, Arc::clone(&stop))?;
    Ok(stop)
}

/// A platform with what the options change.
fn changed(platform: Platform, options: &ChangeOptions) -> Result<Platform, Failure> {
    let wrong = |error: Error| Failure::new(Status::Usage, error.to_string());
    let mut platform = options.change().of(&platform).map_err(wrong)?;
    platform.place = options.place.clone();
    platform.host.cores = options.cores.or(platform.host.cores);
    platform.host.computers = options.computers.or(platform.host.computers);
    Ok(platform)
}

/// The plan of each run.
#[derive(Clone, Copy)]
pub(super) struct Plan<'a> {
    pub(super) trace: &'a Trace,
    pub(super) platform: &'a Platform,
    pub(super) model: ModelName,
    pub(super) depth: Option<Depth>,
    pub(super) overhead: f64,
    /// For all runs together.
    pub(super) threads: usize,
}

/// A run may be stopped by the user.
pub(super) struct Stoppable<'a>(pub(super) &'a AtomicBool);

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
        let one = Self { threads: self.threads / seeds as usize, ..*self };
        let run = |seed: u32| match one.run(u64::from(seed) + 1, &mut Stoppable(stop)) {
            Ok(report) => Ok(Some(report)),
            Err(Error::Stopped(_)) => Ok(None),
            Err(error) => Err(self.trace.wrong(&error)),
        };
        let done = side_by_side((seeds, self.threads), stop, run)?;
        if done.is_empty() {
            return Err(Failure::new(Status::Refused, "interrupted before a run was done"));
        }
        Ok(done.into_iter().map(|(_, report)| report).collect())
    }

    pub(super) fn run(&self, seed: u64, watcher: &mut dyn Watcher) -> Result<Report, Error> {
        let mut source = self.trace.open().map_err(unreadable)?;
        self.run_on(source.as_mut(), seed, watcher)
    }

    fn run_on(
        &self,
        source: &mut dyn Source,
        seed: u64,
        watcher: &mut dyn Watcher,
    ) -> Result<Report, Error> {
        let source: &mut dyn Source = &mut Lighter::new(source, self.overhead);
        match (self.model, self.platform.network) {
            (ModelName::Thesis, Network::Cable(rules)) => {
                model::thesis::run(source, rules.rate, seed, watcher)
            }
            (ModelName::Thesis, _) => {
                let what = format!(
                    "--model thesis has a shared cable, and {} is none: --network ethernet-10 or \
                     ethernet-100",
                    self.platform.name
                );
                Err(Error::Unfit(what))
            }
            (ModelName::Ours, _) => match input::depth(self.depth, self.platform, source.tasks()) {
                Depth::Packet => {
                    let crew = (&Threads::new(self.threads) as &dyn Crew, watcher);
                    model::packet::run_with(source, self.platform, seed, crew)
                }
                Depth::Flow => model::flow::run(source, self.platform, seed, watcher),
                Depth::Line => {
                    let (line, host) = (self.platform.line(), self.platform.host);
                    model::line::run_placed(source, (line, host), &self.platform.place, watcher)
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
        // One thread tells everything in one order.
        let alone = Self { threads: 1, ..*self };
        alone.run_on(source.as_mut(), 1, &mut watcher).map_err(|error| wrong(&error))?;
        drop(watcher);
        writer.finish().map(drop).map_err(|error| wrong(&error.into()))
    }
}

/// The number of cores that this process may use.
pub(super) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Does `count` pieces of work on some threads; what came of those that were done, in their order.
pub(super) fn side_by_side<T: Send>(
    (count, threads): (u32, usize),
    stop: &AtomicBool,
    work: impl Fn(u32) -> Result<Option<T>, Failure> + Sync,
) -> Result<Vec<(u32, T)>, Failure> {
    let next = AtomicU32::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count || (stop.load(Ordering::Relaxed) && number > 0) {
                return Ok::<_, Failure>(done);
            }
            match work(number)? {
                Some(one) => done.push((number, one)),
                None => return Ok(done),
            }
        }
    };
    let mut done = std::thread::scope(|scope| {
        let others = threads.min(count as usize).saturating_sub(1);
        let begun: Result<Vec<_>, _> =
            (0..others).map(|_| std::thread::Builder::new().spawn_scoped(scope, work)).collect();
        let mut done = work()?;
        for thread in begun.map_err(|error| shortage(&error))? {
            done.extend(thread.join().expect("a run does not panic")?);
        }
        Ok::<_, Failure>(done)
    })?;
    done.sort_by_key(|(number, _)| *number);
    Ok(done)
}

/// A file that could be opened a moment ago and cannot be now.
fn unreadable(failure: Failure) -> Error {
    Error::Io(std::io::Error::other(failure.text().to_owned()))
}
