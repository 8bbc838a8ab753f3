//! Tasks that wait for each other in sends, so that none of them can ever go on.
//!
//! A send that finds no credit waits until a receiver reads. Each such task reports, again after
//! each vain try, the tasks that could give it credit by reading: *any* of them would do. A set of
//! waiting tasks in which each waits only for members of the set stands still for good: a task that
//! waits in a send reads nothing. That the reports cross with credit that is on its way does not
//! deceive: a standstill is told only when each member has tried in vain once more *after* the last
//! one joined, and from then on no task was there that could have read. No time limit has a part in
//! it.
//!
//! One task of the set, the one with the highest id, is told so; its send fails and it may receive.

use pvm_wire::Tid;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug)]
struct Waiting {
    /// Each of them could end the wait by reading.
    on: BTreeSet<Tid>,
    /// When it began to wait, and its last vain try, as counts of reports.
    since: u64,
    tried: u64,
}

/// The tasks of a host that wait in sends.
#[derive(Debug, Default)]
pub struct Standstill {
    waiting: BTreeMap<Tid, Waiting>,
    reports: u64,
}

impl Standstill {
    /// No task waits.
    pub fn new() -> Self {
        Self::default()
    }

    /// A task has just tried in vain and waits for any of these to read. True if that can never
    /// happen and this task is the one to give way; then it waits no more.
    pub fn report(&mut self, task: Tid, on: BTreeSet<Tid>) -> bool {
        self.reports += 1;
        let tried = self.reports;
        let since = self.waiting.get(&task).map_or(tried, |waiting| waiting.since);
        self.waiting.insert(task, Waiting { on, since, tried });
        let gives_way = self.stands_still(task);
        if gives_way {
            self.waiting.remove(&task);
        }
        gives_way
    }

    /// A task waits no more, or is gone.
    pub fn clear(&mut self, task: Tid) {
        self.waiting.remove(&task);
    }

    /// All that a task waits for, directly or round corners, itself among them. None if one of them
    /// does not wait.
    fn reach(&self, task: Tid) -> Option<BTreeSet<Tid>> {
        let mut reached = BTreeSet::from([task]);
        let mut open = vec![task];
        while let Some(next) = open.pop() {
            for &on in &self.waiting.get(&next)?.on {
                if reached.insert(on) {
                    open.push(on);
                }
            }
        }
        Some(reached)
    }

    fn stands_still(&self, task: Tid) -> bool {
        let Some(set) = self.reach(task) else { return false };
        let members = || set.iter().filter_map(|member| self.waiting.get(member));
        let closed = members().map(|member| member.since).max().unwrap_or(0);
        // A report that waits for no task is a fault of its sender, and no standstill.
        set.len() > 1
            && set.last() == Some(&task)
            && members().all(|member| member.tried > closed)
            // Tasks that only wait for a set that stands still would not end it by giving way.
            && set.iter().all(|member| self.reach(*member).is_some_and(|set| set.contains(&task)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tid(n: u32) -> Tid {
        Tid(0x40000 + n)
    }

    fn on(tids: &[u32]) -> BTreeSet<Tid> {
        tids.iter().copied().map(tid).collect()
    }

    #[test]
    fn two_that_wait_for_each_other_are_told_after_both_have_tried_again() {
        let mut all = Standstill::new();
        assert!(!all.report(tid(1), on(&[2])));
        assert!(!all.report(tid(2), on(&[1])), "the other may have been read to meanwhile");
        assert!(!all.report(tid(2), on(&[1])), "the other has not tried since");
        assert!(!all.report(tid(1), on(&[2])), "the other one gives way");
        assert!(all.report(tid(2), on(&[1])));
        assert!(!all.report(tid(1), on(&[2])), "it may read now");
    }

    #[test]
    fn one_of_several_that_could_read_is_enough() {
        let mut all = Standstill::new();
        for _ in 0..5 {
            assert!(!all.report(tid(1), on(&[2, 3])));
            assert!(!all.report(tid(2), on(&[1])));
        }
        assert!(!all.report(tid(3), on(&[1])));
        let mut told = 0;
        for _ in 0..3 {
            told += u32::from(all.report(tid(1), on(&[2, 3])));
            told += u32::from(all.report(tid(2), on(&[1])));
            if all.report(tid(3), on(&[1])) {
                told += 1;
                break;
            }
        }
        assert_eq!(told, 1, "now the third one waits, too");
    }

    #[test]
    fn who_waits_for_others_that_stand_still_does_not_give_way_for_them() {
        let mut all = Standstill::new();
        for _ in 0..4 {
            assert!(!all.report(tid(9), on(&[1])));
            assert!(!all.report(tid(1), on(&[2])));
            if all.report(tid(2), on(&[1])) {
                return;
            }
        }
        panic!("nobody was told");
    }

    #[test]
    fn a_ring_of_senders_stands_still_and_a_chain_does_not() {
        let mut all = Standstill::new();
        for _ in 0..10 {
            for n in 1..50 {
                assert!(!all.report(tid(n), on(&[n + 1])));
            }
        }
        let mut told = Vec::new();
        for _ in 0..3 {
            told.extend((1..=50).filter(|&n| all.report(tid(n), on(&[n % 50 + 1]))));
            if !told.is_empty() {
                break;
            }
        }
        assert_eq!(told, [50]);
    }

    proptest! {
        /// Tasks send and read by turns with credits that are counted. No task is told of a
        /// standstill while any task can go on; when none can, one is told.
        #[test]
        fn told_exactly_when_nobody_can_go_on(
            picks in prop::collection::vec((0..4usize, 0..4usize, any::<bool>()), 1..300),
        ) {
            const CREDIT: usize = 2;
            let mut all = Standstill::new();
            let mut unread = [[0usize; 4]; 4];
            let mut wish: [Option<usize>; 4] = [None; 4];
            for (who, to, reads) in picks {
                match wish[who] {
                    None if reads => {
                        for row in &mut unread {
                            row[who] = row[who].saturating_sub(1);
                        }
                    }
                    None if who != to => wish[who] = Some(to),
                    _ => {}
                }
                let Some(to) = wish[who] else { continue };
                if unread[who][to] < CREDIT {
                    unread[who][to] += 1;
                    wish[who] = None;
                    all.clear(tid(who as u32));
                    continue;
                }
                if all.report(tid(who as u32), on(&[to as u32])) {
                    // By following what each waits for one must come back, never to one that is
                    // free.
                    let mut at = to;
                    for _ in 0..4 {
                        let next = wish[at];
                        prop_assert!(next.is_some_and(|next| unread[at][next] >= CREDIT));
                        at = next.unwrap_or(at);
                    }
                    wish[who] = None;
                }
            }
            // All wait and try again: as long as none is told, one of them goes on.
            for _ in 0..100 {
                let mut moved = wish.iter().any(Option::is_none);
                for who in 0..4 {
                    let Some(to) = wish[who] else { continue };
                    if unread[who][to] < CREDIT {
                        unread[who][to] += 1;
                        wish[who] = None;
                        all.clear(tid(who as u32));
                        moved = true;
                    } else if all.report(tid(who as u32), on(&[to as u32])) {
                        wish[who] = None;
                        moved = true;
                    }
                }
                if moved {
                    return Ok(());
                }
            }
            prop_assert!(false, "nobody goes on and nobody is told");
        }
    }
}
