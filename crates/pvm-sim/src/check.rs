//! The invariants after every event.
//!
//! Host tables of equal epochs are equal. An id never names two tasks. No asker waits beyond the
//! bound of its request. What is under way between hosts is bounded. A request to be notified is
//! answered once if what it watches is gone, and not at all before; nor while the host at which it
//! is answered still knows a name or a place in a group of it. A command that ran tasks is told the
//! end when all tasks that they spawned have ended, and none of these outlives it. What hosts say
//! to one another is said once, and what tasks write comes once.

mod conversation;
mod written;

use self::conversation::Conversations;
use self::written::Written;
use crate::node::Node;
use crate::time::MS;
use pvm_core::Machine;
use pvm_core::io::{Effect, HostList};
use pvm_wire::peer::PeerMessage;
use pvm_wire::request::{Reply, Request};
use pvm_wire::{HostIndex, Tid};
use std::collections::{BTreeMap, BTreeSet};

/// An asker: host and connection.
type Client = (HostIndex, u64);
/// The tasks of a command: its asker, and the number of the request.
type Run = (Client, u32);

/// Every request but those below is answered within this: the machine's own bound, and time for
/// daemons to be started again.
const ANSWER_NS: u64 = 45_000 * MS;
/// Adding hosts may take longer.
const HOST_START_NS: u64 = 125_000 * MS;
/// More than this waiting to be heard would be a leak.
const UNHEARD_MAX: usize = 5000;
/// `PvmMboxWaitForInfo`.
const WAIT_FOR_INFO: i32 = 32;

#[derive(Clone, Debug)]
struct Open {
    until: Option<u64>,
    /// True for a request with many answers.
    stream: bool,
    what: String,
}

/// The invariants of a world.
#[derive(Debug, Default)]
pub struct Checks {
    open: BTreeMap<(Client, u32), Open>,
    /// Before this time no asker can have waited too long.
    late_at: u64,
    /// By era and epoch.
    tables: BTreeMap<(u64, u64), u64>,
    /// Tables that were compared: host, epoch, how often its daemon was started again.
    seen: BTreeSet<(HostIndex, u64, u32)>,
    launched: BTreeSet<Tid>,
    enrolled: BTreeMap<Tid, u32>,
    /// Ids whose task is gone, with everything on a host that is.
    gone: BTreeSet<Tid>,
    dead_hosts: BTreeSet<HostIndex>,
    /// A request to delete hosts has been made.
    hosts_go: bool,
    /// Requests to be notified of one task each: the asker, the tag, and the watched task.
    watches: BTreeMap<(Tid, i32), Tid>,
    notices: BTreeMap<(Tid, i32), u32>,
    /// The enrolled tasks of commands' runs, and what those have spawned.
    runs: BTreeMap<Tid, Run>,
    /// Runs whose command was told the end, or is gone.
    over: BTreeSet<Run>,
    conversations: Conversations,
    written: Written,
    violation: Option<String>,
}

impl Checks {
    /// The first thing that was wrong.
    pub fn violation(&self) -> Option<&str> {
        self.violation.as_deref()
    }

    pub(crate) fn violate(&mut self, text: String) {
        self.violation.get_or_insert(text);
    }

    /// A client asks; no request stands for the hello.
    pub fn asked(&mut self, now: u64, client: Client, id: u32, request: Option<&Request>) {
        let bound = match request {
            Some(Request::Barrier { .. } | Request::FreezeGroup { .. } | Request::Run { .. }) => {
                None
            }
            Some(Request::RecvInfo { flags, .. }) if flags & WAIT_FOR_INFO != 0 => None,
            Some(Request::AddHosts { .. } | Request::AddLocal { .. }) => Some(HOST_START_NS),
            _ => Some(ANSWER_NS),
        };
        self.hosts_go |= matches!(request, Some(Request::DelHosts { .. }));
        let stream = matches!(request, Some(Request::Run { .. }));
        let until = bound.map(|bound| now + bound);
        self.late_at = self.late_at.min(until.unwrap_or(u64::MAX));
        let what = request.map_or_else(|| "hello".to_owned(), |request| format!("{request:?}"));
        self.open.insert((client, id), Open { until, stream, what });
    }

