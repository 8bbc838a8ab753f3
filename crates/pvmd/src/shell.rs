//! The daemon: the machine in a thin shell of sockets and timers.
//!
//! It decides nothing. Frames from the parent and news from the links go into the machine; what
//! comes out goes to the parent in one frame, then acts are done. Whatever must survive this
//! process is a record that the parent keeps.

mod hosting;
mod joining;
mod own_records;
pub(crate) mod start;
mod tokens;
mod tunnels;
mod turn;
mod uplink;
mod witness;

use crate::addresses;
use crate::alarm::Alarm;
use crate::between::{Down, Up};
use crate::broker::ParentBroker;
use crate::clock;
use crate::inbox::Inbox;
use crate::launch::tunnel::Tunnel;
use crate::link::connection::LinkEvent;
use crate::link::{Links, ShellEvent};
use crate::ports::Ports;
use crate::processes;
use crate::runtime_dir;
use crate::shell::joining::{Joining, Started};
use crate::shell::own_records::OwnRecords;
use crate::shell::turn::TurnClock;
use crate::shell::uplink::Uplink;
use crate::starter;
use anyhow::Result;
use pvm_core::Machine;
use pvm_core::io::{Act, Effect, Event, Input, News, Output};
use pvm_wire::peer::HostFacts;
use pvm_wire::request::Reply;
use pvm_wire::{Blob, Code, Tid};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

const SIGKILL: i32 = 9;
/// The number and the interval of looks for the leftovers of a dead parent's tasks.
const ORPHAN_ROUNDS: u32 = 200;
const ORPHAN_PAUSE: Duration = Duration::from_millis(5);
/// The number of link events that are taken before they are handled.
const EVENTS_AT_ONCE: usize = 32;
/// After a lack of memory or descriptors, messages are not looked for again for this time.
const LACKING: Duration = Duration::from_millis(5);

/// A lock that a witness was asked for, and whether this host has it.
type Witnessed = (Blob, u64, bool);

/// The daemon.
struct Shell {
    uplink: Uplink,
    links: Links,
    link_events: mpsc::Receiver<LinkEvent>,
    starts: (mpsc::Sender<Started>, mpsc::Receiver<Started>),
    /// The answers of the witness of two hosts.
    witnessed: (mpsc::Sender<Witnessed>, mpsc::Receiver<Witnessed>),
    /// Hosts that were asked for here, by their tickets.
    joining: BTreeMap<u64, Joining>,
    /// To hosts that only ssh reaches.
    tunnels: Vec<Tunnel>,
    /// There once this host has a place.
    placed: Option<Placed>,
    facts: HostFacts,
    ports: Ports,
    begin: Basics,
    /// Processes of tasks that this host has started, to be ended if the parent dies.
    tasks: BTreeMap<Tid, BTreeSet<u32>>,
    /// Events of the links that the machine has not heard.
    events: VecDeque<ShellEvent>,
    /// The line that the starter of this host is told once the state of the machine is known here.
    told_when_joined: Option<String>,
    /// True if the starter was told already.
    told: bool,
    /// The machine waits for [`News::Flushed`].
    flushing: bool,
    clock: TurnClock,
    /// Rings at the next deadline.
    alarm: Alarm,
}

/// The state of a host with a place.
struct Placed {
    machine: Machine,
    inbox: Inbox,
}

/// The cause that woke the loop.
enum Woken {
    Parent(Vec<(u32, Up)>),
    ParentGone,
    Link(LinkEvent),
    Started(Started),
    Witnessed(Witnessed),
    Bell,
    Time,
}

/// The data of the start that is needed again.
struct Basics {
    clock: u64,
    folder: OsString,
    parent_pid: u32,
    restarts: u32,
    vmid: String,
    broker: Option<ParentBroker>,
}

