//! The end of a task: by its own wish, with its daemon, or in the child of a fork.
//!
//! A task is never freed, as other threads may be inside of its calls, and a handler may leave them
//! by longjmp. Its descriptors are closed by the last thread: the one that ends it, if no other one
//! waits then, else the last one that waits. Its inbox and the host's count stay mapped, as each
//! call looks at words in there before anything else: the next task of this process gets them, so
//! that a process that enrols and leaves again and again has one such pair.

use super::aside::OVER;
use super::{CURRENT, Task};
use crate::state::State;
use crate::sys;
use crate::sys::gate;
use crate::wait::Came;
use pvm_wire::Code;
use rustix::fd::AsRawFd as _;
use std::sync::atomic::Ordering;

impl Task {
    /// Leaves the machine (`pvm_exit`); the process goes on without it. Threads that wait in calls
    /// of this task are told [`Code::SysErr`].
    ///
    /// # Errors
    /// [`Code::SysErr`] if the daemon is gone; the task has left all the same.
    pub fn leave(&self) -> Result<(), Code> {
        // What it has computed since its last wait is held to the processor's clock.
        self.turns.await_turn();
        let left = self.enter().and_then(|mut state| {
            state.end_routes();
            state.connection.say_goodbye()
        });
        self.end();
        left
    }

    /// Leaves without a word: threads that wait find the task dead.
    fn end(&self) {
        self.aside.set(OVER);
        self.turns.end();
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
            // This very thread was waiting when a handler ended the task, or left a wait by
            // longjmp.
            self.close_descriptors();
        }
    }

    /// A thread begins to wait; none if the task is over.
    #[inline]
    pub(super) fn come_in(&self) -> Option<Came> {
        let came = self.waiter.come_in()?;
        // A thread that has ended the task before that saw nobody, so this look counts.
        if !self.is_alive() {
            self.go_out(came);
            return None;
        }
        Some(came)
    }

    /// It waits no more.
    #[inline]
    pub(super) fn go_out(&self, came: Came) {
        if self.waiter.go_out(came) {
            self.close();
        }
    }

    /// Nobody waits any more and nobody will: closes and unmaps all that the task had. The task is
    /// leaked, so only this does.
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
        self.mappings.give();
    }

    /// Closes the descriptors, and does nothing else: the memory is not this process's, or may be
    /// looked at.
    pub(super) fn close_descriptors(&self) {
        let watch = self.watch.get().map(|watch| watch.as_raw_fd());
        let routes = Some(self.waiter.routes.load(Ordering::Relaxed)).filter(|fd| *fd >= 0);
        let own = self.other_descriptors.into_iter().chain([self.bell.as_raw_fd()]);
        own.chain(watch).chain(routes).for_each(sys::close);
    }
}
