//! Runs from seeds in which hosts, daemons and links fail, the leader's among them, while tasks
//! use what all hosts agree on.

mod card;
mod computer;
mod deaf;
mod overruled;
mod parted;
mod removal;
mod removals;
mod slow;
mod stopped;
mod two;

use crate::actors::Actors;
use crate::dice::Random;
use crate::link::pair;
use crate::tally::Tally;
use crate::time::MS;
use crate::world::{Crash, FIRST, Happening, World};
use pvm_core::Rules;
use pvm_quorum::Limits;
use pvm_wire::HostIndex;
use pvm_wire::request::{Reply, Request, Role};
use std::collections::BTreeSet;

const SECOND: u64 = 1000 * MS;
/// Between two deaths a voter that is gone is replaced.
const DEATH_PAUSE: u64 = 9 * SECOND;
/// After the last fault everything has come to rest.
const REST: u64 = 50 * SECOND;

/// Within this many milliseconds two of three hosts that hear one another have elected a leader.
const ELECTION_MS: u32 = 6000;

/// Millionths by which clocks are wrong.
const SKEW: u32 = 200;
/// Millionths by which clocks with a fault are wrong.
const SKEW_BAD: u32 = 10_000;

/// The results of a run.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Hosts that live at the end.
    pub hosts: usize,
    /// Puts that were confirmed.
    pub confirmed: usize,
    /// The longest time in which none was, in nanoseconds.
    pub gap: u64,
    /// The number of times that a host went on alone.
    pub era: u64,
    /// The number of terms.
    pub term: u64,
    /// The state that the hosts agree on at the end, and when that was.
    pub state: u64,
    /// The faults that there were.
    pub faults: Tally,
}

/// The set of faults of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scene {
    /// Anything, in a machine of 3 to 7 hosts.
    Anything,
    /// Like `Anything`, in a machine of 8 to 11 hosts, of which few vote and the others hear the
    /// order along a tree.
    Tree,
    /// Hosts die one after the other, down to two.
    Deaths,
    /// A leader loses the others one by one, and the last one's daemon is started again just then.
    Lease,
    /// A leader's entries come to a majority under a later term of its own, and then another leads
    /// that has none of them.
    Overruled,
    /// A host is deleted that hears nothing of it and goes on speaking.
    Deaf,
    /// One of three hosts is deleted while another one has just become silent.
    Parted,
    /// The leader's daemon is started again while the removal of a voter is in its log.
    Removal,
    /// One or two hosts are taken out, and another one dies at any moment of that.
    Removals,
    /// The leader's network card loses what goes to some hosts or comes from them.
    HalfDeaf,
    /// The leader's computer stands still as a whole, its clock as well, and goes on.
    Stopped,
    /// A computer dies with all hosts on it, more of them than may die where they are chosen badly.
    OneComputer,
    /// Slow cables, and long messages under names.
    SlowCables,
    /// Very slow cables: what is promised at all holds.
    SlowestCables,
    /// Two hosts, whose link or one of which fails.
    Two,
    /// Like `Two`, with a witness.
    Witness,
    /// Like `Witness`, but both go on.
    Survive,
}

impl Scene {
    /// All scenes.
    pub const ALL: [Self; 17] = [
        Self::Anything,
        Self::Tree,
        Self::Deaths,
        Self::Lease,
        Self::Overruled,
        Self::Deaf,
        Self::Parted,
        Self::Removal,
        Self::Removals,
        Self::HalfDeaf,
        Self::Stopped,
        Self::OneComputer,
        Self::SlowCables,
        Self::SlowestCables,
        Self::Two,
        Self::Witness,
        Self::Survive,
    ];
}

/// The limits of a scene's log. In scenes of the tree three hosts vote, and one is below each, so
/// that few hosts show it.
fn limits(scene: Scene) -> Limits {
    match scene {
        Scene::Tree => Limits { star_count: 3, tree_width: 1, failures_max: 1, ..Limits::USUAL },
        _ => Limits::USUAL,
    }
}

