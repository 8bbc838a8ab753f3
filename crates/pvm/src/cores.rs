//! Leaving a core that another task of the machine needs while a core is free.
//!
//! The kernel chooses a core for a task when it wakes. Two tasks that wait for each other on one
//! core hand it to and fro and never sleep, so they stay there: for 100 to 300 ms, until the
//! kernel's balance of load takes pity (measured; a message cost ten times as much meanwhile). The
//! host's count of awake tasks on each core tells them.

use pvm_shm::activity::Activity;
use pvm_shm::trial::Trial;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::time::Duration;

/// A task that has moved does not do so again within this, and within four times as long each time
/// that it was of no use.
const PAUSES: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(32));

/// When a task may move.
#[derive(Debug, Default)]
pub(crate) struct Moves(Trial);

impl Moves {
    /// Moves this thread from this core to one that it may use and on which no task of the machine
    /// is awake; returns that core, if there is one. `tell` tells the others first.
    pub(crate) fn leave(
        &self,
        now: Duration,
        here: u32,
        activity: &Activity,
        tell: impl FnOnce(u32),
    ) -> Option<u32> {
        if !self.0.is_due(now) {
            return None;
        }
        // A task that wants to move again soon has moved in vain.
        self.0.in_vain((now, now), PAUSES);
        let allowed = sched_getaffinity(None).ok()?;
        let free = |core: &usize| allowed.is_set(*core) && activity.count_on(*core as u32) <= 0;
        let core = (0..CpuSet::MAX_CPU).find(|core| *core != here as usize && free(core))?;
        tell(core as u32);
        let mut there = CpuSet::new();
        there.set(core);
        sched_setaffinity(None, &there).ok()?;
        // It has moved; from now on the kernel may choose again.
        restore(&there, &allowed);
        Some(core as u32)
    }

    /// True for a while after a move, or a try.
    #[cfg(test)]
    pub(crate) fn has_tried(&self, now: Duration) -> bool {
        !self.0.is_due(now)
    }
}

/// Takes this thread's confinement to `there` back: it may use the cores again that it was allowed.
///
/// The kernel keeps what a thread asks for beside the cores of its group (a *cpuset*), which may
/// grow. A thread that asked for nothing has to ask for all again, or it would stay on the cores
/// that its group had. If others have confined it meanwhile, that is left.
fn restore(there: &CpuSet, allowed: &CpuSet) {
    let is = |cores: &CpuSet| sched_getaffinity(None).is_ok_and(|now| now == *cores);
    if !is(there) {
        return;
    }
    let mut all = CpuSet::new();
    (0..CpuSet::MAX_CPU).for_each(|core| all.set(core));
    // Errors leave nothing to be done: a thread may always ask for cores that it is allowed.
    let _ = sched_setaffinity(None, &all);
    if !is(allowed) {
        let _ = sched_setaffinity(None, allowed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pvm_shm::inbox::Inbox;
    use pvm_shm::segment::{Mapping, create};
    use rustix::thread::sched_getcpu;
    use std::sync::Arc;

    fn segment(size: usize) -> Arc<Mapping> {
        let fd = create(size).expect("memory");
        Arc::new(Mapping::new(fd, size, true).expect("memory"))
    }

    #[test]
    fn a_task_moves_where_nobody_is_awake_and_may_use_all_its_cores_again() {
        let allowed = sched_getaffinity(None).expect("its own");
        let activity = Activity::new(segment(Activity::SIZE));
        let here = sched_getcpu() as u32;
        let others = (0..CpuSet::MAX_CPU).filter(|core| allowed.is_set(*core));
        let others: Vec<_> = others.map(|core| core as u32).filter(|core| *core != here).collect();
        let neighbours: Vec<_> = others
            .iter()
            .map(|core| {
                let inbox = Inbox::new(segment(Inbox::SIZE));
                inbox.start(&activity);
                inbox.settle_on(&activity, *core);
                inbox
            })
            .collect();
        let now = Duration::from_secs(1);
        let nowhere = Moves::default().leave(now, here, &activity, |_| panic!("all are taken"));
        assert_eq!(nowhere, None);

        let Some((inbox, free)) = neighbours.last().zip(others.last()) else {
            return; // a computer with one core
        };
        assert!(inbox.arm(&activity));
        let (moves, mut told) = (Moves::default(), None);
        assert_eq!(moves.leave(now, here, &activity, |core| told = Some(core)), Some(*free));
        assert_eq!(told, Some(*free));
        assert_eq!(sched_getaffinity(None).expect("its own"), allowed);
        assert_eq!(moves.leave(now, here, &activity, |_| panic!("so soon again")), None);
    }

    #[test]
    fn cores_that_others_chose_for_a_task_while_it_moved_were_forgotten() {
        let allowed = sched_getaffinity(None).expect("its own");
        let (mut here, here_core) = (CpuSet::new(), sched_getcpu());
        here.set(here_core);
        let with_one = |cores: &CpuSet| {
            sched_setaffinity(None, &here).expect("one of its own");
            restore(&here, cores);
            sched_getaffinity(None).expect("its own")
        };
        assert_eq!(with_one(&allowed), allowed);
        assert_eq!(with_one(&here), here, "it had confined itself");
        // Others have set all while it moved; that it had one before is past.
        sched_setaffinity(None, &allowed).expect("its own");
        if allowed != here {
            let mut past = allowed;
            past.unset(here_core);
            restore(&here, &past);
        }
        assert_eq!(sched_getaffinity(None).expect("its own"), allowed);
    }
}
