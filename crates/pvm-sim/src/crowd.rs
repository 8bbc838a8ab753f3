//! A machine of many hosts of which some die while others join, and now and then some are cut off
//! from the rest for less time than it takes to give them up.

use crate::actors::Actors;
use crate::dice::Random;
use crate::tally::Tally;
use crate::time::MS;
use crate::world::{FIRST, World};
use pvm_core::{Machine, Rules};
use pvm_wire::HostIndex;
use pvm_wire::request::{Request, Role};

const SECOND: u64 = 1000 * MS;
/// The time for which hosts die, join and are cut off.
const TROUBLE: u64 = 225 * SECOND;
/// The number of hosts that are added by one request, and have joined by then.
const LOT_COUNT: usize = 100;
const JOINED: u64 = 120 * SECOND;
/// All is at rest again after this.
const REST: u64 = 30 * SECOND;
/// Tasks that put names, and how often each does.
const WRITER_COUNT: usize = 8;
const PUT_PAUSE: u64 = 5 * SECOND;
/// Millionths by which clocks are wrong.
const SKEW: u32 = 200;

/// The results of a run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Hosts that died.
    pub deaths: usize,
    /// Hosts that joined after the beginning.
    pub joins: usize,
    /// The number of times that hosts were cut off.
    pub partitions: usize,
    /// Hosts that live at the end.
    pub hosts: usize,
    /// Puts that were confirmed.
    pub confirmed: usize,
    /// Virtual nanoseconds in all.
    pub time: u64,
    /// The faults that there were.
    pub faults: Tally,
    /// The machine when all is over.
    pub rest: Rest,
}

/// The number of each trouble of a run.
#[derive(Clone, Copy, Debug)]
pub struct Counts {
    /// Hosts that die.
    pub deaths: usize,
    /// Hosts that join after the beginning.
    pub joins: usize,
    /// The number of times that hosts are cut off.
    pub partitions: usize,
}

impl Counts {
    /// Three of ten die and one of ten as many join: of 1000 hosts 300 and 100, and some are cut
    /// off 50 times.
    #[must_use]
    pub const fn usual(hosts: usize) -> Self {
        Self { deaths: 3 * hosts / 10, joins: hosts / 10, partitions: hosts / 20 }
    }

    /// Every place is taken, so nobody can join.
    pub const FULL: Self = Self { deaths: 400, joins: 0, partitions: 20 };

    fn all(self) -> Vec<Trouble> {
        let counts = [
            (Trouble::Death, self.deaths),
            (Trouble::Join, self.joins),
            (Trouble::Partition, self.partitions),
        ];
        counts.iter().flat_map(|&(trouble, count)| vec![trouble; count]).collect()
    }
}

#[derive(Clone, Copy)]
enum Trouble {
    Death,
    Join,
    Partition,
}

/// The links and messages of an idle machine.
#[derive(Clone, Debug)]
pub struct Rest {
    /// Links of the leader.
    pub leader_links: usize,
    /// Links of the host that has most of them besides.
    pub links: usize,
    /// All links.
    pub all_links: usize,
    /// The messages in a second: of the leader, of the other host that sends most, and of all
    /// others together.
    pub said: (u64, u64, u64),
}

impl Rest {
    /// Counts the links and messages of a machine that rests.
    fn of(run: &mut Run) -> Result<Self, String> {
        let mut links = run.world.links.counts();
        let all_links = links.values().sum::<usize>() / 2;
        let machine = run.world.nodes.values().next().and_then(|node| node.machine.as_ref());
        let leader = machine.and_then(Machine::leader).map(|(_, host)| host);
        let leader = leader.ok_or("nobody leads")?;
        run.world.said.clear();
        run.go(10 * SECOND)?;
        let mut said = std::mem::take(&mut run.world.said);
        let leader_said = said.remove(&leader).unwrap_or(0) / 10;
        let leader_links = links.remove(&leader).unwrap_or(0);
        let links = links.into_values().max().unwrap_or(0);
        let most = said.values().max().copied().unwrap_or(0) / 10;
        let said = (leader_said, most, said.into_values().sum::<u64>() / 10);
        Ok(Self { leader_links, links, all_links, said })
    }
}

/// Links and messages of `hosts` hosts when nothing happens.
///
/// # Errors
/// Not all hosts came.
pub fn at_rest(hosts: usize, seed: u64) -> Result<Rest, String> {
    let world = World::skewed("vm", seed, Rules::plain(), SKEW);
    let actors = Actors::patient(PUT_PAUSE);
    let mut run = Run { world, random: Random::new(seed), actors, named: 0 };
    run.gather(hosts)?;
    run.go(REST)?;
    Rest::of(&mut run)
}

struct Run {
    world: World,
    random: Random,
    actors: Actors,
    /// Hosts that have got a name.
    named: usize,
}

