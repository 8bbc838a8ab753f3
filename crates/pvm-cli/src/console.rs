//! The console: PVM's own, command by command, for people and for scripts.
//!
//! It is a task of the machine, so the output of what it spawns comes to it as messages. Lines and
//! arrivals end in one channel, and the loop here takes one after the other.

mod aliases;
mod arguments;
mod arrival;
mod dispatch;
mod help;
mod hosts;
mod jobs;
mod machine;
mod mailboxes;
mod mask;
mod screen;
mod session;
mod settings;
mod spawn;
mod tasks;
mod terminal;
mod traces;
mod tracing;
mod variables;
mod words;

use crate::failure::{Failure, Status};
use crate::hostline::{self, NewHost};
use crate::launch::Launch;
use crate::outcome;
use crate::progress::Progress;
use crate::show::remark;
use crate::{stopped, threads};
use arguments::Arguments;
use arrival::Arrival;
use machine::{Machine as _, RealMachine};
use pvm_wire::hostfile::HostLine;
use pvm_wire::request::{HostResult, Reply, Request};
use pvm_wire::{Code, Tid};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};
use screen::{Plain, Screen};
use session::{Next, Session};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::io::{BufRead as _, IsTerminal as _, stdin};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use terminal::{Terminal, Typed, WordList};

const PROMPT: &str = "pvm> ";
const RC_FILE: &str = ".pvmrc";
/// The number of events that may wait to be shown if the reader of our output is slow: the rest
/// stays with its senders.
const EVENTS_MAX: usize = 64;

enum Event {
    Line(String),
    End,
    Arrival(Arrival),
    /// A signal that ends us, after the terminal is as it was.
    Signal(i32),
}

/// Runs the console to its end.
pub(crate) fn run(args: &[String]) -> Result<ExitCode, Failure> {
    let arguments = Arguments::read(args)?;
    if let Some(text) = stopped::first().and_then(stopped::stays) {
        return Err(Failure::new(Status::Daemon, text));
    }
    let mut screen = Plain;
    let seat = match RealMachine::take() {
        Ok(seat) => {
            screen.say(b"pvmd already running.\n");
            seat
        }
        Err(Code::SysErr) => start(&arguments)?,
        Err(code) => return Err(Failure::refused("the console cannot enrol", code)),
    };
    Console::open(seat)?.run()
}

/// No daemon answers: starts one, with the hosts of the host file.
fn start(arguments: &Arguments) -> Result<RealMachine, Failure> {
    let path = arguments.hostfile.as_deref();
    let file = path.map(hostline::read).transpose()?.unwrap_or_default();
    let options = hostline::own_options(&file, arguments.name.as_deref());
    let launch = Launch { name: arguments.name.clone(), options, vmid: None };
    let (mut seat, _) = launch.background_and(|| match RealMachine::take() {
        Ok(seat) => Ok(Some(seat)),
        // Not ready yet.
        Err(Code::SysErr) => Ok(None),
        Err(code) => Err(Failure::refused("the console cannot enrol", code)),
    })?;
    for fault in path.map(|path| hostline::faults(path, &file)).unwrap_or_default() {
        remark(format_args!("pvm: {fault}"));
    }
    let lines = hostline::known_lines(&file);
    if !lines.is_empty() {
        seat.ask(&Request::KnowHosts { lines })
            .map_err(|code| Failure::refused("the host file", code))?;
    }
    add_hosts(&mut seat, &hostline::listed(&file, &HostLine::default()));
    Ok(seat)
}

/// Adds hosts as the original does: a host that cannot be added is reported, and the machine goes
/// on without it.
fn add_hosts(machine: &mut dyn machine::Machine, hosts: &[NewHost]) {
    if hosts.is_empty() {
        return;
    }
    let lines = hosts.iter().map(|host| host.line.to_line()).collect();
    let names: Vec<String> = hosts.iter().map(|host| host.shown.clone()).collect();
    let _progress = Progress::start(&format!("starting {}", names.join(", ")));
    let Ok(Reply::HostResults { mut results }) = machine.ask(&Request::AddHosts { hosts: lines })
    else {
        return;
    };
    for result in results.iter_mut().filter(|result| result.outcome == Code::DupHost.number()) {
        // A host file names the computer that reads it, too.
        *result = HostResult::default();
    }
    if let Err(failure) = outcome::check("added", &names, &results) {
        remark(&failure);
    }
}

struct Console {
    session: Session,
    seat: RealMachine,
    events: Receiver<Event>,
    /// None where lines come from a file or a pipe.
    terminal: Option<Terminal>,
    known: WordList,
    /// The terminal as it was.
    saved: Option<Termios>,
}

impl Console {
    fn open(seat: RealMachine) -> Result<Self, Failure> {
        let (sender, events) = sync_channel(EVENTS_MAX);
        let to = sender.clone();
        seat.listen(move |arrival| to.send(Event::Arrival(arrival)).is_ok())?;
        let known = WordList::default();
        let saved = if stdin().is_terminal() { tcgetattr(stdin()).ok() } else { None };
        let terminal = saved.as_ref().and_then(|_| open_terminal(&sender, &known));
        watch_signals(&sender, saved.is_some());
        if terminal.is_none() {
            threads::start(move || read_lines(&sender))?;
        }
        let own = seat.clone();
        let variables = std::env::vars_os()
            .map(|(n, v)| (n.to_string_lossy().into_owned(), v.to_string_lossy().into_owned()));
        let session = Session::new(Box::new(own), Box::new(Plain), variables.collect());
        Ok(Self { session, seat, events, terminal, known, saved })
    }

