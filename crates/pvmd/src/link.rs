//! The links to other hosts: who is called, who may call, what comes in and what goes out.
//!
//! Of two hosts the one with the higher place calls. A new host calls the one that started it,
//! and is a *newcomer* there until the machine has given it a place.

pub(crate) mod connection;
pub(crate) mod dial;
mod direct;
mod door;
pub(crate) mod frames;
mod incoming;
mod outgoing;
mod peer;
mod pulse;
pub(crate) mod redeem;
mod routes;
mod socket;
pub(crate) mod tokens;
mod traffic;

use crate::addresses;
use crate::inbox::Inbox;
use crate::launch::token::Token;
use crate::link::connection::{Connection, LinkEvent, Wiring};
use crate::link::dial::Way;
use crate::link::door::{Door, Relays};
use crate::link::frames::LinkFrame;
use crate::link::incoming::Nonsense;
use crate::link::peer::Peer;
use crate::link::pulse::SILENT_TIME;
use crate::link::routes::{End, Routes};
use crate::link::tokens::Tokens;
use crate::link::traffic::Traffic;
use crate::tls::{Fingerprint, Identity, Known};
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

/// A host of which nothing is heard for so long is dead: together with the agreement on it that
/// stays below five seconds. A killed daemon is back in a fraction of it.
const DEAD_TIME: Duration = Duration::from_millis(4500);
/// The same for a host to which this daemon never had a link: it may still be starting.
const START_TIME: Duration = Duration::from_secs(10);
/// A host that has lost all others ends after this time.
pub(crate) const ALONE_TIME: Duration = Duration::from_secs(30);

/// A host whose key the others refuse is no member any more, and ends after this time.
const REFUSED_TIME: Duration = Duration::from_secs(5);

/// How long a host that was taken out is called, to be told so.
const TELL_TIME: Duration = Duration::from_secs(120);
/// How long a host that ends tries to tell the others.
const GOODBYE_TIME: Duration = Duration::from_millis(800);

/// What the shell learns from the links.
#[derive(Debug)]
// There are few at a time, and nearly all are of the large kind.
#[allow(clippy::large_enum_variant)]
pub(crate) enum Turn {
    /// Something for the machine.
    News(News),
    /// Somebody wants a place for a token.
    Redeem {
        /// What was said.
        redeem: Box<redeem::Redeem>,
        /// Where the answer is waited for: empty, or why not.
        answer: tokio::sync::oneshot::Sender<String>,
    },
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
    Machine(Connection, HostIndex),
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
    place: Option<Place>,
    hosts: Vec<(HostIndex, HostFacts)>,
    peers: BTreeMap<HostIndex, Peer>,
    /// Connections by number.
    owners: BTreeMap<u64, Owner>,
    /// Daemons that were started and have no place yet, by their keys; and what the machine is
    /// told once they have called.
    newcomers: BTreeMap<Fingerprint, Option<News>>,
    /// Where the machine is that this daemon was started to join, and the key there.
    machine: Option<(Vec<Way>, Fingerprint)>,
    /// Hands on to every other host, where this one may not be able to call them.
    relay: Option<SocketAddr>,
    /// Whom this daemon hands on to.
    relays: Relays,
    /// What lets hosts in that nobody has started from here.
    pub(crate) tokens: Tokens,
    /// The near ends of tunnels, by the keys of the hosts at the far ends.
    tunnels: BTreeMap<Fingerprint, SocketAddr>,
    /// Since when others refuse this host's key, and nobody accepts it.
    refused_since: Option<Instant>,
    /// This daemon joined a machine: alone it is of no use.
    joined: bool,
    alone_since: Option<Instant>,
    /// How long it may be.
    patience: Duration,
    /// What tasks have sent to other hosts.
    traffic: Traffic,
    /// Direct routes that are being made.
    routes: Routes,
    /// Keys of hosts that were taken out: they are told so when they call or are called.
    removed: BTreeMap<Fingerprint, AbortHandle>,
    /// What they are told besides: see [`pvm_core::Machine::era`].
    era: u64,
}

