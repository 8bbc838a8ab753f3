//! Hosts, servers, clients and what happens to them, in virtual time.

use crate::history::{self, Deed, Did, Item, item};
use crate::shelves::{MemoryShelf, set_full};
use pvm_tuples::client::{Client, End, Output as Wish};
use pvm_tuples::frames::{Ask, Between, Entry, Full, Options, Told};
use pvm_tuples::log::Record;
use pvm_tuples::partition::{
    Event, Output, Partition, Title, bound_waiting, directory_of, has_failed, has_room_for,
    is_no_step, spill_to,
};
use pvm_tuples::{Builder, Find, Kind, Op, Outcome, Reason, Shape, Tuple};
use pvm_wire::{Blob, HostIndex, Tid};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

const HOSTS: u32 = 4;
/// Room for the tuples of one put, and few more.
const SPILL_BYTES: u64 = 900;
const CLIENTS: usize = 4;
/// Room for two waiting requests.
const FEW_WAITING: u64 = 300;
/// Faults happen until then, and clients begin no more.
const BUSY_MS: u64 = 20_000;
/// Everything has come to rest by then.
const END_MS: u64 = 400_000;

/// Draws numbers: the seed means one run for ever.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        let mut dice = Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        for _ in 0..8 {
            dice.next();
        }
        dice
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    pub(crate) fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> Option<T> {
        let place = self.below(of.len() as u64) as usize;
        of.get(place).copied()
    }
}

/// The results of the runs.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Tally {
    pub(crate) taken: u64,
    pub(crate) returned: u64,
    pub(crate) takeovers: u64,
    pub(crate) killed: u64,
    pub(crate) lost_messages: u64,
    pub(crate) unanswered: u64,
    /// Servers that have left their hosts.
    pub(crate) left: u64,
    /// Requests that a full disk has refused.
    pub(crate) refused: u64,
    pub(crate) deleted: u64,
    /// Requests to a full disk while tuples lay on it.
    pub(crate) spilled: u64,
    /// Moves that have begun.
    pub(crate) moves: u64,
    /// Disks that have failed under a space.
    pub(crate) failed: u64,
}

impl Tally {
    pub(crate) fn add(&mut self, other: Self) {
        self.taken += other.taken;
        self.returned += other.returned;
        self.takeovers += other.takeovers;
        self.killed += other.killed;
        self.lost_messages += other.lost_messages;
        self.unanswered += other.unanswered;
        self.left += other.left;
        self.refused += other.refused;
        self.deleted += other.deleted;
        self.spilled += other.spilled;
        self.moves += other.moves;
        self.failed += other.failed;
    }
}

#[derive(Clone, Debug)]
enum Said {
    Ask(Ask),
    Told(Told),
    Between(Between),
    Gone(Tid),
}

enum Happening {
    Arrives {
        from: Tid,
        to: Tid,
        said: Said,
    },
    Put {
        server: Tid,
        epoch: i32,
        entry: Entry,
    },
    PutAnswer {
        server: Tid,
        epoch: Option<i32>,
    },
    Looks {
        task: Tid,
        number: u64,
    },
    LookAnswer {
        task: Tid,
        number: u64,
        entry: Option<(i32, Entry)>,
    },
    Helps {
        server: Tid,
        besides: Vec<Tid>,
    },
    Persisted {
        server: Tid,
        file: u64,
        number: u64,
    },
    Tick {
        task: Tid,
    },
    Goes {
        client: Tid,
    },
    Chaos,
    Collects,
    /// A host that was to be left has been left, and takes part again.
    Returns {
        host: u32,
    },
    Deletes,
}

struct Server {
    partition: Option<Partition>,
    paused_until: u64,
    /// Counts the files that it has begun.
    file: u64,
    /// Its disk is full.
    full_until: u64,
    /// The messages that came in the pause.
    backlog: VecDeque<(Tid, Said)>,
}

struct Worker {
    client: Client,
    /// The number of the request under way.
    under_way: Option<u64>,
    /// Its place in the history.
    deed: usize,
    /// Those of all requests.
    deeds: BTreeMap<u64, usize>,
    /// The tuples that it has claimed.
    claims: Vec<(u64, Item)>,
    is_collector: bool,
    /// The request with which it deletes the space.
    deletes: Option<u64>,
}

/// A run.
pub(crate) struct World {
    dice: Dice,
    now: u64,
    queue: BTreeMap<(u64, u64), Happening>,
    count: u64,
    servers: BTreeMap<Tid, Server>,
    workers: BTreeMap<Tid, Worker>,
    entries: BTreeMap<i32, Entry>,
    watches: BTreeSet<(Tid, Tid)>,
    /// When the last message of a pair arrives.
    pairs: BTreeMap<(Tid, Tid), u64>,
    cut_until: BTreeMap<u32, u64>,
    /// Hosts that are to be left.
    draining: BTreeSet<HostIndex>,
    next_task: u32,
    next_item: i32,
    next_request: u64,
    history: Vec<Did>,
    /// When a primary heard last that a task has ended.
    buried: BTreeMap<Tid, u64>,
    copies: u8,
    /// Tuples that find no room in memory lie in files.
    spills: bool,
    /// The bytes of waiting requests beyond which no further one waits.
    most_waiting: u64,
    /// Draws which spaces move to hosts that join; none where none do.
    moves: Option<Dice>,
    /// Draws whose disks fail; none where none do.
    disks: Option<Dice>,
    loses: u64,
    reorders: bool,
    left: Vec<Item>,
    failure: Option<String>,
    pub(crate) tally: Tally,
}

