//! The links to other hosts: who is called, who may call, what comes in and what goes out.
//!
//! Of two hosts the one with the higher place calls. A new host calls the one that started it,
//! and is a *newcomer* there until the machine has given it a place.

pub(crate) mod connection;
pub(crate) mod frames;
mod incoming;
mod peer;
mod session;

use crate::inbox::Inbox;
use crate::link::connection::{Connection, LinkEvent, Wiring};
use crate::link::frames::LinkFrame;
use crate::link::peer::Peer;
use crate::tls::{Fingerprint, Identity, Known};
use anyhow::Result;
use pvm_core::io::News;
use pvm_wire::peer::{HostFacts, PeerMessage};
use pvm_wire::{HostIndex, PROTOCOL_VERSION};
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio::task::AbortHandle;

/// Without a link for so long, a host is dead. A killed daemon is back in a fraction of it.
const DEAD_TIME: Duration = Duration::from_secs(5);
/// The same for a host to which this daemon never had a link: it may still be starting.
const START_TIME: Duration = Duration::from_secs(10);
/// A host that has lost all others ends after this time.
const ALONE_TIME: Duration = Duration::from_secs(30);

/// How long a host that was taken out is called, to be told so.
const TELL_TIME: Duration = Duration::from_secs(120);
/// How long a host that ends tries to tell each of the others.
const GOODBYE_TIME: Duration = Duration::from_millis(300);

/// What the shell learns from the links.
#[derive(Debug)]
// There are few at a time, and nearly all are of the large kind.
#[allow(clippy::large_enum_variant)]
pub(crate) enum Turn {
    /// Something for the machine.
    News(News),
    /// This host has a place now.
    Placed {
        /// Its place.
        host: HostIndex,
        /// The first host's place.
        first: HostIndex,
        /// All hosts.
        hosts: Vec<(HostIndex, HostFacts)>,
        /// Who told it.
        by: HostIndex,
    },
}

/// Whose connection it is.
#[derive(Debug)]
enum Owner {
    Peer(HostIndex),
    /// Somebody that this daemon started and that has no place yet; its hello, if it came.
    Newcomer(Connection, Fingerprint, Option<Box<LinkFrame>>),
    /// The machine that this daemon is about to join; its place, once it said hello.
    Machine(Connection, HostIndex, u64),
}

/// The place of this host.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// Its index.
    pub(crate) host: HostIndex,
    /// The first host's index.
    pub(crate) first: HostIndex,
}

/// All links.
#[derive(Debug)]
pub(crate) struct Links {
    identity: Identity,
    known: Known,
    wiring: Arc<Wiring>,
    incarnation: u64,
    place: Option<Place>,
    hosts: Vec<(HostIndex, HostFacts)>,
    peers: BTreeMap<HostIndex, Peer>,
    /// Connections by number.
    owners: BTreeMap<u64, Owner>,
    /// Daemons that were started and have no place yet, by their keys; and what the machine is
    /// told once they have called.
    newcomers: BTreeMap<Fingerprint, Option<News>>,
    /// Where the machine is that this daemon was started to join, and the key there.
    machine: Option<(SocketAddr, Fingerprint)>,
    /// This daemon joined a machine: alone it is of no use.
    joined: bool,
    alone_since: Option<Instant>,
    /// Keys of hosts that were taken out: they are told so when they call or are called.
    removed: BTreeMap<Fingerprint, AbortHandle>,
    /// What they are told besides: see [`pvm_core::Machine::era`].
    era: u64,
}

impl Links {
    /// No links yet.
    pub(crate) fn new(identity: Identity, wiring: Arc<Wiring>, incarnation: u64) -> Self {
        Self {
            identity,
            known: Known::default(),
            wiring,
            incarnation,
            place: None,
            hosts: Vec::new(),
            peers: BTreeMap::new(),
            owners: BTreeMap::new(),
            newcomers: BTreeMap::new(),
            machine: None,
            joined: false,
            alone_since: None,
            removed: BTreeMap::new(),
            era: 0,
        }
    }

