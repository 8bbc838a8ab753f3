//! The options of `pvm trace`.

use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

use super::notes;

/// Of `pvm trace`.
#[derive(Debug, Args)]
pub(crate) struct TraceOptions {
    /// What to do
    #[command(subcommand)]
    pub(crate) what: TraceCommand,
}

/// What can be done with a trace.
#[derive(Debug, Subcommand)]
pub(crate) enum TraceCommand {
    /// Tell what a trace holds: hosts, tasks, clocks, what is missing; or its records
    #[command(after_help = notes::TRACE_SHOW)]
    Show(ShowOptions),
    /// Tell where the time went
    #[command(after_help = notes::TRACE_PROFILE)]
    Profile(ProfileOptions),
    /// Write a trace in the form of another tool
    #[command(after_help = notes::TRACE_EXPORT)]
    Export(ExportOptions),
    /// Make a trace of what another tool recorded
    #[command(after_help = notes::TRACE_IMPORT)]
    Import(ImportOptions),
    /// Draw a trace as a picture
    #[command(after_help = notes::TRACE_DRAW)]
    Draw(DrawOptions),
    /// Write one HTML page about a trace, which needs nothing else
    #[command(after_help = notes::TRACE_REPORT)]
    Report(ReportOptions),
}

/// Of `pvm trace show`.
#[derive(Debug, Args)]
pub(crate) struct ShowOptions {
    /// The trace
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// List the records
    #[arg(short, long)]
    pub(crate) events: bool,
    /// Only from so many seconds after the begin on
    #[arg(long, value_name = "SECONDS", requires = "events", value_parser = seconds)]
    pub(crate) from: Option<f64>,
    /// Only up to so many seconds after the begin
    #[arg(long, value_name = "SECONDS", requires = "events", value_parser = seconds)]
    pub(crate) to: Option<f64>,
    /// Leave times as the hosts' clocks told them
    #[arg(long)]
    pub(crate) raw: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Of `pvm trace profile`.
#[derive(Debug, Args)]
pub(crate) struct ProfileOptions {
    /// The trace
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Leave times as the hosts' clocks told them
    #[arg(long)]
    pub(crate) raw: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Of `pvm trace export`.
#[derive(Debug, Args)]
pub(crate) struct ExportOptions {
    /// The trace
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The form
    #[arg(long, value_name = "FORM")]
    pub(crate) to: ExportForm,
    /// Where to; a folder for thesis. Standard output without it
    #[arg(short, long, value_name = "FILE", required_if_eq("to", "thesis"))]
    pub(crate) output: Option<PathBuf>,
    /// Leave times as the hosts' clocks told them
    #[arg(long)]
    pub(crate) raw: bool,
}

/// What other tools read.
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
    /// The files of the thesis on simulating PVM programs
    Thesis,
}

/// Of `pvm trace import`.
#[derive(Debug, Args)]
pub(crate) struct ImportOptions {
    /// What was recorded: a file for sddf, the files station.0, station.1 ... for thesis
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Its form
    #[arg(long, value_name = "FORM")]
    pub(crate) form: ImportForm,
    /// The trace that is made
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
}

/// What is read besides our own traces.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum ImportForm {
    /// Events as PVM's tracers and XPVM write them
    Sddf,
    /// Lines c, s, m, r of the thesis
    Thesis,
}

/// Of `pvm trace draw`.
#[derive(Debug, Args)]
pub(crate) struct DrawOptions {
    /// The trace
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The picture
    #[arg(long, value_name = "PICTURE")]
    pub(crate) what: Picture,
    /// Where to, as SVG. Standard output without it
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Only from so many seconds after the begin on
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) from: Option<f64>,
    /// Only up to so many seconds after the begin
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) to: Option<f64>,
    /// Leave times as the hosts' clocks told them
    #[arg(long)]
    pub(crate) raw: bool,
}

/// What can be drawn.
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

/// Of `pvm trace report`.
#[derive(Debug, Args)]
pub(crate) struct ReportOptions {
    /// The trace
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Where to
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Leave times as the hosts' clocks told them
    #[arg(long)]
    pub(crate) raw: bool,
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds: f64 = text.parse().map_err(|_| "seconds, as 1.5".to_owned())?;
    if seconds.is_finite() && seconds >= 0.0 { Ok(seconds) } else { Err("0 or more".to_owned()) }
}