struct Run {
    scene: Scene,
    world: World,
    random: Random,
    /// The dice for slow links, in scenes where links are slow now and then.
    slow: Option<Random>,
    actors: Actors,
    died_at: u64,
    /// The fewest members that any host knew of.
    known: usize,
    /// There are two hosts, with a witness.
    pair: bool,
}

/// A run of a scene. With `journal` the conversation is written down there.
///
/// # Errors
/// The invariant that did not hold.
pub fn run(scene: Scene, seed: u64, journal: Option<&mut Vec<String>>) -> Result<Outcome, String> {
    // In every third run of stopped hosts there are two, and a witness.
    let pair = scene == Scene::Stopped && seed % 3 == 2;
    let rules = Rules {
        witness: if scene == Scene::Witness || pair {
            "third".into()
        } else {
            Rules::plain().witness
        },
        survive: scene == Scene::Survive,
    };
    // Most clocks are as good as those of real computers, some as bad as those of halted ones.
    let skew = if seed % 4 == 3 { SKEW_BAD } else { SKEW };
    let mut world = World::within(limits(scene), "vm", seed, rules, skew);
    world.journal = journal.as_ref().map(|_| Vec::new());
    world.may_stop(scene == Scene::Stopped);
    world.may_split(scene == Scene::Survive);
    let random = Random::new(seed);
    // Two that go on apart from each other: what the one that yields had confirmed ends with it.
    let may_lose = scene == Scene::Survive;
    // In every fourth run single links are slow, besides all of them at times.
    let slow = (seed % 4 == 1).then(|| Random::new(seed ^ 0x510e));
    let mut actors = Actors::default();
    actors.may_lose = may_lose;
    let mut run = Run { scene, world, random, slow, actors, died_at: 0, known: 0, pair };
    let outcome = run.all();
    if let (Some(journal), Some(lines)) = (journal, run.world.journal) {
        *journal = lines;
    }
    outcome
}

impl Run {
    fn all(&mut self) -> Result<Outcome, String> {
        let count = match self.scene {
            Scene::Anything => 2 + self.random.below(5),
            Scene::Tree => 7 + self.random.below(4),
            Scene::Deaths => 7,
            Scene::Lease
            | Scene::Overruled
            | Scene::Parted
            | Scene::Removal
            | Scene::SlowCables
            | Scene::SlowestCables
            | Scene::OneComputer => 2,
            Scene::Deaf => 3,
            Scene::Removals => 3 + self.random.below(5),
            Scene::Stopped => 2 - u64::from(self.pair),
            Scene::HalfDeaf => 2 + self.random.below(4),
            Scene::Two | Scene::Witness | Scene::Survive => 1,
        };
        self.add(FIRST, u32::try_from(count).unwrap_or(2));
        self.go(2 * SECOND)?;
        self.enrol()?;
        self.actors.start();
        match self.scene {
            Scene::Anything | Scene::Tree => self.anything()?,
            Scene::Deaths => self.deaths()?,
            Scene::Lease => self.leases()?,
            Scene::Overruled => self.overruled()?,
            Scene::Deaf => self.deaf()?,
            Scene::Parted => self.parted()?,
            Scene::Removal => self.removal()?,
            Scene::Removals => self.removals()?,
            Scene::OneComputer => self.computer()?,
            Scene::Stopped => self.stopped()?,
            Scene::HalfDeaf => self.card()?,
            Scene::SlowCables => self.slow()?,
            Scene::SlowestCables => self.slowest()?,
            Scene::Two | Scene::Witness | Scene::Survive => self.two()?,
        }
        self.rest()
    }

    fn add(&mut self, host: HostIndex, count: u32) {
        if let Some(operator) = self.world.connect(host, Role::Operator) {
            self.world.request(host, operator, Request::AddLocal { count });
        }
    }

    /// Two tasks on each host.
    fn enrol(&mut self) -> Result<(), String> {
        let hosts = self.hosts();
        for &host in hosts.iter().chain(&hosts) {
            self.world.connect(host, Role::Task);
        }
        self.go(100 * MS)?;
        self.actors.take_all(&mut self.world);
        self.go(SECOND)?;
        let reads = [Scene::Two, Scene::Witness, Scene::Survive, Scene::Stopped];
        if reads.contains(&self.scene) {
            self.enrol_readers()?;
        }
        Ok(())
    }