fn host(task: Tid) -> u32 {
    task.0 >> 18
}

pub(crate) fn tuple((name, number): Item) -> Tuple {
    let mut builder = Builder::new();
    builder.actual(Kind::Text, Shape::Scalar, &[name]).unwrap();
    builder.int(number).unwrap();
    builder.tuple().unwrap()
}

pub(crate) fn template(name: Option<u8>) -> Tuple {
    let mut builder = Builder::new();
    match name {
        Some(name) => builder.actual(Kind::Text, Shape::Scalar, &[name]).unwrap(),
        None => builder.formal(Kind::Text, Shape::Scalar, 0).unwrap(),
    }
    builder.formal(Kind::Int, Shape::Scalar, 0).unwrap();
    builder.tuple().unwrap()
}

impl World {
    pub(crate) fn new(seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let copies = 1 + (dice.below(3) / 2) as u8;
        let (loses, reorders) = match dice.below(4) {
            0 => (2, false),
            1 => (2, true),
            _ => (0, false),
        };
        let mut world = Self {
            dice,
            now: 1,
            queue: BTreeMap::new(),
            count: 0,
            servers: BTreeMap::new(),
            workers: BTreeMap::new(),
            entries: BTreeMap::new(),
            watches: BTreeSet::new(),
            pairs: BTreeMap::new(),
            cut_until: BTreeMap::new(),
            draining: BTreeSet::new(),
            next_task: 1,
            next_item: 1,
            next_request: 1,
            history: Vec::new(),
            buried: BTreeMap::new(),
            copies,
            spills: seed % 3 == 1,
            moves: (seed % 4 == 1).then(|| Dice::new(seed + 1_000_003)),
            most_waiting: if seed % 5 == 4 { FEW_WAITING } else { u64::MAX },
            disks: (seed % 5 == 3).then(|| Dice::new(seed + 2_000_003)),
            loses,
            reorders,
            left: Vec::new(),
            failure: None,
            tally: Tally::default(),
        };
        world.begin();
        world
    }

    fn begin(&mut self) {
        for host in 1..=HOSTS {
            self.add_server(host);
        }
        let me = *self.servers.keys().next().unwrap();
        let (limit_bytes, when_full) =
            if self.spills { (SPILL_BYTES, Full::Spill) } else { (1 << 20, Full::Wait) };
        let options = Options { copies: self.copies, limit_bytes, when_full, loss_ms: 0 };
        let (copies, owner, deleted) = (Vec::new(), Tid::NONE, false);
        // In half of the runs servers write what they do to disks, which takes its time.
        let directory = if self.dice.chance(50) { Blob::from("/disk") } else { Blob::default() };
        let (space, generation) = (7, 0);
        let entry =
            Entry { space, primary: me, copies, options, owner, deleted, directory, generation };
        self.entries.insert(0, entry.clone());
        let title = Title { name: Blob::from("space"), epoch: 0, entry };
        let mut partition = Partition::create(me, title, None, None, self.now);
        bound_waiting(&mut partition, self.most_waiting);
        self.servers.get_mut(&me).unwrap().partition = Some(partition);
        self.carry_out(me);
        for _ in 0..CLIENTS {
            self.add_worker(false);
        }
        self.later(500, Happening::Chaos);
        self.later(BUSY_MS + 150_000, Happening::Collects);
    }

    fn task(&mut self, host: u32) -> Tid {
        self.next_task += 1;
        Tid(host << 18 | self.next_task)
    }

    fn add_server(&mut self, host: u32) {
        let tid = self.task(host);
        self.servers.insert(
            tid,
            Server {
                partition: None,
                paused_until: 0,
                file: 0,
                full_until: 0,
                backlog: VecDeque::new(),
            },
        );
        self.may_leave(tid);
        let others: Vec<Tid> = self.servers.keys().copied().collect();
        for other in others {
            if let Some(partition) = self.servers.get_mut(&other).and_then(|s| s.partition.as_mut())
            {
                partition.handle(self.now, Event::Joined);
                self.carry_out(other);
            }
        }
        if self.moves.as_mut().is_some_and(|dice| dice.chance(60)) {
            self.move_to(tid);
        }
    }

    /// The space is to move to the server of a host that has joined.
    fn move_to(&mut self, to: Tid) {
        let primaries: Vec<Tid> =
            self.servers.keys().copied().filter(|server| self.is_primary(*server)).collect();
        for primary in primaries {
            self.tally.moves += 1;
            self.tell(primary, Event::Move { to });
        }
    }

