//! Everything that can happen to `pvm run`, in one channel.
//!
//! An answer with output enters it only when there is room for its bytes, so the channel stays
//! short.

use crate::failure::Failure;
use crate::operator::{Answers, Asker};
use crate::run::job::words::Heard;
use crate::run::streams::bytes_with_marks;
use crate::run::writer::{Backlog, Room, Writer};
use crate::signals;
use crate::threads;
use pvm_wire::request::{Reply, Request};
use pvm_wire::{Blob, Code, Tid};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::getpgrp;
use rustix::termios::tcgetpgrp;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP};
use std::io::{Error, ErrorKind, IsTerminal as _, Read as _};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::time::{Duration, Instant};

const INPUT_BYTES: usize = 1 << 16;
/// The interval at which a job in the background checks whether it was fetched to the front.
const BACKGROUND_LOOK: Duration = Duration::from_millis(200);

/// Something that happened.
#[derive(Debug)]
pub(crate) enum Event {
    /// The daemon said something, or went away; output has taken room.
    Answer(Result<(u32, Reply), Code>, Option<Room>),
    /// A signal was sent to us.
    Signal(i32),
    /// All output is written, or no more can be.
    Written(Result<(), Error>),
    /// A rank of a job has sent a message to its keeper.
    RankMessage(Heard),
}

enum Happening {
    Event(Event),
    Input(Vec<u8>),
}

/// The source of events and the destination of requests.
#[derive(Debug)]
pub(crate) struct Events {
    asker: Asker,
    sender: Sender<Happening>,
    receiver: Receiver<Happening>,
    backlog: Backlog,
    input: Option<Input>,
}

/// Standard input on its way to a task. One piece at a time, so that none piles up here.
#[derive(Debug)]
struct Input {
    to: Tid,
    /// The request that hands over a piece, until it is answered.
    pending: Option<u32>,
    /// Lets the reader read on.
    more: SyncSender<()>,
}

impl Events {
    /// Starts to listen for answers and signals.
    pub(crate) fn listen(asker: Asker, mut answers: Answers) -> Result<Self, Failure> {
        let (sender, receiver) = channel();
        // What was ignored when we were started stays ignored (nohup, a job of a script), as for
        // any command.
        let ignored = signals::ignored();
        let heard = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP].into_iter();
        let heard = heard.filter(|signal| !ignored.contains(signal));
        let mut signals = signal_hook::iterator::Signals::new(heard)?;
        let to = sender.clone();
        threads::start(move || {
            for signal in signals.forever() {
                if to.send(Happening::Event(Event::Signal(signal))).is_err() {
                    break;
                }
            }
        })?;
        let backlog = Backlog::default();
        let (to, taken) = (sender.clone(), backlog.clone());
        threads::start(move || {
            loop {
                let answer = answers.next();
                let last = answer.is_err();
                let room = match &answer {
                    Ok((_, Reply::Output { bytes, .. })) => {
                        Some(taken.take(bytes_with_marks(&bytes.0)))
                    }
                    _ => None,
                };
                if to.send(Happening::Event(Event::Answer(answer, room))).is_err() || last {
                    break;
                }
            }
        })?;
        Ok(Self { asker, sender, receiver, backlog, input: None })
    }

    /// Starts a writer; that it has ended is an event.
    pub(crate) fn writer(&self) -> Result<Writer, Failure> {
        let to = self.sender.clone();
        Writer::start(self.backlog.clone(), move |outcome| {
            // If the end was not waited for, there is no receiver.
            let _ = to.send(Happening::Event(Event::Written(outcome)));
        })
    }

    /// The function that gets the messages of a job's ranks; it returns false once there is no
    /// receiver.
    pub(crate) fn words(&self) -> impl Fn(Heard) -> bool + Send + 'static {
        let to = self.sender.clone();
        move |heard| to.send(Happening::Event(Event::RankMessage(heard))).is_ok()
    }

    /// Starts to pass standard input on to this task.
    pub(crate) fn feed(&mut self, to: Tid) -> Result<(), Failure> {
        let (more, go_on) = sync_channel(1);
        let sender = self.sender.clone();
        threads::start(move || read_input(&sender, &go_on))?;
        self.input = Some(Input { to, pending: None, more });
        Ok(())
    }

    /// Sends a request and gives its number.
    pub(crate) fn send(&mut self, request: &Request) -> Result<u32, Failure> {
        self.asker.send(request).map_err(|code| Failure::refused("the tasks are lost", code))
    }

    /// The next event, or none if it does not come in time.
    pub(crate) fn next(&mut self, deadline: Option<Instant>) -> Option<Event> {
        loop {
            let happening = match deadline {
                None => self.receiver.recv().ok()?,
                Some(at) => {
                    self.receiver.recv_timeout(at.saturating_duration_since(Instant::now())).ok()?
                }
            };
            match happening {
                Happening::Input(bytes) => self.pass_on(bytes),
                Happening::Event(Event::Answer(Ok((id, reply)), _)) if self.is_input(id) => {
                    self.passed_on(&reply);
                }
                Happening::Event(event) => return Some(event),
            }
        }
    }

    fn is_input(&self, id: u32) -> bool {
        self.input.as_ref().is_some_and(|input| input.pending == Some(id))
    }

    fn pass_on(&mut self, bytes: Vec<u8>) {
        let Some(input) = &mut self.input else { return };
        let feed = Request::Feed { tid: input.to, bytes: Blob(bytes) };
        // If it cannot be sent, the answers end too and say so.
        input.pending = self.asker.send(&feed).ok();
    }

    fn passed_on(&mut self, reply: &Reply) {
        let Some(input) = &mut self.input else { return };
        input.pending = None;
        match reply {
            // The task has ended, or reads no more, so further input is dropped.
            Reply::Failed { .. } => self.input = None,
            // The reader has ended if it read the end.
            _ => drop(input.more.try_send(())),
        }
    }
}

/// Waits until input for us was typed. A background job that reads from its terminal would be
/// stopped, though our tasks may need no input.
fn wait_for_terminal() {
    let input = std::io::stdin();
    loop {
        let mut waited = [PollFd::new(&input, PollFlags::IN)];
        let _ = poll(&mut waited, None);
        let background = tcgetpgrp(&input).is_ok_and(|group| group != getpgrp());
        if !background {
            return;
        }
        std::thread::sleep(BACKGROUND_LOOK);
    }
}

/// Reads piece by piece; the empty piece is the end.
fn read_input(to: &Sender<Happening>, go_on: &Receiver<()>) {
    let mut input = std::io::stdin().lock();
    let mut bytes = vec![0; INPUT_BYTES];
    loop {
        if input.is_terminal() {
            wait_for_terminal();
        }
        let count = match input.read(&mut bytes) {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            read => read.unwrap_or(0),
        };
        let told = to.send(Happening::Input(bytes[..count].to_vec()));
        if told.is_err() || count == 0 || go_on.recv().is_err() {
            break;
        }
    }
}
