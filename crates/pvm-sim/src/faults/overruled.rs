//! Entries of an earlier term that a majority has and that are overruled all the same.
//!
//! With three voters: A leads and can reach no other host when it gets more than may be under way
//! at a time. C is elected by B, and cut off before B hears its first entry. A is elected by B, and
//! its old entries come to B, a majority; the first entry of A's new term does not. Then B hears C
//! again, whose log ends in a later term than B's: C leads, and the entries that A had brought to B
//! are overruled. So none of them may count as committed (Ongaro and Ousterhout, "In Search of an
//! Understandable Consensus Algorithm", 2014, figure 8).

use super::{Run, SECOND};
use crate::time::MS;
use pvm_wire::request::{Request, Role};
use pvm_wire::{Address, Envelope, HostIndex, Message};

/// A latency so long that cuts fit between the sending of a message and its arrival.
const LATENCY: u64 = 20 * MS;
/// Puts that are ordered as a whole each, and together are more than a leader lets be under way.
const INTS: usize = 7000;
const PUTS: usize = 12;

impl Run {
    pub(super) fn overruled(&mut self) -> Result<(), String> {
        self.world.latency = LATENCY;
        for _ in 0..2 {
            // Their puts would make A send more than one message at once.
            self.actors.rest();
            self.go(SECOND)?;
            self.overrule()?;
            // The links come back before any silent host is taken out.
            self.heal_all();
            self.actors.go_on();
            self.go(8 * SECOND)?;
        }
        Ok(())
    }

    fn heal_all(&mut self) {
        for (a, b) in self.world.links.cuts().into_iter().chain(self.world.links.deaf()) {
            self.heal(a, b);
        }
    }

    /// Ends early if another host than intended is elected, or a host was taken out.
    fn overrule(&mut self) -> Result<(), String> {
        let hosts = self.hosts();
        let Some(a) = self.leader().filter(|_| hosts.len() == 3) else { return Ok(()) };
        let others: Vec<HostIndex> = hosts.into_iter().filter(|&host| host != a).collect();
        let first = self.leads(a).unwrap_or(0);
        for &other in &others {
            self.world.cut(a, other, None);
        }
        self.put_much(a)?;
        let Some(c) = self.elected(&others, first)? else { return Ok(()) };
        let Some(&b) = others.iter().find(|&&host| host != c) else { return Ok(()) };
        let second = self.leads(c).unwrap_or(0);
        self.world.cut(b, c, None);
        self.heal(a, b);
        if self.elected(&[a], second)?.is_none() {
            return Ok(());
        }
        // A asks B how far it is, which lacks what was before, and asks again. What B lacks comes
        // next, as much as may be under way; the answer to it still comes to A, and nothing of A's
        // to B any more.
        self.go(LATENCY * 11 / 2)?;
        self.world.deafen(a, b, 30 * SECOND);
        self.go(LATENCY)?;
        self.world.cut(a, b, None);
        self.heal(b, c);
        let third = self.leads(a).unwrap_or(second);
        self.elected(&[c], third).map(drop)
    }

    /// Tasks on this host put a lot; no task waits for the answers.
    fn put_much(&mut self, host: HostIndex) -> Result<(), String> {
        let tasks: Vec<_> =
            (0..PUTS).filter_map(|_| self.world.connect(host, Role::Task)).collect();
        self.go(10 * MS)?;
        for (number, connection) in tasks.into_iter().enumerate() {
            let node = self.world.nodes.get(&host);
            let task = node.and_then(|node| node.tasks().find(|task| task.0 == connection));
            let Some((_, tid)) = task else { return Ok(()) };
            let message =
                Message::of_ints(Envelope::new(tid, Address::untagged(tid)), &vec![1; INTS]);
            let name = format!("much {number}").as_str().into();
            self.world.request(host, connection, Request::PutInfo { name, flags: 0, message });
        }
        self.go(10 * MS)
    }
}
