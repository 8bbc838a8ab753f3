//! The command line of `pvm COMMAND`, from which help, man pages and completions are made.
//!
//! The value names say what a word means, and completion goes by them: HOST is a host of the
//! machine, TID a task, FILE a file (`complete`).

pub mod bench;
pub(crate) mod hosts;
pub(crate) mod notes;
pub(crate) mod predict;
pub(crate) mod space;
pub(crate) mod tasks;
pub(crate) mod trace;

use bench::BenchOptions;
use clap::{Args, Parser, Subcommand};
use hosts::{AddOptions, DelOptions, DoctorOptions, TokenOptions, UpOptions, UpgradeOptions};
use predict::PredictOptions;
use space::{FindOptions, OutOptions, SpaceOptions};
use std::path::PathBuf;
use tasks::{KillOptions, NamesOptions, PsOptions, RunOptions};
use trace::TraceOptions;

/// A parallel virtual machine of many computers.
#[derive(Debug, Parser)]
#[command(name = "pvm", version, after_help = notes::PVM, args_conflicts_with_subcommands = true)]
#[command(override_usage = "pvm COMMAND [ARGS]...\n       pvm [-nNAME] [HOSTFILE]")]
pub(crate) struct Options {
    /// The command.
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    /// For the console: a host file, and PVM's own options. -nNAME is the name of this host in a
    /// machine that is started; -dMASK is accepted and has no effect.
    #[arg(value_name = "HOSTFILE", allow_hyphen_values = true, num_args = 0..)]
    pub(crate) console: Vec<String>,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a program: start a machine if none runs, stream the output, leave nothing behind
    #[command(override_usage = "pvm run [OPTIONS] PROGRAM [ARGS]...", after_help = notes::RUN)]
    Run(RunOptions),
    /// Start a machine in the background and print its address
    #[command(after_help = notes::UP)]
    Up(UpOptions),
    /// Add hosts to the machine
    #[command(after_help = notes::ADD)]
    Add(AddOptions),
    /// Remove hosts from the machine
    #[command(alias = "delete", after_help = notes::DEL)]
    Del(DelOptions),
    /// List the hosts
    #[command(after_help = notes::CONF)]
    Conf(ListOptions),
    /// List the tasks
    #[command(after_help = notes::PS)]
    Ps(PsOptions),
    /// Send a signal to tasks
    #[command(after_help = notes::KILL)]
    Kill(KillOptions),
    /// List the named messages (pvm_putinfo)
    #[command(after_help = notes::NAMES)]
    Names(NamesOptions),
    /// List the groups and their members
    #[command(after_help = notes::GROUPS)]
    Groups(ListOptions),
    /// Show the state of this host's daemon
    #[command(after_help = notes::STATUS)]
    Status(ListOptions),
    /// Print a token with which a host that ssh cannot reach may join once
    #[command(after_help = notes::TOKEN)]
    Token(TokenOptions),
    /// Replace the daemons by the installed version while the tasks go on
    #[command(after_help = notes::UPGRADE)]
    Upgrade(UpgradeOptions),
    /// Stop the machine: all its tasks and daemons
    #[command(after_help = notes::HALT)]
    Halt(ListOptions),
    /// Find out what keeps a machine from starting here, or a host from being added
    #[command(after_help = notes::DOCTOR)]
    Doctor(DoctorOptions),
    /// Measure messages and computation beside the peers that are installed, and write a report
    #[command(after_help = notes::BENCH)]
    Bench(BenchOptions),
    /// Make, list, examine and delete tuple spaces
    #[command(after_help = notes::SPACE, disable_help_subcommand = true)]
    Space(SpaceOptions),
    /// Put a tuple into a tuple space
    #[command(after_help = notes::OUT)]
    Out(OutOptions),
    /// Take a tuple that fits out of a tuple space, and print it
    #[command(after_help = notes::TAKE)]
    Take(FindOptions),
    /// Print a tuple of a tuple space that fits, which stays there
    #[command(after_help = notes::READ)]
    Read(FindOptions),
    /// Record, read, draw and convert traces of tasks
    #[command(after_help = notes::TRACE, disable_help_subcommand = true)]
    Trace(TraceOptions),
    /// Predict the time of a recorded program on another network
    #[command(after_help = notes::PREDICT, disable_help_subcommand = true,
        args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
    Predict(PredictOptions),
    /// Write the man pages or completions, for `make install`
    #[command(hide = true)]
    Generate(GenerateOptions),
    /// Print the possible next words, for the shells' completion
    #[command(hide = true)]
    Complete(CompleteOptions),
    /// Speaks for a task without shared memory; the daemon starts it
    #[command(hide = true)]
    Proxy(ProxyOptions),
    /// Reads the trace rings of this host's tasks; the daemon starts it
    #[command(hide = true)]
    Recorder(RecorderOptions),
}

/// The arguments of `pvm recorder`.
#[derive(Debug, Args)]
pub(crate) struct RecorderOptions {
    /// The process that started this one, with whose end it ends
    #[arg(long)]
    pub(crate) host: i32,
    /// The monotonic clock's distance behind the time of day, in nanoseconds
    #[arg(long)]
    pub(crate) clock: u64,
}

/// The arguments of `pvm proxy`.
#[derive(Debug, Args)]
pub(crate) struct ProxyOptions {
    /// The number of the task's hello
    #[arg(long)]
    pub(crate) id: u32,
    /// The process that started this one; the proxy ends with it
    #[arg(long)]
    pub(crate) host: i32,
    /// Let `reset` spare the task
    #[arg(long)]
    pub(crate) no_reset: bool,
    /// The task's program
    #[arg(allow_hyphen_values = true)]
    pub(crate) program: std::ffi::OsString,
}

/// The arguments of commands that only list.
#[derive(Debug, Args)]
pub(crate) struct ListOptions {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// The arguments of `pvm generate`.
#[derive(Debug, Args)]
pub(crate) struct GenerateOptions {
    /// Man pages or completions
    pub(crate) what: Generated,
    /// The folder to write to; it is created if it does not exist
    pub(crate) folder: PathBuf,
}

/// The kinds of files that `pvm generate` writes.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum Generated {
    /// pvm.1 and a page for each command.
    Man,
    /// For bash, zsh and fish.
    Completions,
}

/// The arguments of `pvm complete`.
#[derive(Debug, Args)]
pub(crate) struct CompleteOptions {
    /// The words after `pvm`; the last one is completed
    #[arg(allow_hyphen_values = true, trailing_var_arg = true)]
    pub(crate) words: Vec<std::ffi::OsString>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_well_formed() {
        Options::command().debug_assert();
    }

    #[test]
    fn a_program_keeps_its_own_options() {
        let args = ["pvm", "run", "-n", "3", "--env", "A=b", "prog", "-n", "7", "--", "-q"];
        let options = Options::try_parse_from(args).unwrap();
        let Some(Command::Run(run)) = options.command else { panic!("not a run") };
        assert_eq!((run.count, run.quiet), (3, false));
        assert_eq!(run.command, ["prog", "-n", "7", "--", "-q"]);
        for wrong in [
            vec!["pvm", "run", "-n", "0", "x"],
            vec!["pvm", "kill", "t0"],
            vec!["pvm", "run"],
            vec!["pvm", "add"],
            vec!["pvm", "del", "--wait", "x"],
            vec!["pvm", "run", "--bogus", "x"],
        ] {
            assert!(Options::try_parse_from(wrong).is_err());
        }
    }
}