impl Links {
    /// No links yet.
    pub(crate) fn new(identity: Identity, wiring: Arc<Wiring>) -> Self {
        Self {
            identity,
            known: Known::default(),
            wiring,
            place: None,
            hosts: Vec::new(),
            peers: BTreeMap::new(),
            owners: BTreeMap::new(),
            newcomers: BTreeMap::new(),
            machine: None,
            relay: None,
            relays: Relays::default(),
            tokens: Tokens::default(),
            tunnels: BTreeMap::new(),
            refused_since: None,
            joined: false,
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
            bearers: self.identity.server(&Known::anybody())?,
            own: self.identity.fingerprint().clone(),
            relays: self.relays.clone(),
            tokens: self.tokens.clone(),
        };
        self.wiring.listen(listener, door);
        Ok(())
    }

    /// Uses a token at the machine that this host is to join.
    pub(crate) async fn redeem(&self, token: &Token, facts: &HostFacts) -> Result<()> {
        let config = self.identity.client(&token.fingerprint.0)?;
        redeem::call(&ways(&token.addresses, None), &config, token, facts).await
    }

    /// Calls the machine that this host is to join.
    pub(crate) fn join(&mut self, addresses: &[String], key: Fingerprint, patience: Duration) {
        self.joined = true;
        self.patience = patience;
        self.alone_since = Some(Instant::now());
        self.machine = Some((self.ways(addresses), key));
        self.call_machine();
    }

    /// Other hosts may be out of reach but for what is handed on there.
    pub(crate) const fn set_relay(&mut self, relay: SocketAddr) {
        self.relay = Some(relay);
    }

    fn ways(&self, candidates: &[String]) -> Vec<Way> {
        ways(candidates, self.relay)
    }

    /// The near end of the tunnel to the host with this key; none: there is no tunnel any more.
    pub(crate) fn set_tunnel(&mut self, key: &Fingerprint, near: Option<SocketAddr>) {
        match near {
            Some(near) => drop(self.tunnels.insert(key.clone(), near)),
            None => drop(self.tunnels.remove(key)),
        }
        self.update_relays();
    }

    /// Hosts behind tunnels reach all others through this one, and the others them.
    fn update_relays(&self) {
        if self.tunnels.is_empty() {
            return self.relays.set(BTreeMap::new());
        }
        let own = addresses::of_interfaces();
        let direct = self.hosts.iter().map(|(_, facts)| {
            let ways = addresses::in_order(&facts.addresses, &own);
            let ways = ways.into_iter().filter(|way| !way.relay).map(|way| way.at);
            (facts.key.0.clone(), ways.collect())
        });
        let tunnels = self.tunnels.iter().map(|(key, near)| (key.clone(), vec![*near]));
        self.relays.set(direct.chain(tunnels).collect());
    }

    fn call_machine(&self) {
        if let Some((ways, key)) = &self.machine
            && let Ok(config) = self.identity.client(key)
        {
            self.wiring.call(ways.clone(), key.clone(), config, None);
        }
    }

    /// This host's place is known.
    pub(crate) fn set_place(&mut self, place: Place) {
        self.place = Some(place);
        self.patience = ALONE_TIME;
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
        self.traffic.members_are(&members);
        for (_, mut peer) in self.peers.extract_if(.., |host, _| !members.contains(host)) {
            // The last thing that it is told is that it is no member any more.
            peer.pump(None);
            self.traffic.give_up(peer.streams.lanes());
        }
        self.owners.retain(|_, owner| !matches!(owner, Owner::Peer(h) if !members.contains(h)));
        let now = Instant::now();
        let mut turns = Vec::new();
        for (host, facts) in self.hosts.clone() {
            if let Some(peer) = self.peers.get_mut(&host).filter(|p| p.facts.key == facts.key) {
                peer.learn(facts);
            } else if host != place.host {
                if let Some(peer) = self.peers.remove(&host) {
                    self.traffic.give_up(peer.streams.lanes());
                }
                self.peers.insert(host, Peer::new(facts.clone(), now));
                turns.extend(self.admit(host, &facts.key.0));
            }
        }
        self.update_known();
        self.update_relays();
        self.call_missing();
        if self.joined && self.peers.is_empty() {
            self.alone_since = Some(now);
        }
        turns
    }

    /// Hosts that are no members any more: they may live and not know.
    fn part(&mut self, members: &BTreeSet<HostIndex>) {
        for (_, peer) in self.peers.iter().filter(|(host, _)| !members.contains(host)) {
            let key = peer.facts.key.0.clone();
            if let (Ok(config), false) = (self.identity.client(&key), peer.ended) {
                let ways = self.ways(&peer.facts.addresses);
                let calling = self.wiring.call(ways, key.clone(), config, None);
                self.removed.insert(key, give_up_after(calling, TELL_TIME));
            }
        }
    }

