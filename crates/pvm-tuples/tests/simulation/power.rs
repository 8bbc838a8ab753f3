//! A durable space on one server whose power fails at any moment: what was written and not synced
//! is lost, or is there in part, or is damaged.

use crate::world::{Dice, template, tuple};
use pvm_tuples::frames::{Ask, Entry, Full, Options, Told};
use pvm_tuples::log::{self, MAGIC, Record};
use pvm_tuples::partition::{Event, Output, Partition, Title};
use pvm_tuples::{Find, Op, Outcome, Tuple};
use pvm_wire::{Blob, Tid};
use std::collections::{BTreeMap, BTreeSet};

const ME: Tid = Tid(1 << 18 | 1);
const DEEDS: u32 = 50;

/// A tuple of this run, and what is known of it.
type Item = (u8, i32);

/// A request that was not answered when the power failed.
#[derive(Clone, Debug)]
enum Open {
    Put(Vec<Item>),
    Take(Option<Item>),
    Read,
}

pub(crate) struct Power {
    dice: Dice,
    now: u64,
    synced: Vec<u8>,
    unsynced: Vec<u8>,
    /// The last step in what is not synced.
    last: Option<u64>,
    server: Partition,
    next: u64,
    next_item: i32,
    asked: BTreeMap<u64, Open>,
    /// The requests to this life of the server: they may come again, late.
    sent: Vec<Ask>,
    claims: Vec<(u64, Item)>,
    put: BTreeSet<Item>,
    taken: BTreeSet<Item>,
    /// The items that a request that was never answered may have put or taken.
    maybe_put: Vec<Vec<Item>>,
    maybe_taken: usize,
    pub(crate) failures: u64,
    pub(crate) damaged: u64,
}

fn entry(generation: u64) -> Entry {
    let options = Options { copies: 0, limit_bytes: 1 << 20, when_full: Full::Wait, loss_ms: 0 };
    let (space, primary, copies, owner) = (7, ME, Vec::new(), Tid::NONE);
    let directory = Blob::from("/disk");
    Entry { space, primary, copies, options, owner, deleted: false, directory, generation }
}

fn served(generation: u64, held: Option<(pvm_tuples::Store, Blob)>, now: u64) -> Partition {
    let title = Title { name: Blob::from("space"), epoch: 0, entry: entry(generation) };
    Partition::create(ME, title, None, held, now)
}

fn file(server: &Partition) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    log::append(&mut bytes, &server.checkpoint());
    bytes
}

impl Power {
    pub(crate) fn new(seed: u64) -> Self {
        let server = served(0, None, 1);
        Self {
            dice: Dice::new(seed ^ 0x706f_7765_7221),
            now: 1,
            synced: file(&server),
            unsynced: Vec::new(),
            last: None,
            server,
            next: 1,
            next_item: 1,
            asked: BTreeMap::new(),
            sent: Vec::new(),
            claims: Vec::new(),
            put: BTreeSet::new(),
            taken: BTreeSet::new(),
            maybe_put: Vec::new(),
            maybe_taken: 0,
            failures: 0,
            damaged: 0,
        }
    }

    pub(crate) fn run(&mut self) -> Result<(), String> {
        for _ in 0..DEEDS {
            self.now += 1 + self.dice.below(50);
            match self.dice.below(12) {
                0 => self.power_fails()?,
                1 => self.begin_file(),
                2..=4 => self.sync(),
                5 => self.ask_again(),
                _ => self.ask(),
            }
            self.carry_out();
        }
        self.power_fails()
    }

    /// One of the clients of this life of the server.
    fn client(&mut self) -> Tid {
        let life = u32::try_from(self.failures).expect("few lives");
        Tid((1 << 18) | (100 + life))
    }

    fn ask(&mut self) {
        let (client, number) = (self.client(), self.next);
        self.next += 1;
        let (op, open) = self.some_op();
        self.asked.insert(number, open);
        let settled = self.asked.keys().next().copied().unwrap_or(number);
        let ask = Ask::Do { space: 7, number, settled, op };
        self.sent.push(ask.clone());
        self.server.handle(self.now, Event::Asked { client, ask });
    }

    /// A request comes again, or its client leaves behind what it has the answer to.
    fn ask_again(&mut self) {
        let Some(last) = (self.sent.len() as u64).checked_sub(1) else { return };
        let ask = self.sent[self.dice.below(last + 1) as usize].clone();
        let (client, number) = (self.client(), ask.number());
        let is_over = !self.asked.contains_key(&number);
        let ask = match ask {
            _ if is_over && self.dice.chance(30) => Ask::Withdraw { space: 7, number },
            ask => ask,
        };
        if matches!(ask, Ask::Withdraw { .. }) && !self.is_settled(number) {
            return;
        }
        self.server.handle(self.now, Event::Asked { client, ask });
    }

    /// True if the server was told that the client has the answer to a request.
    fn is_settled(&self, number: u64) -> bool {
        let settled = |ask: &Ask| match ask {
            Ask::Do { settled, .. } => *settled,
            _ => 0,
        };
        self.sent.iter().map(settled).max().is_some_and(|settled| number < settled)
    }

