//! The sleep of a wait, on the doorbell and the sockets.

use super::{Deadline, WaitToken, Waiter, Woken, for_one};
use crate::probe::waits;
use crate::sys;
use crate::sys::cancellation::{Descriptor, HeldBefore, sleep_until_ready};
use pvm_shm::inbox::Header;
use pvm_shm::lock_word::Number;
use pvm_shm::probe::RECORDS;
use pvm_wire::Code;
use rustix::io::Errno;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// A task that cannot bind its doorbell (the disk is full) looks this often.
const MUTE: Duration = Duration::from_millis(5);
/// A thread that sleeps until a word in a roster changes looks at the word this often: a task that
/// has changed it rings for all, but a debugger may stop that task before the ring.
const RECHECK: Duration = Duration::from_secs(1);
/// A thread that sleeps looks at all lanes this often: a task that scribbles over the inbox may
/// erase the mark of the sleeper, or that of a message.
const OVERLOOKED: Duration = Duration::from_secs(10);

impl Waiter {
    /// Sleeps until somebody rings, the socket has something, a signal comes, or the time is over.
    /// The caller is the sleeper, and holds signals until the sleep lets them in.
    pub(super) fn sleep(
        &self,
        (me, held): (Number, &HeldBefore),
        deadline: Deadline,
        generation: &AtomicU32,
        token: WaitToken,
    ) -> Result<Woken, Code> {
        self.bind();
        if self.is_time_for_all() {
            self.inbox.header().put_back(u64::MAX);
            return Ok(Woken::Look);
        }
        let source = token.source();
        if !self.arm(source) {
            return Ok(Woken::Look);
        }
        Header::look_again();
        if generation.load(Ordering::SeqCst) != token.generation || token.is_over() {
            self.inbox.disarm(&self.activity);
            return Ok(Woken::Look);
        }
        self.sleep_armed((me, held), deadline, token)
    }

    /// True each time that [`OVERLOOKED`] is over, as far as this task sleeps at all: signals may
    /// end each sleep long before.
    fn is_time_for_all(&self) -> bool {
        let now = sys::clock_ms();
        let since = now.saturating_sub(self.looked_at_all_ms.load(Ordering::Relaxed));
        let is_over = Duration::from_millis(since) >= OVERLOOKED;
        if is_over {
            self.looked_at_all_ms.store(now, Ordering::Relaxed);
        }
        is_over
    }

    fn sleep_armed(
        &self,
        (me, held): (Number, &HeldBefore),
        deadline: Deadline,
        token: WaitToken,
    ) -> Result<Woken, Code> {
        let source = token.source();
        let left = deadline.left();
        // Without a doorbell nobody can wake this thread, so it looks.
        let mute = !self.bound.load(Ordering::Relaxed);
        let again = match token.watched {
            _ if mute => MUTE,
            _ if source.is_some() => token.left_for_one(),
            Some(_) => RECHECK,
            None => OVERLOOKED,
        };
        let timeout = Some(left.map_or(again, |left| left.min(again)));
        let routes = self.routes.load(Ordering::Acquire);
        // Without routes the socket is listed a second time: the list has a fixed length.
        let routes = if routes < 0 { self.socket } else { routes };
        let mut list = [self.bell, self.socket, routes].map(Descriptor::new);
        let noted = self.inbox.probes().load(Ordering::Relaxed) & RECORDS != 0;
        let polled = waits::sleep(noted, || sleep_until_ready(&mut list, timeout, held));
        // A handler that has slept meanwhile has disarmed; another thread may have armed since.
        if self.sleeper.is(me) {
            self.inbox.disarm(&self.activity);
        }
        match polled {
            Ok(0) if !deadline.passed() => {
                if source.is_some() {
                    for_one::has_slept_long();
                }
                Ok(Woken::Look)
            }
            Ok(0) => Ok(Woken::Late),
            Ok(_) => {
                let [bell, socket, _] = list.map(Descriptor::is_ready);
                if bell {
                    self.quiet();
                }
                Ok(if socket { Woken::Socket } else { Woken::Look })
            }
            Err(Errno::INTR) => Ok(Woken::Look),
            Err(_) => Err(Code::SysErr),
        }
    }
}
