//! The end of a task: by its own wish, with its daemon, or in the child of a fork.
//!
//! A task is never freed, as other threads may be inside of its calls, and a handler may leave them by longjmp. What it
//! has open is closed by whoever comes last: the thread that ends it, if no other one waits then, else the last one of those. Its
//! inbox and the host's count stay mapped, as each call looks at words in there before anything else: the next task of this
//! process gets them, so that a process that enrols and leaves again and again has one such pair.

use super::{CURRENT, Task};
use crate::connection::Connection;
use crate::state::State;
use crate::sys;
use crate::sys::gate::{self, Gate};
use pvm_shm::Broker as _;
use pvm_shm::activity::Activity;
use pvm_shm::inbox::Inbox;
use pvm_shm::segment::Mapping;
use pvm_wire::Code;
use pvm_wire::request::ACTIVITY_SEGMENT;
use rustix::fd::{AsRawFd as _, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Where a task has its inbox and the host's count mapped: for ever, as it is looked at without a lock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    inbox: &'static Mapping,
    activity: &'static Mapping,
    /// The process that it is in.
    process: u32,
}

/// Those of tasks that are over.
static PLACES: Gate<Vec<Place>> = Gate::new(Vec::new());

impl Place {
    /// The inbox and the host's count, mapped: where the last task had them, if that is over.
    pub(super) fn map(
        inbox: &OwnedFd,
        connection: &mut Connection,
    ) -> Result<(Inbox, Activity, Self), Code> {
        let (_, activity) = connection.map(ACTIVITY_SEGMENT)?;
        let mapped = match Self::take() {
            Some(old) => old.inbox.replace(inbox).and_then(|inbox| {
                let activity = old.activity.replace(&activity)?;
                Ok((inbox, activity))
            }),
            None => Mapping::new(inbox, Inbox::SIZE, true).and_then(|inbox| {
                let activity = Mapping::new(&activity, Activity::SIZE, true)?;
                Ok((Arc::new(inbox), Arc::new(activity)))
            }),
        };
        let (inbox, activity) = mapped.map_err(|_| Code::NoMem)?;
        let process = std::process::id();
        let place = Self { inbox: for_ever(&inbox), activity: for_ever(&activity), process };
        Ok((Inbox::new(inbox), Activity::new(activity), place))
    }

    fn take() -> Option<Self> {
        // A child of a fork has the list of its parent and not the mappings.
        let process = std::process::id();
        let mut places = PLACES.enter().ok()?;
        places.retain(|place| place.process == process);
        places.pop()
    }

    /// For the next task.
    pub(super) fn give(self) {
        if let Ok(mut places) = PLACES.enter() {
            places.push(self);
        }
    }
}

fn for_ever(mapping: &Arc<Mapping>) -> &'static Mapping {
    Box::leak(Box::new(mapping.clone()))
}

impl Task {
    /// Leaves the machine (`pvm_exit`); the process goes on without it. Threads that wait in calls of this task are told
    /// [`Code::SysErr`].
    ///
    /// # Errors
    /// [`Code::SysErr`] if the daemon is gone; the task has left all the same.
    pub fn leave(&self) -> Result<(), Code> {
        let left = self.enter().and_then(|mut state| {
            state.end_routes();
            state.connection.say_goodbye()
        });
        self.end();
        left
    }

    /// Leaves without a word: whoever waits finds the task dead.
    fn end(&self) {
        self.alive.store(false, Ordering::Release);
        CURRENT.clear(self);
        if let Ok(state) = self.state.enter()
            && let Some(state) = &*state
        {
            // The other end sees an end of file, and so does a thread that waits here.
            let _ = rustix::net::shutdown(state.connection.socket(), rustix::net::Shutdown::Both);
        }
        self.lost();
        if self.waiter.shut() {
            self.close();
        } else if gate::is_alone() && !self.closed.swap(true, Ordering::AcqRel) {
            // This very thread was waiting when a handler ended the task, or left a wait by longjmp.
            self.close_descriptors();
        }
    }

    /// A thread begins to wait; false if the task is over.
    #[inline]
    pub(super) fn come_in(&self) -> bool {
        // A handler that ends the task between the two sees nobody, so the second look counts.
        self.waiter.come_in()
            && (self.is_alive() || {
                self.go_out();
                false
            })
    }

    /// It waits no more.
    #[inline]
    pub(super) fn go_out(&self) {
        if self.waiter.go_out() {
            self.close();
        }
    }

    /// Nobody waits any more and nobody will: closes and unmaps what the task had. The task is leaked, so only this does.
    #[cold]
    fn close(&self) {
        // A handler that interrupted this thread inside leaves it to the end of the process.
        let Ok(mut guard) = self.state.enter() else { return };
        if self.closed.swap(true, Ordering::AcqRel) {
            return;
        }
        let state = guard.take();
        drop(guard);
        if let Some(mut state) = state {
            if self.has_group_waits() {
                // Some thread may look at a roster between two waits.
                std::mem::forget(std::mem::take(&mut state.groups));
            }
            drop::<State>(state);
        }
        let watch = self.watch.get().map(|watch| watch.as_raw_fd());
        watch.into_iter().chain([self.bell.as_raw_fd()]).for_each(sys::close);
        self.place.give();
    }

    /// Closes what is open, and nothing else: the memory is not this process's, or may be looked at.
    fn close_descriptors(&self) {
        let watch = self.watch.get().map(|watch| watch.as_raw_fd());
        let routes = Some(self.waiter.routes.load(Ordering::Relaxed)).filter(|fd| *fd >= 0);
        let own = self.other_descriptors.into_iter().chain([self.bell.as_raw_fd()]);
        own.chain(watch).chain(routes).for_each(sys::close);
    }
}

pub(super) extern "C" fn forked() {
    after_fork();
}

/// In the child of a fork: it is no task. Its parent's descriptors are closed, its mappings are
/// not there.
pub fn after_fork() {
    if let Some(task) = CURRENT.get() {
        task.alive.store(false, Ordering::Release);
        CURRENT.clear(task);
        // A thread of the parent may have been at work there; then they stay open until exec, as routes are shut down
        // by their end, not by their last descriptor.
        if let Some(state) = task.state.enter_if_free()
            && let Some(state) = &*state
        {
            state.close_routes();
        }
        if !task.closed.swap(true, Ordering::AcqRel) {
            task.close_descriptors();
        }
    }
}