impl Shell {
    async fn serve(mut self) -> Result<()> {
        loop {
            self.take_turns().await?;
            self.forward();
            if !self.events.is_empty() {
                continue;
            }
            if let Some(text) = self.clock.end(Instant::now()) {
                self.uplink.effects(0, vec![Effect::Log { text }]).await?;
            }
            let woken = self.wait().await;
            self.clock.begin(Instant::now());
            match woken {
                Woken::Parent(frames) => {
                    for (number, up) in frames {
                        match up {
                            Up::Happened { event } => self.happened(number, event).await?,
                            Up::Quit { machine } => return self.quit(machine).await,
                            Up::Begin { .. } | Up::Records { .. } => {}
                        }
                    }
                }
                Woken::ParentGone => return self.orphaned().await,
                Woken::Link(event) => {
                    self.heard(event);
                    // Events that have come meanwhile are answered together.
                    for _ in 0..EVENTS_AT_ONCE {
                        let Ok(event) = self.link_events.try_recv() else { break };
                        self.heard(event);
                    }
                }
                Woken::Started(started) => self.started(started).await?,
                Woken::Witnessed((witness, pair, granted)) => {
                    self.events.push_back(ShellEvent::News(News::Witnessed {
                        witness,
                        pair,
                        granted,
                    }));
                }
                Woken::Bell => {}
                Woken::Time => self.time_passed().await?,
            }
            self.flushed();
        }
    }

    /// Tells the machine, if it wants to know, that nothing of our tasks is on its way any more.
    fn flushed(&mut self) {
        let inbox = self.placed.as_ref().map(|placed| &placed.inbox);
        if self.flushing && self.links.is_flushed() && inbox.is_none_or(Inbox::is_all_within_reach)
        {
            self.flushing = false;
            self.events.push_back(ShellEvent::News(News::Flushed));
        }
    }

    async fn wait(&mut self) -> Woken {
        let timeout = self.next_timeout();
        let lacks = self.placed.as_mut().is_some_and(|placed| placed.inbox.take_lack());
        let inbox = self.placed.as_ref().map(|placed| &placed.inbox);
        let armed = !lacks && inbox.is_none_or(Inbox::arm);
        let woken = tokio::select! {
            biased;
            frames = self.uplink.receive() => frames.map_or(Woken::ParentGone, Woken::Parent),
            Some(event) = self.link_events.recv() => Woken::Link(event),
            Some(started) = self.starts.1.recv() => Woken::Started(started),
            Some(witnessed) = self.witnessed.1.recv() => Woken::Witnessed(witnessed),
            () = rung(inbox), if armed => Woken::Bell,
            () = tokio::task::yield_now(), if !armed && !lacks => Woken::Bell,
            () = tokio::time::sleep(LACKING), if lacks => Woken::Bell,
            () = self.alarm.wait(timeout.unwrap_or_default()), if timeout.is_some() => Woken::Time,
        };
        if let Some(inbox) = inbox.filter(|_| armed) {
            inbox.disarm();
        }
        woken
    }

    fn next_timeout(&self) -> Option<Duration> {
        let machine = self.placed.as_ref().and_then(|placed| placed.machine.poll_timeout());
        let now = clock::now(self.begin.clock);
        let machine = machine.map(|at| Duration::from_nanos(at.0.saturating_sub(now.0)));
        let links = self.links.next_deadline();
        let links = links.map(|at| at.saturating_duration_since(Instant::now()));
        let joining = self.joining.values().filter_map(Joining::deadline);
        let joining = joining.map(|at| at.saturating_duration_since(Instant::now()));
        machine.into_iter().chain(links).chain(joining).min()
    }

    async fn time_passed(&mut self) -> Result<()> {
        let now = Instant::now();
        self.events.extend(self.links.handle_timeout(now));
        self.end_waiting(now);
        if self.links.is_lost(now) {
            let text = "this host has lost its machine and ends".to_owned();
            return self.uplink.effects(0, vec![Effect::Log { text }, Effect::End]).await;
        }
        let Some(placed) = &mut self.placed else { return Ok(()) };
        let now = clock::now(self.begin.clock);
        if placed.machine.poll_timeout().is_some_and(|at| at <= now) {
            placed.machine.handle_timeout(now);
            self.follow(0).await?;
        }
        Ok(())
    }

    fn heard(&mut self, event: LinkEvent) {
        let inbox = self.placed.as_mut().map(|placed| &mut placed.inbox);
        self.events.extend(self.links.handle(event, inbox));
    }

    /// Sends the messages of tasks to other hosts, and the machine's messages.
    fn forward(&mut self) {
        let inbox = self.placed.as_mut().map(|placed| &mut placed.inbox);
        self.events.extend(self.links.forward(inbox));
    }

