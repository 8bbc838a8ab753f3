//! `pvmd`: one per host of a machine.
//!
//! Started by a person, a console or another daemon it is the host's *parent*; the parent starts
//! the same binary again as its *daemon*. Read [`parent`] for what owns tasks and segments,
//! [`shell`] for what runs the machine and its links; [`between`] is what they say to each other.

// `println!` and `eprintln!` panic where nobody can read: `say` does not.
#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr))]

mod addresses;
mod alarm;
mod between;
mod broker;
mod clock;
mod config;
mod facts;
mod guard;
mod hex;
mod inbox;
mod launch;
mod link;
mod local;
mod log;
mod parent;
mod ports;
mod processes;
mod rosters;
mod runtime_dir;
mod say;
mod shell;
mod speed;
mod starter;
mod sys;
mod tls;
mod version;

use anyhow::Context as _;
use config::{Join, Mode, ParentOptions, Places};
use launch::token::Token;
use parent::Parent;
use rustix::process::DumpableBehavior;
use signal_hook::consts::SIGXFSZ;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The stack that this program has where its own would be smaller than [`STACK_MIN`].
const STACK_BYTES: usize = 2 << 20;
/// Less of a stack (`ulimit -s`) than this may not be enough.
const STACK_MIN: u64 = 1 << 20;
/// The exit status of one that found another daemon of its machine running; see `pvmd(1)`.
const ALREADY_RUNNING: u8 = 17;

fn main() -> ExitCode {
    let stack = rustix::process::getrlimit(rustix::process::Resource::Stack).current;
    if stack.is_none_or(|bytes| bytes >= STACK_MIN) {
        return run();
    }
    let roomy = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(run);
    roomy.map_or_else(|_| run(), |thread| thread.join().unwrap_or(ExitCode::FAILURE))
}

fn run() -> ExitCode {
    // Some of its processes are started through a descriptor: `ps` shall show what they are.
    let _ = rustix::thread::set_name(c"pvmd");
    // What this process holds is no other's to read, nor a core file's, unless its own user wants
    // that.
    if std::env::var_os("PVM_DUMPABLE").is_none_or(|wish| wish != "1") {
        let _ = rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable);
    }
    let result = config::arguments(std::env::args_os().skip(1)).and_then(|mode| match mode {
        Mode::Parent(options) => run_parent(*options),
        Mode::Front(words, front) => launch::front::run(&words, &front),
        Mode::Bearer(words, file) => launch::bearer::run(&words, &file),
        Mode::Doctor { line, json } => launch::doctor::run(&line, json),
        Mode::Reach(told, vmid) => launch::reach::run(&told, vmid.as_deref()).map(|()| true),
        Mode::Populate(socket, file) => launch::populate::run(&socket, &file),
        Mode::Daemon => shell::start::run().map(|()| true),
        Mode::Version => {
            say::answer(version::version()).context("standard output")?;
            Ok(true)
        }
        Mode::Help => {
            say::answer(config::USAGE).context("standard output")?;
            Ok(true)
        }
    });
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            say::complain(format_args!("{error:#}"));
            match error.downcast_ref() {
                Some(runtime_dir::DirError::Running(_)) => ExitCode::from(ALREADY_RUNNING),
                _ => ExitCode::FAILURE,
            }
        }
    }
}

fn run_parent(mut options: ParentOptions) -> anyhow::Result<bool> {
    let silenced = std::env::var_os("PVM_ALLOW_ROOT").is_some();
    if rustix::process::getuid().is_root() && !silenced && options.join.is_none() {
        say::complain("running as root, and so will its tasks (PVM_ALLOW_ROOT=1 silences this)");
    }
    let mut places = Places::from_environment()?;
    if let Some(path) = &options.token {
        let token = Token::read(launch::token::open(path)?)?;
        places.vmid = config::checked_vmid(token.vmid.clone().into())?;
        launch::bearer::look(&places, &token)?;
        options.join = Some(Join::by(token));
    }
    if let Some(path) = &options.hostfile {
        let file = launch::populate::read(path)?;
        let computer = rustix::system::uname();
        let computer = computer.nodename().to_bytes();
        let short = computer.split(|byte| *byte == b'.').next().unwrap_or(computer);
        let name = options.name.as_ref().map_or(computer, |name| name.as_bytes());
        let told = launch::populate::own_options(&file, &[name, computer, short]);
        options.options = format!("{} {told}", options.options);
    }
    // A log or a spilled message that may not grow (`ulimit -f`) is an error of that write, and not
    // the end of the machine.
    signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)))?;
    // Files that were named by the number of a descriptor have been read by now.
    sys::close_inherited();
    Ok(Parent::new(&options, &places)?.run()?)
}