    /// The client is gone and needs no answer any more.
    pub fn closed(&mut self, client: Client) {
        self.open.retain(|(of, _), _| *of != client);
        self.over.extend(self.runs.values().filter(|(of, _)| *of == client));
    }

    /// True while a connection waits for an answer (other than a stream's).
    pub fn is_waiting(&self, client: Client) -> bool {
        self.open.range((client, 0)..=(client, u32::MAX)).any(|(_, open)| !open.stream)
    }

    /// A task ended.
    pub fn ended(&mut self, _now: u64, tid: Tid) {
        self.gone.insert(tid);
    }

    /// A host is no more.
    pub fn host_ended(&mut self, host: HostIndex, nodes: &BTreeMap<HostIndex, Node>) {
        self.open.retain(|((of, _), _), _| *of != host);
        self.dead_hosts.insert(host);
        self.over.extend(self.runs.values().filter(|((of, _), _)| *of == host));
        if let Some(node) = nodes.get(&host) {
            self.gone.extend(node.processes.values().flat_map(|process| process.tids.clone()));
        }
    }

    /// A task wants one notice with a tag of its own when `of` is gone.
    pub fn watch(&mut self, owner: Tid, tag: i32, of: Tid) {
        self.watches.insert((owner, tag), of);
    }

    /// A task writes; what is to be in it, so that it is known again.
    pub fn writes(&mut self, tid: Tid) -> String {
        self.written.writes(tid)
    }

    /// A host says something to another.
    pub fn says(&mut self, now: u64, from: HostIndex, to: HostIndex, message: &PeerMessage) {
        if let Some(wrong) = self.conversations.says(from, to, message) {
            self.violate(format!("{now}: {wrong}"));
        }
    }

    /// The parent of a host is told to do something.
    pub fn effect(&mut self, now: u64, host: HostIndex, effect: &Effect) {
        if let Some(wrong) = self.written.effect(effect) {
            self.violate(format!("{now}: {wrong}"));
        }
        match effect {
            Effect::Reply { connection, id, reply } => {
                let key = ((host, *connection), *id);
                let stream = self.open.get(&key).is_some_and(|open| open.stream);
                let last = !stream || matches!(reply, Reply::Finished | Reply::Failed { .. });
                if last {
                    self.open.remove(&key);
                }
                if stream {
                    self.run_told(now, key, reply);
                }
            }
            Effect::Enrol { connection, id, pid, welcome } => {
                self.open.remove(&((host, *connection), *id));
                let tid = welcome.tid;
                if let Some(&run) = self.runs.get(&Tid::from_c_int(welcome.parent)) {
                    self.runs.insert(tid, run);
                }
                if self.enrolled.insert(tid, *pid).is_some() {
                    self.violate(format!("{now}: {tid} names two tasks"));
                }
            }
            Effect::Launch { launch } if !self.launched.insert(launch.tid) => {
                self.violate(format!("{now}: {} is launched twice", launch.tid));
            }
            Effect::Deliver { to, message } => {
                let key = (*to, message.envelope.tag);
                if !self.watches.contains_key(&key) {
                    return;
                }
                let count = self.notices.entry(key).or_default();
                *count += 1;
                if *count > 1 {
                    self.violate(format!("{now}: {to} got a second notice with tag {}", key.1));
                }
            }
            _ => {}
        }
    }

    /// A message of the machine has come to a task, on a host whose machine has done all that
    /// belongs to it.
    pub fn delivered(&mut self, now: u64, machine: &Machine, to: Tid, tag: i32) {
        let of = self.watches.get(&(to, tag)).copied();
        if let Some(of) = of.filter(|of| machine.still_names(*of)) {
            self.violate(format!("{now}: {to} is told that {of} is gone, whose names are not"));
        }
    }

    /// A command hears of what it runs.
    fn run_told(&mut self, now: u64, run: Run, reply: &Reply) {
        match reply {
            Reply::Spawned { outcomes, .. } => {
                let tids = outcomes.iter().filter(|&&outcome| outcome > 0);
                self.runs.extend(tids.map(|&tid| (Tid::from_c_int(tid), run)));
            }
            Reply::Joined { tids } => self.runs.extend(tids.iter().map(|&tid| (tid, run))),
            Reply::Finished => {
                self.over.insert(run);
                // What a host did before its end may become known after it; what was on a host
                // that is deleted counts as gone a moment before it is.
                let stays = !self.hosts_go && self.dead_hosts.is_empty();
                if let Some(tid) = self.survivor(run).filter(|_| stays) {
                    self.violate(format!("{now}: a run is said to be over, but {tid} lives"));
                }
            }
            _ => {}
        }
    }

