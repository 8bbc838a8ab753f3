//! The options of `pvm trace`.

use clap::{Args, Subcommand, ValueEnum};
use pvm_wire::Tid;
use std::path::PathBuf;

use super::notes;
use super::tasks::tid;

/// The arguments of `pvm trace`.
#[derive(Debug, Args)]
pub(crate) struct TraceOptions {
    /// The command
    #[command(subcommand)]
    pub(crate) what: TraceCommand,
}

/// The commands for traces.
#[derive(Debug, Subcommand)]
pub(crate) enum TraceCommand {
    /// Record running tasks, or all tasks of the machine, until it is stopped
    #[command(after_help = notes::TRACE_RECORD)]
    Record(RecordOptions),
    /// Stop the recordings of the machine and complete their files
    #[command(after_help = notes::TRACE_STOP)]
    Stop(StopOptions),
    /// Show the content of a trace: hosts, tasks, clocks, gaps; or its records
    #[command(after_help = notes::TRACE_SHOW)]
    Show(ShowOptions),
    /// Show the time of each function, each task and each pair of tasks
    #[command(after_help = notes::TRACE_PROFILE)]
    Profile(ProfileOptions),
    /// Write a trace in the form of another tool
    #[command(after_help = notes::TRACE_EXPORT)]
    Export(ExportOptions),
    /// Make a trace of another tool's recording
    #[command(after_help = notes::TRACE_IMPORT)]
    Import(ImportOptions),
    /// Draw a trace as a picture
    #[command(after_help = notes::TRACE_DRAW)]
    Draw(DrawOptions),
    /// Write one HTML page about a trace, which needs no other file
    #[command(after_help = notes::TRACE_REPORT)]
    Report(ReportOptions),
}

/// The arguments of `pvm trace record`.
#[derive(Debug, Args)]
pub(crate) struct RecordOptions {
    /// The tasks; tasks that they start are recorded, too
    #[arg(value_name = "TID", required_unless_present = "all", conflicts_with = "all",
          value_parser = tid)]
    pub(crate) tasks: Vec<Tid>,
    /// Record all tasks of the machine, and those that start later
    #[arg(short, long)]
    pub(crate) all: bool,
    /// The trace
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// The file keeps the newest records within this size, such as 500M or 20G
    #[arg(long, value_name = "SIZE", default_value = "10G", value_parser = size)]
    pub(crate) max_size: u64,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// The arguments of `pvm trace stop`.
