//! A place for a buffer, which is what a buffer number stands for.
//!
//! Places are never given back, only emptied: whoever remembers one may look at it at any time, and
//! finds it empty if another thread has freed the buffer meanwhile.

use pvm::{Buffer, Gate};
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

/// A place, which one thread at a time looks at.
pub(crate) struct Slot(Gate<Option<Content>>);

impl Slot {
    /// A place that is not known to anybody yet.
    pub(crate) const fn new(content: Content) -> Self {
        Self(Gate::new(Some(content)))
    }

    /// Runs `body` on what is here; `NoSuchBuf` if nothing is.
    #[inline]
    pub(crate) fn content<T>(&self, body: impl FnOnce(&mut Content) -> T) -> Result<T, Code> {
        match &mut *self.0.enter()? {
            Some(content) => Ok(body(content)),
            None => Err(Code::NoSuchBuf),
        }
    }

    /// Runs `body` on the buffer.
    #[inline]
    pub(crate) fn with<T>(&self, body: impl FnOnce(&mut Buffer) -> T) -> Result<T, Code> {
        self.content(|content| body(&mut content.buffer))
    }

    /// Runs `body` on the buffer, which begins anew if it has been read from.
    #[inline]
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

    /// Puts something else here if something is here; the old one is returned, or the new one if
    /// there was none.
    pub(crate) fn replace(&self, content: Content) -> Result<Result<Content, Content>, Code> {
        Ok(match &mut *self.0.enter()? {
            Some(old) => Ok(std::mem::replace(old, content)),
            None => Err(content),
        })
    }

    /// Puts something here, or nothing, whatever was here before.
    pub(crate) fn set(&self, content: Option<Content>) -> Result<Option<Content>, Code> {
        Ok(std::mem::replace(&mut *self.0.enter()?, content))
    }

    /// In the child of a fork: what lies in shared memory is not there any more, and nothing of it
    /// is touched. True if something is still here.
    pub(crate) fn reset_after_fork(&self) -> bool {
        self.0.reset_after_fork();
        let Ok(mut content) = self.0.enter() else { return false };
        if content.as_ref().is_some_and(|content| content.buffer.is_private()) {
            return true;
        }
        std::mem::forget(content.take());
        false
    }
}
