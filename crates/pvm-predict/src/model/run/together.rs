//! Parts of a run that go on side by side, in windows of simulated time.
//!
//! What a part does is felt in another one after [`Division::ahead`] at the earliest, the shortest
//! time of a packet on a link. So from the earliest event of all on, each part goes on for that
//! time by itself; then the parts exchange their mail, in the order of their numbers. Which worker
//! runs a part does not matter, so any number of workers gives the same result.

use super::division::{Division, PARTS_MAX, Part};
use super::mail::Mail;
use super::network::Network;
use super::program::Shared;
use super::{Run, count, finish, hosts_of};
use crate::crew::Crew;
use crate::error::Error;
use crate::model::meeting::{Came, Meetings};
use crate::platform::Platform;
use crate::program::Source;
use crate::report::{Report, Watcher};
use crate::unit::Time;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Runs a program on a platform whose network was made, for each part, from the hosts of tasks.
pub(in crate::model) fn run<N: Network + Send>(
    source: &mut dyn Source,
    platform: &Platform,
    seed: u64,
    (divide, network): (impl FnOnce(u32) -> Division, impl Fn(&[u32], Part) -> Result<N, Error>),
    (crew, watcher): (&dyn Crew, &mut dyn Watcher),
) -> Result<Report, Error> {
    let (tasks, matching) = (source.tasks(), source.matching());
    let hosts = hosts_of(platform, tasks)?;
    let division = divide(count(&hosts));
    if division.parts == 1 {
        let whole = Part { number: 0, division };
        return super::run(source, platform, seed, |hosts| network(hosts, whole), watcher);
    }
    let shared = Shared::new(source, watcher);
    let part = |number| {
        let part = Part { number, division };
        let network = network(&hosts, part)?;
        Ok(Run::new(&shared, (platform, matching), seed, part, (hosts.clone(), network)))
    };
    let parts = (0..division.parts).map(part).collect::<Result<Vec<_>, Error>>()?;
    let (parts, meetings) = Together::new(parts, division).all(crew)?;
    finish(parts, &meetings)
}

/// A box for the mail of one part to another one. Mail of two windows never meets: a window's mail
/// goes into one of two sets of boxes while that of the last one is taken out of the other set.
type Boxes<M> = Vec<Mutex<Vec<Mail<M>>>>;

/// One worker alone goes through windows with fewer events than the first number; all of them work
/// again from the second number on. To meet costs about as much as ten events.
const EVENTS: (u64, u64) = (64, 128);

/// A window to come.
#[derive(Clone, Copy, Debug, Default)]
struct Window {
    /// The set of boxes for its mail.
    turn: usize,
    /// Its end; none if nothing is planned any more, or a part has failed.
    end: Option<Time>,
    /// Parts that have something to do in it, as bits.
    active: u64,
    /// By part: the parts from which there is mail, as bits.
    mail: [u64; PARTS_MAX as usize],
    /// Events of the window before it.
    events: u64,
}

/// The state of a part behind a window.
#[derive(Clone, Copy, Debug)]
struct Progress {
    /// Its next event.
    next: Time,
    /// The first event that follows from mail that it has sent.
    due: Time,
    /// The parts to which it has sent mail, as bits.
    sent: u64,
    events: u64,
}

/// The state of all parts behind a window.
#[derive(Debug, Default)]
struct Behind {
    parts: Vec<Progress>,
    /// Tasks that have come to points, with their parts.
    came: Vec<(u32, (u32, u32), Came)>,
    /// When a part has found an error, which one, and the error.
    faults: Vec<(Time, u32, Error)>,
}

/// All parts.
pub(super) struct Together<'a, N: Network> {
    ahead: Time,
    there_and_back: Time,
    /// By task: its part.
    part_of: Vec<u32>,
    parts: Vec<Mutex<Run<'a, N>>>,
    boxes: [Boxes<N::Mail>; 2],
    behind: Mutex<Behind>,
    /// The windows of even and of odd steps: while some workers read the one, the first worker may
    /// write the other.
    windows: [Mutex<Window>; 2],
    meetings: Mutex<Meetings>,
}

