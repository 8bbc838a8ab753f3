//! Sends that signal handlers have asked for while their thread was in the library.

use std::cell::Cell;
use std::ffi::c_int;
use std::sync::atomic::{AtomicUsize, Ordering};

use pvm_wire::Code;

/// A send that a signal handler asked for while this thread was in the library.
#[derive(Clone, Copy)]
pub(crate) struct Parcel {
    /// The code that knows how to send it.
    pub(crate) send: fn(Self) -> Result<(), Code>,
    /// The buffer, 0 where nothing is to be sent.
    pub(crate) buffer: c_int,
    /// The receiver.
    pub(crate) tid: c_int,
    /// The tag.
    pub(crate) tag: c_int,
    /// The context.
    pub(crate) context: c_int,
}

impl Parcel {
    const NONE: Self = Self { send: |_| Ok(()), buffer: 0, tid: 0, tag: 0, context: 0 };
}

/// The most sends that wait; a handler that makes more gets `PvmAlready`.
pub(crate) const PARCELS: usize = 32;

/// Sends that wait until the interrupted call leaves. A handler may be interrupted by another one,
/// so places are taken in one step; the call that leaves the library comes after all of them.
pub(crate) struct Parcels {
    taken: AtomicUsize,
    places: [Cell<Parcel>; PARCELS],
}

impl Parcels {
    pub(super) const fn none() -> Self {
        Self { taken: AtomicUsize::new(0), places: [const { Cell::new(Parcel::NONE) }; PARCELS] }
    }

    /// True if none waits.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.taken.load(Ordering::Relaxed) == 0
    }

    /// Takes as many places as there are parcels, or none.
    pub(crate) fn add(&self, count: usize, parcel: impl Fn(usize) -> Parcel) -> Result<(), Code> {
        let more = |taken: usize| Some(taken + count).filter(|&sum| sum <= PARCELS);
        let first = self
            .taken
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, more)
            .map_err(|_| Code::Already)?;
        for (i, place) in self.places[first..first + count].iter().enumerate() {
            place.set(parcel(i));
        }
        Ok(())
    }

    /// Forgets the parcels, which have been sent; false if there are more than so many.
    fn empty(&self, taken: usize) -> bool {
        self.taken.compare_exchange(taken, 0, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// Sends all, also those that are added meanwhile, and returns the last failure.
    #[cold]
    pub(crate) fn send_all(&self) -> Option<Code> {
        let mut failure = None;
        let mut next = 0;
        loop {
            let taken = self.taken.load(Ordering::Relaxed);
            if next == taken {
                if self.empty(taken) {
                    return failure;
                }
                continue;
            }
            // Left empty: a handler that longjmp ends between taking a place and filling it must
            // not repeat what was here before.
            let parcel = self.places[next].replace(Parcel::NONE);
            next += 1;
            if parcel.buffer != 0 {
                failure = (parcel.send)(parcel).err().or(failure);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::thread::here;

    thread_local! {
        static SENT: Cell<c_int> = const { Cell::new(0) };
    }

    fn parcel(tag: c_int) -> Parcel {
        let send = |parcel: Parcel| {
            SENT.set(SENT.get().wrapping_mul(10).wrapping_add(parcel.tag));
            // A handler that runs while this is being sent.
            if parcel.tag == 1 {
                here(|thread| thread.parcels.add(1, |_| self::parcel(3)))?;
            }
            if parcel.tag == 2 { Err(Code::NoSuchBuf) } else { Ok(()) }
        };
        Parcel { send, buffer: 1, tid: 2, tag, context: 0 }
    }

    #[test]
    fn parcels_are_sent_once_in_order_and_their_failure_is_told() {
        here(|thread| {
            thread.parcels.add(2, |i| parcel([1, 2][i])).expect("room");
            assert_eq!(thread.parcels.send_all(), Some(Code::NoSuchBuf));
            assert_eq!(SENT.get(), 123);
            assert!(thread.parcels.is_empty());
            assert_eq!(thread.parcels.send_all(), None);
        });
    }

    #[test]
    fn parcels_that_do_not_fit_are_refused_together() {
        here(|thread| {
            thread.parcels.add(PARCELS - 1, |_| parcel(4)).expect("room");
            assert_eq!(thread.parcels.add(2, |_| parcel(5)), Err(Code::Already));
            thread.parcels.add(1, |_| parcel(4)).expect("room for one");
            thread.parcels.send_all();
        });
    }
}