    /// A task of this run that lives.
    fn survivor(&self, run: Run) -> Option<Tid> {
        let lives = |tid: &Tid| !self.gone.contains(tid) && !self.dead_hosts.contains(&tid.host());
        self.runs.iter().find(|(tid, of)| **of == run && lives(tid)).map(|(&tid, _)| tid)
    }

    /// Looks at the hosts at which something has changed.
    pub fn look(
        &mut self,
        now: u64,
        nodes: &BTreeMap<HostIndex, Node>,
        touched: &BTreeSet<HostIndex>,
    ) {
        for (host, node) in touched.iter().filter_map(|host| nodes.get_key_value(host)) {
            let Some(machine) = &node.machine else { continue };
            let epoch = machine.epoch();
            // Epoch 0: not joined yet.
            if epoch != 0 && self.seen.insert((*host, epoch, node.config.restarts)) {
                let (key, sum) = ((machine.era(), epoch), node.sums().table);
                if let Some(twice) = (!self.tables.contains_key(&key))
                    .then(|| named_twice(&machine.members()))
                    .flatten()
                {
                    self.violate(format!("{now}: epoch {epoch} has {twice} twice"));
                }
                if *self.tables.entry(key).or_insert(sum) != sum {
                    self.violate(format!("{now}: host {host} has another table of epoch {epoch}"));
                }
            }
            if machine.unheard_count() > UNHEARD_MAX {
                self.violate(format!("{now}: host {host} has too much unheard"));
            }
        }
        if self.late_at < now {
            self.look_for_late(now);
        }
    }

    /// Checks whether an asker has waited too long, and until when none can have.
    fn look_for_late(&mut self, now: u64) {
        let late = self.open.iter().find(|(_, open)| open.until.is_some_and(|until| until < now));
        if let Some((((host, connection), _), open)) = late {
            let text = format!(
                "{now}: connection {connection} of host {host} waits too long: {}",
                open.what
            );
            self.violate(text);
        }
        self.late_at = self.open.values().filter_map(|open| open.until).min().unwrap_or(u64::MAX);
    }

    /// At the end, when everything has been quiet for long enough: all notices have come.
    pub fn settle(&mut self) {
        if let Some(tid) = self.over.iter().find_map(|&run| self.survivor(run)) {
            self.violate(format!("{tid} has outlived the command that it was run for"));
        }
        // Output of a command's tasks goes with the command, and a dead host's output with the
        // host.
        let stays = self.dead_hosts.is_empty();
        if let Some(lost) = self.written.lost(|tid| stays && !self.runs.contains_key(&tid)) {
            self.violate(lost);
        }
        let watches = std::mem::take(&mut self.watches);
        for ((owner, tag), of) in watches {
            if self.gone.contains(&owner) || self.dead_hosts.contains(&owner.host()) {
                continue;
            }
            let gone = self.gone.contains(&of) || self.dead_hosts.contains(&of.host());
            let count = self.notices.get(&(owner, tag)).copied().unwrap_or(0);
            if count != u32::from(gone) {
                let text =
                    format!("{owner} has {count} notices with tag {tag} of {of}, gone: {gone}");
                self.violate(text);
            }
        }
    }
}

/// A name that two members have, or a computer that was never meant to have two.
fn named_twice(members: &HostList) -> Option<String> {
    let mut seen = BTreeSet::new();
    let computers = members.iter().map(|(_, facts)| &facts.computer);
    // One more daemon is only ever asked for on the first host's computer.
    let theirs = computers.filter(|computer| computer.0.starts_with(b"h"));
    let names = members.iter().map(|(_, facts)| &facts.name);
    let mut all = names.map(|name| (0, name)).chain(theirs.map(|computer| (1, computer)));
    all.find(|&one| !seen.insert(one)).map(|(_, what)| what.to_text())
}