    async fn happened(&mut self, number: u32, event: Event) -> Result<()> {
        match &event {
            Event::Launched { tid, pid } => drop(self.tasks.entry(*tid).or_default().insert(*pid)),
            Event::Exited { tid, .. } => {
                self.tasks.remove(tid);
                if let Some(placed) = &mut self.placed {
                    self.links.release(*tid, None, &mut placed.inbox);
                }
            }
            _ => {}
        }
        if let Some(placed) = &mut self.placed {
            placed.machine.handle(clock::now(self.begin.clock), Input::Event(event));
            return self.follow(number).await;
        }
        // No tasks before this host has a place.
        let effects = refusal(event);
        self.uplink.effects(number, effects).await
    }

    /// Does what the machine decided: first what the parent must keep, then what others see.
    async fn follow(&mut self, number: u32) -> Result<()> {
        let Some(placed) = &mut self.placed else { return Ok(()) };
        let (mut effects, mut acts) = (Vec::new(), Vec::new());
        while let Some(output) = placed.machine.poll_output() {
            match output {
                Output::Effect(effect) => effects.push(effect),
                // The tasks must see it before they hear of its consequences.
                Output::Act(Act::Group { name, group, departure }) => {
                    placed.inbox.show_group(&name, group, departure);
                }
                Output::Act(act) => {
                    if let Act::Hosts { hosts, .. } = &act {
                        placed.inbox.fence(hosts.hosts().collect());
                    }
                    acts.push(act);
                }
            }
        }
        for effect in &effects {
            // A task that came by itself goes on without the machine.
            if let Effect::Enrol { pid, welcome, .. } = effect
                && welcome.spawned
            {
                self.tasks.entry(welcome.tid).or_default().insert(*pid);
            }
        }
        if number != 0 || !effects.is_empty() {
            self.uplink.effects(number, effects).await?;
        }
        self.links.set_era(placed.machine.era());
        for act in acts {
            self.act(act).await?;
        }
        if self.placed.as_ref().is_some_and(|placed| placed.machine.is_joined()) {
            self.links.settle();
            if let Some(line) = self.told_when_joined.take() {
                self.uplink.tell(&Down::Ready { line }).await?;
            }
        }
        Ok(())
    }

    async fn act(&mut self, act: Act) -> Result<()> {
        match act {
            Act::Say { host, message } => self.links.say(host, message),
            Act::Near { hosts } => self.links.set_near(&hosts),
            Act::Reach { host } => self.links.reach(host),
            Act::StartHost { ticket, line } => self.start_host(ticket, &line).await?,
            Act::Drain { tid, host } => {
                if let Some(placed) = &mut self.placed {
                    self.links.release(tid, None, &mut placed.inbox);
                }
                self.links.drain(tid, host);
            }
            Act::Route { local, peer } => {
                if let Some(placed) = &mut self.placed {
                    self.events.extend(self.links.route((local, peer), &mut placed.inbox));
                }
            }
            Act::ReleaseRoute { from, to } => {
                if let Some(placed) = &mut self.placed {
                    self.links.release(from, Some(to), &mut placed.inbox);
                }
            }
            // A started daemon is let in when it is in the host table.
            Act::Admit { .. } => {}
            Act::AskWitness { witness, pair } => self.ask_witness(witness, pair),
            // Shown before the effects.
            Act::Group { .. } => {}
            Act::Invite { ticket, line } => self.invite(ticket, &line).await?,
            Act::HosterSaid { ticket, answer } => self.hoster_said(ticket, &answer).await?,
            Act::Token { ticket, mark, seconds } => {
                self.make_token(ticket, mark, seconds).await?;
            }
            Act::Distrust { host } => self.events.extend(self.links.distrust(host)),
            Act::Dismiss { key } => self.give_up(&key.0),
            Act::Flush => {
                self.forward();
                self.flushing = true;
                self.flushed();
            }
            Act::Hosts { hosts, .. } => {
                let hosts: Vec<_> =
                    hosts.iter().map(|(host, facts)| (host, Arc::clone(facts))).collect();
                if hosts.iter().any(|(_, facts)| addresses::any_outward(&facts.addresses)) {
                    self.open_outward().await?;
                }
                self.close_tunnels(&hosts).await?;
                self.events.extend(self.links.set_hosts(hosts));
            }
        }
        Ok(())
    }

