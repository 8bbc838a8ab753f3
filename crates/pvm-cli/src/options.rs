//! The command line of `pvm COMMAND`, from which help, man pages and completions are made.

use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;

const AFTER: &str = "\
Examples: `pvm run -n 4 ./program` runs four tasks; `pvm up --local 3` starts a machine of three \
hosts on this computer, on which `pvm run` then works, and `pvm halt` ends it.

Without a command, or with a host file: the console of PVM 3, on a terminal or with a script on \
standard input. `pvm [-nNAME] [HOSTFILE]` starts a daemon if none runs.

Exit status: 0 success; 1 the machine refused, or a part failed; 2 wrong use; 3 no machine is \
running; 4 a daemon could not be started or went away; `pvm run` gives that of the tasks.

Environment: PVM_VMID chooses one of several machines, PVM_TMP the folder of the runtime files, \
NO_COLOR switches colours off.";

const AFTER_RUN: &str = "\
The tasks have this command's directory and environment and take themselves for masters \
(pvm_parent gives PvmNoParent). Standard input goes to the first of them.

What the tasks spawn belongs to the run: its output comes here, too, unless it is caught \
(pvm_catchout), and has the task in front. When the tasks have ended, what they left running has a \
second to end, too, and is told to end then.

A signal such as that of Ctrl-C is passed on; what lives on is killed after 5 seconds, or at once \
by a second signal. Nothing outlives pvm run.

Exit status: the first of the tasks' that is not 0; 128 + N for a task ended by signal N; 126 and \
127 if the program cannot be executed or is not found; 1 if the machine refused; 4 if the daemon \
could not be started or went away.";

/// A parallel virtual machine of many computers.
#[derive(Debug, Parser)]
#[command(name = "pvm", version, after_help = AFTER, args_conflicts_with_subcommands = true)]
#[command(override_usage = "pvm COMMAND [ARGS]...\n       pvm [-nNAME] [HOSTFILE]")]
pub(crate) struct Options {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    /// For the console: the name of this host in a machine that it starts (as -nNAME), other
    /// options of PVM 3 (ignored), and a host file.
    #[arg(value_name = "HOSTFILE", allow_hyphen_values = true, num_args = 0..)]
    pub(crate) console: Vec<String>,
}

impl RunOptions {
    /// What to run.
    pub(crate) fn program(&self) -> &std::ffi::OsStr {
        self.command.first().expect("the command line requires a program")
    }

    /// What it is given.
    pub(crate) fn arguments(&self) -> &[std::ffi::OsString] {
        self.command.get(1..).unwrap_or_default()
    }
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a program: start a machine if none runs, stream the output, leave nothing behind
    #[command(override_usage = "pvm run [OPTIONS] PROGRAM [ARGS]...", after_help = AFTER_RUN)]
    Run(RunOptions),
    /// Start a machine in the background and print its address
    Up(UpOptions),
    /// Add hosts to the machine
    Add(AddOptions),
    /// Remove hosts from the machine
    #[command(alias = "delete")]
    Del(DelOptions),
    /// List the hosts
    Conf(ListOptions),
    /// List the tasks
    Ps(PsOptions),
    /// Send a signal to tasks
    Kill(KillOptions),
    /// List the named messages (pvm_putinfo)
    Names(NamesOptions),
    /// List the groups and their members
    Groups(ListOptions),
    /// Tell about the daemon of this host
    Status(ListOptions),
    /// Stop the machine: all its tasks and daemons
    Halt,
    /// Write the man pages or completions, for `make install`
    #[command(hide = true)]
    Generate(GenerateOptions),
}

/// Of `pvm run`.
#[derive(Debug, Args)]
pub(crate) struct RunOptions {
    /// How many tasks
    #[arg(short = 'n', long = "tasks", value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u16).range(1..=16384))]
    pub(crate) count: u16,
    /// The host to run on; by default the machine chooses
    #[arg(long, value_name = "HOST")]
    pub(crate) host: Option<String>,
    /// Set a variable for the tasks, beside the environment of this command
    #[arg(long, value_name = "NAME=VALUE", value_parser = variable)]
    pub(crate) env: Vec<String>,
    /// Output as it is, without a prefix per task (there is none for a single task's own output)
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// The program - a path, or a name in the spawn path or in PATH - and its arguments
    #[arg(value_name = "PROGRAM [ARGS]", required = true, trailing_var_arg = true)]
    pub(crate) command: Vec<std::ffi::OsString>,
}

/// Of `pvm up`.
#[derive(Debug, Args)]
pub(crate) struct UpOptions {
    /// This many hosts on this computer, named NAME, NAME.2, ...
    #[arg(long, value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u32).range(1..=4095))]
    pub(crate) local: u32,
    /// Name of this host in the machine, if not the computer's
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// A host file: one host per line, with its options
    #[arg(value_name = "HOSTFILE")]
    pub(crate) hostfile: Option<PathBuf>,
}

/// Of `pvm add`.
#[derive(Debug, Args)]
pub(crate) struct AddOptions {
    /// 'local' for one more host on this computer (so far the only ones that can be added), or a
    /// host with options as in a host file: 'NAME so=... ep=...'
    #[arg(value_name = "HOST", required = true)]
    pub(crate) hosts: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Of `pvm del`.
#[derive(Debug, Args)]
pub(crate) struct DelOptions {
    /// A host
    #[arg(value_name = "HOST", required = true)]
    pub(crate) hosts: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Of commands that only list.
#[derive(Debug, Args)]
pub(crate) struct ListOptions {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Of `pvm ps`.
#[derive(Debug, Args)]
pub(crate) struct PsOptions {
    /// Only the tasks of this host
    #[arg(value_name = "HOST")]
    pub(crate) host: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Of `pvm kill`.
#[derive(Debug, Args)]
pub(crate) struct KillOptions {
    /// The signal, by name or number
    #[arg(short, long, value_name = "SIGNAL", default_value = "TERM", value_parser = crate::signals::number)]
    pub(crate) signal: i32,
    /// A task, as `pvm ps` shows it
    #[arg(value_name = "TID", required = true, value_parser = task)]
    pub(crate) tids: Vec<pvm_wire::Tid>,
}

/// Of `pvm names`.
#[derive(Debug, Args)]
pub(crate) struct NamesOptions {
    /// Names to show; * stands for any text
    #[arg(value_name = "PATTERN", default_value = "*")]
    pub(crate) pattern: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Of `pvm generate`.
#[derive(Debug, Args)]
pub(crate) struct GenerateOptions {
    /// What to write
    pub(crate) what: Generated,
    /// Where to; made if it is not there
    pub(crate) folder: PathBuf,
}

/// What can be written.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum Generated {
    /// pvm.1 and a page for each command.
    Man,
    /// For bash, zsh and fish.
    Completions,
}

fn variable(text: &str) -> Result<String, String> {
    match text.split_once('=') {
        Some((name, _)) if !name.is_empty() => Ok(text.to_owned()),
        _ => Err("not of the form NAME=VALUE".to_owned()),
    }
}

fn task(text: &str) -> Result<pvm_wire::Tid, String> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix('t')).unwrap_or(text);
    match u32::from_str_radix(digits, 16).map(pvm_wire::Tid) {
        Ok(tid) if tid.is_task() => Ok(tid),
        _ => Err("not a task id such as t40002".to_owned()),
    }
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
            vec!["pvm", "run", "--bogus", "x"],
        ] {
            assert!(Options::try_parse_from(wrong).is_err());
        }
    }
}
