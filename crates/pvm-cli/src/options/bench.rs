//! The options of `pvm bench`.

pub mod cases;

use cases::{Class, Name, Shape};
use clap::Args;
use std::path::PathBuf;

/// The suites, each with a description.
pub const SUITES: [(&str, &str); 7] = [
    ("echo", "Echo: latency and bandwidth"),
    ("linpack", "LINPACK: computation, and latency in lost operations"),
    ("two-nodes", "Two nodes: round-trip times"),
    ("primitives", "Primitives: exchange, broadcast, sum, ring, complete exchange"),
    ("applications", "Applications: Gaussian elimination and N-body"),
    ("java", "Java and C: messages and a loop"),
    ("nas", "NAS Parallel Benchmarks"),
];

/// The arguments of `pvm bench`.
#[derive(Debug, Args)]
pub struct BenchOptions {
    /// Suites to measure: echo, linpack, two-nodes, primitives, applications, java; all of these if
    /// none is named. Or nas, by itself: the NAS Parallel Benchmarks
    #[arg(value_name = "SUITE")]
    pub suites: Vec<String>,
    /// The short form: the most important cases, within three minutes
    #[arg(long)]
    pub quick: bool,
    /// Spread the tasks over this host and these, separated by commas
    #[arg(long, value_name = "HOST", value_delimiter = ',')]
    pub hosts: Vec<String>,
    /// The folder for report.html, figures.json and figures.csv; made if it is not there
    #[arg(long, value_name = "DIR", default_value = "pvm-bench")]
    pub out: PathBuf,
    /// The number of rounds of each case, in turns with the other systems [3; 2 with --quick]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub rounds: Option<u32>,
    /// End each run of a program after this time, and let the suites take as long as they need
    /// [by suite: 20 to 120, within the suite's time]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..=3600))]
    pub limit: Option<u32>,
    /// Measure with these programs instead of the installed ones
    #[arg(long, value_name = "DIR")]
    pub sources: Option<PathBuf>,
    /// Print the changes beyond noise between two runs, from the figures.json of each
    #[arg(long, num_args = 2, value_names = ["FILE", "FILE"])]
    #[arg(conflicts_with_all = ["suites", "report"])]
    pub compare: Vec<PathBuf>,
    /// Write the report of an earlier run again, from its figures.json
    #[arg(long, value_name = "FILE", conflicts_with = "suites")]
    pub report: Option<PathBuf>,
    /// The options of `pvm bench nas`
    #[command(flatten)]
    pub nas: NasOptions,
}

/// Further arguments of `pvm bench nas`.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options of nas")]
pub struct NasOptions {
    /// The classes, that is sizes, separated by commas [S,W; S with --quick]
    #[arg(long, value_name = "CLASS", value_delimiter = ',', ignore_case = true)]
    pub class: Vec<Class>,
    /// The numbers of tasks, separated by commas
    /// [1,2,4; 1,4 with --quick; 4 in the shape of the thesis]
    #[arg(long, value_name = "N", value_delimiter = ',')]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub tasks: Vec<u32>,
    /// NPB's classes, or the sizes, messages and encodings of the thesis that compared PVM's
    /// versions by them
    #[arg(long, value_name = "SHAPE")]
    pub shape: Option<Shape>,
    /// Only these of the eight, separated by commas
    #[arg(long, value_name = "BENCHMARK", value_delimiter = ',', ignore_case = true)]
    pub only: Vec<Name>,
    /// A folder with programs of NPB 3.4-MPI that you have built (cg.A.x or cg.A.4): they run in
    /// turns with ours
    #[arg(long, value_name = "DIR")]
    pub peer: Option<PathBuf>,
}

impl NasOptions {
    /// The first of these options that was given.
    pub fn given(&self) -> Option<&'static str> {
        let all = [
            ("--class", !self.class.is_empty()),
            ("--tasks", !self.tasks.is_empty()),
            ("--shape", self.shape.is_some()),
            ("--only", !self.only.is_empty()),
            ("--peer", self.peer.is_some()),
        ];
        all.into_iter().find_map(|(name, is_given)| is_given.then_some(name))
    }
}
