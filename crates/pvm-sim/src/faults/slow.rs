//! Slow cables: a task puts long messages under names, and the machine goes on meanwhile.

use super::{Run, SECOND};
use crate::time::MS;
use pvm_wire::request::{Reply, Request, Role};
use pvm_wire::{Address, Blob, Encoding, Envelope, HostIndex, Message, RunList, Tid};
use std::collections::BTreeMap;

/// Bytes in a second: 10 Mb/s.
const RATE: u64 = 1_250_000;
/// `PvmMboxOverWritable`.
const OVERWRITABLE: i32 = 4;
/// The longest message of one that is put beside others.
const BYTES_MAX: u64 = 4 << 20;
/// A short put is answered within this, but for one of a hundred.
const SHORT_NS: u64 = SECOND;
/// The time that a long put may take besides the time of its bytes.
const REST_NS: u64 = 500 * MS;
/// The long put on very slow cables, and what a short one beside it may take.
const SLOWEST_BYTES: u64 = 1 << 20;
const SLOWEST_SHORT_NS: u64 = 5 * SECOND;
/// A short put beside as much as the cables take.
const BESIDE_BULK_NS: u64 = 500 * MS;
/// Bytes of tasks that always wait on a link then.
const BULK_BYTES: usize = 1 << 20;
/// The bytes of long consensus messages that may wait on one link.
const WAITING_MAX: usize = 512 << 10;

/// A task that puts one message after the other.
struct Putter {
    at: (HostIndex, u64),
    seen: usize,
    /// The time since which it waits, and for how many bytes.
    asked: Option<(u64, u64)>,
    times: Vec<(u64, u64)>,
}

impl Putter {
    fn has_answer(&mut self, run: &Run) -> Result<bool, String> {
        let replies = run.world.replies.get(&self.at).map_or(0, Vec::len);
        let Some((since, bytes)) = self.asked.filter(|_| replies > self.seen) else {
            return Ok(false);
        };
        let reply = run.world.replies[&self.at].last();
        if !matches!(reply, Some(Reply::Number { .. })) {
            return Err(format!("a put of {bytes} bytes was answered with {reply:?}"));
        }
        self.seen = replies;
        self.asked = None;
        self.times.push((bytes, run.world.now() - since));
        Ok(true)
    }

    fn put(&mut self, run: &mut Run, bytes: u64) {
        let mut envelope = Envelope::new(Tid(0), Address::untagged(Tid(0)));
        let body = vec![7; bytes as usize];
        envelope.describe(Encoding::Raw, body.len(), &RunList::new());
        let message = Message { envelope, body: Blob(body) };
        let name = Blob::from(format!("put by {} {}", self.at.0, self.at.1).as_str());
        self.seen = run.world.replies.get(&self.at).map_or(0, Vec::len);
        self.asked = Some((run.world.now(), bytes));
        run.world.request(
            self.at.0,
            self.at.1,
            Request::PutInfo { name, flags: OVERWRITABLE, message },
        );
    }
}

impl Run {
    /// Long puts from every host, one after the other, and short ones from all at the same time.
    pub(super) fn slow(&mut self) -> Result<(), String> {
        let Some(leader) = self.leader() else { return Err("nobody leads".to_owned()) };
        let term = self.leads(leader);
        let hosts = self.hosts();
        let mut short: Vec<Putter> = hosts.iter().filter_map(|&host| self.putter(host)).collect();
        let mut long: Vec<Putter> = hosts.iter().filter_map(|&host| self.putter(host)).collect();
        self.go(SECOND)?;
        self.world.cables.rate = RATE;
        let mut sizes = vec![BYTES_MAX, 1 + self.random.below(BYTES_MAX), 100 << 10];
        let mut at = self.random.below(3) as usize;
        while let Some(bytes) = sizes.pop() {
            let sent = self.world.cables.sent;
            at = (at + 1) % long.len();
            long[at].put(self, bytes);
            self.beside(&mut long[at], &mut short)?;
            self.judge_bytes(bytes, self.world.cables.sent - sent)?;
        }
        self.judge_times(&long, &short)?;
        if self.leads(leader) != term {
            return Err("the leader did not keep its place on slow cables".to_owned());
        }
        self.catch_up(leader, &mut long)?;
        self.beside_bulk()?;
        self.lag_behind(leader, &mut long)?;
        Ok(())
    }

