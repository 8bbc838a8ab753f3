//! The descriptor that a program waits on by itself (`pvm_getfds`), and the doorbell behind it.

use super::Task;
use super::aside::DESCRIPTOR;
use crate::route::watch_too;
use crate::state::State;
use crate::sys;
use pvm_wire::Code;
use rustix::event::epoll;
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::net::SocketAddrUnix;
use std::os::fd::RawFd;
use std::sync::atomic::Ordering;

impl Task {
    /// One descriptor that is readable when something has arrived that no receive or probe has
    /// looked at, and when the daemon is gone (`pvm_getfds`). It stays the task's.
    ///
    /// # Errors
    /// [`Code::OutOfRes`] if the process has no descriptor left.
    pub fn descriptor(&self) -> Result<RawFd, Code> {
        let mut state = self.live()?.enter()?;
        // This task itself rings it, too.
        self.waiter.bind();
        if self.watch.get().is_none() {
            let watch = self.new_watch().map_err(|_| Code::OutOfRes)?;
            let _ = self.watch.set(watch);
        }
        self.waiter.watched.store(true, Ordering::Release);
        self.aside.set(DESCRIPTOR);
        self.rewatch(&mut state, false);
        Ok(self.watch.get().expect("set above").as_raw_fd())
    }

    fn new_watch(&self) -> rustix::io::Result<OwnedFd> {
        let watch = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let data = epoll::EventData::new_u64(0);
        epoll::add(&watch, &self.bell, data, epoll::EventFlags::IN)?;
        // The threads that ask read the answers on the socket; only its end concerns the program.
        epoll::add(&watch, sys::borrow(self.waiter.socket), data, epoll::EventFlags::RDHUP)?;
        let routes = self.waiter.routes.load(Ordering::Acquire);
        if routes >= 0 {
            watch_too(&watch, routes);
        }
        Ok(watch)
    }

    /// Called after a wait that took the rings off the doorbell and the messages out of the lanes,
    /// at the end of a call that is no look: see [`Task::rewatch`].
    pub(crate) fn watch_again(&self) {
        if self.waiter.watched.load(Ordering::Acquire)
            && let Ok(mut state) = self.enter()
        {
            self.rewatch(&mut state, false);
        }
    }

    /// Keeps the descriptor's promise: readable while something is there that was not looked at,
    /// else armed so that the next sender rings. Called at the end of a call only: a wait after it
    /// would end at once.
    pub(super) fn rewatch(&self, state: &mut State, looked: bool) {
        if !self.waiter.watched.load(Ordering::Acquire) {
            return;
        }
        let arrived = state.mailbox.arrived();
        if looked {
            self.looked.store(arrived, Ordering::Release);
        }
        self.waiter.quiet();
        let unseen = !state.mailbox.is_empty() && arrived > self.looked.load(Ordering::Relaxed);
        // A look that was long has left the rest in the lanes.
        let unseen = unseen || state.inlet.holds_more();
        if (unseen || !self.waiter.arm(None))
            && let Ok(address) = SocketAddrUnix::new(self.welcome.doorbell.0.as_slice())
        {
            // A full doorbell is readable already.
            state.outbox.ring(&address);
        }
    }

    /// Makes the descriptor readable, and wakes the thread that sleeps on it.
    pub(super) fn ring(&self, state: &State) {
        if let Ok(address) = SocketAddrUnix::new(self.welcome.doorbell.0.as_slice()) {
            // A full doorbell is readable already.
            state.outbox.ring(&address);
        }
    }
}