    /// A worker that does nothing yet; none where no server was ever entered.
    fn new_worker(&mut self, is_collector: bool) -> Option<Tid> {
        let host = 1 + self.dice.below(HOSTS.into()) as u32;
        let tid = self.task(host);
        let (_, entry) = self.entries.last_key_value()?;
        let mut client = Client::new(entry);
        client.settle_every(2);
        let worker = Worker {
            client,
            under_way: None,
            deed: 0,
            deeds: BTreeMap::new(),
            claims: Vec::new(),
            is_collector,
            deletes: None,
        };
        self.workers.insert(tid, worker);
        Some(tid)
    }

    fn add_worker(&mut self, is_collector: bool) {
        let tid = self.new_worker(is_collector).unwrap();
        self.wishes(tid);
        self.later(1, Happening::Goes { client: tid });
    }

    fn later(&mut self, after: u64, what: Happening) {
        self.count += 1;
        self.queue.insert((self.now + after, self.count), what);
    }

    pub(crate) fn run(&mut self) {
        while let Some(((at, _), what)) = self.queue.pop_first() {
            self.now = at;
            if self.now > END_MS || self.failure.is_some() {
                break;
            }
            self.happens(what);
        }
    }

    fn is_alive(&self, task: Tid) -> bool {
        self.servers.contains_key(&task) || self.workers.contains_key(&task)
    }

    fn happens(&mut self, what: Happening) {
        match what {
            Happening::Arrives { from, to, said } => self.arrives(from, to, said),
            // The table of names is full for a moment.
            Happening::Put { server, .. } if self.now < BUSY_MS && self.dice.chance(3) => {
                self.tell(server, Event::Refused);
            }
            Happening::Put { server, epoch, entry } => {
                // What is no entry may lie in its place, and is away when the next one comes.
                let is_blocked = self.now < BUSY_MS && self.dice.chance(5);
                let epoch = epoch + i32::from(is_blocked && !self.entries.contains_key(&epoch));
                let done = self.entries.last_key_value().is_none_or(|(last, _)| *last < epoch);
                if done {
                    let before = self.entries.last_key_value().map(|(_, entry)| entry.primary);
                    self.tally.takeovers += u64::from(before != Some(entry.primary));
                    self.entries.insert(epoch, entry);
                }
                let pause = self.pause();
                self.later(pause, Happening::PutAnswer { server, epoch: done.then_some(epoch) });
            }
            Happening::PutAnswer { server, epoch } => self.tell(server, Event::Put { epoch }),
            Happening::Looks { task, number } => {
                let entry = self.entries.last_key_value().map(|(at, entry)| (*at, entry.clone()));
                let pause = self.pause();
                self.later(pause, Happening::LookAnswer { task, number, entry });
            }
            Happening::LookAnswer { task, number, entry } => {
                if let Some(worker) = self.workers.get_mut(&task) {
                    let entry = entry.as_ref().map(|(_, entry)| entry);
                    worker.client.looked(self.now, number, entry);
                    self.wishes(task);
                } else {
                    self.tell(task, Event::Latest { look: number, entry });
                }
            }
            Happening::Helps { server, besides } => self.helps(server, &besides),
            Happening::Persisted { server, file, number } => {
                // What was written to an older file says nothing of this one.
                if self.servers.get(&server).is_some_and(|server| server.file == file) {
                    self.tell(server, Event::Persisted { number });
                }
            }
            Happening::Tick { task } => self.tick(task),
            Happening::Goes { client } => self.goes(client),
            Happening::Chaos => self.chaos(),
            Happening::Collects => self.add_worker(true),
            Happening::Returns { host } => {
                self.draining.remove(&HostIndex(host as u16));
                self.tell_draining();
                let is_there = |tid: &Tid| self::host(*tid) == host;
                if !self.servers.keys().any(is_there) {
                    self.add_server(host);
                }
            }
            Happening::Deletes => self.deletes(),
        }
    }

    fn pause(&mut self) -> u64 {
        match self.dice.below(10) {
            0 => 1 + self.dice.below(300),
            _ => 1 + self.dice.below(5),
        }
    }

    fn send(&mut self, from: Tid, to: Tid, said: Said) {
        if self.now < BUSY_MS && self.dice.chance(self.loses) {
            self.tally.lost_messages += 1;
            return;
        }
        let pause = self.pause();
        let healed = [host(from), host(to)]
            .iter()
            .filter_map(|host| self.cut_until.get(host))
            .filter(|_| host(from) != host(to))
            .max()
            .copied()
            .unwrap_or(0);
        let mut at = self.now.max(healed) + pause;
        if !self.reorders {
            let last = self.pairs.entry((from, to)).or_insert(0);
            at = at.max(*last);
            *last = at;
        }
        self.count += 1;
        self.queue.insert((at, self.count), Happening::Arrives { from, to, said });
    }

    fn arrives(&mut self, from: Tid, to: Tid, said: Said) {
        if let Some(server) = self.servers.get_mut(&to)
            && (server.paused_until > self.now || !server.backlog.is_empty())
        {
            let after = server.paused_until.saturating_sub(self.now);
            server.backlog.push_back((from, said));
            return self.later(after + 1, Happening::Tick { task: to });
        }
        self.heard(from, to, said);
    }

