//! The links to other hosts: calls in both directions, and the traffic on them.
//!
//! The host with the higher place calls the other one. A new host calls the one that started it,
//! and is a *newcomer* there until the machine has given it a place.

mod admission;
mod agreements;
mod ahead;
mod calling;
pub(crate) mod connection;
mod conversation;
pub(crate) mod dial;
mod direct;
mod door;
pub(crate) mod frames;
mod incoming;
pub(crate) mod intake;
mod outgoing;
mod peer;
mod peers;
mod pulse;
pub(crate) mod redeem;
mod routes;
mod socket;
mod speech;
pub(crate) mod tokens;
mod traffic;

use crate::inbox::Inbox;
use crate::link::connection::{Connection, LinkEvent, Wiring};
use crate::link::dial::Endpoint;
use crate::link::door::{Door, Relays};
use crate::link::frames::LinkFrame;
use crate::link::peer::{ConnectionOrigin, DEAD_TIME, Peer};
use crate::link::peers::Peers;
use crate::link::pulse::SILENT_TIME;
use crate::link::routes::Routes;
use crate::link::tokens::Tokens;
use crate::link::traffic::Traffic;
use crate::tls::{AllowedKeys, Fingerprint, Identity};
use anyhow::Result;
use pvm_core::io::News;
use pvm_wire::peer::{HostFacts, PeerMessage};
use pvm_wire::{HostIndex, PROTOCOL_VERSION, Tid};
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio::task::AbortHandle;

/// A host of which nothing was heard for this long is dead, as with [`DEAD_TIME`]: counted from the
/// last word, so that all are told within five seconds.
const SILENT_DEAD_TIME: Duration = Duration::from_millis(3750);
/// A host that does not know its machine yet ends when it has heard nothing of it for this long,
/// unless its starter said otherwise. One that knows it ends after a minute without a leader.
pub(crate) const ALONE_TIME: Duration = Duration::from_secs(30);

/// A host whose key the others refuse is no member any more, and ends after this time.
const REFUSED_TIME: Duration = Duration::from_secs(5);

/// Connections that were made within this time of each other were made at once.
const CROSS_TIME: Duration = Duration::from_secs(2);
/// The time for which a host that has just got its place waits to be called.
const CALLED_TIME: Duration = Duration::from_millis(1500);
/// The time for which a removed host is called, so that it learns of its removal.
const TELL_TIME: Duration = Duration::from_secs(120);
/// The time for which a host that ends tries to tell the others.
const GOODBYE_TIME: Duration = Duration::from_millis(800);

/// An event that the links tell the shell.
#[derive(Debug)]
// There are few at a time, and nearly all are of the large kind.
#[allow(clippy::large_enum_variant)]
pub(crate) enum ShellEvent {
    /// Something for the machine.
    News(News),
    /// A stranger wants a place for a token.
    Redeem {
        /// The request.
        redeem: Box<redeem::Redeem>,
        /// The channel for the answer: empty, or the reason of a refusal.
        answer: tokio::sync::oneshot::Sender<String>,
    },
    /// This host has a place now.
    Placed {
        /// Its place.
        host: HostIndex,
        /// The first host's place.
        first: HostIndex,
        /// All hosts.
        hosts: Vec<(HostIndex, Arc<HostFacts>)>,
        /// The host that told it.
        by: HostIndex,
    },
}

/// The owner of a connection.
#[derive(Debug)]
enum Owner {
    Peer(HostIndex),
    /// A daemon that this one started and that has no place yet; its hello, if it came.
    Newcomer(Connection, Fingerprint, Option<Box<LinkFrame>>),
    /// The machine that this daemon is about to join; its place, once it said hello.
    Machine(Connection, HostIndex),
}

/// The place of this host.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Membership {
    /// Its index.
    pub(crate) host: HostIndex,
    /// The first host's index.
    pub(crate) first: HostIndex,
}

