//! The options of `pvm predict`.

use clap::{Args, Subcommand, ValueEnum};
use pvm_predict::platform::Placement;
use pvm_predict::what_if::Change;
use std::path::PathBuf;

use super::notes;

/// The arguments of `pvm predict`.
#[derive(Debug, Args)]
pub(crate) struct PredictOptions {
    /// A command beside the prediction
    #[command(subcommand)]
    pub(crate) what: Option<PredictCommand>,
    /// A prediction
    #[command(flatten)]
    pub(crate) run: SimulateOptions,
}

/// The commands beside predictions.
#[derive(Debug, Subcommand)]
pub(crate) enum PredictCommand {
    /// List the networks that are known by name, or print one as a file
    #[command(after_help = notes::PREDICT_NETWORKS)]
    Networks(NetworksOptions),
    /// Read a trace as a prediction would, and summarise it
    #[command(after_help = notes::PREDICT_CHECK)]
    Check(CheckOptions),
    /// Predict a grid of networks, speeds and overheads, side by side
    #[command(after_help = notes::PREDICT_WHAT_IF)]
    WhatIf(WhatIfOptions),
    /// Send a trace's messages for real on this machine; tasks sleep where the program computed
    #[command(after_help = notes::PREDICT_REHEARSE)]
    Rehearse(RehearseOptions),
    /// Measure the network and the hosts of this machine, and write a platform file
    #[command(after_help = notes::PREDICT_CALIBRATE)]
    Calibrate(CalibrateOptions),
    /// Plays a task of a rehearsal or a calibration, which starts it
    #[command(hide = true)]
    Part(PartOptions),
    /// Write a prediction before the program has run there, with hashes of all its inputs
    #[command(after_help = notes::PREDICT_SEAL)]
    Seal(SealOptions),
    /// Compare a sealed prediction with real runs
    #[command(after_help = notes::PREDICT_SCORE)]
    Score(ScoreOptions),
    /// Write the trace of a pattern of communication
    #[command(after_help = notes::PREDICT_GENERATE)]
    Generate(PatternOptions),
}

/// The arguments of a prediction.
#[derive(Debug, Args)]
pub(crate) struct SimulateOptions {
    /// The trace: one file, a file for each task, or a folder with the files station.0, station.1
    /// ...
    #[arg(value_name = "TRACE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// A network by name, or a platform file
    #[arg(long, value_name = "NETWORK", default_value = "switch-1000")]
    pub(crate) network: String,
    /// The model: ours, or that of the thesis
    #[arg(long, value_name = "MODEL", default_value = "ours")]
    pub(crate) model: ModelName,
    /// The detail of the simulation
    #[arg(long, value_name = "DEPTH")]
    pub(crate) depth: Option<Depth>,
    /// The number of runs, each with a seed of its own, for platforms with chance
    #[arg(long, value_name = "COUNT", default_value_t = 1,
        value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) seeds: u32,
    /// Predict the program with this number of tasks: each TRACE is a recording of it with another
    /// number of tasks, three at least
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=1048576))]
    pub(crate) tasks: Option<u32>,
    /// Leave this task out of the average of the workers
    #[arg(long, value_name = "TASK")]
    pub(crate) master: Option<u32>,
    /// Use wall-clock times of computing, which include interruptions by other programs; by default
    /// the processor time is used, if the trace has it
    #[arg(long)]
    pub(crate) wall: bool,
    /// Do not subtract the cost of the recording itself
    #[arg(long)]
    pub(crate) probes: bool,
    /// Changes of the network and the program, and the places of tasks
    #[command(flatten)]
    pub(crate) change: ChangeOptions,
    /// The number of threads; by default as many as there are cores. The result does not depend on
    /// it
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) threads: Option<u32>,
    /// Write the simulated run as a trace into this file
    #[arg(long, value_name = "FILE")]
    pub(crate) as_trace: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Changes of a platform and a program, and the places of tasks.
#[derive(Clone, Debug, Args)]
pub(crate) struct ChangeOptions {
    /// The host of each task: each (a host of its own), block:N (N tasks a host), round:N (N hosts
    /// in turns), or a list of hosts: 0,0,1,1
    #[arg(long, value_name = "PLACE", default_value = "each", value_parser = place)]
    pub(crate) place: Placement,
    /// The number of cores of each host, or of each computer
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=65536))]
    pub(crate) cores: Option<u32>,
    /// The number of computers that carry all hosts; their cores are shared
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=65536))]
    pub(crate) computers: Option<u32>,
    /// A factor for the rate of all links
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, value_parser = factor)]
    pub(crate) rate: f64,
    /// A factor for the latency of all links
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, value_parser = factor)]
    pub(crate) latency: f64,
    /// The share of frames that switches lose
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub(crate) loss: Option<f64>,
    /// A factor for the speed of computing
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, value_parser = factor)]
    pub(crate) speed: f64,
    /// A factor for the time in calls of the library
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, value_parser = factor)]
    pub(crate) overhead: f64,
}

impl ChangeOptions {
    /// The changes by factors.
    pub(crate) const fn change(&self) -> Change {
        let Self { rate, latency, loss, speed, overhead, .. } = *self;
        Change { rate, latency, loss, speed, overhead }
    }
}

fn place(text: &str) -> Result<Placement, String> {
    Placement::parse(text)
}

fn factor(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|factor| (1e-6..=1e6).contains(factor));
    number.ok_or_else(|| "a factor lies between 0.000001 and 1000000".to_owned())
}

fn share(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|share| (0.0..1.0).contains(share));
    number.ok_or_else(|| "a share lies between 0 and 1, and is not 1".to_owned())
}

