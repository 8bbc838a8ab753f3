//! The options of `pvm predict`.

use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

use super::notes;

/// The arguments of `pvm predict`.
#[derive(Debug, Args)]
pub(crate) struct PredictOptions {
    /// Something else than a prediction
    #[command(subcommand)]
    pub(crate) what: Option<PredictCommand>,
    /// A prediction
    #[command(flatten)]
    pub(crate) run: SimulateOptions,
}

/// What there is beside predictions.
#[derive(Debug, Subcommand)]
pub(crate) enum PredictCommand {
    /// List the networks that are known by name, or print one as a file
    #[command(after_help = notes::PREDICT_NETWORKS)]
    Networks(NetworksOptions),
    /// Read a trace as a prediction would, and tell what is in it
    #[command(after_help = notes::PREDICT_CHECK)]
    Check(CheckOptions),
    /// Write the trace of a pattern of communication
    #[command(after_help = notes::PREDICT_GENERATE)]
    Generate(PatternOptions),
}

/// The arguments of a prediction.
#[derive(Debug, Args)]
pub(crate) struct SimulateOptions {
    /// The trace: one file, a file for each task, or a folder with the files station.0, station.1 ...
    #[arg(value_name = "TRACE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// A network by name, or a platform file
    #[arg(long, value_name = "NETWORK", default_value = "switch-1000")]
    pub(crate) network: String,
    /// Whose model
    #[arg(long, value_name = "MODEL", default_value = "ours")]
    pub(crate) model: ModelName,
    /// How closely
    #[arg(long, value_name = "DEPTH")]
    pub(crate) depth: Option<Depth>,
    /// So many runs with seeds of their own, where chance plays a part
    #[arg(long, value_name = "COUNT", default_value_t = 1,
        value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) seeds: u32,
    /// Leave this task out of the average of the workers
    #[arg(long, value_name = "TASK")]
    pub(crate) master: Option<u32>,
    /// Take computing times by the clock on the wall, with what other programs took from them; without
    /// this option by the processor's clock, where the trace has it
    #[arg(long)]
    pub(crate) wall: bool,
    /// Leave in what the recording itself cost
    #[arg(long)]
    pub(crate) probes: bool,
    /// Write the simulated run as a trace
    #[arg(long, value_name = "FILE")]
    pub(crate) as_trace: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Whose model.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum ModelName {
    /// This program's
    Ours,
    /// The simulator of the thesis on PVM programs, on a shared cable
    Thesis,
}

/// How closely.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Depth {
    /// A latency and a time a byte, nothing shared but the sender's door
    Line,
    /// Each segment of TCP on each cable; without this option up to 1000 tasks
    Packet,
}

/// The arguments of `pvm predict networks`.
#[derive(Debug, Args)]
pub(crate) struct NetworksOptions {
    /// Print this one as a platform file
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
    /// Which tasks send to which
    #[arg(value_name = "PATTERN")]
    pub(crate) pattern: PatternName,
    /// How many tasks
    #[arg(long, value_name = "COUNT")]
    pub(crate) tasks: u32,
    /// How often
    #[arg(long, value_name = "COUNT", default_value_t = 10)]
    pub(crate) rounds: u32,
    /// Bytes of a message
    #[arg(long, value_name = "BYTES", default_value_t = 1024)]
    pub(crate) bytes: u64,
    /// Microseconds that a task computes in a round
    #[arg(long, value_name = "MICROSECONDS", default_value_t = 1000)]
    pub(crate) compute: u64,
    /// As lines c, s, m, r of the thesis, into this folder, a file for each task
    #[arg(long, value_name = "DIR", conflicts_with = "output")]
    pub(crate) stations: Option<PathBuf>,
    /// Where to, in SimGrid's form. Standard output without it
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// Which tasks send to which.
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