/// All links.
#[derive(Debug)]
pub(crate) struct Links {
    identity: Identity,
    known: AllowedKeys,
    wiring: Arc<Wiring>,
    place: Option<Membership>,
    hosts: Vec<(HostIndex, Arc<HostFacts>)>,
    peers: Peers,
    /// Connections by number.
    owners: BTreeMap<u64, Owner>,
    /// Daemons that were started and have no place yet, by their keys; and what the machine is
    /// told once they have called.
    newcomers: BTreeMap<Fingerprint, Option<News>>,
    /// The addresses of the machine that this daemon was started to join, and the key there.
    machine: Option<(Vec<Endpoint>, Fingerprint)>,
    /// Hands on to every other host, where this one may not be able to call them.
    relay: Option<SocketAddr>,
    /// The hosts to which this daemon relays connections.
    relays: Relays,
    /// The tokens that let hosts in that were not started from here.
    pub(crate) tokens: Tokens,
    /// The near ends of tunnels, by the keys of the hosts at the far ends.
    tunnels: BTreeMap<Fingerprint, SocketAddr>,
    /// Since when others refuse this host's key, and none accepts it.
    refused_since: Option<Instant>,
    /// This daemon joined a machine: alone it is of no use.
    joined: bool,
    /// The state of the machine is known here: from then on it is the machine that ends this host
    /// where nothing is heard.
    settled: bool,
    /// Until when a new host waits to be called by those near it. A host that cannot be called
    /// calls all others.
    waits_until: Option<Instant>,
    alone_since: Option<Instant>,
    /// The time for which it may be alone.
    patience: Duration,
    /// The messages that tasks have sent to other hosts.
    traffic: Traffic,
    /// Direct routes that are being made.
    routes: Routes,
    /// Keys of hosts that were taken out: they are told so when they call or are called.
    removed: BTreeMap<Fingerprint, Option<AbortHandle>>,
    /// The era that they are told besides: see [`pvm_core::Machine::era`].
    era: u64,
}

impl Links {
    /// No links yet.
    pub(crate) fn new(identity: Identity, wiring: Arc<Wiring>) -> Self {
        Self {
            identity,
            known: AllowedKeys::default(),
            wiring,
            place: None,
            hosts: Vec::new(),
            peers: Peers::default(),
            owners: BTreeMap::new(),
            newcomers: BTreeMap::new(),
            machine: None,
            relay: None,
            relays: Relays::default(),
            tokens: Tokens::default(),
            tunnels: BTreeMap::new(),
            refused_since: None,
            joined: false,
            settled: false,
            waits_until: None,
            alone_since: None,
            patience: ALONE_TIME,
            traffic: Traffic::default(),
            routes: Routes::default(),
            removed: BTreeMap::new(),
            era: 0,
        }
    }

    /// Lets known hosts connect.
    pub(crate) fn listen(&self, listener: TcpListener) -> Result<()> {
        let door = Door {
            members: self.identity.server(&self.known)?,
            bearers: self.identity.server(&AllowedKeys::anybody())?,
            own: self.identity.fingerprint().clone(),
            relays: self.relays.clone(),
            tokens: self.tokens.clone(),
        };
        self.wiring.listen(listener, door);
        Ok(())
    }

    /// Calls the machine that this host is to join.
    pub(crate) fn join(&mut self, addresses: &[String], key: Fingerprint, patience: Duration) {
        self.joined = true;
        self.patience = patience;
        self.alone_since = Some(Instant::now());
        self.machine = Some((self.endpoints(addresses), key));
        self.call_machine();
    }

    /// This host's place is known.
    pub(crate) fn set_place(&mut self, place: Membership) {
        self.place = Some(place);
        self.waits_until = Some(Instant::now() + CALLED_TIME);
        self.patience = ALONE_TIME;
        self.joined |= place.host != place.first;
    }

    /// The state of the machine is known here.
    pub(crate) const fn settle(&mut self) {
        self.settled = true;
    }

    /// The host table changed.
    pub(crate) fn set_hosts(&mut self, hosts: Vec<(HostIndex, Arc<HostFacts>)>) -> Vec<ShellEvent> {
        let Some(place) = self.place else { return Vec::new() };
        self.hosts = hosts;
        let members: BTreeSet<HostIndex> = self.hosts.iter().map(|(host, _)| *host).collect();
        self.part(&members);
        self.traffic.members_are(&members);
        self.routes.members_are(&members);
        for mut peer in self.peers.extract(|host| !members.contains(&host)) {
            // The last thing that it is told is that it is no member any more.
            peer.pump(None);
            self.traffic.give_up(peer.streams.lanes());
        }
        self.owners.retain(|_, owner| !matches!(owner, Owner::Peer(h) if !members.contains(h)));
        let now = Instant::now();
        let mut events = Vec::new();
        for (host, facts) in self.hosts.clone() {
            if let Some(peer) = self.peers.get_mut(host).filter(|p| p.facts.key == facts.key) {
                peer.learn(HostFacts::clone(&facts));
            } else if host != place.host {
                if let Some(peer) = self.peers.remove(host) {
                    self.traffic.give_up(peer.streams.lanes());
                }
                self.peers.insert(host, Peer::new(HostFacts::clone(&facts), now));
                events.extend(self.admit(host, &facts.key.0));
            }
        }
        self.update_known();
        self.update_relays();
        self.call_missing();
        if self.joined && self.peers.is_empty() {
            self.alone_since = Some(now);
        }
        events
    }