/// The arguments of `pvm predict what-if`.
#[derive(Debug, Args)]
pub(crate) struct WhatIfOptions {
    /// The trace, as for a prediction
    #[arg(value_name = "TRACE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Networks by name, or platform files
    #[arg(long, value_name = "NETWORKS", value_delimiter = ',',
        default_values_t = ["ethernet-10".to_owned(), "ethernet-100".to_owned()])]
    pub(crate) network: Vec<String>,
    /// Factors of the speed of computing
    #[arg(long, value_name = "FACTORS", value_delimiter = ',', default_values_t = [1.0],
        value_parser = factor)]
    pub(crate) speed: Vec<f64>,
    /// Factors of the time in calls
    #[arg(long, value_name = "FACTORS", value_delimiter = ',', default_values_t = [1.0, 0.1],
        value_parser = factor)]
    pub(crate) overhead: Vec<f64>,
    /// Draw bars, as SVG or PNG by the file's ending
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// The arguments of `pvm predict rehearse`.
#[derive(Debug, Args)]
pub(crate) struct RehearseOptions {
    /// The trace, as for a prediction
    #[arg(value_name = "TRACE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Put the tasks on these hosts, in turns; by default the machine chooses
    #[arg(long, value_name = "HOSTS", value_delimiter = ',')]
    pub(crate) on: Vec<String>,
    /// Send between hosts through the daemons; by default by direct routes
    #[arg(long)]
    pub(crate) routed: bool,
    /// Use wall-clock times of computing, which include interruptions by other programs
    #[arg(long)]
    pub(crate) wall: bool,
    /// Do not subtract the cost of the recording itself
    #[arg(long)]
    pub(crate) probes: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// The arguments of `pvm predict part`.
#[derive(Debug, Args)]
pub(crate) struct PartOptions {
    /// The task that has started this one
    #[arg(long)]
    pub(crate) of: u32,
    /// Send through the daemons
    #[arg(long)]
    pub(crate) routed: bool,
    /// Do what a calibration says
    #[arg(long)]
    pub(crate) calibrates: bool,
}

/// The arguments of `pvm predict calibrate`.
#[derive(Debug, Args)]
pub(crate) struct CalibrateOptions {
    /// Measure between these hosts; without names between all hosts of the machine
    #[arg(value_name = "HOST")]
    pub(crate) hosts: Vec<String>,
    /// Measure for at most this many seconds; series that find no time are named
    #[arg(long, value_name = "SECONDS", default_value_t = 50,
        value_parser = clap::value_parser!(u32).range(1..=3600))]
    pub(crate) seconds: u32,
    /// Write a platform file
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Draw the errors of the fit and of the model, as SVG or PNG by the file's ending
    #[arg(long, value_name = "FILE")]
    pub(crate) picture: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// The arguments of `pvm predict seal`.
#[derive(Debug, Args)]
pub(crate) struct SealOptions {
    /// The prediction
    #[command(flatten)]
    pub(crate) run: SimulateOptions,
    /// The file to write
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
}

/// The arguments of `pvm predict score`.
#[derive(Debug, Args)]
pub(crate) struct ScoreOptions {
    /// The file that `pvm predict seal` has written
    #[arg(value_name = "SEAL")]
    pub(crate) seal: PathBuf,
    /// Real runs: seconds, or files of JSON lines with the key seconds
    #[arg(value_name = "RUN", required = true)]
    pub(crate) runs: Vec<String>,
    /// Compare this section of the program, not the whole run
    #[arg(long, value_name = "NAME")]
    pub(crate) section: Option<String>,
    /// The largest error that counts as met, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = 5.0)]
    pub(crate) goal: f64,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// The model of a prediction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum ModelName {
    /// This program's
    Ours,
    /// The simulator of the thesis on PVM programs, on a shared cable
    Thesis,
}

/// The detail of a simulation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Depth {
    /// A latency and a time a byte; messages share nothing but their sender's output
    Line,
    /// Messages share cables by max-min fairness: no packets, windows or losses
    Flow,
    /// Each segment of TCP on each cable; the default up to 1000 tasks
    Packet,
}

/// The arguments of `pvm predict networks`.
#[derive(Debug, Args)]
pub(crate) struct NetworksOptions {
    /// Print this network as a platform file
    #[arg(value_name = "NETWORK")]
    pub(crate) name: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// The arguments of `pvm predict check`.
#[derive(Debug, Args)]
pub(crate) struct CheckOptions {
    /// The trace, as for a prediction
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// The arguments of `pvm predict generate`.
#[derive(Debug, Args)]
pub(crate) struct PatternOptions {
    /// The pattern of messages
    #[arg(value_name = "PATTERN")]
    pub(crate) pattern: PatternName,
    /// The number of tasks
    #[arg(long, value_name = "COUNT")]
    pub(crate) tasks: u32,
    /// The number of rounds
    #[arg(long, value_name = "COUNT", default_value_t = 10)]
    pub(crate) rounds: u32,
    /// Bytes of a message
    #[arg(long, value_name = "BYTES", default_value_t = 1024)]
    pub(crate) bytes: u64,
    /// Microseconds that a task computes in a round
    #[arg(long, value_name = "MICROSECONDS", default_value_t = 1000)]
    pub(crate) compute: u64,
    /// Write lines c, s, m, r of the thesis into this folder, a file for each task
    #[arg(long, value_name = "DIR", conflicts_with = "output")]
    pub(crate) stations: Option<PathBuf>,
    /// The file to write, in SimGrid's form. Standard output without it
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// The pattern of messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum PatternName {
    /// Tasks 0 and 1, 2 and 3 ... send one message forth and back
    Pairs,
    /// Each to the next one
    Ring,
    /// Each with its four neighbours in a square
    Stencil,
    /// Up a binary tree and down again
    Tree,
    /// Each to all others
    Exchange,
    /// All to task 0, which answers each
    Star,
}