    /// Cables of 1 Mb/s: a put of 1 MiB from each host in turn, short ones beside it.
    pub(super) fn slowest(&mut self) -> Result<(), String> {
        let Some(leader) = self.leader() else { return Err("nobody leads".to_owned()) };
        let term = self.leads(leader);
        let hosts = self.hosts();
        let mut short: Vec<Putter> = hosts.iter().filter_map(|&host| self.putter(host)).collect();
        let mut long: Vec<Putter> = hosts.iter().filter_map(|&host| self.putter(host)).collect();
        self.go(SECOND)?;
        self.world.cables.rate = RATE / 10;
        for putter in &mut long {
            putter.put(self, SLOWEST_BYTES);
            self.beside(putter, &mut short)?;
        }
        let wire = (hosts.len() as u64 - 1) * SLOWEST_BYTES * 10_000 / RATE * MS;
        let most = |putters: &[Putter]| putters.iter().flat_map(|p| &p.times).map(|t| t.1).max();
        let (long, short) = (most(&long).unwrap_or(0), most(&short).unwrap_or(0));
        if long > wire * 13 / 10 || short > SLOWEST_SHORT_NS {
            let (long, short) = (long / MS, short / MS);
            return Err(format!(
                "over very slow cables: a long put {long} ms, a short one {short}"
            ));
        }
        if self.hosts() != hosts {
            return Err("a host left on very slow cables".to_owned());
        }
        if self.leads(leader) != term {
            return Err("the leader did not keep its place on very slow cables".to_owned());
        }
        self.go(4 * SECOND)?;
        self.world.cables.rate = 0;
        Ok(())
    }

    fn putter(&mut self, host: HostIndex) -> Option<Putter> {
        let at = (host, self.world.connect(host, Role::Task)?);
        Some(Putter { at, seen: 0, asked: None, times: Vec::new() })
    }

    /// Until the long put is answered, short ones follow one another.
    fn beside(&mut self, long: &mut Putter, short: &mut [Putter]) -> Result<(), String> {
        let end = self.world.now() + 60 * SECOND;
        while !long.has_answer(self)? {
            for putter in short.iter_mut() {
                putter.has_answer(self)?;
                if putter.asked.is_none() {
                    putter.put(self, 0);
                }
            }
            self.go(10 * MS)?;
            if self.world.now() > end {
                return Err(format!("a long put has no answer: {:?}", long.asked));
            }
        }
        Ok(())
    }

    /// Each other host gets each byte once: from the host that puts to the leader, and from there.
    fn judge_bytes(&self, bytes: u64, sent: u64) -> Result<(), String> {
        let others = self.world.nodes.len() as u64 - 1;
        let most = (others + 1) * bytes * 12 / 10 + (1 << 20);
        if sent > most {
            return Err(format!("a put of {bytes} bytes made {sent} go over the cables"));
        }
        let waited = self.world.cables.most_waiting;
        if waited > WAITING_MAX {
            return Err(format!("{waited} bytes of the order waited on one link"));
        }
        Ok(())
    }

    fn judge_times(&self, long: &[Putter], short: &[Putter]) -> Result<(), String> {
        let others = self.world.nodes.len() as u64 - 1;
        for &(bytes, time) in long.iter().flat_map(|putter| &putter.times) {
            // The leader's cable carries it to all others.
            let wire = others * bytes * 1000 / RATE * MS;
            if time > wire * 13 / 10 + REST_NS {
                let (time, wire) = (time / MS, wire / MS);
                return Err(format!("a put of {bytes} bytes took {time} ms, its bytes {wire} ms"));
            }
        }
        let mut times: Vec<u64> = short.iter().flat_map(|p| &p.times).map(|t| t.1).collect();
        times.sort_unstable();
        let late = times.get(times.len() * 99 / 100).copied().unwrap_or(u64::MAX);
        if late > SHORT_NS {
            let count = times.len();
            return Err(format!("of {count} short puts a hundredth took {} ms", late / MS));
        }
        Ok(())
    }