    /// Lets known hosts connect.
    pub(crate) fn listen(&self, listener: TcpListener) -> Result<()> {
        self.wiring.listen(listener, self.identity.server(&self.known)?);
        Ok(())
    }

    /// Calls the machine that this host is to join.
    pub(crate) fn join(&mut self, address: SocketAddr, key: Fingerprint) {
        self.joined = true;
        self.alone_since = Some(Instant::now());
        self.machine = Some((address, key));
        self.call_machine();
    }

    fn call_machine(&self) {
        if let Some((address, key)) = &self.machine
            && let Ok(config) = self.identity.client(key)
        {
            self.wiring.call(*address, config, None);
        }
    }

    /// This host's place is known.
    pub(crate) fn set_place(&mut self, place: Place) {
        self.place = Some(place);
        self.joined |= place.host != place.first;
    }

    /// A daemon was started: its key may connect. It is ready when it has.
    pub(crate) fn expect(&mut self, ticket: u64, facts: HostFacts) {
        let key = facts.key.0.clone();
        self.newcomers.insert(key, Some(News::HostReady { ticket, facts }));
        self.update_known();
    }

    /// The host table changed.
    pub(crate) fn set_hosts(&mut self, hosts: Vec<(HostIndex, HostFacts)>) -> Vec<Turn> {
        let Some(place) = self.place else { return Vec::new() };
        self.hosts = hosts;
        let members: BTreeSet<HostIndex> = self.hosts.iter().map(|(host, _)| *host).collect();
        self.part(&members);
        self.peers.retain(|host, _| members.contains(host));
        self.owners.retain(|_, owner| !matches!(owner, Owner::Peer(h) if !members.contains(h)));
        let now = Instant::now();
        let mut turns = Vec::new();
        for (host, facts) in self.hosts.clone() {
            let known = self.peers.get(&host).is_some_and(|peer| peer.facts.key == facts.key);
            if host != place.host && !known {
                self.peers.insert(host, Peer::new(facts.clone(), now));
                turns.extend(self.admit(host, &facts.key.0));
            }
        }
        self.update_known();
        self.call_missing();
        if self.joined && self.peers.is_empty() {
            self.alone_since = Some(now);
        }
        turns
    }

    /// Hosts that are no members any more: they may live and not know.
    fn part(&mut self, members: &BTreeSet<HostIndex>) {
        for (_, peer) in self.peers.iter().filter(|(host, _)| !members.contains(host)) {
            let (key, address) = (peer.facts.key.0.clone(), peer.facts.address.parse());
            let config = self.identity.client(&key);
            if let (Ok(address), Ok(config), false) = (address, config, peer.ended) {
                let calling = self.wiring.call(address, config, None);
                let calling = give_up_after(calling, TELL_TIME);
                self.removed.insert(key, calling);
            }
        }
    }

    /// How often somebody of this machine went on alone.
    pub(crate) const fn set_era(&mut self, era: u64) {
        self.era = era;
    }

    fn update_known(&self) {
        let hosts = self.hosts.iter().map(|(_, facts)| facts.key.0.clone());
        let others = self.newcomers.keys().chain(self.removed.keys()).cloned();
        self.known.set(hosts.chain(others).collect());
    }

    /// Calls the hosts that wait for it.
    fn call_missing(&mut self) {
        let Some(place) = self.place else { return };
        for (host, peer) in self.peers.range_mut(..place.host) {
            if peer.connection.is_some() || peer.calling.is_some() {
                continue;
            }
            let Ok(address) = peer.facts.address.parse() else { continue };
            if let Ok(config) = self.identity.client(&peer.facts.key.0) {
                peer.calling = Some(self.wiring.call(address, config, Some(*host)));
            }
        }
    }

