//! The ranks of a job, and the progress of each.

use super::cluster::Cluster;
use pvm_wire::Tid;
use std::collections::BTreeMap;
use std::time::Instant;

/// One rank.
#[derive(Debug, Default)]
pub(super) struct Rank {
    /// None before it is started.
    pub(super) tid: Option<Tid>,
    /// The name of its host.
    host: String,
    /// It has found its keeper, and said by which call it will leave.
    pub(super) entered: Option<String>,
    /// It has left.
    pub(super) left: bool,
    /// It has ended without failing.
    pub(super) ended: bool,
    /// It has ended, and its parent may tell how until then.
    pub(super) silent: Option<Instant>,
    /// It is to be killed.
    pub(super) unwanted: bool,
    /// Its host has gone.
    pub(super) cut: bool,
}

impl Rank {
    /// The fault of the rank's end, as far as it is known now; `any` says whether any rank has
    /// found the keeper.
    pub(super) fn complaint(&self, any: bool) -> Option<String> {
        match &self.entered {
            _ if self.left => None,
            _ if !self.ended => None,
            Some(call) if call.is_empty() => None,
            Some(call) => Some(format!("ended without calling {call}")),
            None if any => Some("ended without joining the others".to_owned()),
            None => None,
        }
    }
}

/// All ranks, cluster by cluster.
#[derive(Debug, Default)]
pub(super) struct Ranks {
    ranks: Vec<Rank>,
    /// The first rank of each cluster, and how many it has.
    clusters: Vec<(usize, usize)>,
    by_tid: BTreeMap<Tid, usize>,
}

impl Ranks {
    /// Makes room for the ranks of a cluster behind those that there are; gives the first.
    pub(super) fn add(&mut self, cluster: &Cluster) -> usize {
        let (first, count) = (self.ranks.len(), cluster.ranks as usize);
        self.ranks.resize_with(first + count, Rank::default);
        self.clusters.push((first, count));
        first
    }

    /// The first cluster, the only one that there is, gets this many ranks.
    pub(super) fn resize_first(&mut self, count: usize) {
        if let [(_, ranks)] = &mut self.clusters[..] {
            *ranks = count;
            self.ranks.resize_with(count, Rank::default);
        }
    }

    /// This rank is this task, of a host with this name.
    pub(super) fn set(&mut self, rank: usize, tid: Tid, host: String) {
        if let Some(one) = self.ranks.get_mut(rank) {
            (one.tid, one.host) = (Some(tid), host);
            self.by_tid.insert(tid, rank);
        }
    }

    /// The number of ranks, started or not.
    pub(super) fn len(&self) -> usize {
        self.ranks.len()
    }

    /// The rank of a task.
    pub(super) fn rank(&self, tid: Tid) -> Option<usize> {
        self.by_tid.get(&tid).copied()
    }

    pub(super) fn get_mut(&mut self, tid: Tid) -> Option<&mut Rank> {
        let rank = self.rank(tid)?;
        self.ranks.get_mut(rank)
    }

    pub(super) fn get(&self, tid: Tid) -> Option<&Rank> {
        self.ranks.get(self.rank(tid)?)
    }

    /// The ranks that a cluster has beside its first one, if that is `tid`.
    pub(super) fn others_of(&self, tid: Tid) -> Option<std::ops::Range<usize>> {
        let rank = self.rank(tid)?;
        let &(first, count) = self.clusters.iter().find(|&&(first, _)| first == rank)?;
        Some(first + 1..first + count)
    }

    /// The first rank of a task's cluster, which has forked the others.
    pub(super) fn first_of(&self, tid: Tid) -> Option<Tid> {
        let rank = self.rank(tid)?;
        let mut clusters = self.clusters.iter();
        let &(first, _) =
            clusters.find(|&&(first, count)| (first..first + count).contains(&rank))?;
        self.ranks.get(first)?.tid
    }

    /// All are started.
    pub(super) fn is_complete(&self) -> bool {
        self.ranks.iter().all(|rank| rank.tid.is_some())
    }

    /// Some rank has found the keeper.
    pub(super) fn any_entered(&self) -> bool {
        self.ranks.iter().any(|rank| rank.entered.is_some())
    }

    /// The ranks whose ends are nothing to be content with.
    pub(super) fn complaints(&self) -> Option<(Tid, String)> {
        let any = self.any_entered();
        let mut complaints = self.ranks.iter();
        complaints.find_map(|rank| Some((rank.tid?, rank.complaint(any)?)))
    }

    /// The forked rank whose parent has been silent for longest, and until when it may be.
    pub(super) fn first_silent(&self) -> Option<(Instant, Tid)> {
        let stay = self.ranks.iter().filter(|rank| !rank.left);
        stay.filter_map(|rank| Some((rank.silent?, rank.tid?))).min()
    }

    /// By rank, as far as they are started.
    pub(super) fn tids(&self) -> Vec<Tid> {
        self.ranks.iter().filter_map(|rank| rank.tid).collect()
    }

    pub(super) fn cluster_sizes(&self) -> Vec<i32> {
        self.clusters.iter().map(|&(_, count)| i32::try_from(count).unwrap_or(i32::MAX)).collect()
    }

    /// The names of all hosts, and for each rank which of them.
    pub(super) fn places(&self) -> (Vec<String>, Vec<i32>) {
        let mut hosts: Vec<String> = Vec::new();
        let mut place = |rank: &Rank| {
            let known = hosts.iter().position(|host| *host == rank.host);
            let at = known.unwrap_or_else(|| {
                hosts.push(rank.host.clone());
                hosts.len() - 1
            });
            i32::try_from(at).unwrap_or(0)
        };
        let places = self.ranks.iter().map(&mut place).collect();
        (hosts, places)
    }

    /// A task for people.
    pub(super) fn describe(&self, tid: Tid) -> String {
        let Some((rank, one)) = self.rank(tid).and_then(|at| Some((at, self.ranks.get(at)?)))
        else {
            return tid.to_string();
        };
        format!("rank {rank} ({tid} on {})", one.host)
    }
}