    async fn take_turns(&mut self) -> Result<()> {
        while let Some(turn) = self.events.pop_front() {
            match turn {
                ShellEvent::News(news) => {
                    if let News::HostReady { ticket, .. } = &news {
                        self.joining.remove(ticket);
                    }
                    let Some(placed) = &mut self.placed else { continue };
                    placed.machine.handle(clock::now(self.begin.clock), Input::News(news));
                    self.follow(0).await?;
                }
                ShellEvent::Redeem { redeem, answer } => self.redeem(*redeem, answer).await?,
                ShellEvent::Placed { host, first, hosts, by } => {
                    let place = crate::link::Membership { host, first };
                    let records = OwnRecords { place: Some(place), hosts, ..OwnRecords::default() };
                    self.uplink.effects(0, records.effects()).await?;
                    self.place(place, &[]).await?;
                    self.events.extend(self.links.set_hosts(records.hosts));
                    self.events.extend(self.links.placed(by));
                }
            }
        }
        Ok(())
    }

    /// The parent ends in order.
    async fn quit(mut self, machine: bool) -> Result<()> {
        if let Some(placed) = self.placed.as_mut().filter(|_| machine) {
            placed.machine.handle(clock::now(self.begin.clock), Input::News(News::Unbound));
            // The parent ends, too, and may not listen any more.
            let _ = self.follow(0).await;
        }
        self.forward();
        self.goodbye().await;
        Ok(())
    }

    /// Tells the other hosts that this one ends; what they say meanwhile matters no more.
    async fn goodbye(&mut self) {
        let unheard = async { while self.link_events.recv().await.is_some() {} };
        tokio::select! {
            () = self.links.goodbye() => {}
            () = async { unheard.await; std::future::pending().await } => {}
        }
    }

    /// The parent was killed: its tasks must not live on unseen, nor its files.
    async fn orphaned(mut self) -> Result<()> {
        let folder = PathBuf::from(&self.begin.folder);
        let socket = runtime_dir::socket_in(&folder);
        let tasks: Vec<u32> = self.tasks.values().flatten().copied().collect();
        let parent = self.begin.parent_pid;
        // A confined thread sees no other process, and removes nothing outside of its folder.
        starter::run(move || end_tasks(tasks, &socket, parent));
        self.goodbye().await;
        starter::run(move || runtime_dir::remove_orphan(&folder));
        Ok(())
    }
}

/// Kills the tasks of a parent that is gone, and what they have started: their descendants, and
/// processes that had left them, which are known by their environment.
fn end_tasks(mut found: Vec<u32>, socket: &Path, of: u32) {
    for pid in found.clone() {
        found.extend(processes::descendants(pid, processes::is_like_us));
    }
    for _ in 0..ORPHAN_ROUNDS {
        found.extend(processes::of_hosts(socket, |parent| parent == of));
        found.retain(|pid| processes::is_alive(*pid) && !processes::is_like_us(*pid));
        found.retain(|pid| !processes::may_outlive(*pid));
        if found.is_empty() {
            return;
        }
        found.iter().for_each(|pid| processes::signal(*pid, SIGKILL));
        std::thread::sleep(ORPHAN_PAUSE);
    }
}

async fn rung(inbox: Option<&Inbox>) {
    match inbox {
        Some(inbox) => inbox.rung().await,
        None => std::future::pending().await,
    }
}

/// The answer while this host has no place.
fn refusal(event: Event) -> Vec<Effect> {
    let (connection, id, reply) = match event {
        Event::Hello { connection, id, .. } => {
            let reason = "this host is still joining its machine; try again".to_owned();
            (connection, id, Reply::Refused { code: Code::SysErr, reason })
        }
        Event::Asked { connection, id, .. } => {
            (connection, id, Reply::Failed { code: Code::SysErr })
        }
        _ => return Vec::new(),
    };
    vec![Effect::Reply { connection, id, reply }]
}

/// Tells the parent that this host has a place.
const fn host_frame(place: crate::link::Membership) -> Down {
    Down::Host { host: place.host }
}