    /// A daemon that was started has a place: tells it so, now or when it connects.
    fn admit(&mut self, host: HostIndex, key: &Fingerprint) -> Vec<Turn> {
        self.newcomers.remove(key);
        let waiting = |owner: &Owner| matches!(owner, Owner::Newcomer(_, k, _) if k == key);
        let Some(id) = self.owners.iter().find(|(_, o)| waiting(o)).map(|(id, _)| *id) else {
            return Vec::new();
        };
        let Some(Owner::Newcomer(connection, _, hello)) = self.owners.remove(&id) else {
            return Vec::new();
        };
        let mut turns = self.attach(host, connection);
        turns.extend(hello.into_iter().filter_map(|hello| self.greet(id, host, &hello)));
        turns
    }

    /// Says something to the machine of another host.
    pub(crate) fn say(&mut self, host: HostIndex, message: PeerMessage) {
        if let Some(peer) = self.peers.get_mut(&host) {
            peer.say(message);
        }
    }

    /// Hands on what tasks here have sent to tasks of other hosts.
    pub(crate) fn forward(&mut self, inbox: &mut Inbox) {
        for (envelope, payload) in inbox.arrivals() {
            // To a host that is gone, as to a task that is gone: dropped.
            if let Some(peer) = self.peers.get_mut(&envelope.dst.host()) {
                peer.forward(envelope, payload);
            }
        }
    }

    /// Something happened on a connection.
    pub(crate) fn handle(&mut self, event: LinkEvent, inbox: Option<&mut Inbox>) -> Vec<Turn> {
        match event {
            LinkEvent::Up { connection, fingerprint, called } => {
                self.up(connection, fingerprint, called)
            }
            LinkEvent::Frame { id, frame } => self.frame(id, frame, inbox),
            LinkEvent::Room { id } => {
                if let Some(Owner::Peer(host)) = self.owners.get(&id)
                    && let Some(peer) = self.peers.get_mut(host)
                {
                    peer.pump();
                }
                Vec::new()
            }
            LinkEvent::Down { id } => self.down(id),
        }
    }

    fn up(
        &mut self,
        connection: Connection,
        key: Fingerprint,
        called: Option<HostIndex>,
    ) -> Vec<Turn> {
        let host = self.peers.iter().find(|(_, peer)| peer.facts.key.0 == key).map(|(h, _)| *h);
        match host {
            Some(host) => self.attach(host, connection),
            None if self.newcomers.contains_key(&key) => {
                let ready = self.newcomers.get_mut(&key).and_then(Option::take);
                let id = connection.id;
                let me = self.place.map_or(HostIndex(0), |place| place.host);
                connection.send(&hello(me, self.incarnation, (0, 0)));
                self.owners.insert(id, Owner::Newcomer(connection, key, None));
                ready.into_iter().map(Turn::News).collect()
            }
            None if called.is_none() && self.joined && self.place.is_none() => {
                connection.send(&hello(HostIndex(0), self.incarnation, (0, 0)));
                let id = connection.id;
                self.owners.insert(id, Owner::Machine(connection, HostIndex(0), 0));
                Vec::new()
            }
            None if self.removed.contains_key(&key) => {
                let removed = LinkFrame::Removed { era: self.era };
                tokio::spawn(async move { connection.finish(&removed, GOODBYE_TIME).await });
                Vec::new()
            }
            // Its key was taken out of the table meanwhile.
            None => Vec::new(),
        }
    }

    /// A peer's connection: the newest one counts.
    fn attach(&mut self, host: HostIndex, connection: Connection) -> Vec<Turn> {
        let turns = self.detach(host);
        let me = self.place.map_or(HostIndex(0), |place| place.host);
        let progress = self.peers.get(&host).map(Peer::progress);
        let Some((peer, progress)) = self.peers.get_mut(&host).zip(progress) else { return turns };
        if let Some(calling) = peer.calling.take() {
            calling.abort();
        }
        self.owners.insert(connection.id, Owner::Peer(host));
        connection.send(&hello(me, self.incarnation, progress));
        peer.connection = Some((connection, false));
        turns
    }