    fn heard(&mut self, from: Tid, to: Tid, said: Said) {
        match said {
            Said::Ask(ask) => self.asked(from, to, ask),
            Said::Between(between) => self.other_said(from, to, between),
            Said::Told(told) => {
                if let Some(worker) = self.workers.get_mut(&to) {
                    worker.client.told(self.now, from, told);
                    self.wishes(to);
                    self.look(to);
                }
            }
            Said::Gone(task) => {
                self.watches.remove(&(to, task));
                if let Some(worker) = self.workers.get_mut(&to) {
                    worker.client.gone(self.now, task);
                    self.wishes(to);
                } else {
                    if self.is_primary(to) {
                        self.buried.insert(task, self.now);
                    }
                    self.tell(to, Event::Gone { task });
                    if self.is_primary(to) && self.keeps_something_for(to, task) {
                        self.failure = Some(format!("{task} is gone, and waits or has a claim"));
                    }
                }
            }
        }
    }

    fn keeps_something_for(&self, server: Tid, client: Tid) -> bool {
        let partition = self.servers.get(&server).and_then(|server| server.partition.as_ref());
        let seen = partition.map(|partition| partition.store().seen(self.now, 0));
        seen.is_some_and(|seen| {
            seen.waiting.iter().any(|waiter| waiter.client == client)
                || seen.claimed.iter().any(|claimed| claimed.client == client)
        })
    }

    fn is_primary(&self, server: Tid) -> bool {
        let partition = self.servers.get(&server).and_then(|server| server.partition.as_ref());
        partition.is_some_and(Partition::is_primary)
    }

    fn asked(&mut self, client: Tid, to: Tid, ask: Ask) {
        let Some(server) = self.servers.get(&to) else { return };
        if server.partition.is_some() {
            if server.full_until > self.now && self.has_no_room(to, (client, &ask)) {
                self.tally.refused += 1;
                let number = ask.number();
                return self.tell(to, Event::Full { client, number });
            }
            self.tell(to, Event::Asked { client, ask });
        } else {
            let number = ask.number();
            self.send(to, client, Said::Told(Told::Elsewhere { number }));
        }
    }

    fn other_said(&mut self, from: Tid, to: Tid, said: Between) {
        let Some(server) = self.servers.get_mut(&to) else { return };
        if server.partition.is_none() {
            if let Between::Drop { space, term } = said {
                let dropped = Between::Dropped { space, term, is_gone: true };
                return self.send(to, from, Said::Between(dropped));
            }
            if let Between::Ack { space, .. } = said {
                return self.send(to, from, Said::Between(Between::Later { space }));
            }
            let mut follows = Partition::follow(to, from, said, self.now);
            follows.iter_mut().for_each(|space| bound_waiting(space, self.most_waiting));
            server.partition = follows;
            self.tell(to, Event::Draining { hosts: self.draining.clone() });
        } else {
            self.tell(to, Event::Heard { from, said });
        }
    }

    fn tell(&mut self, server: Tid, event: Event) {
        let partition = self.servers.get_mut(&server).and_then(|server| server.partition.as_mut());
        if let Some(partition) = partition {
            partition.handle(self.now, event);
        }
        self.carry_out(server);
    }

    fn carry_out(&mut self, me: Tid) {
        loop {
            let partition = self.servers.get_mut(&me).and_then(|server| server.partition.as_mut());
            let Some(output) = partition.and_then(Partition::poll_output) else { break };
            let pause = self.pause();
            match output {
                Output::Tell { client, told, .. } => self.send(me, client, Said::Told(told)),
                Output::Say { to, what } => self.send(me, to, Said::Between(what)),
                Output::Watch { task } => self.watch(me, task),
                Output::Put { epoch, entry } => {
                    self.later(pause, Happening::Put { server: me, epoch, entry });
                }
                Output::Look { look } => {
                    self.later(pause, Happening::Looks { task: me, number: look });
                }
                Output::Want { besides } => {
                    self.later(pause, Happening::Helps { server: me, besides });
                }
                Output::Persist { record } => {
                    let file = self.servers.get(&me).map_or(0, |server| server.file);
                    if let Record::Step { number, .. } = record {
                        self.later(pause, Happening::Persisted { server: me, file, number });
                    }
                }
                Output::Rewrite => {
                    let Some(server) = self.servers.get_mut(&me) else { continue };
                    server.file += 1;
                    let (file, begun) =
                        (server.file, server.partition.as_ref().map(Partition::checkpoint));
                    if let Some(Record::Begun { number, .. }) = begun {
                        self.later(pause, Happening::Persisted { server: me, file, number });
                    }
                }
                Output::Shelve => {
                    let partition =
                        self.servers.get_mut(&me).and_then(|one| one.partition.as_mut());
                    spill_to(partition.unwrap(), Box::new(MemoryShelf::default()));
                }
                Output::Forget { before: None } => self.entries.clear(),
                Output::Forget { .. } => {}
                Output::Erase { deleters, is_partial } => {
                    if is_partial {
                        self.failure = Some("a file is left, though nothing failed".to_owned());
                    }
                    for (client, number) in deleters {
                        let told = Told::Answer { number, outcome: Outcome::Done };
                        self.send(me, client, Said::Told(told));
                    }
                }
                Output::Abandon => {
                    self.failure = Some("the space was given up, though a server has it".into());
                }
                Output::Close { tell, .. } => {
                    self.servers.get_mut(&me).unwrap().partition = None;
                    if let Some((primary, term)) = tell {
                        let dropped = Between::Dropped { space: 7, term, is_gone: true };
                        self.send(me, primary, Said::Between(dropped));
                    }
                }
            }
        }
        self.set_timer(me);
        self.may_leave(me);
    }