/// A run with `hosts` hosts and so much trouble.
///
/// # Errors
/// The invariant that did not hold.
pub fn run(hosts: usize, seed: u64, counts: Counts) -> Result<Outcome, String> {
    let world = World::skewed("vm", seed, Rules::plain(), SKEW);
    let mut run =
        Run { world, random: Random::new(seed), actors: Actors::patient(PUT_PAUSE), named: 0 };
    run.gather(hosts)?;
    run.employ()?;
    let mut open = counts.all();
    let pause = TROUBLE / (open.len() as u64).max(1);
    while !open.is_empty() {
        let at = run.random.below(open.len() as u64);
        let trouble = open.swap_remove(usize::try_from(at).unwrap_or(0));
        run.trouble(trouble);
        run.go(pause)?;
    }
    run.actors.rest();
    run.go(REST)?;
    let alive = run.agree()?;
    let Counts { deaths, joins, partitions } = counts;
    let confirmed = run.actors.confirmed.len();
    let (time, faults) = (run.world.now(), run.world.tally.clone());
    let rest = Rest::of(&mut run)?;
    Ok(Outcome { deaths, joins, partitions, hosts: alive, confirmed, time, faults, rest })
}

impl Run {
    fn go(&mut self, nanoseconds: u64) -> Result<(), String> {
        self.actors.go(&mut self.world, nanoseconds, 100 * MS)
    }

    fn hosts(&self) -> Vec<HostIndex> {
        self.world.nodes.keys().copied().collect()
    }

    fn add(&mut self, host: HostIndex, count: usize) {
        if let Some(operator) = self.world.connect(host, Role::Operator) {
            let names = self.named..self.named + count;
            self.named += count;
            let hosts = names.map(|number| format!("h{number}").into()).collect();
            self.world.request(host, operator, Request::AddHosts { hosts });
        }
    }

    /// All hosts join, a lot at a time.
    fn gather(&mut self, hosts: usize) -> Result<(), String> {
        while self.world.nodes.len() < hosts {
            let wanted = hosts.min(self.world.nodes.len() + LOT_COUNT);
            self.add(FIRST, wanted - self.world.nodes.len());
            let end = self.world.now() + JOINED;
            while self.world.nodes.len() < wanted || self.world.fewest_members() < wanted {
                self.go(SECOND)?;
                if self.world.now() > end {
                    let (there, known) = (self.world.nodes.len(), self.world.fewest_members());
                    return Err(format!("of {wanted} hosts {there} came, somebody knows {known}"));
                }
            }
        }
        Ok(())
    }

    /// Tasks on some hosts put names.
    fn employ(&mut self) -> Result<(), String> {
        self.actors.start();
        let hosts = self.hosts();
        for _ in 0..WRITER_COUNT {
            let host = self.random.pick(&hosts).unwrap_or(FIRST);
            self.world.connect(host, Role::Task);
        }
        self.go(SECOND)?;
        self.actors.take_all(&mut self.world);
        self.go(SECOND)
    }

    fn trouble(&mut self, trouble: Trouble) {
        let hosts = self.hosts();
        let host = self.random.pick(&hosts).unwrap_or(FIRST);
        match trouble {
            Trouble::Death if self.random.below(2) == 0 => self.world.kill(host),
            Trouble::Death => self.world.kill_seen(host, 300 * MS),
            Trouble::Join => self.add(host, 1),
            Trouble::Partition => {
                let heal = SECOND + self.random.below(3 * SECOND);
                let most = (hosts.len() as u64).div_ceil(20);
                let count = 1 + self.random.below(most);
                let mut apart: Vec<_> =
                    (0..count).filter_map(|_| self.random.pick(&hosts)).collect();
                apart.sort_unstable();
                apart.dedup();
                for &a in &apart {
                    for &b in hosts.iter().filter(|host| !apart.contains(host)) {
                        self.world.cut(a, b, Some(heal));
                    }
                }
            }
        }
    }

    /// All living hosts know exactly the living hosts, and one leader. Returns their number.
    fn agree(&self) -> Result<usize, String> {
        let alive = self.hosts();
        let mut leader = None;
        for (&host, node) in &self.world.nodes {
            let machine = node.machine.as_ref().ok_or_else(|| format!("{host} has no daemon"))?;
            let members: Vec<_> = machine.members().hosts().collect();
            if members != alive {
                let (known, there) = (members.len(), alive.len());
                return Err(format!("{host} knows {known} hosts, {there} live"));
            }
            if *leader.get_or_insert_with(|| machine.leader()) != machine.leader() {
                return Err(format!("{host} knows another leader"));
            }
            if machine.unheard_count() > 0 {
                return Err(format!("{host} has said what nobody hears"));
            }
        }
        self.actors.compare_notices(&self.world)?;
        Ok(alive.len())
    }
}
