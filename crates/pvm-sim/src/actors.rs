//! Tasks that use what hosts agree on, one request after the other, and judge the answers.

mod known;

use crate::time::MS;
use crate::world::World;
use known::KnownNames;
use pvm_wire::request::{Reply, Request};
use pvm_wire::{Address, Code, Envelope, HostIndex, Message, Tid};
use std::collections::{BTreeMap, BTreeSet};

/// `PvmMboxPersistent | PvmMboxMultiInstance`: doubled, it would be there twice.
const LEDGER_FLAGS: i32 = 1 | 2;
/// `PvmHostDelete`.
const HOST_DELETE: i32 = 2;
/// Notices of deleted hosts have this tag and more.
const DELETE_TAG: i32 = 50_000;
const GROUP: &str = "phases";

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Part {
    /// Puts one name after the other.
    Writer,
    /// Goes from barrier to barrier.
    Member,
    /// Reads all names, again and again.
    Reader,
}

#[derive(Debug)]
struct Actor {
    part: Part,
    tid: Tid,
    /// Answers seen so far.
    seen: usize,
    asked: Option<String>,
    phase: u32,
    joined: bool,
    over: bool,
    /// A writer takes its time.
    next_at: u64,
    /// The number of names that a reader's answer must hold, because they were known before the
    /// question.
    due: usize,
}

/// Between two puts of a writer, unless another time was wanted.
const PUT_PAUSE: u64 = 500 * MS;

/// Between two questions of a reader.
const READ_PAUSE: u64 = 200 * MS;

/// All of them.
#[derive(Debug, Default)]
pub(crate) struct Actors {
    actors: BTreeMap<(HostIndex, u64), Actor>,
    /// Names whose put was confirmed.
    pub(crate) confirmed: BTreeSet<String>,
    /// These names, and names that a reader was shown: every later reader must be shown them, too.
    known: KnownNames,
    /// Confirmed puts may be lost: readers are not judged.
    pub(crate) may_lose: bool,
    /// Answers to readers that were judged.
    pub(crate) reads: usize,
    /// When each was confirmed.
    pub(crate) last_confirmed: u64,
    /// The longest time between two confirmations while a task wrote.
    pub(crate) gap: u64,
    name_count: u32,
    /// Members of the group; the count of its barriers.
    member_count: i32,
    started: bool,
    quiet: bool,
    /// The tasks make no requests any more.
    ended: bool,
    entered: BTreeMap<u32, BTreeSet<Tid>>,
    pause: Option<u64>,
}

impl Actors {
    /// Actors that let `pause` nanoseconds pass between two puts.
    pub(crate) fn patient(pause: u64) -> Self {
        Self { pause: Some(pause), ..Self::default() }
    }

    fn pause(&self) -> u64 {
        self.pause.unwrap_or(PUT_PAUSE)
    }

    /// A task on a host that is enrolled takes a part: every second one goes to barriers.
    pub(crate) fn take(&mut self, host: HostIndex, connection: u64, tid: Tid, world: &mut World) {
        let member = !self.started && self.actors.len().is_multiple_of(2);
        let part = if member { Part::Member } else { Part::Writer };
        let seen = world.replies.get(&(host, connection)).map_or(0, Vec::len);
        let actor = Actor {
            part,
            tid,
            seen,
            asked: None,
            phase: 0,
            joined: false,
            over: false,
            next_at: 0,
            due: 0,
        };
        self.actors.insert((host, connection), actor);
        self.member_count += i32::from(member);
        let hosts = world.nodes.keys().copied().collect::<Vec<_>>();
        let tids: Vec<_> = hosts.into_iter().map(Tid::host_id).collect();
        for of in tids {
            let tag = DELETE_TAG + i32::from(of.host().0);
            let request = Request::Notify {
                kind: HOST_DELETE,
                cancel: false,
                context: 0,
                tag,
                count: 0,
                tids: vec![of],
            };
            world.request(host, connection, request);
        }
    }

    /// Writers write no more, and members do not go on.
    pub(crate) fn rest(&mut self) {
        self.quiet = true;
    }

