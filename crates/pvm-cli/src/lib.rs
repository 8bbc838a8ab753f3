//! `pvm`: the console of PVM 3, and the commands beside it.
//!
//! Without a command it is PVM's console, with PVM's prompt and output (`console`). The commands
//! ask the daemon as operators, print tables or JSON, and say in their errors what to do next.
//! It never speaks to other hosts and starts nothing but `pvmd`.
//!
//! What `pvm bench` measures with is a program of its own, crate `pvm-bench`, which this one starts
//! and which uses the public modules here.
//!
//! For `make install`: `pvm generate man DIR` writes `pvm.1`, `pvm-run.1` ... and
//! `pvm generate completions DIR` writes `pvm.bash`, `_pvm` and `pvm.fish`.
#![forbid(unsafe_code)]
// `println!` and `eprintln!` panic where nobody can read: `show` and `remark` do not.
#![warn(clippy::print_stdout, clippy::print_stderr)]

mod adding;
mod commands;
mod complete;
mod console;
mod doctor;
pub mod failure;
mod generate;
mod hostline;
mod launch;
pub mod nearest;
mod operator;
pub mod options;
mod outcome;
mod predict;
pub mod program;
mod progress;
mod proxy;
mod recorder;
mod recording;
mod run;
pub mod show;
pub mod signals;
mod space;
mod stopped;
pub mod table;
mod tasks;
mod text;
mod threads;
mod trace;

use clap::{CommandFactory as _, Parser as _};
use commands::{add, bench, conf, del, halt, kill, names, ps, status, token, up, upgrade};
use failure::Failure;
pub use operator::entries;
use options::{Command, Options};
use std::io::{ErrorKind, Write as _, stdout};
use std::process::ExitCode;

/// The program `pvm`.
pub fn main() -> ExitCode {
    let args: Vec<std::ffi::OsString> = std::env::args_os().skip(1).collect();
    let outcome = match console_arguments(&args) {
        Some(arguments) => console::run(&arguments),
        None => match Options::try_parse() {
            Ok(options) => command(options.command),
            Err(told) => return told_instead(&told),
        },
    };
    outcome.unwrap_or_else(|failure| {
        show::remark(&failure);
        ExitCode::from(failure.status as u8)
    })
}

/// Prints the error of a wrong command line, or the answer to a question for help, which goes to
/// standard output.
fn told_instead(told: &clap::Error) -> ExitCode {
    let printed = told.print().and_then(|()| stdout().flush());
    let unread = printed.err().filter(|error| error.kind() != ErrorKind::BrokenPipe);
    match unread.filter(|_| !told.use_stderr()) {
        Some(error) => {
            show::remark(Failure::from(error));
            ExitCode::FAILURE
        }
        None => ExitCode::from(u8::try_from(told.exit_code()).unwrap_or(u8::MAX)),
    }
}

/// The console's arguments, if it is the console that is asked for: PVM's own usage has options
/// of one dash and a host file, and no word that is a command.
fn console_arguments(args: &[std::ffi::OsString]) -> Option<Vec<String>> {
    let texts: Vec<String> = args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect();
    let Some(first) = texts.first() else { return Some(texts) };
    let ours = ["-h", "-V", "--help", "--version", "help"].contains(&first.as_str())
        || first.starts_with("--")
        || Options::command().find_subcommand(first).is_some();
    (!ours).then_some(texts)
}

fn command(command: Option<Command>) -> Result<ExitCode, Failure> {
    let done = match command {
        None => return console::run(&[]),
        Some(Command::Run(options)) => return run::run(&options),
        Some(Command::Up(options)) => up::up(&options),
        Some(Command::Add(options)) => add::add(&options),
        Some(Command::Del(options)) => del::del(&options),
        Some(Command::Conf(options)) => conf::conf(options.json),
        Some(Command::Ps(options)) => ps::ps(&options),
        Some(Command::Kill(options)) => kill::kill(&options),
        Some(Command::Names(options)) => names::names(&options),
        Some(Command::Groups(options)) => names::groups(options.json),
        Some(Command::Status(options)) => status::status(options.json),
        Some(Command::Token(options)) => token::token(&options),
        Some(Command::Upgrade(options)) => upgrade::upgrade(&options),
        Some(Command::Halt(options)) => halt::halt(options.json),
        Some(Command::Doctor(options)) => doctor::doctor(&options),
        Some(Command::Bench(_)) => return Err(bench::bench()),
        Some(Command::Space(options)) => space::space(&options),
        Some(Command::Out(options)) => space::out(&options),
        Some(Command::Take(options)) => space::take(&options),
        Some(Command::Read(options)) => space::read(&options),
        Some(Command::Trace(options)) => trace::trace(&options),
        Some(Command::Predict(options)) => predict::predict(&options),
        Some(Command::Complete(options)) => complete::complete(&options).map_err(Failure::from),
        Some(Command::Generate(options)) => generate::generate(&options),
        Some(Command::Proxy(options)) => return proxy::run(&options),
        Some(Command::Recorder(options)) => return recorder::run(&options),
    };
    done.map(|()| ExitCode::SUCCESS)
}
