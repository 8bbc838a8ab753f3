//! A place for a buffer, which is what a buffer number stands for.
//!
//! Places are never given back, only emptied: whoever remembers one may look at it at any time, and
//! finds it empty if another thread has freed the buffer meanwhile. An empty place keeps the little
//! memory that the next small message needs.

use pvm::{Buffer, Gate, Owner, Remains, SwiftGuard};
use pvm_wire::Code;

/// A buffer and how it is used.
pub(crate) struct Content {
    /// The buffer.
    pub(crate) buffer: Buffer,
    /// True once it is read from: packing into it then begins anew, as in PVM.
    pub(crate) reading: bool,
    /// For a message that stays in the queue and is only shown: its length.
    pub(crate) shown: Option<usize>,
}

impl Content {
    /// Bytes as `pvm_bufinfo` tells them.
    pub(crate) fn size(&self) -> usize {
        self.shown.unwrap_or_else(|| self.buffer.reported_size())
    }
}

/// What lies in a place, or lay there and was freed.
pub(crate) struct Place {
    pub(crate) content: Content,
    live: bool,
}

impl Place {
    /// What lies here is somebody's from now on.
    #[inline(always)]
    pub(crate) const fn take(&mut self) {
        self.live = true;
    }

    /// It is nobody's any more. It was plain, so that nothing is left to be dropped.
    #[inline(always)]
    pub(crate) fn vacate(&mut self) {
        self.live = false;
        let remains = self.content.buffer.vacate();
        debug_assert!(remains.is_none());
    }
}

/// A place, which one thread at a time looks at.
pub(crate) struct Slot(Gate<Place>);

impl Slot {
    /// An empty place.
    pub(crate) fn new() -> Self {
        let content = Content { buffer: Buffer::vacant(), reading: false, shown: None };
        Self(Gate::new(Place { content, live: false }))
    }

    /// Runs `body` on what is here; `NoSuchBuf` if nothing is.
    #[inline(always)]
    pub(crate) fn content<T>(&self, body: impl FnOnce(&mut Content) -> T) -> Result<T, Code> {
        let mut place = self.0.enter()?;
        if place.live { Ok(body(&mut place.content)) } else { Err(Code::NoSuchBuf) }
    }

    /// What is here; none if nothing is, or another thread looks.
    #[inline(always)]
    pub(crate) fn enter_swiftly<O: Owner>(&self, owner: O) -> Option<SwiftGuard<'_, Place, O>> {
        let place = self.0.enter_swiftly(owner)?;
        if place.live { Some(place) } else { None }
    }

    /// The same where nothing is.
    #[inline(always)]
    pub(crate) fn enter_vacant_swiftly<O: Owner>(
        &self,
        owner: O,
    ) -> Option<SwiftGuard<'_, Place, O>> {
        let place = self.0.enter_swiftly(owner)?;
        if place.live { None } else { Some(place) }
    }

    /// Runs `body` on the buffer.
    #[inline(always)]
    pub(crate) fn with<T>(&self, body: impl FnOnce(&mut Buffer) -> T) -> Result<T, Code> {
        self.content(|content| body(&mut content.buffer))
    }

    /// Runs `body` on the buffer, which begins anew if it has been read from.
    #[inline(always)]
    pub(crate) fn write<T>(&self, body: impl FnOnce(&mut Buffer) -> T) -> Result<T, Code> {
        self.content(|content| {
            if content.reading {
                content.reading = false;
                content.shown = None;
                let encoding = content.buffer.encoding();
                content.buffer.begin(encoding);
            }
            body(&mut content.buffer)
        })
    }

    /// The same with another buffer at hand. Two threads may pack each other's, so the places are
    /// taken in one order.
    pub(crate) fn write_beside<T>(
        &self,
        other: &Self,
        body: impl FnOnce(&mut Buffer, &Buffer) -> T,
    ) -> Result<T, Code> {
        if std::ptr::from_ref(self) < std::ptr::from_ref(other) {
            self.write(|own| other.with(|other| body(own, other)))?
        } else {
            other.with(|other| self.write(|own| body(own, other)))?
        }
    }

    /// True if nothing is here.
    pub(crate) fn is_empty(&self) -> bool {
        self.content(|_| ()) == Err(Code::NoSuchBuf)
    }

    /// Puts something here, whatever was here before.
    #[inline]
    pub(crate) fn put(&self, content: Content) -> Result<(), Code> {
        let mut place = self.0.enter()?;
        *place = Place { content, live: true };
        Ok(())
    }

    /// Receives into the buffer, whatever was here before. The place is empty if `receive` gives
    /// nothing.
    #[inline]
    pub(crate) fn receive(
        &self,
        receive: impl FnOnce(&mut Buffer) -> Result<bool, Code>,
    ) -> Result<bool, Code> {
        let mut place = self.0.enter()?;
        let received = receive(&mut place.content.buffer);
        place.live = received == Ok(true);
        (place.content.reading, place.content.shown) = (true, None);
        let remains = if place.live { None } else { place.content.buffer.vacate() };
        drop(place);
        drop(remains);
        received
    }

    /// Frees what is here; false if nothing was. What it leaves is to be dropped when no lock is
    /// held.
    pub(crate) fn free(&self) -> Result<(bool, Option<Remains>), Code> {
        let mut place = self.0.enter()?;
        let live = std::mem::replace(&mut place.live, false);
        Ok((live, if live { place.content.buffer.vacate() } else { None }))
    }

    /// Takes the buffer out; none if nothing is here.
    pub(crate) fn take(&self) -> Result<Option<Buffer>, Code> {
        let mut place = self.0.enter()?;
        if !std::mem::replace(&mut place.live, false) {
            return Ok(None);
        }
        Ok(Some(std::mem::replace(&mut place.content.buffer, Buffer::vacant())))
    }

    /// In the child of a fork: what lies in shared memory is not there any more, and nothing of it
    /// is touched. True if something is still here.
    pub(crate) fn reset_after_fork(&self) -> bool {
        self.0.reset_after_fork();
        let Ok(mut place) = self.0.enter() else { return false };
        if !place.content.buffer.is_private() {
            std::mem::forget(std::mem::replace(&mut place.content.buffer, Buffer::vacant()));
            place.live = false;
        }
        place.live
    }
}
