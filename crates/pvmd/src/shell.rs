//! The daemon: the machine in a thin shell of sockets and timers.
//!
//! It decides nothing. Frames from the parent and news from the links go into the machine; what
//! comes out goes to the parent in one frame, then acts are done. Whatever must survive this
//! process is a record that the parent keeps.

mod own_records;
pub(crate) mod start;
mod uplink;

use crate::between::{Down, Up};
use crate::broker::ParentBroker;
use crate::clock;
use crate::inbox::Inbox;
use crate::link::connection::LinkEvent;
use crate::link::{Links, Turn};
use crate::local;
use crate::processes;
use crate::runtime_dir;
use crate::shell::own_records::OwnRecords;
use crate::shell::uplink::Uplink;
use anyhow::Result;
use pvm_core::Machine;
use pvm_core::io::{Act, Effect, Event, Input, News, Output};
use pvm_wire::peer::HostFacts;
use pvm_wire::request::Reply;
use pvm_wire::{Blob, Code, Tid};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

const SIGKILL: i32 = 9;

/// A daemon that was asked for, or why there is none.
type Started = (u64, Result<HostFacts>);

/// The daemon.
struct Shell {
    uplink: Uplink,
    links: Links,
    link_events: mpsc::Receiver<LinkEvent>,
    starts: (mpsc::Sender<Started>, mpsc::Receiver<Started>),
    /// There once this host has a place.
    placed: Option<Placed>,
    facts: HostFacts,
    begin: Basics,
    /// Processes of tasks, to be ended if the parent dies.
    tasks: BTreeMap<Tid, BTreeSet<u32>>,
    /// What the links told and the machine has not heard.
    turns: VecDeque<Turn>,
}

/// What a host with a place has.
struct Placed {
    machine: Machine,
    inbox: Inbox,
}

/// What the loop waited for.
enum Woken {
    Parent(Vec<(u32, Up)>),
    ParentGone,
    Link(LinkEvent),
    Started(Started),
    Bell,
    Time,
}

/// What of the beginning is needed again.
struct Basics {
    clock: u64,
    folder: OsString,
    parent_pid: u32,
    restarts: u32,
    root: Option<PathBuf>,
    broker: Option<ParentBroker>,
}

impl Shell {
    async fn serve(mut self) -> Result<()> {
        loop {
            self.take_turns().await?;
            match self.wait().await {
                Woken::Parent(frames) => {
                    self.forward();
                    for (number, up) in frames {
                        match up {
                            Up::Happened { event } => self.happened(number, event).await?,
                            Up::Quit => return self.quit().await,
                            Up::Begin { .. } | Up::Records { .. } => {}
                        }
                    }
                }
                Woken::ParentGone => return self.orphaned().await,
                Woken::Link(event) => {
                    let inbox = self.placed.as_mut().map(|placed| &mut placed.inbox);
                    self.turns.extend(self.links.handle(event, inbox));
                }
                Woken::Started(started) => self.started(started),
                Woken::Bell => {}
                Woken::Time => self.time_passed().await?,
            }
            self.forward();
        }
    }