    /// The key of the other one of two hosts.
    pub(crate) fn other_key(&self) -> Option<&[u8]> {
        let mut others = self.peers.all();
        others.next().filter(|_| others.next().is_none()).map(|(_, peer)| &*peer.facts.key.0)
    }

    /// Sets the number of times that a host of this machine went on alone.
    pub(crate) const fn set_era(&mut self, era: u64) {
        self.era = era;
    }

    /// Says something to the machine of another host.
    pub(crate) fn say(&mut self, host: HostIndex, message: PeerMessage) {
        if let Some(peer) = self.peers.get_mut(host) {
            peer.say(message);
        }
    }

    /// Hands on what tasks here have sent to tasks of other hosts, and what machines say.
    pub(crate) fn forward(&mut self, inbox: Option<&mut Inbox>) -> Vec<ShellEvent> {
        let Some(inbox) = inbox else {
            self.peers.awake_mut().for_each(|(_, peer)| peer.pump(None));
            return Vec::new();
        };
        self.traffic.sort(inbox, &mut self.peers);
        self.peers.awake_mut().for_each(|(_, peer)| peer.pump(Some(&mut *inbox)));
        let drained = self.traffic.take_drained(inbox, &mut self.peers);
        Self::want_links(&mut self.peers);
        self.call_missing();
        self.peers.settle();
        let news = |(tid, host)| ShellEvent::News(News::Drained { tid, host });
        drained.into_iter().map(news).collect()
    }

    /// To be told when all that a task has sent to a host is there.
    pub(crate) fn drain(&mut self, tid: Tid, host: HostIndex) {
        self.traffic.drain(tid, host);
    }

    /// True when everything that tasks here have sent to tasks of other hosts is safe there.
    pub(crate) fn is_flushed(&self) -> bool {
        self.peers.awake().all(|(_, peer)| peer.is_flushed())
    }

    /// Something happened on a connection.
    pub(crate) fn handle(
        &mut self,
        event: LinkEvent,
        inbox: Option<&mut Inbox>,
    ) -> Vec<ShellEvent> {
        match event {
            LinkEvent::Up { connection, fingerprint, called } => {
                self.up(connection, fingerprint, called)
            }
            LinkEvent::Frame { id, frame } => self.frame(id, frame, inbox),
            // The next round sends more.
            LinkEvent::Room => Vec::new(),
            LinkEvent::Down { id } => self.down(id),
            LinkEvent::Silent { id } => self.silent(id),
            LinkEvent::Redeem { redeem, answer } => vec![ShellEvent::Redeem { redeem, answer }],
            LinkEvent::Direct(made) => self.direct_made(made, inbox),
            LinkEvent::Unreached { host } => self.unreached(host),
            // A host that was just let in may not know all others yet.
            LinkEvent::Refused { host } if self.is_higher(host) => Vec::new(),
            LinkEvent::Refused { .. } => {
                let member = self.place.is_some() && !self.is_linked();
                if member && self.refused_since.is_none() {
                    self.refused_since = Some(Instant::now());
                }
                Vec::new()
            }
        }
    }

    /// A peer's connection: the newest one counts. If both have called at once, that of the higher
    /// one does, on both sides.
    fn attach(
        &mut self,
        host: HostIndex,
        connection: Connection,
        by_higher: bool,
    ) -> Vec<ShellEvent> {
        let made = self.peers.get(host).and_then(|peer| peer.made);
        if !by_higher && made.is_some_and(|made| made.by_higher && made.at.elapsed() < CROSS_TIME) {
            return Vec::new();
        }
        let events = self.detach(host);
        let me = self.place.map_or(HostIndex(0), |place| place.host);
        let Some(peer) = self.peers.get_mut(host) else { return events };
        if let Some(calling) = peer.calling.take() {
            calling.abort();
        }
        self.owners.insert(connection.id, Owner::Peer(host));
        connection.send(&hello(me));
        peer.connection = Some((connection, false));
        peer.made = Some(ConnectionOrigin { by_higher, at: Instant::now() });
        events
    }

    /// Takes a peer's connection away.
    fn detach(&mut self, host: HostIndex) -> Vec<ShellEvent> {
        let Some(peer) = self.peers.get_mut(host) else { return Vec::new() };
        let was_up = peer.is_up();
        if let Some((connection, _)) = &peer.connection {
            self.owners.remove(&connection.id);
            peer.down(Instant::now());
        }
        let news = was_up.then_some(ShellEvent::News(News::LinkDown { host }));
        news.into_iter().collect()
    }