    fn run(mut self) -> Result<ExitCode, Failure> {
        let mut next = self.run_rc();
        while next == Next::Go {
            next = match self.next_line() {
                Ok(Some(line)) => {
                    if self.terminal.is_none() {
                        self.session.say(format!("{line}\n"));
                    }
                    dispatch::execute(&mut self.session, &line)
                }
                Ok(None) => {
                    self.session.say("quit\n");
                    Next::Quit
                }
                Err(code) => return Ok(code),
            };
        }
        self.end(next)
    }

    /// `$HOME/.pvmrc`: its lines are shown, but for the prompt, and done.
    fn run_rc(&mut self) -> Next {
        let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
        let text = std::fs::read(home.join(RC_FILE)).unwrap_or_default();
        for line in String::from_utf8_lossy(&text).lines() {
            self.session.say(format!("{line}\n"));
            let next = dispatch::execute(&mut self.session, line);
            if next != Next::Go {
                return next;
            }
        }
        Next::Go
    }

    /// The next line, or none at the end; an exit code where there is nothing left to wait for.
    fn next_line(&mut self) -> Result<Option<String>, ExitCode> {
        self.ask_for_line();
        loop {
            match self.events.recv() {
                Ok(Event::Line(line)) => return Ok(Some(line)),
                Ok(Event::End) | Err(_) => return Ok(None),
                Ok(Event::Signal(signal)) => return Err(self.die(signal)),
                Ok(Event::Arrival(Arrival::Lost)) => {
                    self.session.complain("pvm_nrecv", Code::SysErr);
                    self.restore();
                    return Err(ExitCode::from(Status::Daemon as u8));
                }
                Ok(Event::Arrival(arrival)) => self.show(arrival),
            }
        }
    }

    fn ask_for_line(&mut self) {
        let Some(terminal) = &self.terminal else { return self.session.say(PROMPT) };
        let hosts = self.session.hosts();
        let mut words: Vec<String> = hosts.iter().map(|host| host.name.to_text()).collect();
        // Only entries of this host are used, so the console waits for no other host before the
        // user may type.
        let place = Tid::host_id(self.seat.tid().host());
        if let Ok(Reply::Tasks { tasks }) = self.seat.ask(&Request::Tasks { place }) {
            words.extend(tasks.iter().map(|task| task.tid.to_string()));
        }
        words.extend(self.session.jobs.list().flat_map(|(_, t)| t).map(|tid| tid.to_string()));
        words.sort();
        words.dedup();
        if let Ok(mut known) = self.known.lock() {
            *known = words;
        }
        terminal.go_on();
    }

    /// While a person types, what arrives is printed above the line.
    fn show(&mut self, arrival: Arrival) {
        let text = self.session.take(arrival);
        match &mut self.terminal {
            _ if text.is_empty() => {}
            None => self.session.screen.say(&text),
            // A terminal that is gone shows nothing; its reader ends, too.
            Some(terminal) => {
                drop(terminal.printer.print(String::from_utf8_lossy(&text).into_owned()));
            }
        }
    }

    fn end(mut self, next: Next) -> Result<ExitCode, Failure> {
        if next == Next::Halt {
            // A daemon that is stopped halts when it goes on. The answer may be lost in the end of
            // the daemon.
            stopped::go_on();
            let _ = self.seat.ask(&Request::Halt);
            return Ok(self.die(SIGTERM));
        }
        self.session.say("\nConsole: exit handler called\npvmd still running.\n");
        self.seat.leave();
        self.restore();
        Ok(ExitCode::SUCCESS)
    }

    fn restore(&self) {
        if let Some(saved) = &self.saved {
            let _ = tcsetattr(stdin(), OptionalActions::Drain, saved);
        }
    }

    /// Ends by a signal, as the original does after `halt`.
    fn die(&self, signal: i32) -> ExitCode {
        self.restore();
        let _ = signal_hook::low_level::emulate_default_handler(signal);
        ExitCode::FAILURE
    }
}

fn open_terminal(sender: &SyncSender<Event>, known: &WordList) -> Option<Terminal> {
    let to = sender.clone();
    let tell = move |typed| {
        let event = match typed {
            Typed::Line(line) => Event::Line(line),
            Typed::End => Event::End,
        };
        to.send(event).is_ok()
    };
    Terminal::open(PROMPT, known.clone(), tell)
}

/// Lines of a script. A last line without an end counts.
fn read_lines(to: &SyncSender<Event>) {
    let mut input = stdin().lock();
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line).is_ok_and(|count| count > 0) {
        let text = String::from_utf8_lossy(&line);
        let text = text.strip_suffix('\n').unwrap_or(&text).to_owned();
        line.clear();
        if to.send(Event::Line(text)).is_err() {
            return;
        }
    }
    // If the receiver is gone, the console has ended already.
    let _ = to.send(Event::End);
}

/// On a terminal Ctrl-C does not end the console, and what does leaves the terminal in order.
fn watch_signals(sender: &SyncSender<Event>, on_terminal: bool) {
    if !on_terminal {
        return;
    }
    let Ok(mut signals) = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP]) else {
        return;
    };
    let to = sender.clone();
    // Without a thread a signal ends the console as it ends any program.
    let _ = threads::start(move || {
        for signal in signals.forever().filter(|&signal| signal != SIGINT) {
            if to.send(Event::Signal(signal)).is_err() {
                break;
            }
        }
    });
}