    async fn wait(&mut self) -> Woken {
        let timeout = self.next_timeout();
        let inbox = self.placed.as_ref().map(|placed| &placed.inbox);
        let armed = inbox.is_none_or(Inbox::arm);
        let woken = tokio::select! {
            biased;
            frames = self.uplink.receive() => frames.map_or(Woken::ParentGone, Woken::Parent),
            Some(event) = self.link_events.recv() => Woken::Link(event),
            Some(started) = self.starts.1.recv() => Woken::Started(started),
            () = rung(inbox), if armed => Woken::Bell,
            () = tokio::task::yield_now(), if !armed => Woken::Bell,
            () = tokio::time::sleep(timeout.unwrap_or_default()), if timeout.is_some() => Woken::Time,
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
        machine.into_iter().chain(links).min()
    }

    async fn time_passed(&mut self) -> Result<()> {
        let now = Instant::now();
        self.turns.extend(self.links.handle_timeout(now));
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

    /// What tasks sent to tasks of other hosts goes out.
    fn forward(&mut self) {
        if let Some(placed) = &mut self.placed {
            self.links.forward(&mut placed.inbox);
        }
    }

    async fn happened(&mut self, number: u32, event: Event) -> Result<()> {
        match &event {
            Event::Launched { tid, pid } => drop(self.tasks.entry(*tid).or_default().insert(*pid)),
            Event::Exited { tid, .. } => drop(self.tasks.remove(tid)),
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
                Output::Act(act) => acts.push(act),
            }
        }
        for effect in &effects {
            if let Effect::Enrol { pid, welcome, .. } = effect {
                self.tasks.entry(welcome.tid).or_default().insert(*pid);
            }
        }
        if number != 0 || !effects.is_empty() {
            self.uplink.effects(number, effects).await?;
        }
        self.links.set_era(placed.machine.era());
        for act in acts {
            self.act(act);
        }
        Ok(())
    }

    fn act(&mut self, act: Act) {
        match act {
            Act::Say { host, message } => self.links.say(host, message),
            Act::StartHost { ticket, line } => self.start_host(ticket, &line),
            // Whoever was started is let in when it is in the table of hosts.
            Act::Admit { .. } => {}
            // No machine of this daemon's has a witness yet: `Rules::plain`.
            Act::AskWitness { .. } => {}
            Act::Hosts { hosts } => self.turns.extend(self.links.set_hosts(hosts)),
        }
    }

    fn start_host(&mut self, ticket: u64, line: &Blob) {
        if !line.0.is_empty() {
            let detail = "this version adds hosts on this computer only".to_owned();
            let code = Code::CantStart;
            return self.turns.push_back(Turn::News(News::HostFailed { ticket, code, detail }));
        }
        let (address, key) = (self.facts.address.clone(), self.facts.key.0.clone());
        let starts = self.starts.0.clone();
        tokio::spawn(async move {
            let started = local::start(&address, &key).await;
            let _ = starts.send((ticket, started)).await;
        });
    }

    fn started(&mut self, (ticket, started): Started) {
        match started {
            Ok(facts) => self.links.expect(ticket, facts),
            Err(error) => {
                let detail = format!("{error:#}");
                let news = News::HostFailed { ticket, code: Code::CantStart, detail };
                self.turns.push_back(Turn::News(news));
            }
        }
    }

    async fn take_turns(&mut self) -> Result<()> {
        while let Some(turn) = self.turns.pop_front() {
            match turn {
                Turn::News(news) => {
                    let Some(placed) = &mut self.placed else { continue };
                    placed.machine.handle(clock::now(self.begin.clock), Input::News(news));
                    self.follow(0).await?;
                }
                Turn::Placed { host, first, hosts, by } => {
                    let place = crate::link::Place { host, first };
                    let records = OwnRecords { place: Some(place), hosts, ..OwnRecords::default() };
                    self.uplink.effects(0, records.effects()).await?;
                    self.place(place, &[]).await?;
                    self.turns.extend(self.links.set_hosts(records.hosts));
                    self.turns.extend(self.links.placed(by));
                }
            }
        }
        Ok(())
    }

    /// The parent ends in order.
    async fn quit(mut self) -> Result<()> {
        self.forward();
        self.links.goodbye().await;
        Ok(())
    }

    /// The parent was killed: its tasks must not live on unseen, nor its files.
    async fn orphaned(mut self) -> Result<()> {
        for pid in self.tasks.values().flatten() {
            processes::signal(*pid, SIGKILL);
        }
        self.links.goodbye().await;
        runtime_dir::remove_orphan(Path::new(&self.begin.folder));
        Ok(())
    }
}

async fn rung(inbox: Option<&Inbox>) {
    match inbox {
        Some(inbox) => inbox.rung().await,
        None => std::future::pending().await,
    }
}

/// What to answer while this host has no place.
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
const fn host_frame(place: crate::link::Place) -> Down {
    Down::Host { host: place.host }
}
