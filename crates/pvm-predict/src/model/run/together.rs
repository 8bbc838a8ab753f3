//! Parts of a run that run side by side, in windows of simulated time.
//!
//! An action of one part affects another part after [`Division::ahead`] at the earliest, the
//! shortest time of a packet on a link. So, from the earliest event of all parts on, each part runs
//! alone for that time; then the parts exchange their mail, in the order of their numbers. It does
//! not matter which worker runs a part, so any number of workers gives the same result.

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
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Runs a program on a platform. The network of each part is made from the hosts of tasks.
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

/// A box for the mail from one part to another. Mail of two windows is never in one box: the mail
/// of a window goes into one of two sets of boxes, while the mail of the last window is taken out
/// of the other set.
type Boxes<M> = Vec<Mutex<Vec<Mail<M>>>>;

/// With fewer events than the first number, one worker alone runs the windows; from the second
/// number on all workers run them. A meeting of workers costs about as much as five events.
const EVENTS: (u64, u64) = (32, 64);

/// The next window.
#[derive(Clone, Copy, Debug, Default)]
struct Window {
    /// The set of boxes for its mail.
    turn: usize,
    /// Its end; none if no event is planned any more, or a part has failed.
    end: Option<Time>,
    /// The parts that have an event in it, as bits.
    active: u64,
    /// By part: the parts that have sent mail to it, as bits.
    mail: [u64; PARTS_MAX as usize],
    /// The number of events of the window before.
    events: u64,
}

/// The state of a part after a window.
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

/// The state of all parts after a window.
#[derive(Debug, Default)]
struct Behind {
    parts: Vec<Progress>,
    /// Tasks that have come to points, with their parts.
    came: Vec<(u32, (u32, u32), Came)>,
    /// The errors that parts have found, with their times and parts.
    faults: Vec<(Time, u32, Error)>,
}

/// All parts.
pub(super) struct Together<'a, N: Network> {
    ahead: Time,
    there_and_back: Time,
    /// The part of each task.
    part_of: Vec<u32>,
    parts: Vec<Mutex<Run<'a, N>>>,
    boxes: [Boxes<N::Mail>; 2],
    behind: Mutex<Behind>,
    /// The windows of even and of odd steps: while workers read one of them, the first worker may
    /// write the other.
    windows: [Mutex<Window>; 2],
    /// The parts that a worker has taken in the window of an even and of an odd step, as bits.
    taken: [AtomicU64; 2],
    meetings: Mutex<Meetings>,
}

/// Takes a lock. A worker that panics ends the run, so a poisoned lock needs no handling.
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
            taken: [AtomicU64::new(0), AtomicU64::new(0)],
            meetings: Mutex::default(),
        }
    }

    /// Runs all parts to their end.
    pub(super) fn all(self, crew: &dyn Crew) -> Result<(Vec<Run<'a, N>>, Meetings), Error> {
        crew.all(&|worker, workers| self.work(crew, (worker, workers)));
        let mut faults = inner(self.behind).faults;
        faults.sort_by_key(|(at, part, _)| (*at, *part));
        match faults.into_iter().next() {
            Some((.., error)) => Err(error),
            None => {
                let parts: Vec<_> = self.parts.into_iter().map(inner).collect();
                // An event that is planned for the end of time is never carried out.
                let is_over = parts.iter().all(|part| part.queue.len() == 0);
                if is_over { Ok((parts, inner(self.meetings))) } else { Err(Error::Endless) }
            }
        }
    }

    fn work(&self, crew: &dyn Crew, (worker, workers): (usize, usize)) {
        if worker == 0 {
            self.start();
            self.announce(0, self.next(1));
        }
        crew.meet();
        for step in (0..2).cycle() {
            let mut window = *lock(&self.windows[step]);
            let Some(end) = window.end else { return };
            if window.events >= EVENTS.0 {
                for part in self.turns(worker, workers).filter(|part| self.takes(step, *part)) {
                    self.window(&window, part, end);
                }
                crew.meet();
                if worker == 0 {
                    self.announce(1 - step, self.next(window.turn));
                }
            } else if worker == 0 {
                while let Some(end) = window.end.filter(|_| window.events < EVENTS.1) {
                    (0..self.parts.len()).for_each(|part| self.window(&window, part, end));
                    window = self.next(window.turn);
                }
                self.announce(1 - step, window);
            }
            crew.meet();
        }
    }

    /// The window of the next step, of which no worker has taken a part yet.
    fn announce(&self, step: usize, window: Window) {
        *lock(&self.windows[step]) = window;
        self.taken[step].store(0, Ordering::Relaxed);
    }

    /// The parts in the order in which a worker looks for work: its own ones, which its caches may
    /// still know, and then those that others have not come to.
    fn turns(&self, worker: usize, workers: usize) -> impl Iterator<Item = usize> {
        let is_own = move |part: &usize| part % workers == worker;
        let all = 0..self.parts.len();
        all.clone().filter(is_own).chain(all.rev().filter(move |part| !is_own(part)))
    }

    /// A worker takes a part in a window; false if another one has. The meetings of the workers
    /// order what they do to the part.
    fn takes(&self, step: usize, part: usize) -> bool {
        self.taken[step].fetch_or(1 << part, Ordering::Relaxed) & 1 << part == 0
    }

    /// One window of a part: it takes the mail of the last window, runs until `end`, and leaves its
    /// own mail.
    fn window(&self, window: &Window, number: usize, end: Time) {
        if window.active & 1 << number == 0 {
            return;
        }
        let mut part = lock(&self.parts[number]);
        let before = part.events;
        let done = self.receive(window, number, &mut part).and_then(|()| part.until(end));
        let (mut due, mut sent) = (Time::END, 0);
        for (to, mail) in part.mail() {
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

    /// The window after one whose mail is in the set `turn` of boxes.
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

    /// Handles tasks that came to points in the last window: tasks that wait for no others go on.
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

    /// Runs the begin of the run, event by event over all parts, until no task waits for its start,
    /// because a start affects another part at once.
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

    /// Handles one event of a part, and its effects in other parts.
    fn one(&self, parts: &mut [MutexGuard<'_, Run<'a, N>>], number: usize) -> Result<(), Error> {
        let part = &mut parts[number];
        part.step()?;
        let came: Vec<_> = part.came.drain(..).map(|(at, came)| (0, at, came)).collect();
        let mut mail: Vec<_> = part.mail().collect();
        mail.extend(self.met(&came));
        mail.into_iter().try_for_each(|(to, mail)| parts[to as usize].deliver(mail))
    }
}