    /// Takes a peer's connection away.
    fn detach(&mut self, host: HostIndex) -> Vec<Turn> {
        let Some(peer) = self.peers.get_mut(&host) else { return Vec::new() };
        let was_up = peer.is_up();
        if let Some((connection, _)) = &peer.connection {
            self.owners.remove(&connection.id);
            peer.down(Instant::now());
        }
        let news = was_up.then_some(Turn::News(News::LinkDown { host }));
        news.into_iter().collect()
    }

    fn down(&mut self, id: u64) -> Vec<Turn> {
        match self.owners.remove(&id) {
            Some(Owner::Peer(host)) => {
                let turns = self.detach(host);
                self.call_missing();
                turns
            }
            Some(Owner::Machine(..)) => {
                self.call_machine();
                Vec::new()
            }
            Some(Owner::Newcomer(..)) | None => Vec::new(),
        }
    }

    fn frame(&mut self, id: u64, frame: LinkFrame, inbox: Option<&mut Inbox>) -> Vec<Turn> {
        match self.owners.get_mut(&id) {
            None => Vec::new(),
            Some(Owner::Newcomer(_, _, hello)) => {
                *hello = Some(Box::new(frame));
                Vec::new()
            }
            Some(Owner::Machine(_, host, incarnation)) => match frame {
                LinkFrame::Hello { host: theirs, incarnation: number, .. } => {
                    (*host, *incarnation) = (theirs, number);
                    Vec::new()
                }
                LinkFrame::Goodbye => {
                    // The machine ended before it let this host in.
                    self.machine = None;
                    self.alone_since = Some(Instant::now() - ALONE_TIME);
                    Vec::new()
                }
                LinkFrame::Admitted { host: mine, first, hosts } => {
                    let by = *host;
                    vec![Turn::Placed { host: mine, first, hosts, by }]
                }
                _ => self.bad(id),
            },
            Some(Owner::Peer(host)) => {
                let host = *host;
                self.peer_frame((id, host), frame, inbox)
            }
        }
    }

    fn peer_frame(
        &mut self,
        (id, host): (u64, HostIndex),
        frame: LinkFrame,
        inbox: Option<&mut Inbox>,
    ) -> Vec<Turn> {
        let Some(peer) = self.peers.get_mut(&host) else { return Vec::new() };
        let way = (host, self.place.map_or(HostIndex(0), |place| place.host));
        let result = match frame {
            LinkFrame::Hello { .. } => {
                return self.greet(id, host, &frame).into_iter().collect();
            }
            // Somebody who ends may do so at any time.
            LinkFrame::Goodbye => {
                peer.dead = true;
                peer.ended = true;
                let mut turns = self.detach(host);
                turns.push(Turn::News(News::HostGone { host }));
                return turns;
            }
            LinkFrame::Removed { era } => return vec![Turn::News(News::Fenced { era })],
            _ if !peer.is_up() => return self.bad(id),
            LinkFrame::Said { message } => {
                return vec![Turn::News(News::Said { host, message })];
            }
            LinkFrame::Piece { bytes, last } => match peer.piece(&bytes.0, last) {
                Ok(None) => Ok(()),
                Ok(Some(message)) => return vec![Turn::News(News::Said { host, message })],
                Err(error) => Err(error),
            },
            LinkFrame::Delivered { through } => {
                peer.confirm(through);
                Ok(())
            }
            LinkFrame::Begin { sequence, envelope } => match inbox {
                Some(inbox) => peer.begin(inbox, way, (sequence, envelope)),
                None => return self.bad(id),
            },
            LinkFrame::More { bytes } => match inbox {
                Some(inbox) => peer.more(inbox, &bytes.0),
                None => return self.bad(id),
            },
            LinkFrame::Admitted { .. } => return self.bad(id),
        };
        if result.is_err() { self.bad(id) } else { Vec::new() }
    }

