//! Waiting for a message of a member that may die, or leave, before it sends one.

use crate::pattern::Pattern;
use crate::state::State;
use crate::sys::Pinned;
use crate::task::Task;
use crate::wait::{Awaited, Deadline, WaitToken, Watched};
use pvm_shm::Roster;
use pvm_shm::sync::AtomicU64;
use pvm_wire::request::Request;
use pvm_wire::{Code, Tid};

/// The context of notices that a member of another host is gone and that nothing more comes from
/// it.
const CONTEXT: i32 = 0x7_fffb;
/// `PvmTaskExit`
const TASK_EXIT: i32 = 1;

/// One such wait. It owns nothing; [`Vigil::end`] ends it.
#[derive(Clone, Copy, Debug)]
pub struct Vigil<'a> {
    group: &'a [u8],
    pub(super) from: Tid,
    pub(super) awaited: Awaited,
    watched: Option<(Pinned<AtomicU64>, u64)>,
    begun: bool,
    /// It was asked whether the member, of another host, is gone.
    asked: bool,
}

impl<'a> Vigil<'a> {
    /// The vigil for a message of `from`, a member of `group`.
    pub fn new(group: &'a [u8], from: Tid) -> Self {
        let awaited = Awaited::new(Deadline::Never, Some(from));
        Self { group, from, awaited, watched: None, begun: false, asked: false }
    }

    /// True if no message will come any more but those that a look from now on finds.
    ///
    /// # Errors
    /// As for [`Task::request`].
    pub fn is_in_vain(&mut self, task: &Task) -> Result<bool, Code> {
        if !self.begun {
            self.begun = true;
            task.begin_group_wait();
        }
        let is_member = {
            let mut state = task.enter()?;
            let State { groups, connection, .. } = &mut *state;
            let Some(known) = groups.find(connection, self.group, true) else {
                // The group is gone, nobody here can tell, or the daemon is writing the page: a
                // thread that is woken for the departure may look just then, and nobody rings once
                // it is written.
                let unfinished = groups.unfinished();
                self.watched = unfinished.map(|(roster, version)| watched(roster, version));
                return Ok(false);
            };
            self.watched = Some(watched(&known.roster, known.version));
            known.members.tids.contains(&self.from)
        };
        if is_member {
            return Ok(false);
        }
        if self.from.host() == task.tid().host() {
            return Ok(true);
        }
        // Its messages may be on their way; the notice comes behind them.
        let tag = (self.from.0 & 0x3fff_ffff).cast_signed();
        if !std::mem::replace(&mut self.asked, true) {
            let (kind, context, tids) = (TASK_EXIT, CONTEXT, vec![self.from]);
            let notify = Request::Notify { kind, cancel: false, context, tag, count: 0, tids };
            task.request(&notify)?;
        }
        let notice = Pattern { context: CONTEXT, source: None, tag: Some(tag) };
        Ok(task.receive(&notice)?.is_some())
    }

    /// The token for the sleep behind the next look.
    pub fn narrow(&mut self, task: &Task, token: WaitToken) -> WaitToken {
        let watched = self.watched.map(|(word, version)| Watched::new(word.get(), !0, version));
        let token = self.awaited.narrow(task.tid(), token);
        watched.map_or(token, |watched| token.with(watched))
    }

    /// It waits no more.
    pub fn end(self, task: &Task) {
        if self.begun {
            task.end_group_wait();
        }
    }
}

fn watched(roster: &Roster, version: u64) -> (Pinned<AtomicU64>, u64) {
    (Pinned::new(roster.table().version_word()), version)
}