    /// A server on a host that is to be left ends when its space goes on elsewhere. If those that
    /// have the space have died or failed at this moment, it waits until it knows.
    fn may_leave(&mut self, me: Tid) {
        let Some(server) = self.servers.get(&me) else { return };
        if !self.draining.contains(&me.host())
            || !server.partition.as_ref().is_none_or(pvm_tuples::partition::may_leave)
            || server.paused_until > self.now
        {
            return;
        }
        let others = |entry: &Entry| {
            let all = [entry.primary].into_iter().chain(entry.copies.iter().copied());
            all.filter(|tid| *tid != me).collect::<Vec<_>>()
        };
        let last = self.entries.last_key_value().map(|(_, entry)| others(entry));
        let last = last.unwrap_or_default();
        if !last.is_empty() && !last.iter().any(|tid| self.has_the_space(*tid)) {
            return;
        }
        self.tally.left += 1;
        self.servers.remove(&me);
        self.dies(me);
        let pause = self.dice.below(1000);
        self.later(1 + pause, Happening::Returns { host: host(me) });
    }

    fn tell_draining(&mut self) {
        for server in self.servers.keys().copied().collect::<Vec<_>>() {
            self.tell(server, Event::Draining { hosts: self.draining.clone() });
        }
    }

    /// True if a full disk refuses what a client asks. A take may find room in what is reserved.
    fn has_no_room(&mut self, to: Tid, (client, ask): (Tid, &Ask)) -> bool {
        let Ask::Do { number, op, .. } = ask else { return false };
        let partition = self.servers.get_mut(&to).unwrap().partition.as_mut().unwrap();
        if self.spills && directory_of(partition).0.is_empty() {
            let spilled = pvm_tuples::spilled_bytes(partition.store());
            set_full(true);
            let has_room = has_room_for(partition, (client, *number), op);
            set_full(false);
            self.tally.spilled += u64::from(spilled > 0);
            return !has_room;
        }
        if directory_of(partition).0.is_empty() || is_no_step(partition, (client, *number), op) {
            return false;
        }
        matches!(op, Op::Put { .. } | Op::Done { .. }) || self.dice.chance(50)
    }

    /// Somebody deletes the space when all is over.
    fn deletes(&mut self) {
        if let Err(what) = self.nobody_dead_is_kept() {
            self.failure = Some(what);
        }
        let Some(tid) = self.new_worker(false) else { return };
        self.next_request += 1;
        let number = self.next_request;
        let worker = self.workers.get_mut(&tid).unwrap();
        worker.client.begin(self.now, Ask::Delete { number, space: 7 }, None);
        worker.deletes = Some(number);
        self.wishes(tid);
    }

    fn set_timer(&mut self, task: Tid) {
        let at = match (self.servers.get(&task), self.workers.get(&task)) {
            (Some(server), _) => server.partition.as_ref().and_then(Partition::poll_timeout),
            (_, Some(worker)) => worker.client.poll_timeout(),
            _ => None,
        };
        if let Some(at) = at {
            self.later(at.saturating_sub(self.now).max(1), Happening::Tick { task });
        }
    }

    fn tick(&mut self, task: Tid) {
        let now = self.now;
        while let Some(server) = self.servers.get_mut(&task)
            && server.paused_until <= now
            && let Some((from, said)) = server.backlog.pop_front()
        {
            self.heard(from, task, said);
        }
        if let Some(server) = self.servers.get_mut(&task) {
            if let Some(partition) = &mut server.partition
                && server.paused_until <= now
                && partition.poll_timeout().is_some_and(|at| at <= now)
            {
                partition.handle_timeout(now);
                self.carry_out(task);
            }
        } else if let Some(worker) = self.workers.get_mut(&task)
            && worker.client.poll_timeout().is_some_and(|at| at <= now)
        {
            worker.client.handle_timeout(now);
            self.wishes(task);
        }
    }

    fn watch(&mut self, watcher: Tid, task: Tid) {
        self.watches.insert((watcher, task));
        if !self.is_alive(task) {
            self.notice(task, watcher);
        }
    }