    /// A peer said hello: it may have been away, or be new and not know its place.
    fn greet(&mut self, id: u64, host: HostIndex, hello: &LinkFrame) -> Option<Turn> {
        let LinkFrame::Hello { version, host: theirs, incarnation, known, delivered } = hello
        else {
            return None;
        };
        let place = self.place?;
        let peer = self.peers.get_mut(&host)?;
        let (connection, greeted) = peer.connection.as_mut()?;
        if *version != PROTOCOL_VERSION || connection.id != id || *greeted {
            return None;
        }
        if *theirs == HostIndex(0) {
            let hosts = self.hosts.clone();
            connection.send(&LinkFrame::Admitted { host, first: place.first, hosts });
            return None;
        }
        if *theirs != host {
            return None;
        }
        *greeted = true;
        peer.resume(*incarnation, (*known == self.incarnation).then_some(*delivered));
        peer.pump();
        self.alone_since = None;
        Some(Turn::News(News::LinkUp { host }))
    }

    /// The connection over which this host got its place is the link to who told it.
    pub(crate) fn placed(&mut self, by: HostIndex) -> Vec<Turn> {
        let machine = |owner: &Owner| matches!(owner, Owner::Machine(..));
        let Some(id) = self.owners.iter().find(|(_, o)| machine(o)).map(|(id, _)| *id) else {
            return Vec::new();
        };
        let Some(Owner::Machine(connection, _, incarnation)) = self.owners.remove(&id) else {
            return Vec::new();
        };
        let mut turns = self.attach(by, connection);
        let hello = hello(by, incarnation, (0, 0));
        turns.extend(self.greet(id, by, &hello));
        turns
    }

    fn bad(&mut self, id: u64) -> Vec<Turn> {
        let mut turns = self.down(id);
        turns.push(Turn::News(News::BadPeer));
        turns
    }

    /// When a host that has no link counts as dead.
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        let alone = self.alone_since.filter(|_| self.place.is_none());
        let alone = alone.map(|since| since + ALONE_TIME);
        self.peers.values().filter_map(deadline).chain(alone).min()
    }

    /// Hosts without a link for too long.
    pub(crate) fn handle_timeout(&mut self, now: Instant) -> Vec<Turn> {
        let mut turns = Vec::new();
        for (host, peer) in &mut self.peers {
            if deadline(peer).is_some_and(|deadline| deadline <= now) {
                peer.dead = true;
                turns.push(Turn::News(News::HostDead { host: *host }));
            }
        }
        let alone = !self.peers.values().any(Peer::is_up);
        if self.joined && alone && self.alone_since.is_none() {
            self.alone_since = Some(now);
        }
        turns
    }

    /// True where this host joined a machine and has lost it.
    pub(crate) fn is_lost(&self, now: Instant) -> bool {
        // With a place it is the machine's matter.
        self.place.is_none() && self.alone_since.is_some_and(|since| since + ALONE_TIME <= now)
    }

    /// Tells everybody that this host ends, behind what the machine has said.
    pub(crate) async fn goodbye(&mut self) {
        for peer in self.peers.values_mut() {
            let until = Instant::now() + GOODBYE_TIME;
            while peer.has_unsaid() && Instant::now() < until {
                peer.pump();
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
            if let Some((connection, _)) = peer.connection.take() {
                connection.finish(&LinkFrame::Goodbye, GOODBYE_TIME).await;
            }
        }
        for owner in std::mem::take(&mut self.owners).into_values() {
            if let Owner::Newcomer(connection, ..) = owner {
                connection.finish(&LinkFrame::Goodbye, GOODBYE_TIME).await;
            }
        }
    }
}

/// Lets something that goes on end after a time.
fn give_up_after(what: AbortHandle, time: Duration) -> AbortHandle {
    let handle = what.clone();
    tokio::spawn(async move {
        tokio::time::sleep(time).await;
        handle.abort();
    });
    what
}

fn hello(host: HostIndex, incarnation: u64, (known, delivered): (u64, u64)) -> LinkFrame {
    LinkFrame::Hello { version: PROTOCOL_VERSION, host, incarnation, known, delivered }
}

fn deadline(peer: &Peer) -> Option<Instant> {
    let since = peer.down_since.filter(|_| !peer.dead && !peer.is_up())?;
    Some(since + if peer.was_up { DEAD_TIME } else { START_TIME })
}