    /// Readers read no more either.
    pub(crate) fn end(&mut self) {
        self.ended = true;
    }

    /// They do again.
    pub(crate) fn go_on(&mut self) {
        self.quiet = false;
    }

    /// No more members: barriers may begin.
    pub(crate) fn start(&mut self) {
        self.started = true;
    }

    /// All tasks that are enrolled take parts.
    pub(crate) fn take_all(&mut self, world: &mut World) {
        let tasks: Vec<_> = world
            .nodes
            .iter()
            .flat_map(|(&host, node)| node.tasks().map(move |(c, tid)| (host, c, tid)))
            .collect();
        for (host, connection, tid) in tasks {
            self.take(host, connection, tid, world);
        }
    }

    /// A task on a host that is enrolled reads what all others put.
    pub(crate) fn take_reader(&mut self, host: HostIndex, connection: u64, tid: Tid) {
        let actor = Actor {
            part: Part::Reader,
            tid,
            seen: 0,
            asked: None,
            phase: 0,
            joined: false,
            over: false,
            next_at: 0,
            due: 0,
        };
        self.actors.insert((host, connection), actor);
    }

    /// Time passes, and they go on after each `step`.
    ///
    /// # Errors
    /// What is wrong then.
    pub(crate) fn go(&mut self, world: &mut World, time: u64, step: u64) -> Result<(), String> {
        let end = world.now() + time;
        while world.now() < end {
            world.run_until((world.now() + step).min(end));
            if let Some(violation) = world.checks.violation() {
                return Err(violation.to_owned());
            }
            self.act(world)?;
        }
        Ok(())
    }

    /// Each looks at its answers and goes on.
    fn act(&mut self, world: &mut World) -> Result<(), String> {
        let keys: Vec<_> = self.actors.keys().copied().collect();
        for key in keys {
            self.step(key, world)?;
        }
        Ok(())
    }

    fn step(&mut self, key: (HostIndex, u64), world: &mut World) -> Result<(), String> {
        let lives =
            world.nodes.get(&key.0).is_some_and(|node| node.connections.contains_key(&key.1));
        let Some(actor) = self.actors.get_mut(&key) else { return Ok(()) };
        if !lives || actor.over {
            return Ok(());
        }
        let replies = world.replies.get(&key).map_or(&[][..], Vec::as_slice);
        // Those of its notify requests say nothing.
        let new = &replies[actor.seen.min(replies.len())..];
        if world.checks.is_waiting(key) {
            return Ok(());
        }
        actor.seen += new.len();
        if let (Some(asked), Some(reply)) = (actor.asked.take(), new.last()) {
            self.judge(key, &asked, reply, world.now())?;
        }
        self.ask(key, world);
        Ok(())
    }

    fn judge(
        &mut self,
        key: (HostIndex, u64),
        asked: &str,
        reply: &Reply,
        now: u64,
    ) -> Result<(), String> {
        let count = usize::try_from(self.member_count).unwrap_or(0);
        let Some(actor) = self.actors.get_mut(&key) else { return Ok(()) };
        match (actor.part, reply) {
            (Part::Reader, Reply::Mailboxes { mailboxes }) => {
                let names = || mailboxes.iter().map(|mailbox| &mailbox.name.0[..]);
                let missing = self.known.missing(actor.due, names());
                if let Some(name) = missing.filter(|_| !self.may_lose) {
                    let tid = actor.tid;
                    return Err(format!("{now}: {tid} reads from before {name} was confirmed"));
                }
                self.reads += 1;
                names().for_each(|name| self.known.add(name));
            }
            (Part::Writer, Reply::Number { .. }) => {
                self.confirmed.insert(asked.to_owned());
                self.known.add(asked.as_bytes());
                if self.last_confirmed > 0 {
                    self.gap = self.gap.max(now - self.last_confirmed);
                }
                self.last_confirmed = now;
            }
            (Part::Member, Reply::Number { .. } | Reply::Failed { code: Code::DupGroup })
                if !actor.joined =>
            {
                actor.joined = true;
            }
            (Part::Member, Reply::Done) => {
                let entered = self.entered.get(&actor.phase).map_or(0, BTreeSet::len);
                if entered != count {
                    let (tid, phase) = (actor.tid, actor.phase);
                    return Err(format!("{tid} left barrier {phase}, {entered} of {count} came"));
                }
                actor.phase += 1;
            }
            // A member has died: no barrier of all can be met again.
            (Part::Member, Reply::Failed { .. }) if actor.joined => actor.over = true,
            _ => {}
        }
        Ok(())
    }