    /// A task on each host that reads the puts of others: its answers must not be older than what
    /// any task knew when it asked (if no names are deleted, that alone makes the history of puts
    /// and reads linearizable).
    fn enrol_readers(&mut self) -> Result<(), String> {
        let mut readers = Vec::new();
        for host in self.hosts() {
            readers.extend(self.world.connect(host, Role::Task).map(|reader| (host, reader)));
        }
        self.go(100 * MS)?;
        for (host, connection) in readers {
            let node = self.world.nodes.get(&host);
            let task = node.and_then(|node| node.tasks().find(|task| task.0 == connection));
            if let Some((_, tid)) = task {
                self.actors.take_reader(host, connection, tid);
            }
        }
        Ok(())
    }

    fn hosts(&self) -> Vec<HostIndex> {
        self.world.nodes.keys().copied().collect()
    }

    /// Time passes, and tasks go on.
    fn go(&mut self, nanoseconds: u64) -> Result<(), String> {
        self.actors.go(&mut self.world, nanoseconds, 20 * MS)
    }

    fn anything(&mut self) -> Result<(), String> {
        self.world.lossy = self.random.below(3) * 40;
        for _ in 0..25 {
            self.trouble();
            self.slow_down();
            let pause = self.random.below(1500) * MS;
            self.go(pause)?;
        }
        Ok(())
    }

    /// A host that was taken out for its silence counts as one that has died: two voters that go at
    /// once may be too many.
    fn note_members(&mut self) {
        let known = self.world.fewest_members();
        if known < self.known {
            self.died_at = self.world.now();
        }
        self.known = known;
    }

    fn trouble(&mut self) {
        self.note_members();
        let hosts = self.hosts();
        let (Some(a), Some(b)) = (self.random.pick(&hosts), self.random.pick(&hosts)) else {
            return;
        };
        // The leader is the most interesting one.
        let leader = self.leader().unwrap_or(a);
        let a = if self.random.below(3) == 0 { leader } else { a };
        match self.random.below(16) {
            0..3 => self.world.crash(a),
            3 => drop(self.world.crash_next.insert(a, Crash::BeforeEffects)),
            4..6 => drop(self.world.crash_next.insert(a, Crash::BeforeActs)),
            6..8 => self.kill(a),
            8..10 => self.split(),
            10 if a != b => {
                let heal = (200 + self.random.below(8000)) * MS;
                self.world.deafen(a, b, heal);
            }
            11 if a != b => {
                let heal = (100 + self.random.below(7000)) * MS;
                self.world.cut(a, b, Some(heal));
            }
            12 => {
                let time = (100 + self.random.below(2500)) * MS;
                self.world.pause(a, time);
            }
            13 => self.world.latency = (1 + self.random.below(20)) * MS,
            14 if hosts.len() < 8 => self.add(a, 1),
            // Hosts that are deleted count as one that dies: one after the other.
            15 if self.world.now() > self.died_at + DEATH_PAUSE && self.world.is_digested() => {
                self.died_at = self.world.now();
                let count = 1 + self.random.below(3);
                let hosts =
                    (0..count).map(|_| format!("vm.{}", 2 + self.random.below(6)).into()).collect();
                if let Some(operator) = self.world.connect(a, Role::Operator) {
                    self.world.request(a, operator, Request::DelHosts { hosts });
                }
            }
            _ => {}
        }
    }

    /// Now and then a link is slow for a while: messages are on their way for longer than it takes
    /// to elect a leader.
    fn slow_down(&mut self) {
        let hosts = self.hosts();
        let Some(random) = &mut self.slow else { return };
        if random.below(3) > 0 {
            return;
        }
        let latency = (20 + random.below(1000)) * MS;
        let hasten = (1000 + random.below(8000)) * MS;
        if let (Some(a), Some(b)) = (random.pick(&hosts), random.pick(&hosts))
            && a != b
        {
            self.world.slow_down(a, b, latency, hasten);
        }
    }