/// A worker that panics ends the run; its lock tells nothing more.
fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

fn inner<T>(of: Mutex<T>) -> T {
    of.into_inner().unwrap_or_else(PoisonError::into_inner)
}

impl<'a, N: Network + Send> Together<'a, N> {
    pub(super) fn new(parts: Vec<Run<'a, N>>, division: Division) -> Self {
        let (count, first) = (parts.len(), &parts[0]);
        let part = |task| division.of_host(first.places.host(task));
        let boxes = || (0..count * count).map(|_| Mutex::default()).collect();
        Self {
            ahead: division.ahead,
            there_and_back: first.network.there_and_back(),
            part_of: (0..first.tasks.count()).map(part).collect(),
            parts: parts.into_iter().map(Mutex::new).collect(),
            boxes: [boxes(), boxes()],
            behind: Mutex::default(),
            windows: [Mutex::default(), Mutex::default()],
            meetings: Mutex::default(),
        }
    }

    /// Runs all of them to their end.
    pub(super) fn all(self, crew: &dyn Crew) -> Result<(Vec<Run<'a, N>>, Meetings), Error> {
        crew.all(&|worker, workers| self.work(crew, (worker, workers)));
        let mut faults = inner(self.behind).faults;
        faults.sort_by_key(|(at, part, _)| (*at, *part));
        match faults.into_iter().next() {
            Some((.., error)) => Err(error),
            None => {
                let parts: Vec<_> = self.parts.into_iter().map(inner).collect();
                // What is planned for the end of time is never done.
                let is_over = parts.iter().all(|part| part.queue.len() == 0);
                if is_over { Ok((parts, inner(self.meetings))) } else { Err(Error::Endless) }
            }
        }
    }

    fn work(&self, crew: &dyn Crew, (worker, workers): (usize, usize)) {
        if worker == 0 {
            self.start();
            *lock(&self.windows[0]) = self.next(1);
        }
        crew.meet();
        for step in (0..2).cycle() {
            let mut window = *lock(&self.windows[step]);
            let Some(end) = window.end else { return };
            if window.events >= EVENTS.0 {
                for part in (worker..self.parts.len()).step_by(workers) {
                    self.window(&window, part, end);
                }
                crew.meet();
                if worker == 0 {
                    *lock(&self.windows[1 - step]) = self.next(window.turn);
                }
            } else if worker == 0 {
                while let Some(end) = window.end.filter(|_| window.events < EVENTS.1) {
                    (0..self.parts.len()).for_each(|part| self.window(&window, part, end));
                    window = self.next(window.turn);
                }
                *lock(&self.windows[1 - step]) = window;
            }
            crew.meet();
        }
    }

    /// A part takes the mail of the last window, goes on up to `end`, and leaves its own mail.
    fn window(&self, window: &Window, number: usize, end: Time) {
        if window.active & 1 << number == 0 {
            return;
        }
        let mut part = lock(&self.parts[number]);
        let before = part.events;
        let done = self.receive(window, number, &mut part).and_then(|()| part.until(end));
        let (mut due, mut sent) = (Time::END, 0);
        for (to, mail) in part.mail.drain(..) {
            due = due.min(mail.due::<N>());
            sent |= 1 << to;
            lock(&self.boxes[window.turn][self.place(number, to as usize)]).push(mail);
        }
        let (next, events) = (part.queue.next().unwrap_or(Time::END), part.events - before);
        let fault = done.err().map(|error| (part.now, number as u32, error));
        let mut behind = lock(&self.behind);
        behind.parts[number] = Progress { next, due, sent, events };
        behind.came.extend(part.came.drain(..).map(|(at, came)| (number as u32, at, came)));
        behind.faults.extend(fault);
    }

    const fn place(&self, from: usize, to: usize) -> usize {
        from * self.parts.len() + to
    }