#[derive(Debug, Args)]
pub(crate) struct StopOptions {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// A size in bytes, or with K, M, G or T; at least what a trace needs.
fn size(text: &str) -> Result<u64, String> {
    bytes(text)
        .filter(|bytes| *bytes >= 4 << 20)
        .ok_or_else(|| "a size is a number of bytes from 4M on, such as 500M or 20G".to_owned())
}

/// A number of bytes, such as 500M or 20G.
pub(crate) fn bytes(text: &str) -> Option<u64> {
    let (number, shift) = match text.trim_end_matches(['b', 'B', 'i']) {
        rest if rest.ends_with(['k', 'K']) => (&rest[..rest.len() - 1], 10),
        rest if rest.ends_with(['m', 'M']) => (&rest[..rest.len() - 1], 20),
        rest if rest.ends_with(['g', 'G']) => (&rest[..rest.len() - 1], 30),
        rest if rest.ends_with(['t', 'T']) => (&rest[..rest.len() - 1], 40),
        rest => (rest, 0),
    };
    number.parse::<u64>().ok().and_then(|number| number.checked_mul(1 << shift))
}

/// The arguments of `pvm trace show`.
#[derive(Debug, Args)]
pub(crate) struct ShowOptions {
    /// The trace
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// List the records
    #[arg(short, long)]
    pub(crate) events: bool,
    /// Leave out what is earlier than this, in seconds after the begin
    #[arg(long, value_name = "SECONDS", requires = "events", value_parser = seconds)]
    pub(crate) from: Option<f64>,
    /// Leave out what is later than this, in seconds after the begin
    #[arg(long, value_name = "SECONDS", requires = "events", value_parser = seconds)]
    pub(crate) to: Option<f64>,
    /// Use the times of the hosts' clocks without correction
    #[arg(long)]
    pub(crate) raw: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// The arguments of `pvm trace profile`.
#[derive(Debug, Args)]
pub(crate) struct ProfileOptions {
    /// The trace
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Use the times of the hosts' clocks without correction
    #[arg(long)]
    pub(crate) raw: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// The arguments of `pvm trace export`.
#[derive(Debug, Args)]
pub(crate) struct ExportOptions {
    /// The trace
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The form
    #[arg(long, value_name = "FORM")]
    pub(crate) to: ExportForm,
    /// The file to write, or the folder for otf2 and thesis. Standard output without it
    #[arg(short, long, value_name = "FILE", required_if_eq_any([("to", "otf2"), ("to", "thesis")]))]
    pub(crate) output: Option<PathBuf>,
    /// Use the times of the hosts' clocks without correction
    #[arg(long)]
    pub(crate) raw: bool,
    /// Print JSON about what was made
    #[arg(long, requires = "output")]
    pub(crate) json: bool,
}

/// The formats of other tools.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum ExportForm {
    /// Perfetto's protobuf, for ui.perfetto.dev and trace_processor
    Perfetto,
    /// Chrome's JSON
    Chrome,
    /// A line a record
    Csv,
    /// Events as PVM's tracers and XPVM write them
    Sddf,
    /// SimGrid's time-independent trace
    Ti,
    /// An archive of OTF2, by its library where that is installed
    Otf2,
    /// The files of the thesis on simulating PVM programs
    Thesis,
}

/// The arguments of `pvm trace import`.
#[derive(Debug, Args)]
pub(crate) struct ImportOptions {
    /// The recorded files: one file for sddf, the files station.0, station.1 ... for thesis
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Its form
    #[arg(long, value_name = "FORM")]
    pub(crate) form: ImportForm,
    /// The trace that is made
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Print JSON about what was made
    #[arg(long, requires = "output")]
    pub(crate) json: bool,
}

/// The formats that are read besides our own traces.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum ImportForm {
    /// Events as PVM's tracers and XPVM write them
    Sddf,
    /// Lines c, s, m, r of the thesis
    Thesis,
}

/// The arguments of `pvm trace draw`.
#[derive(Debug, Args)]
pub(crate) struct DrawOptions {
    /// The trace
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The picture
    #[arg(long, value_name = "PICTURE")]
    pub(crate) what: Picture,
    /// The file to write. Standard output without it
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// The form; without it PNG if the file's name ends with .png, otherwise SVG
    #[arg(long, value_name = "FORM")]
    pub(crate) form: Option<PictureForm>,
    /// Leave out what is earlier than this, in seconds after the begin
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) from: Option<f64>,
    /// Leave out what is later than this, in seconds after the begin
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) to: Option<f64>,
    /// Use the times of the hosts' clocks without correction
    #[arg(long)]
    pub(crate) raw: bool,
    /// Print JSON about what was made
    #[arg(long, requires = "output")]
    pub(crate) json: bool,
}

/// The form of a picture.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum PictureForm {
    /// For pages and for every size
    Svg,
    /// For displays: two pixels for each point
    Png,
}

/// The pictures that can be drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Picture {
    /// Messages and bytes of each pair of tasks
    Aggregate,
    /// Messages and bytes of all tasks over time
    Dynamic,
    /// A row for each task, a line for each message
    Spacetime,
    /// Time in each function
    Functions,
}

/// The arguments of `pvm trace report`.
#[derive(Debug, Args)]
pub(crate) struct ReportOptions {
    /// The trace
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The file to write
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Use the times of the hosts' clocks without correction
    #[arg(long)]
    pub(crate) raw: bool,
    /// Print JSON about what was made
    #[arg(long, requires = "output")]
    pub(crate) json: bool,
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds: f64 = text.parse().map_err(|_| "seconds, as 1.5".to_owned())?;
    if seconds.is_finite() && seconds >= 0.0 { Ok(seconds) } else { Err("0 or more".to_owned()) }
}