    /// A host that takes itself for the leader.
    fn leader(&self) -> Option<HostIndex> {
        self.hosts().into_iter().find(|&host| self.leads(host).is_some())
    }

    /// The term that a host takes itself for the leader of.
    fn leads(&self, host: HostIndex) -> Option<u64> {
        let machine = self.world.nodes.get(&host)?.machine.as_ref()?;
        machine.leader().filter(|leader| leader.1 == host).map(|leader| leader.0)
    }

    /// Time passes until one of these hosts takes itself for the leader of a later term; none if
    /// that takes too long.
    fn elected(&mut self, hosts: &[HostIndex], after: u64) -> Result<Option<HostIndex>, String> {
        for _ in 0..ELECTION_MS {
            let leads = |host: &&HostIndex| self.leads(**host).is_some_and(|term| term > after);
            if let Some(&host) = hosts.iter().find(leads) {
                return Ok(Some(host));
            }
            self.go(MS)?;
        }
        Ok(None)
    }

    /// Two hosts can connect again.
    fn heal(&mut self, a: HostIndex, b: HostIndex) {
        self.world.later(0, Happening::Heal(pair(a, b)));
    }

    fn kill(&mut self, host: HostIndex) {
        // With two hosts, or if a host knows only two, the scenes of two hosts say what may be
        // lost.
        let known = self.world.fewest_members();
        if self.world.now() < self.died_at + DEATH_PAUSE || known < 3 || !self.world.is_digested() {
            return;
        }
        self.died_at = self.world.now();
        if self.random.below(2) == 0 {
            self.world.kill(host);
        } else {
            let after = self.random.below(1000) * MS;
            self.world.kill_seen(host, after);
        }
    }

    /// Two halves that do not hear each other.
    fn split(&mut self) {
        let heal = (300 + self.random.below(9000)) * MS;
        let sides: Vec<_> =
            self.hosts().into_iter().map(|host| (host, self.random.below(2))).collect();
        for &(a, side) in &sides {
            for &(b, other) in &sides {
                if a < b && side != other {
                    self.world.cut(a, b, Some(heal));
                }
            }
        }
    }

    fn deaths(&mut self) -> Result<(), String> {
        while self.world.nodes.len() > 2 {
            let hosts = self.hosts();
            let host = self.random.pick(&hosts).unwrap_or(FIRST);
            if self.random.below(2) == 0 {
                self.world.kill(host);
            } else {
                self.world.kill_seen(host, 300 * MS);
            }
            let confirmed = self.actors.confirmed.len();
            self.go(9 * SECOND)?;
            if self.actors.confirmed.len() == confirmed {
                return Err(format!("nothing was put for 9 s after host {host} died"));
            }
        }
        Ok(())
    }

    /// The last follower that a leader hears has answered it just before its daemon crashes; the
    /// others have not heard that leader for an election timeout, so they would vote for any
    /// candidate.
    fn leases(&mut self) -> Result<(), String> {
        for _ in 0..4 {
            let hosts = self.hosts();
            let Some(leader) = self.leader() else { return Ok(()) };
            let followers: Vec<_> = hosts.into_iter().filter(|&host| host != leader).collect();
            let last = self.random.pick(&followers).unwrap_or(leader);
            for &other in followers.iter().filter(|&&other| other != last) {
                self.world.cut(leader, other, Some(4 * SECOND));
            }
            let alone = (900 + self.random.below(900)) * MS;
            self.go(alone)?;
            self.world.cut(leader, last, Some(2 * SECOND));
            self.world.crash(last);
            self.go(8 * SECOND)?;
        }
        Ok(())
    }

