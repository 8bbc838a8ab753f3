//! The hosts that may call this daemon: members, hosts that it started, and hosts that are to hear
//! that they were taken out.

use crate::link::connection::Connection;
use crate::link::frames::LinkFrame;
use crate::link::{GOODBYE_TIME, Links, Owner, ShellEvent, TELL_TIME, hello};
use crate::tls::Fingerprint;
use pvm_core::io::News;
use pvm_wire::peer::HostFacts;
use pvm_wire::{HostIndex, PROTOCOL_VERSION};
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::task::AbortHandle;

impl Links {
    /// A daemon was started: its key may connect. It is ready when it has.
    pub(crate) fn expect(&mut self, ticket: u64, facts: HostFacts) {
        let key = facts.key.0.clone();
        self.newcomers.insert(key, Some(News::HostReady { ticket, facts }));
        self.update_known();
    }

    /// A daemon that was started is waited for no longer.
    pub(crate) fn give_up(&mut self, key: &Fingerprint) {
        self.newcomers.remove(key);
        self.owners.retain(|_, owner| !matches!(owner, Owner::Newcomer(_, k, _) if k == key));
        self.update_known();
    }

    /// Hosts that are no members any more: they may live and not know.
    pub(super) fn part(&mut self, members: &BTreeSet<HostIndex>) {
        for (_, peer) in self.peers.all().filter(|(host, _)| !members.contains(host)) {
            let key = peer.facts.key.0.clone();
            if !peer.near && !peer.is_up() {
                // Others tell it; here it hears of it if it calls.
                self.removed.insert(key, None);
            } else if let (Ok(config), false) = (self.identity.client(&key), peer.ended) {
                let ways = self.endpoints(&peer.facts.addresses);
                let calling = self.wiring.call(ways, key.clone(), config, None);
                self.removed.insert(key, Some(give_up_after(calling, TELL_TIME)));
            }
        }
    }

    pub(super) fn update_known(&self) {
        let hosts = self.hosts.iter().map(|(_, facts)| facts.key.0.clone());
        let others = self.newcomers.keys().chain(self.removed.keys()).cloned();
        self.known.set(hosts.chain(others).collect());
    }

    /// A daemon that was started has a place: tells it so, now or when it connects.
    pub(super) fn admit(&mut self, host: HostIndex, key: &Fingerprint) -> Vec<ShellEvent> {
        self.newcomers.remove(key);
        let waiting = |owner: &Owner| matches!(owner, Owner::Newcomer(_, k, _) if k == key);
        let Some(id) = self.owners.iter().find(|(_, o)| waiting(o)).map(|(id, _)| *id) else {
            return Vec::new();
        };
        let Some(Owner::Newcomer(connection, _, hello)) = self.owners.remove(&id) else {
            return Vec::new();
        };
        let mut events = self.attach(host, connection, true);
        events.extend(hello.into_iter().filter_map(|hello| self.greet(id, host, &hello)));
        events
    }

    pub(super) fn up(
        &mut self,
        connection: Connection,
        key: Fingerprint,
        called: Option<HostIndex>,
    ) -> Vec<ShellEvent> {
        let host = self.peers.all().find(|(_, peer)| peer.facts.key.0 == key).map(|(host, _)| host);
        match host {
            Some(host) => {
                let by_higher = self.is_higher(host) == called.is_none();
                self.attach(host, connection, by_higher)
            }
            None if self.newcomers.contains_key(&key) => {
                let ready = self.newcomers.get_mut(&key).and_then(Option::take);
                let id = connection.id;
                let me = self.place.map_or(HostIndex(0), |place| place.host);
                connection.send(&hello(me));
                self.owners.insert(id, Owner::Newcomer(connection, key, None));
                ready.into_iter().map(ShellEvent::News).collect()
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

    /// The connection over which this host got its place becomes the link to the host that told it.
    pub(crate) fn placed(&mut self, by: HostIndex) -> Vec<ShellEvent> {
        let machine = |owner: &Owner| matches!(owner, Owner::Machine(..));
        let Some(id) = self.owners.iter().find(|(_, o)| machine(o)).map(|(id, _)| *id) else {
            return Vec::new();
        };
        let Some(Owner::Machine(connection, _)) = self.owners.remove(&id) else {
            return Vec::new();
        };
        let mut events = self.attach(by, connection, true);
        events.extend(self.greet(id, by, &hello(by)));
        events
    }

    /// A peer said hello: it may have been away, or be new and not know its place.
    pub(super) fn greet(
        &mut self,
        id: u64,
        host: HostIndex,
        hello: &LinkFrame,
    ) -> Option<ShellEvent> {
        let LinkFrame::Hello { version, host: theirs } = hello else { return None };
        let place = self.place?;
        let peer = self.peers.get_mut(host)?;
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
        Some(ShellEvent::News(News::LinkUp { host }))
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
