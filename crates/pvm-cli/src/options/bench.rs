//! The options of `pvm bench`.

use clap::Args;
use std::path::PathBuf;

/// Of `pvm bench`.
#[derive(Debug, Args)]
pub(crate) struct BenchOptions {
    /// What to measure: echo, linpack, two-nodes, primitives, applications, java; all if none is named
    #[arg(value_name = "SUITE")]
    pub(crate) suites: Vec<String>,
    /// The short form: what is most important, within three minutes
    #[arg(long)]
    pub(crate) quick: bool,
    /// Spread the tasks over this host and these, separated by commas
    #[arg(long, value_name = "HOST", value_delimiter = ',')]
    pub(crate) hosts: Vec<String>,
    /// Where report.html, figures.json and figures.csv go; made if it is not there
    #[arg(long, value_name = "DIR", default_value = "pvm-bench")]
    pub(crate) out: PathBuf,
    /// How often each case is measured, in turns with the others [3; 2 with --quick]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) rounds: Option<u32>,
    /// End a run of a program after so many seconds, and let the suites take as long as they need [by suite: 20 to 120, within the suite's time]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..=3600))]
    pub(crate) limit: Option<u32>,
    /// Measure with these programs instead of the installed ones
    #[arg(long, value_name = "DIR")]
    pub(crate) sources: Option<PathBuf>,
    /// Say what changed beyond noise between two runs: the figures.json of each
    #[arg(long, num_args = 2, value_names = ["FILE", "FILE"], conflicts_with_all = ["suites", "report"])]
    pub(crate) compare: Vec<PathBuf>,
    /// Write the report of a run anew from its figures.json
    #[arg(long, value_name = "FILE", conflicts_with = "suites")]
    pub(crate) report: Option<PathBuf>,
}