    /// How often somebody of this machine went on alone.
    pub(crate) const fn set_era(&mut self, era: u64) {
        self.era = era;
    }

    /// A daemon that was started is waited for no longer.
    pub(crate) fn give_up(&mut self, key: &Fingerprint) {
        self.newcomers.remove(key);
        self.owners.retain(|_, owner| !matches!(owner, Owner::Newcomer(_, k, _) if k == key));
        self.update_known();
    }

    fn update_known(&self) {
        let hosts = self.hosts.iter().map(|(_, facts)| facts.key.0.clone());
        let others = self.newcomers.keys().chain(self.removed.keys()).cloned();
        self.known.set(hosts.chain(others).collect());
    }

    /// Calls the hosts that wait for it.
    fn call_missing(&mut self) {
        let Some(place) = self.place else { return };
        let relay = self.relay;
        for (host, peer) in self.peers.range_mut(..place.host) {
            if peer.connection.is_some() || peer.calling.is_some() {
                continue;
            }
            let (ways, key) = (ways(&peer.facts.addresses, relay), peer.facts.key.0.clone());
            if let Ok(config) = self.identity.client(&key) {
                peer.calling = Some(self.wiring.call(ways, key, config, Some(*host)));
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

    /// Hands on what tasks here have sent to tasks of other hosts, and what machines say.
    pub(crate) fn forward(&mut self, inbox: Option<&mut Inbox>) -> Vec<Turn> {
        let Some(inbox) = inbox else {
            self.peers.values_mut().for_each(|peer| peer.pump(None));
            return Vec::new();
        };
        self.traffic.sort(inbox, &mut self.peers);
        self.peers.values_mut().for_each(|peer| peer.pump(Some(&mut *inbox)));
        let drained = self.traffic.take_drained(inbox, &mut self.peers);
        let news = |(tid, host)| Turn::News(News::Drained { tid, host });
        drained.into_iter().map(news).collect()
    }

    /// To be told when all that a task has sent to a host is there.
    pub(crate) fn drain(&mut self, tid: Tid, host: HostIndex) {
        self.traffic.drain(tid, host);
    }

    /// True when everything that tasks here have sent to tasks of other hosts is safe there.
    pub(crate) fn is_flushed(&self) -> bool {
        self.peers.values().all(Peer::is_flushed)
    }

    /// Something happened on a connection.
    pub(crate) fn handle(&mut self, event: LinkEvent, inbox: Option<&mut Inbox>) -> Vec<Turn> {
        match event {
            LinkEvent::Up { connection, fingerprint, called } => {
                self.up(connection, fingerprint, called)
            }
            LinkEvent::Frame { id, frame } => self.frame(id, frame, inbox),
            // The next round sends more.
            LinkEvent::Room => Vec::new(),
            LinkEvent::Down { id } => self.down(id),
            LinkEvent::Silent { id } => self.silent(id),
            LinkEvent::Redeem { redeem, answer } => vec![Turn::Redeem { redeem, answer }],
            LinkEvent::Direct(made) => self.direct_made(made, inbox),
            LinkEvent::Refused => {
                let member = self.place.is_some() && !self.peers.values().any(Peer::is_up);
                if member && self.refused_since.is_none() {
                    self.refused_since = Some(Instant::now());
                }
                Vec::new()
            }
        }
    }

    /// The machines have agreed on a direct route.
    pub(crate) fn route(&mut self, (local, peer): (Tid, Tid), inbox: &mut Inbox) -> Vec<Turn> {
        let now = Instant::now();
        let (end, new) = self.routes.agree((local, peer), now);
        if let Some(end) = end {
            return give(inbox, (local, peer), end);
        }
        let Some(place) = self.place.filter(|place| new && place.host > peer.host()) else {
            return Vec::new();
        };
        debug_assert_ne!(place.host, peer.host());
        let facts = self.peers.get(&peer.host()).map(|peer| &peer.facts);
        let called = facts.and_then(|facts| {
            let to = (self.ways(&facts.addresses), facts.key.0.clone());
            Some((to, self.identity.direct_client(&facts.key.0).ok()?))
        });
        match called {
            Some((to, config)) => {
                self.wiring.call_direct(to, config, (local, peer));
                Vec::new()
            }
            None => self.no_route((local, peer)),
        }
    }

    fn no_route(&mut self, (local, peer): (Tid, Tid)) -> Vec<Turn> {
        if self.routes.give_up((local, peer)) {
            vec![Turn::News(News::NoRoute { local, peer })]
        } else {
            Vec::new()
        }
    }

    fn direct_made(&mut self, made: direct::Made, inbox: Option<&mut Inbox>) -> Vec<Turn> {
        let pair = (made.local, made.peer);
        let owner = self.peers.get(&pair.1.host()).map(|peer| &peer.facts.key.0);
        // Who called speaks for the tasks of its own host only.
        if made.key.is_some() && made.key.as_ref() != owner {
            return vec![Turn::News(News::BadPeer)];
        }
        if made.route.is_none() {
            return self.no_route(pair);
        }
        match (self.routes.made(made, Instant::now()), inbox) {
            (Some(end), Some(inbox)) => give(inbox, pair, end),
            _ => Vec::new(),
        }
    }

    /// A task is gone, or its route to one task broke: what was not confirmed goes by the link.
    pub(crate) fn release(&mut self, sender: Tid, to: Option<Tid>, inbox: &mut Inbox) {
        self.traffic.add(inbox.release(sender, to));
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
                connection.send(&hello(me));
                self.owners.insert(id, Owner::Newcomer(connection, key, None));
                ready.into_iter().map(Turn::News).collect()
            }
            None if called.is_none() && self.joined && self.place.is_none() => {
                connection.send(&hello(HostIndex(0)));
                let id = connection.id;
                self.owners.insert(id, Owner::Machine(connection, HostIndex(0)));
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
        let Some(peer) = self.peers.get_mut(&host) else { return turns };
        if let Some(calling) = peer.calling.take() {
            calling.abort();
        }
        self.owners.insert(connection.id, Owner::Peer(host));
        connection.send(&hello(me));
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

    /// Nothing has come on a connection for so long that it is given up: if its host lives, there
    /// will be another one.
    fn silent(&mut self, id: u64) -> Vec<Turn> {
        let host = match self.owners.get(&id) {
            Some(Owner::Peer(host)) => Some(*host),
            _ => None,
        };
        let turns = self.down(id);
        if let Some(peer) = host.and_then(|host| self.peers.get_mut(&host)) {
            peer.down_since = Instant::now().checked_sub(SILENT_TIME);
        }
        turns
    }

    fn frame(&mut self, id: u64, frame: LinkFrame, inbox: Option<&mut Inbox>) -> Vec<Turn> {
        match self.owners.get_mut(&id) {
            None => Vec::new(),
            Some(Owner::Newcomer(_, _, hello)) => {
                *hello = Some(Box::new(frame));
                Vec::new()
            }
            Some(Owner::Machine(_, host)) => match frame {
                LinkFrame::Hello { host: theirs, .. } => {
                    *host = theirs;
                    Vec::new()
                }
                LinkFrame::Goodbye => {
                    // The machine ended before it let this host in.
                    self.machine = None;
                    self.alone_since = Some(Instant::now() - self.patience);
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
            frame => match inbox {
                Some(inbox) => message_frame(peer, inbox, way, frame),
                None => return self.bad(id),
            },
        };
        if result.is_err() { self.bad(id) } else { Vec::new() }
    }

    /// A peer said hello: it may have been away, or be new and not know its place.
    fn greet(&mut self, id: u64, host: HostIndex, hello: &LinkFrame) -> Option<Turn> {
        let LinkFrame::Hello { version, host: theirs } = hello else { return None };
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
        peer.resume();
        (self.alone_since, self.refused_since) = (None, None);
        Some(Turn::News(News::LinkUp { host }))
    }

    /// The connection over which this host got its place is the link to who told it.
    pub(crate) fn placed(&mut self, by: HostIndex) -> Vec<Turn> {
        let machine = |owner: &Owner| matches!(owner, Owner::Machine(..));
        let Some(id) = self.owners.iter().find(|(_, o)| machine(o)).map(|(id, _)| *id) else {
            return Vec::new();
        };
        let Some(Owner::Machine(connection, _)) = self.owners.remove(&id) else {
            return Vec::new();
        };
        let mut turns = self.attach(by, connection);
        turns.extend(self.greet(id, by, &hello(by)));
        turns
    }

    /// A host has said what it may not: it has to call again.
    pub(crate) fn distrust(&mut self, host: HostIndex) -> Vec<Turn> {
        let peer = self.peers.get(&host);
        let connection = peer.and_then(|peer| peer.connection.as_ref());
        let id = connection.map(|(connection, _)| connection.id);
        id.map_or_else(Vec::new, |id| self.down(id))
    }

    fn bad(&mut self, id: u64) -> Vec<Turn> {
        let mut turns = self.down(id);
        turns.push(Turn::News(News::BadPeer));
        turns
    }

    /// When a host that has no link counts as dead.
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        let alone = self.alone_since.filter(|_| self.place.is_none());
        let alone = alone.map(|since| since + self.patience);
        let refused = self.refused_since.map(|since| since + REFUSED_TIME);
        let rests = self.peers.values().filter_map(|peer| peer.streams.next_deadline());
        self.peers
            .values()
            .filter_map(deadline)
            .chain(alone)
            .chain(refused)
            .chain(rests)
            .chain(self.routes.next_deadline())
            .min()
    }

    /// Hosts without a link for too long.
    pub(crate) fn handle_timeout(&mut self, now: Instant) -> Vec<Turn> {
        let overdue = self.routes.overdue(now).into_iter();
        let no_route = |(local, peer)| Turn::News(News::NoRoute { local, peer });
        let mut turns: Vec<Turn> = overdue.map(no_route).collect();
        for (host, peer) in &mut self.peers {
            peer.streams.handle_timeout(now);
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
        let refused = self.refused_since.is_some_and(|since| since + REFUSED_TIME <= now);
        // With a place it is the machine's matter.
        let alone = self.alone_since.filter(|_| self.place.is_none());
        refused || alone.is_some_and(|since| since + self.patience <= now)
    }

    /// Tells everybody that this host ends, behind what the machine has said. Each has it when this
    /// returns, or does not answer. Somebody must take the events meanwhile.
    pub(crate) async fn goodbye(&mut self) {
        let until = Instant::now() + GOODBYE_TIME;
        while self.peers.values().any(Peer::has_unsaid) && Instant::now() < until {
            self.peers.values_mut().for_each(|peer| peer.pump(None));
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        let peers = self.peers.values_mut().filter_map(|peer| peer.connection.take());
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

/// Lets something that goes on end after a time.
fn give_up_after(what: AbortHandle, time: Duration) -> AbortHandle {
    let handle = what.clone();
    tokio::spawn(async move {
        tokio::time::sleep(time).await;
        handle.abort();
    });
    what
}

/// The ways to a host, the relay last.
fn ways(candidates: &[String], relay: Option<SocketAddr>) -> Vec<Way> {
    let direct = addresses::in_order(candidates, &addresses::of_interfaces());
    direct.into_iter().chain(relay.map(|at| Way { at, relay: true })).collect()
}

const fn hello(host: HostIndex) -> LinkFrame {
    LinkFrame::Hello { version: PROTOCOL_VERSION, host }
}

/// Hands a task its end of a route.
fn give(inbox: &mut Inbox, (local, peer): (Tid, Tid), (socket, route): End) -> Vec<Turn> {
    if inbox.give_route(local, route, socket).is_ok() {
        return Vec::new();
    }
    vec![Turn::News(News::NoRoute { local, peer })]
}

/// A peer says something about messages between tasks.
fn message_frame(
    peer: &mut Peer,
    inbox: &mut Inbox,
    way: (HostIndex, HostIndex),
    frame: LinkFrame,
) -> Result<(), Nonsense> {
    match frame {
        LinkFrame::Begin { stream, envelope, receivers, bytes } => {
            peer.begin(inbox, way, stream, (envelope, receivers, &bytes.0))
        }
        LinkFrame::More { stream, bytes } => peer.more(inbox, stream, &bytes.0),
        LinkFrame::Delivered { stream, count } => {
            peer.confirm(inbox, stream, count);
            Ok(())
        }
        LinkFrame::Again { stream } => {
            peer.streams.again(stream, Instant::now());
            Ok(())
        }
        _ => Err(Nonsense::Bytes),
    }
}

fn deadline(peer: &Peer) -> Option<Instant> {
    let since = peer.down_since.filter(|_| !peer.dead && !peer.is_up())?;
    Some(since + if peer.was_up { DEAD_TIME } else { START_TIME })
}