    fn wishes(&mut self, me: Tid) {
        while let Some(worker) = self.workers.get_mut(&me)
            && let Some(wish) = worker.client.poll_output()
        {
            match wish {
                Wish::Send { to, ask } => self.send(me, to, Said::Ask(ask)),
                Wish::Watch { task } => self.watch(me, task),
                Wish::Look { number } => {
                    let pause = self.pause();
                    self.later(pause, Happening::Looks { task: me, number });
                }
            }
        }
        self.set_timer(me);
        self.look(me);
    }

    fn helps(&mut self, server: Tid, besides: &[Tid]) {
        let used: Vec<u32> = besides.iter().map(|tid| host(*tid)).collect();
        let is_free =
            |tid: &Tid| !used.contains(&host(*tid)) && !self.draining.contains(&tid.host());
        let others: Vec<Tid> = self.servers.keys().copied().filter(is_free).collect();
        let helper = self.dice.one(&others);
        self.tell(server, Event::Helper { server: helper });
    }

    /// A client does the next thing, unless it waits for the last one.
    fn goes(&mut self, me: Tid) {
        let Some(worker) = self.workers.get(&me) else { return };
        if worker.under_way.is_some() || (self.now > BUSY_MS && !worker.is_collector) {
            return;
        }
        let deed = if worker.is_collector { Deed::Take(None, false) } else { self.some_deed(me) };
        let worker = self.workers.get_mut(&me).unwrap();
        let claim_of = |wanted: &Item| {
            let claim = worker.claims.iter().find(|(_, item)| item == wanted);
            claim.map_or(0, |(claim, _)| *claim)
        };
        let op = match &deed {
            Deed::Put(items) => {
                Op::Put { tuples: items.iter().map(|item| tuple(*item)).collect(), wait: true }
            }
            Deed::Take(name, wait) => {
                Op::Find { template: template(*name), how: Find::Take, wait: *wait, limit_ms: None }
            }
            Deed::Copy(name, wait) => {
                Op::Find { template: template(*name), how: Find::Copy, wait: *wait, limit_ms: None }
            }
            Deed::Claim(name) => {
                let how = Find::Claim { lease_ms: None };
                Op::Find { template: template(*name), how, wait: false, limit_ms: None }
            }
            Deed::Done(item, items) => Op::Done {
                claim: claim_of(item),
                tuples: items.iter().map(|item| tuple(*item)).collect(),
            },
            Deed::GiveBack(item) => Op::GiveBack { claim: claim_of(item) },
        };
        self.next_request += 1;
        let number = self.next_request;
        (worker.under_way, worker.deed) = (Some(number), self.history.len());
        worker.deeds.insert(number, self.history.len());
        // A worker that ends a claim waits until it is over, and the collector until it has what
        // there is.
        let is_patient = worker.is_collector || matches!(deed, Deed::Done(..) | Deed::GiveBack(_));
        let limit = 1 + self.dice.below(3000);
        let deadline = (!is_patient).then_some(self.now + limit);
        let (client, called) = (me, self.now);
        self.history.push(Did { client, called, returned: None, deed, outcome: None });
        worker.client.ask(called, number, op, deadline);
        self.wishes(me);
    }

    fn some_deed(&mut self, me: Tid) -> Deed {
        let name = b'a' + self.dice.below(3) as u8;
        let wanted = self.dice.chance(70).then_some(name);
        let wait = self.dice.chance(60);
        let claims = self.workers[&me].claims.clone();
        match self.dice.below(12) {
            0..=3 => Deed::Put(self.items(name)),
            4..=6 => Deed::Take(wanted, wait),
            7 => Deed::Copy(wanted, wait),
            8 | 9 if claims.is_empty() => Deed::Claim(wanted),
            _ if claims.is_empty() => Deed::Put(self.items(name)),
            10 => Deed::GiveBack(claims[0].1),
            _ => {
                let items = if self.dice.chance(50) { self.items(name) } else { Vec::new() };
                Deed::Done(claims[0].1, items)
            }
        }
    }

    fn items(&mut self, name: u8) -> Vec<Item> {
        let count = if self.dice.chance(70) { 1 } else { 2 + self.dice.below(3) };
        let new = |_| {
            self.next_item += 1;
            (name, self.next_item)
        };
        (0..count).map(new).collect()
    }