    /// Each host sends another one as much as its cable takes: short puts go on.
    fn beside_bulk(&mut self) -> Result<(), String> {
        let hosts = self.hosts();
        let mut short: Vec<Putter> = hosts.iter().filter_map(|&host| self.putter(host)).collect();
        self.go(SECOND)?;
        let end = self.world.now() + 6 * SECOND;
        while self.world.now() < end {
            for (at, &host) in hosts.iter().enumerate() {
                let to = hosts[(at + 1) % hosts.len()];
                self.world.send_bulk(host, to, BULK_BYTES);
            }
            for putter in &mut short {
                putter.has_answer(self)?;
                if putter.asked.is_none() {
                    putter.put(self, 0);
                }
            }
            self.go(10 * MS)?;
        }
        let times = short.iter().flat_map(|p| &p.times).map(|time| time.1);
        let open = short.iter().filter_map(|putter| Some(end - putter.asked?.0));
        match times.chain(open).max() {
            Some(time) if time <= BESIDE_BULK_NS => Ok(()),
            time => Err(format!("beside bulk a short put took {time:?} ns")),
        }
    }

    /// A host that hears nothing while the others put more than any member keeps for it begins anew
    /// with their state, also without things that are gone meanwhile.
    fn lag_behind(&mut self, leader: HostIndex, long: &mut [Putter]) -> Result<(), String> {
        // The bytes that are still on the cables go first.
        self.go(4 * SECOND)?;
        self.world.cables.rate = 0;
        let others: Vec<_> = self.hosts().into_iter().filter(|&host| host != leader).collect();
        let lags = self.random.pick(&others).unwrap_or(leader);
        let Some(gone) = self.world.connect(leader, Role::Task) else { return Ok(()) };
        let Some(its) = long.iter_mut().position(|putter| putter.at.0 == lags) else {
            return Ok(());
        };
        self.go(10 * MS)?;
        let group = Request::JoinGroup { group: "lag".into() };
        self.world.request(leader, gone, group);
        self.go(100 * MS)?;
        // A put of its own task goes the same way as the missed ones: it is answered somehow.
        let delay = 100 * MS * self.random.below(2);
        for &host in self.hosts().iter().filter(|&&host| host != lags) {
            self.world.cut(host, lags, Some(3 * SECOND));
        }
        let node = self.world.nodes.get(&leader);
        let pid = node.and_then(|node| node.connections.get(&gone).copied());
        pid.into_iter().for_each(|pid| self.world.end_process(leader, pid, 0));
        self.go(delay)?;
        long[its].put(self, 10);
        for putter in long.iter_mut().filter(|putter| putter.at.0 == leader) {
            for _ in 0..3 {
                putter.put(self, BYTES_MAX / 2);
                self.beside(putter, &mut [])?;
            }
        }
        self.go(8 * SECOND)?;
        if !long[its].has_answer(self)? {
            return Err(format!("a put of host {lags}, which lagged behind, has no answer"));
        }
        let kept = self.bytes_kept();
        match kept.iter().find(|(_, bytes)| **bytes > 4 * BYTES_MAX) {
            Some((host, bytes)) => Err(format!("host {host} keeps {bytes} bytes of records")),
            None => Ok(()),
        }
    }

    /// A host that was cut off for a while is told what it has missed, and no more than that.
    fn catch_up(&mut self, leader: HostIndex, long: &mut [Putter]) -> Result<(), String> {
        let others: Vec<_> = self.hosts().into_iter().filter(|&host| host != leader).collect();
        let missing = self.random.pick(&others).unwrap_or(leader);
        self.world.cut(leader, missing, Some(2 * SECOND));
        let putter = long.iter_mut().find(|putter| putter.at.0 == leader);
        let Some(putter) = putter else { return Ok(()) };
        putter.put(self, BYTES_MAX / 2);
        self.beside(putter, &mut [])?;
        self.go(5 * SECOND)?;
        self.judge_bytes(BYTES_MAX, 0)?;
        let kept = self.bytes_kept();
        match kept.iter().find(|(_, bytes)| **bytes > 4 * BYTES_MAX) {
            Some((host, bytes)) => Err(format!("host {host} keeps {bytes} bytes of records")),
            None => Ok(()),
        }
    }

    /// Bytes of records that each host's parent keeps.
    fn bytes_kept(&self) -> BTreeMap<HostIndex, u64> {
        self.world.nodes.iter().map(|(&host, node)| (host, node.bytes_kept())).collect()
    }
}