    fn some_op(&mut self) -> (Op, Open) {
        let claim = self.claims.pop();
        match self.dice.below(10) {
            8 | 9 => {
                self.claims.extend(claim);
                let (template, wait) = (template(None), self.dice.chance(50));
                (Op::Find { template, how: Find::Copy, wait, limit_ms: None }, Open::Read)
            }
            0..=3 => {
                self.claims.extend(claim);
                let items: Vec<Item> =
                    (0..1 + self.dice.below(3)).map(|_| self.new_item()).collect();
                let tuples = items.iter().map(|item| tuple(*item)).collect();
                (Op::Put { tuples, wait: true }, Open::Put(items))
            }
            4 if claim.is_some() => {
                let (claim, item) = claim.expect("there is one");
                (Op::Done { claim, tuples: Vec::new() }, Open::Take(Some(item)))
            }
            kind => {
                self.claims.extend(claim);
                let lease_ms = None;
                let how = if kind == 5 { Find::Claim { lease_ms } } else { Find::Take };
                (
                    Op::Find { template: template(None), how, wait: false, limit_ms: None },
                    Open::Take(None),
                )
            }
        }
    }

    fn new_item(&mut self) -> Item {
        self.next_item += 1;
        (b'a', self.next_item)
    }

    fn carry_out(&mut self) {
        while let Some(output) = self.server.poll_output() {
            match output {
                Output::Persist { record } => {
                    if let Record::Step { number, .. } = record {
                        self.last = Some(number);
                    }
                    log::append(&mut self.unsynced, &record);
                }
                Output::Tell { told: Told::Answer { number, outcome }, .. } => {
                    self.answered(number, &outcome);
                }
                _ => {}
            }
        }
    }

    fn answered(&mut self, number: u64, outcome: &Outcome) {
        let Some(open) = self.asked.remove(&number) else { return };
        match (open, outcome) {
            (Open::Put(items), Outcome::Done) => self.put.extend(items),
            (Open::Take(Some(item)), Outcome::Done) => drop(self.taken.insert(item)),
            // Somebody has seen it: it must not be lost.
            (Open::Read, Outcome::Found { tuple, .. }) => drop(self.put.insert(item(tuple))),
            (Open::Take(None), Outcome::Found { tuple, claim: None, .. }) => {
                self.taken.insert(item(tuple));
            }
            (Open::Take(None), Outcome::Found { tuple, claim: Some(claim), .. }) => {
                self.claims.push((claim.get(), item(tuple)));
            }
            _ => {}
        }
    }

    fn sync(&mut self) {
        self.synced.append(&mut self.unsynced);
        if let Some(number) = self.last.take() {
            self.server.handle(self.now, Event::Persisted { number });
        }
    }

    /// A new file takes the place of the old one, whole.
    fn begin_file(&mut self) {
        self.carry_out();
        self.synced = file(&self.server);
        self.unsynced.clear();
        if let Record::Begun { number, .. } = self.server.checkpoint() {
            self.last = None;
            self.server.handle(self.now, Event::Persisted { number });
        }
    }

    /// Makes the content of the disk after a power failure: a part of what was not synced, damaged
    /// or not.
    fn power_fails(&mut self) -> Result<(), String> {
        self.carry_out();
        self.failures += 1;
        let mut rest = std::mem::take(&mut self.unsynced);
        rest.truncate(self.dice.below(1 + rest.len() as u64) as usize);
        if !rest.is_empty() && self.dice.chance(50) {
            let at = self.dice.below(rest.len() as u64) as usize;
            rest[at] ^= 1 << self.dice.below(8);
            self.damaged += 1;
        }
        self.synced.append(&mut rest);
        for (_, open) in std::mem::take(&mut self.asked) {
            match open {
                Open::Put(items) => self.maybe_put.push(items),
                Open::Take(_) => self.maybe_taken += 1,
                Open::Read => {}
            }
        }
        (self.last, self.claims) = (None, Vec::new());
        self.sent.clear();
        let replay = log::replay(&self.synced).ok_or("what was synced cannot be read")?;
        let store = replay.into_store(entry(0).options);
        self.server = served(self.failures, Some((store, Blob::default())), self.now);
        self.synced = file(&self.server);
        self.judge()
    }

    /// Nothing that was answered is lost, nothing taken is there, and nothing is there in part.
    fn judge(&mut self) -> Result<(), String> {
        let seen = self.server.store().seen(self.now, u64::MAX);
        let mut there = BTreeSet::new();
        for tuple in &seen.oldest {
            let one = item(tuple);
            if !there.insert(one) {
                return Err(format!("{one:?} is there twice"));
            }
            if self.taken.contains(&one) {
                return Err(format!("{one:?} was taken and is there"));
            }
        }
        // What is there of an unanswered put was put.
        for items in &std::mem::take(&mut self.maybe_put) {
            if items.iter().any(|one| there.contains(one)) {
                self.put.extend(items);
            }
        }
        if let Some(one) = there.iter().find(|one| !self.put.contains(one)) {
            return Err(format!("{one:?} was never put"));
        }
        let missing: Vec<Item> = self.put.difference(&there).copied().collect();
        let missing: Vec<Item> =
            missing.into_iter().filter(|one| !self.taken.contains(one)).collect();
        if missing.len() > std::mem::take(&mut self.maybe_taken) {
            return Err(format!("{missing:?} are lost"));
        }
        // A request that was not answered has taken them.
        self.taken.extend(missing);
        Ok(())
    }
}

fn item(tuple: &Tuple) -> Item {
    crate::history::item(tuple)
}