    /// Looks whether a client's request has ended.
    fn look(&mut self, me: Tid) {
        let Some(worker) = self.workers.get_mut(&me) else { return };
        if let Some(end) = worker.deletes.and_then(|number| worker.client.take_end(number)) {
            if end != End::Answered(Outcome::Done) {
                self.failure = Some(format!("the space was not deleted: {end:?}"));
            }
            self.tally.deleted += 1;
            self.workers.remove(&me);
            return;
        }
        let Some(end) = worker.under_way.and_then(|number| worker.client.take_end(number)) else {
            return;
        };
        worker.under_way = None;
        let did = &mut self.history[worker.deed];
        if end == End::Unanswered {
            self.tally.unanswered += 1;
            did.returned = Some(self.now);
            self.later(1, Happening::Goes { client: me });
            return;
        }
        let End::Answered(outcome) = end else {
            self.failure = Some(format!("the space is lost, though a server lived: {did:?}"));
            return;
        };
        did.returned = Some(self.now);
        did.outcome = Some(outcome.clone());
        if let (Deed::Done(item, _) | Deed::GiveBack(item), _) = (&did.deed, &outcome) {
            if outcome == (Outcome::Failed { reason: Reason::Disk }) {
                // The disk is full: the worker still has it, and tries again.
                self.later(100, Happening::Goes { client: me });
                return;
            }
            if outcome != Outcome::Done {
                self.failure = Some(format!("a claim without a lease is over: {did:?}"));
            }
            worker.claims.retain(|(_, other)| other != item);
        }
        if let Outcome::Found { tuple, claim, tries } = &outcome {
            self.tally.taken += 1;
            self.tally.returned += u64::from(*tries > 0);
            if let Some(claim) = claim {
                worker.claims.push((claim.get(), item(tuple)));
            }
            if worker.is_collector {
                self.left.push(item(tuple));
            }
        }
        let is_over = worker.is_collector && outcome == Outcome::Nothing;
        if worker.is_collector {
            // What it takes is what was left.
            self.history.pop();
        }
        if !is_over {
            let pause = self.dice.below(100);
            self.later(1 + pause, Happening::Goes { client: me });
        } else {
            self.workers.remove(&me);
            self.later(1000, Happening::Deletes);
        }
    }

    fn chaos(&mut self) {
        if self.now > BUSY_MS {
            return;
        }
        match self.dice.below(12) {
            10 => {
                let host = 1 + self.dice.below(HOSTS.into()) as u16;
                self.draining.insert(HostIndex(host));
                self.tell_draining();
                let servers = self.servers.keys().copied();
                for server in servers.filter(|tid| tid.host().0 == host).collect::<Vec<_>>() {
                    self.may_leave(server);
                }
            }
            11 => {
                let all: Vec<Tid> = self.servers.keys().copied().collect();
                if let Some(server) = self.dice.one(&all) {
                    let until = self.now + self.dice.below(4000);
                    self.servers.get_mut(&server).unwrap().full_until = until;
                }
            }
            0..=3 => self.kill_server(),
            4 | 5 => self.kill_worker(),
            6 | 7 => {
                let all: Vec<Tid> = self.servers.keys().copied().collect();
                if let Some(server) = self.dice.one(&all) {
                    let until = self.now + self.dice.below(2500);
                    self.servers.get_mut(&server).unwrap().paused_until = until;
                    self.later(until - self.now + 1, Happening::Tick { task: server });
                }
            }
            8 => {
                let host = 1 + self.dice.below(HOSTS.into()) as u32;
                let until = self.now + self.dice.below(2000);
                self.cut_until.insert(host, until);
            }
            _ => self.kill_host(),
        }
        if self.disks.as_mut().is_some_and(|dice| dice.chance(40)) {
            self.fail_a_disk();
        }
        let pause = 100 + self.dice.below(1500);
        self.later(pause, Happening::Chaos);
    }

    /// True if the space outlives the death of a server: another one that lives is named by the
    /// last entry, and by each entry that is on its way.
    fn may_die(&self, server: Tid) -> bool {
        let survives = |entry: &Entry| {
            let named = [entry.primary].into_iter().chain(entry.copies.iter().copied());
            named.filter(|tid| *tid != server && self.has_the_space(*tid)).count() > 0
        };
        let last = self.entries.last_key_value().unwrap().1;
        let on_its_way = self.queue.values().filter_map(|what| match what {
            Happening::Put { entry, .. } => Some(entry),
            _ => None,
        });
        survives(last) && on_its_way.into_iter().all(survives)
    }

    fn has_the_space(&self, server: Tid) -> bool {
        let partition = self.servers.get(&server).and_then(|server| server.partition.as_ref());
        partition.is_some_and(|partition| !has_failed(partition))
    }

    /// The disk of a server fails, which lives on.
    fn fail_a_disk(&mut self) {
        let all: Vec<Tid> =
            self.servers.keys().copied().filter(|tid| self.has_the_space(*tid)).collect();
        let Some(victim) = self.disks.as_mut().and_then(|dice| dice.one(&all)) else { return };
        if self.may_die(victim) {
            self.tally.failed += 1;
            self.tell(victim, Event::Failed);
        }
    }

    fn kill_server(&mut self) {
        let all: Vec<Tid> = self.servers.keys().copied().collect();
        // Servers that hold the space die most often.
        let last = self.entries.last_key_value().unwrap().1;
        let named: Vec<Tid> = [last.primary].into_iter().chain(last.copies.clone()).collect();
        let victim = if self.dice.chance(70) { self.dice.one(&named) } else { self.dice.one(&all) };
        let Some(victim) = victim.filter(|tid| self.servers.contains_key(tid)) else { return };
        if self.may_die(victim) {
            self.servers.remove(&victim);
            self.dies(victim);
            self.add_server(host(victim));
        }
    }