    /// Everything heals; then nothing may be left undone.
    fn rest(&mut self) -> Result<Outcome, String> {
        for (a, b) in self.world.links.cuts().into_iter().chain(self.world.links.deaf()) {
            self.world.later(0, Happening::Heal(pair(a, b)));
        }
        for pair in self.world.links.slow() {
            self.world.later(0, Happening::Hastened(pair));
        }
        self.world.crash_next.clear();
        self.world.lossy = 0;
        self.go(20 * SECOND)?;
        let confirmed = self.actors.confirmed.len();
        let phases = self.actors.phases(&self.world);
        self.go(5 * SECOND)?;
        let stuck = phases.last() == self.actors.phases(&self.world).last();
        if !phases.is_empty() && stuck && self.actors.is_whole(&self.world) {
            return Err("no barrier is met 20 s after the last fault".to_owned());
        }
        if !self.world.nodes.is_empty()
            && self.actors.lives(&self.world)
            && self.actors.confirmed.len() == confirmed
        {
            return Err("nothing is put 20 s after the last fault".to_owned());
        }
        self.actors.rest();
        self.go(REST)?;
        self.actors.end();
        self.go(SECOND)?;
        let mut alive = Vec::new();
        for (&host, node) in &self.world.nodes {
            let machine = node.machine.as_ref().filter(|machine| machine.is_joined());
            alive.push((host, machine.ok_or_else(|| format!("host {host} has not joined"))?));
        }
        let Some((_, first)) = alive.first() else {
            let (gap, faults) = (self.actors.gap, self.world.tally.clone());
            return Ok(Outcome { gap, faults, ..Outcome::default() });
        };
        let (term, _) = first.leader().ok_or("nobody leads at the end")?;
        let members: BTreeSet<_> = first.members().hosts().collect();
        for (host, machine) in &alive {
            if !members.contains(host) {
                return Err(format!("host {host} lives on and is no member"));
            }
            if machine.leader() != first.leader() {
                return Err(format!("host {host} knows another leader at the end"));
            }
            if machine.applied() != first.applied() {
                return Err(format!("host {host} lacks commands at the end"));
            }
            if machine.unheard_count() > 0 {
                return Err(format!("host {host} has said what nobody hears"));
            }
        }
        if members.len() != alive.len() {
            return Err("a member at the end is no host that lives".to_owned());
        }
        let phases = self.actors.phases(&self.world);
        let outcome = Outcome {
            hosts: alive.len(),
            confirmed: self.actors.confirmed.len(),
            gap: self.actors.gap,
            era: first.era(),
            term: term & 0xffff_ffff,
            state: hash(&first.agreed().0) ^ self.world.now(),
            faults: self.world.tally.clone(),
        };
        if phases.len() > 2 || !self.actors.is_whole(&self.world) && phases.len() > 1 {
            return Err(format!("members are left at barriers {phases:?}"));
        }
        self.actors.compare_notices(&self.world)?;
        self.world.checks.settle();
        if let Some(violation) = self.world.checks.violation() {
            return Err(violation.to_owned());
        }
        self.compare_ledger()?;
        Ok(outcome)
    }

    /// Checks that every confirmed put is there, and nothing is there twice.
    fn compare_ledger(&mut self) -> Result<(), String> {
        let Some(&host) = self.hosts().first() else { return Ok(()) };
        let Some(operator) = self.world.connect(host, Role::Operator) else { return Ok(()) };
        let before = self.actors.confirmed.clone();
        self.world.request(host, operator, Request::MailboxInfo { pattern: "*".into() });
        self.go(3 * SECOND)?;
        let replies = self.world.replies.get(&(host, operator)).map_or(&[][..], Vec::as_slice);
        let Some(Reply::Mailboxes { mailboxes }) = replies.last() else {
            return Err("named messages are not listed at the end".to_owned());
        };
        let mut names = BTreeSet::new();
        for mailbox in mailboxes {
            if mailbox.entries.len() > 1 && mailbox.name.0.starts_with(b"w") {
                return Err(format!("{} was put twice", mailbox.name.to_text()));
            }
            names.insert(mailbox.name.to_text());
        }
        if self.actors.may_lose {
            return Ok(());
        }
        match before.iter().find(|name| !names.contains(*name)) {
            Some(name) => Err(format!("{name} was confirmed and is lost")),
            None => Ok(()),
        }
    }
}

/// A number for some bytes (FNV-1a).
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)
    })
}