    fn down(&mut self, id: u64) -> Vec<ShellEvent> {
        match self.owners.remove(&id) {
            Some(Owner::Peer(host)) => {
                let events = self.detach(host);
                self.call_missing();
                events
            }
            Some(Owner::Machine(..)) => {
                self.call_machine();
                Vec::new()
            }
            Some(Owner::Newcomer(..)) | None => Vec::new(),
        }
    }

    /// Gives up a connection that was silent for too long: if its host lives, there will be another
    /// one.
    fn silent(&mut self, id: u64) -> Vec<ShellEvent> {
        let host = match self.owners.get(&id) {
            Some(Owner::Peer(host)) => Some(*host),
            _ => None,
        };
        let events = self.down(id);
        if let Some(peer) = host.and_then(|host| self.peers.get_mut(host)) {
            peer.down_since =
                Instant::now().checked_sub(SILENT_TIME + DEAD_TIME - SILENT_DEAD_TIME);
        }
        events
    }

    /// A host has said what it may not: it has to call again.
    pub(crate) fn distrust(&mut self, host: HostIndex) -> Vec<ShellEvent> {
        let peer = self.peers.get(host);
        let connection = peer.and_then(|peer| peer.connection.as_ref());
        let id = connection.map(|(connection, _)| connection.id);
        id.map_or_else(Vec::new, |id| self.down(id))
    }

    /// When a host that has no link counts as dead.
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        let alone = self.alone_since.filter(|_| !self.settled);
        let alone = alone.map(|since| since + self.patience);
        let refused = self.refused_since.map(|since| since + REFUSED_TIME);
        let rests = self.peers.awake().filter_map(|(_, peer)| peer.streams.next_deadline());
        self.peers
            .awake()
            .flat_map(|(host, peer)| {
                let rest = peer.rest_at().filter(|_| self.may_offer_rest(host));
                [peer.deadline(), rest, peer.call_at(self.is_higher(host))]
            })
            .flatten()
            .chain(alone)
            .chain(refused)
            .chain(rests)
            .chain(self.routes.next_deadline())
            .chain(self.waits_until)
            .min()
    }

    /// Hosts without a link for too long.
    pub(crate) fn handle_timeout(&mut self, now: Instant) -> Vec<ShellEvent> {
        let overdue = self.routes.overdue(now).into_iter();
        let no_route = |(local, peer)| ShellEvent::News(News::NoRoute { local, peer });
        let mut events: Vec<ShellEvent> = overdue.map(no_route).collect();
        for (host, peer) in self.peers.awake_mut() {
            peer.streams.handle_timeout(now);
            if peer.deadline().is_some_and(|deadline| deadline <= now) {
                peer.dead = true;
                events.push(ShellEvent::News(News::HostDead { host }));
            }
        }
        self.call_all_late(now);
        self.call_missing();
        self.offer_rest(now);
        let alone = !self.is_linked();
        if self.joined && alone && self.alone_since.is_none() {
            self.alone_since = Some(now);
        }
        events
    }

    /// True where any other host can be told something.
    fn is_linked(&self) -> bool {
        self.peers.awake().any(|(_, peer)| peer.is_up())
    }

    /// True where this host joined a machine and has lost it.
    pub(crate) fn is_lost(&self, now: Instant) -> bool {
        let refused = self.refused_since.is_some_and(|since| since + REFUSED_TIME <= now);
        let alone = self.alone_since.filter(|_| !self.settled);
        refused || alone.is_some_and(|since| since + self.patience <= now)
    }

    /// Tells all hosts that this one ends, after the machine's messages. When this returns, each
    /// host has that or does not answer. The events must be taken meanwhile.
    pub(crate) async fn goodbye(&mut self) {
        let until = Instant::now() + GOODBYE_TIME;
        while self.peers.awake().any(|(_, peer)| peer.has_unsaid()) && Instant::now() < until {
            self.peers.awake_mut().for_each(|(_, peer)| peer.pump(None));
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        let peers = self.peers.awake_mut().filter_map(|(_, peer)| peer.connection.take());
        let newcomers = std::mem::take(&mut self.owners).into_values().filter_map(|owner| {
            if let Owner::Newcomer(connection, ..) = owner { Some(connection) } else { None }
        });
        let connections = peers.map(|(connection, _)| connection).chain(newcomers);
        let finishing: Vec<_> = connections
            .map(|it| tokio::spawn(async { it.finish(&LinkFrame::Goodbye, GOODBYE_TIME).await }))
            .collect();
        for finished in finishing {
            let _ = finished.await;
        }
    }
}

const fn hello(host: HostIndex) -> LinkFrame {
    LinkFrame::Hello { version: PROTOCOL_VERSION, host }
}