    /// Notes that requests of a client that dies may have been done: they were not answered.
    fn forget_left_behind(&mut self, client: Tid) {
        let Some(worker) = self.workers.get(&client) else { return };
        for number in worker.client.left_behind() {
            self.history[worker.deeds[&number]].returned = None;
        }
    }

    fn kill_worker(&mut self) {
        let all: Vec<Tid> = self.workers.keys().copied().collect();
        if let Some(victim) = self.dice.one(&all) {
            self.forget_left_behind(victim);
            self.workers.remove(&victim);
            self.dies(victim);
            self.add_worker(false);
        }
    }

    fn kill_host(&mut self) {
        let victim = 1 + self.dice.below(HOSTS.into()) as u32;
        let servers: Vec<Tid> =
            self.servers.keys().copied().filter(|tid| host(*tid) == victim).collect();
        if !servers.iter().all(|server| self.may_die(*server)) {
            return;
        }
        let workers: Vec<Tid> =
            self.workers.keys().copied().filter(|tid| host(*tid) == victim).collect();
        for task in servers.iter().chain(&workers) {
            self.servers.remove(task);
            self.forget_left_behind(*task);
            self.workers.remove(task);
            self.dies(*task);
        }
        self.add_server(victim);
        workers.iter().for_each(|_| self.add_worker(false));
    }

    /// A watcher of a task hears of its end after its last message.
    fn dies(&mut self, task: Tid) {
        self.tally.killed += 1;
        let watchers: Vec<Tid> =
            self.watches.iter().filter(|(_, of)| *of == task).map(|(who, _)| *who).collect();
        watchers.into_iter().for_each(|watcher| self.notice(task, watcher));
    }

    /// The machine's promise: a notice comes behind the last message.
    fn notice(&mut self, task: Tid, watcher: Tid) {
        let behind = self.pairs.get(&(task, watcher)).copied().unwrap_or(0);
        let last = self.queue.iter().filter_map(|((at, _), what)| match what {
            Happening::Arrives { from, to, .. } if (*from, *to) == (task, watcher) => Some(*at),
            _ => None,
        });
        let at = last.max().unwrap_or(0).max(behind).max(self.now) + self.pause();
        self.count += 1;
        let said = Said::Gone(task);
        self.queue.insert((at, self.count), Happening::Arrives { from: task, to: watcher, said });
    }

    /// Checks what must hold at the end.
    pub(crate) fn judge(&mut self) -> Result<(), String> {
        if let Some(failure) = self.failure.take() {
            return Err(format!("{failure} at {}\n{}", self.now, self.about()));
        }
        for (tid, worker) in &self.workers {
            if worker.under_way.is_some() {
                let did = &self.history[worker.deed];
                return Err(format!("{tid} was never answered: {did:?}\n{}", self.about()));
            }
            if worker.is_collector {
                return Err("the collector did not come to its end".to_owned());
            }
        }
        if self.tally.deleted == 0 {
            return Err("nobody could delete the space".to_owned());
        }
        // That a copy is given up is said once.
        let holds = |(_, server): &(&Tid, &Server)| self.loses == 0 && server.partition.is_some();
        if let Some((tid, _)) = self.servers.iter().find(holds) {
            return Err(format!("{tid} holds a space that was deleted\n{}", self.about()));
        }
        let held =
            self.workers.values().flat_map(|worker| worker.claims.iter().map(|(_, item)| *item));
        let judged =
            history::judge(&self.history, &self.buried, &self.left, &held.collect::<BTreeSet<_>>());
        judged.map_err(|what| format!("{what}\n{}", self.about()))
    }

    /// No server keeps anything for a client that is gone.
    fn nobody_dead_is_kept(&self) -> Result<(), String> {
        let kept = self.servers.values().filter_map(|server| server.partition.as_ref());
        for partition in kept.filter(|partition| partition.is_primary()) {
            let seen = partition.store().seen(self.now, 0);
            let waiting = seen.waiting.iter().map(|waiter| waiter.client);
            let mut all = waiting.chain(seen.claimed.iter().map(|claimed| claimed.client));
            if let Some(gone) = all.find(|client| !self.workers.contains_key(client)) {
                return Err(format!("{gone} is gone, and waits or has a claim"));
            }
        }
        Ok(())
    }

    /// The servers of the space at the end, for the message.
    fn about(&self) -> String {
        let servers = self.servers.iter().filter_map(|(tid, server)| {
            let partition = server.partition.as_ref()?;
            let seen = partition.store().seen(self.now, 100);
            let role = if partition.is_primary() { "primary" } else { "copy" };
            Some(format!("{} {role}: {:?} {:?}", tid.0, seen.oldest, seen.claimed))
        });
        let entries = self.entries.iter().map(|(epoch, entry)| {
            let copies: Vec<u32> = entry.copies.iter().map(|tid| tid.0).collect();
            format!("epoch {epoch}: {} {copies:?}", entry.primary.0)
        });
        let living: Vec<u32> = self.workers.keys().map(|tid| tid.0).collect();
        let all: Vec<String> = servers.chain(entries).collect();
        format!("left {:?}, clients {living:?}\n{}", self.left, all.join("\n"))
    }
}