    fn ask(&mut self, key: (HostIndex, u64), world: &mut World) {
        let (started, count) = (self.started, self.member_count);
        let (quiet, pause) = (self.quiet, self.pause());
        let known = self.known.count();
        let Some(actor) = self.actors.get_mut(&key) else { return };
        let (name, request) = match actor.part {
            Part::Writer if quiet || actor.next_at > world.now() => return,
            Part::Writer => {
                actor.next_at = world.now() + pause;
                self.name_count += 1;
                let name = format!("w{}", self.name_count);
                let message =
                    Message::of_ints(Envelope::new(actor.tid, Address::untagged(actor.tid)), &[1]);
                let request =
                    Request::PutInfo { name: name.as_str().into(), flags: LEDGER_FLAGS, message };
                (name, request)
            }
            Part::Reader if self.ended || actor.next_at > world.now() => return,
            Part::Reader => {
                actor.next_at = world.now() + READ_PAUSE;
                actor.due = known;
                (String::new(), Request::MailboxInfo { pattern: "w*".into() })
            }
            Part::Member if !actor.joined => {
                (String::new(), Request::JoinGroup { group: GROUP.into() })
            }
            Part::Member if started && !(quiet || actor.next_at > world.now()) => {
                actor.next_at = world.now() + pause / 3;
                self.entered.entry(actor.phase).or_default().insert(actor.tid);
                (String::new(), Request::Barrier { group: GROUP.into(), count })
            }
            Part::Member => return,
        };
        actor.asked = Some(name);
        world.request(key.0, key.1, request);
    }

    /// The phases in which members wait whose host lives.
    pub(crate) fn phases(&self, world: &World) -> BTreeSet<u32> {
        let lives = |key: &(HostIndex, u64)| world.nodes.contains_key(&key.0);
        let members = self.actors.iter().filter(|(key, actor)| {
            actor.part == Part::Member && actor.joined && !actor.over && lives(key)
        });
        members.map(|(_, actor)| actor.phase).collect()
    }

    /// True while a writer lives.
    pub(crate) fn lives(&self, world: &World) -> bool {
        let lives = |key: &(HostIndex, u64)| world.nodes.contains_key(&key.0);
        self.actors.iter().any(|(key, actor)| actor.part == Part::Writer && lives(key))
    }

    /// True while every member's host lives.
    pub(crate) fn is_whole(&self, world: &World) -> bool {
        self.actors
            .iter()
            .filter(|(_, actor)| actor.part == Part::Member)
            .all(|(key, _)| world.nodes.contains_key(&key.0))
    }

    /// All tasks that live have heard of deleted hosts in the same order, of each once.
    pub(crate) fn compare_notices(&self, world: &World) -> Result<(), String> {
        let mut before: BTreeMap<(i32, i32), Tid> = BTreeMap::new();
        for actor in self.actors.values() {
            let inbox = world.inboxes.get(&actor.tid).map_or(&[][..], Vec::as_slice);
            let tags: Vec<i32> = inbox
                .iter()
                .map(|message| message.envelope.tag)
                .filter(|&tag| (DELETE_TAG..DELETE_TAG + 5000).contains(&tag))
                .collect();
            for (at, &first) in tags.iter().enumerate() {
                for &second in &tags[at + 1..] {
                    if first == second {
                        return Err(format!("{} was told twice with tag {first}", actor.tid));
                    }
                    before.insert((first, second), actor.tid);
                }
            }
        }
        for (&(first, second), tid) in &before {
            if let Some(other) = before.get(&(second, first)) {
                return Err(format!("{tid} and {other} heard of deleted hosts in two orders"));
            }
        }
        Ok(())
    }
}
