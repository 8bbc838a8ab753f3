//! Long runs of a few members, drawn from a seed.
//!
//! The search goes through every run, but a removal alone takes six steps. So two changes of the
//! voters with a crash between them are out of its reach. These runs have hundreds of steps, drawn
//! by chance, under the same invariants after each step. Then all links work again, and the members
//! that live must elect a leader, remove the dead one, and have one more command applied on all.

use super::host::number_of;
use super::world::{Bounds, Step, World};
use pvm_core::Time;
use pvm_core::quorum::Quorum as _;
use std::collections::BTreeMap;

/// Of a hundred steps so many deliver a message, where one is under way, and so many are faults and
/// requests; the bounds must last for the whole run.
const HEARD: usize = 65;
const RARE: usize = 10;
/// One of so many of these may be a death.
const DEATH: usize = 8;
/// The time steps of the rest, and their number: an attempt to hand over ends within this time.
const REST_STEP_NS: u64 = 150_000_000;
const REST_STEPS: u32 = 80;
/// The last command, which no other run proposes.
const LAST_WORD: u8 = 99;

/// A seed's sequence of numbers (SplitMix64).
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) % n.max(1) as u64).unwrap_or(0)
    }
}

/// The events of a run, by name.
pub(super) type Counts = BTreeMap<&'static str, usize>;

/// A run of `length` steps that begins with this world, and the rest behind it. Returns what is
/// wrong, with the last steps before that.
pub(super) fn walk(mut world: World, seed: u64, length: usize) -> Result<Counts, String> {
    let mut dice = Dice(seed);
    let mut counts = Counts::new();
    let mut taken = Vec::new();
    for _ in 0..length {
        let Some(step) = draw(&world, &mut dice) else { break };
        taken.push(step);
        world.take(step);
        world.seen.iter().for_each(|what| *counts.entry(what).or_default() += 1);
        if let Some(wrong) = world.wrong() {
            return Err(format!("seed {seed}: {wrong}, after {taken:?}"));
        }
    }
    world.rest().map_err(|wrong| format!("seed {seed}: {wrong}, after {taken:?}"))?;
    *counts.entry("rests").or_default() += 1;
    Ok(counts)
}

fn draw(world: &World, dice: &mut Dice) -> Option<Step> {
    let deaths = dice.below(DEATH) == 0;
    let mut kinds = [Vec::new(), Vec::new(), Vec::new()];
    for step in world.steps() {
        let kind = match step {
            Step::Hear(..) => 0,
            Step::Die(_) if !deaths => continue,
            Step::Tick(_) | Step::Timer(_) | Step::Meet(..) | Step::Notice(..) | Step::Lose(..) => {
                1
            }
            _ => 2,
        };
        kinds[kind].push(step);
    }
    let wanted = match dice.below(100) {
        at if at < HEARD => 0,
        at if at < HEARD + RARE => 2,
        _ => 1,
    };
    let kind = [wanted, 1, 0].into_iter().find(|kind| !kinds[*kind].is_empty())?;
    kinds[kind].get(dice.below(kinds[kind].len())).copied()
}

impl World {
    /// Everything works again. All that live agree soon, and go on.
    fn rest(&mut self) -> Result<(), String> {
        self.left = Bounds { crashes: 0, cuts: 0, wire: usize::MAX, lazy: false, ..self.left };
        let mut proposed = false;
        for _ in 0..REST_STEPS {
            self.pass_time()?;
            if self.living().len() < 2 || self.is_done() {
                return Ok(());
            }
            if let Some(leader) = self.resting_leader() {
                match dead_member(self, leader) {
                    Some(dead) => self.take(Step::Remove(leader, dead)),
                    None if !proposed => {
                        proposed = true;
                        self.propose(leader, LAST_WORD);
                    }
                    None => {}
                }
            }
        }
        Err(format!("no end of the rest: {}", summary(self)))
    }

    /// All links are made, all messages arrive, and each clock goes on.
    fn pass_time(&mut self) -> Result<(), String> {
        self.close_links();
        for host in self.living() {
            let mends = |step: &Step| matches!(step, Step::Meet(..) | Step::Notice(..));
            for step in self.steps().into_iter().filter(mends) {
                self.take(step);
            }
            if self.host(host).ended {
                continue;
            }
            self.at(host).clock += REST_STEP_NS;
            if self.host(host).is_due() {
                self.serve(host);
            }
            while let Some((&(from, to), _)) = self.wires.iter().find(|(_, wire)| !wire.is_empty())
            {
                self.take(Step::Hear(from, to, 0));
                if let Some(wrong) = self.wrong() {
                    return Err(wrong.to_owned());
                }
            }
        }
        self.wrong().map_or(Ok(()), |wrong| Err(wrong.to_owned()))
    }

    /// A host closes its link to one that it has taken out.
    fn close_links(&mut self) {
        let hosts = &self.hosts;
        let knows = |a: u8, b: u8| {
            let it = &hosts[usize::from(a)];
            it.ended || !it.joined || it.has_member(b)
        };
        self.links.retain(|(a, b)| knows(*a, *b) && knows(*b, *a));
    }

    fn living(&self) -> Vec<u8> {
        (0..self.count()).filter(|host| !self.host(*host).ended).collect()
    }

    /// The last command came to all that live.
    fn is_done(&self) -> bool {
        let has = |host: &u8| self.host(*host).applied.iter().any(|(_, c)| *c == LAST_WORD);
        self.living().iter().all(has)
    }

    /// A leader that has nothing else to do.
    fn resting_leader(&self) -> Option<u8> {
        let rests = |host: &u8| {
            let it = self.host(*host);
            it.core.is_current(Time(it.clock)) && it.core.is_at_rest()
        };
        self.living().into_iter().find(rests)
    }
}

/// A member that has died.
fn dead_member(world: &World, leader: u8) -> Option<u8> {
    let members = world.host(leader).members().into_iter();
    members.map(|member| number_of(member.host())).find(|of| world.host(*of).ended)
}

/// The state of those that live, in words.
fn summary(world: &World) -> String {
    let one = |host: &u8| {
        let core = &world.host(*host).core;
        let (term, last, commit) = (core.term(), core.log.last(), core.commit);
        format!(
            "{host}: term {term:x} {:?} last {last}.{:x} commit {commit} voters {:?}",
            core.role,
            core.log.last_term(),
            core.voters().iter().map(|v| number_of(v.host())).collect::<Vec<_>>()
        )
    };
    world.living().iter().map(one).collect::<Vec<_>>().join("; ")
}