    /// Takes the mail of all parts in the order of their numbers.
    fn receive(&self, window: &Window, number: usize, part: &mut Run<'a, N>) -> Result<(), Error> {
        let senders = (0..self.parts.len()).filter(|from| window.mail[number] & 1 << from != 0);
        for from in senders {
            let mut mail = lock(&self.boxes[1 - window.turn][self.place(from, number)]);
            mail.drain(..).try_for_each(|mail| part.deliver(mail))?;
        }
        Ok(())
    }

    /// The window behind one whose mail is in the set `turn` of boxes.
    fn next(&self, turn: usize) -> Window {
        let mut behind = lock(&self.behind);
        self.meet(turn, &mut behind);
        let mut window = Window { turn: 1 - turn, ..Window::default() };
        let begin = behind.parts.iter().map(|part| part.next.min(part.due)).min();
        let Some(begin) = begin.filter(|begin| *begin < Time::END && behind.faults.is_empty())
        else {
            return window;
        };
        let end = begin + self.ahead;
        window.end = Some(end);
        for (number, part) in behind.parts.iter_mut().enumerate() {
            window.active |= part.sent | u64::from(part.next < end) << number;
            window.events += part.events;
            for (to, mail) in window.mail.iter_mut().enumerate() {
                *mail |= (part.sent >> to & 1) << number;
            }
            *part = Progress { due: Time::END, sent: 0, events: 0, ..*part };
        }
        window
    }

    /// Tasks have come to points in the last window: those that wait for nobody more go on.
    fn meet(&self, turn: usize, behind: &mut Behind) {
        behind.came.sort_by_key(|(part, _, came)| (came.at, *part));
        for (part, mail) in self.met(&std::mem::take(&mut behind.came)) {
            let first = &mut behind.parts[0];
            first.due = first.due.min(mail.due::<N>());
            first.sent |= 1 << part;
            lock(&self.boxes[turn][self.place(0, part as usize)]).push(mail);
        }
    }

    /// The mail to tasks that go on.
    fn met(&self, all: &[(u32, (u32, u32), Came)]) -> Vec<(u32, Mail<N::Mail>)> {
        let mut mail = Vec::new();
        let mut meetings = lock(&self.meetings);
        for (_, at, came) in all {
            let Some(met) = meetings.come(*at, *came) else { continue };
            for one in met.all() {
                let (wait, chain) = met.wait_of(one, self.there_and_back);
                let part = self.part_of[one.task as usize];
                mail.push((part, Mail::Met { came: *one, wait, chain }));
            }
        }
        mail
    }

    /// The begin of the run, event by event over all parts, until no task waits to be started: a
    /// start is felt in another part at once.
    fn start(&self) {
        let mut parts: Vec<_> = self.parts.iter().map(lock).collect();
        parts.iter_mut().for_each(|part| part.begin());
        let mut fault = None;
        while fault.is_none() && parts.iter().any(|part| part.new > 0) {
            let next = |number: &usize| parts[*number].queue.next();
            let planned = (0..parts.len()).filter(|number| next(number).is_some());
            let Some(first) = planned.min_by_key(next) else { break };
            let done = self.one(&mut parts, first);
            fault = done.err().map(|error| (parts[first].now, first as u32, error));
        }
        let told = |part: &MutexGuard<'_, Run<'a, N>>| {
            let next = part.queue.next().unwrap_or(Time::END);
            Progress { next, due: Time::END, sent: 0, events: 0 }
        };
        let mut behind = lock(&self.behind);
        behind.parts = parts.iter().map(told).collect();
        behind.faults.extend(fault);
    }

    /// One event of a part, and what comes of it in others.
    fn one(&self, parts: &mut [MutexGuard<'_, Run<'a, N>>], number: usize) -> Result<(), Error> {
        let part = &mut parts[number];
        part.step()?;
        let came: Vec<_> = part.came.drain(..).map(|(at, came)| (0, at, came)).collect();
        let mut mail: Vec<_> = part.mail.drain(..).collect();
        mail.extend(self.met(&came));
        mail.into_iter().try_for_each(|(to, mail)| parts[to as usize].deliver(mail))
    }
}
