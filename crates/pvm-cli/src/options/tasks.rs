//! Options of the commands about tasks.

use clap::{Args, ValueEnum};
use pvm_wire::Tid;
use std::path::PathBuf;

/// The arguments of `pvm run`.
#[derive(Debug, Args)]
pub(crate) struct RunOptions {
    /// The number of tasks
    #[arg(short = 'n', long = "tasks", value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u32).range(1..=262_143))]
    pub(crate) count: u32,
    /// The host to run on; by default the machine chooses
    #[arg(long, value_name = "HOST")]
    pub(crate) host: Option<String>,
    /// Run a job of this interface: the tasks are its ranks, and one that fails ends all
    #[arg(long = "as", value_name = "NAME")]
    pub(crate) interface: Option<Interface>,
    /// A job's file that says where its ranks run: in its interface's own form (procgroup, NAME.p),
    /// or lines 'HOST [RANKS]'
    #[arg(long = "hosts", value_name = "FILE", requires = "interface", conflicts_with = "host")]
    pub(crate) hosts_file: Option<PathBuf>,
    /// Set a variable for the tasks, beside the environment of this command
    #[arg(long, value_name = "NAME=VALUE", value_parser = variable)]
    pub(crate) env: Vec<String>,
    /// Record what the tasks do, and all that they start, into this file (pvm trace)
    #[arg(long, value_name = "FILE", conflicts_with = "interface")]
    pub(crate) trace: Option<PathBuf>,
    /// Let the recorded tasks of a host compute one after the other, as if each had a computer of
    /// its own: for predictions (pvm predict)
    #[arg(long, requires = "trace")]
    pub(crate) alone: bool,
    /// Print output without a prefix for each task (the output of a single task never has one)
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// The program - a path, or a name in the spawn path or in PATH - and its arguments
    #[arg(value_name = "PROGRAM [ARGS]", required = true, trailing_var_arg = true)]
    pub(crate) command: Vec<std::ffi::OsString>,
}

impl RunOptions {
    /// The program.
    pub(crate) fn program(&self) -> &std::ffi::OsStr {
        self.command.first().expect("the command line requires a program")
    }

    /// The arguments of the program.
    pub(crate) fn arguments(&self) -> &[std::ffi::OsString] {
        self.command.get(1..).unwrap_or_default()
    }
}

/// The interface that a job's programs are written for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Interface {
    /// TCGMSG, version 4, in C or Fortran.
    Tcgmsg,
    /// Argonne's p4.
    P4,
    /// NX of Intel's machines, without a host program.
    Nx,
    /// NX, with a host program that loads the nodes.
    NxHost,
    /// Express of `ParaSoft`, without a host program.
    Express,
    /// Express, with a host program that loads the nodes.
    ExpressHost,
    /// Fermilab's CPS.
    Cps,
    /// PVM 2.4, the interface before version 3.
    Pvm2,
    /// IBM's MPL.
    Mpl,
    /// CMMD of Thinking Machines.
    Cmmd,
    /// Vertex of nCUBE's machines.
    Vertex,
    /// Meiko's MPSC.
    Mpsc,
}

impl Interface {
    /// As it stands on a command line.
    pub(crate) fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }
}

/// The arguments of `pvm ps`.
#[derive(Debug, Args)]
pub(crate) struct PsOptions {
    /// Only the tasks of this host
    #[arg(value_name = "HOST")]
    pub(crate) host: Option<String>,
    /// Also list consoles
    #[arg(short, long)]
    pub(crate) all: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// The arguments of `pvm kill`.
#[derive(Debug, Args)]
pub(crate) struct KillOptions {
    /// The signal, by name or number
    #[arg(short, long, value_name = "SIGNAL", default_value = "TERM")]
    #[arg(value_parser = crate::signals::number)]
    pub(crate) signal: i32,
    /// Print a line for each task
    #[arg(short, long)]
    pub(crate) verbose: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// A task, as `pvm ps` shows it, or 'all' for all tasks except consoles
    #[arg(value_name = "TID", required = true, value_parser = victim)]
    pub(crate) victims: Vec<Victim>,
}

/// The tasks that get a signal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Victim {
    /// Every task that `pvm ps` lists.
    All,
    /// One task.
    Task(Tid),
}

/// The arguments of `pvm names`.
#[derive(Debug, Args)]
pub(crate) struct NamesOptions {
    /// Names to show; * stands for any text
    #[arg(value_name = "PATTERN", default_value = "*")]
    pub(crate) pattern: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

fn variable(text: &str) -> Result<String, String> {
    match text.split_once('=') {
        Some((name, _)) if !name.is_empty() => Ok(text.to_owned()),
        _ => Err("not of the form NAME=VALUE".to_owned()),
    }
}

fn victim(text: &str) -> Result<Victim, String> {
    if text == "all" {
        return Ok(Victim::All);
    }
    tid(text).map(Victim::Task)
}

/// The id of a task, as `pvm ps` shows it.
pub(crate) fn tid(text: &str) -> Result<Tid, String> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix('t')).unwrap_or(text);
    match u32::from_str_radix(digits, 16).map(Tid) {
        Ok(tid) if tid.is_task() => Ok(tid),
        _ => Err("not a task id such as t40002; `pvm ps` lists them".to_owned()),
    }
}
