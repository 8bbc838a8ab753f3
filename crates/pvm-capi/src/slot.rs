//! A place for a buffer, which is what a buffer number stands for.
//!
//! Places are never given back, only emptied: a thread that remembers one may look at it at any
//! time, and finds it empty if another thread has freed the buffer meanwhile. An empty place keeps
//! the little memory that the next small message needs.

use std::ops::{Deref, DerefMut};

use pvm::{Biased, Buffer, FastGuard, Forked, Form, Gate, GateGuard, Owner, Remains};
use pvm_wire::{Address, Code, Context, Encoding, Envelope, Kind, Tag};

/// A buffer and how it is used.
pub(crate) struct Content {
    /// The buffer.
    pub(crate) buffer: Buffer,
    /// True once it is read from: as in PVM, packing into it then begins anew in default encoding,
    /// and goes on behind what is there in others, or if bytes or another message's items are
    /// packed first.
    pub(crate) reading: bool,
    /// The owner of the message.
    pub(crate) role: Role,
}

/// The role of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    /// The program's.
    Own,
    /// The queue's, where it stays: only its head is here, and its length.
    Probed(usize),
    /// The queue's: it waits among those that a matching function was [shown](crate::held), under
    /// this number. As in PVM, the program may free it there.
    Held(u64),
}

impl Content {
    /// It is packed from now on, with items of `first`.
    fn begin_packing(&mut self, first: Kind) {
        self.reading = false;
        let is_probed = matches!(self.role, Role::Probed(_));
        let encoding = self.buffer.encoding();
        let goes_on = first == Kind::Byte || matches!(encoding, Encoding::Raw | Encoding::InPlace);
        if !is_probed && goes_on {
            return;
        }
        if is_probed {
            self.role = Role::Own;
        }
        let Envelope { src, dst, tag, context, wait_id, .. } = self.buffer.envelope();
        self.buffer.begin(encoding);
        let about = Envelope {
            wait_id,
            ..Envelope::new(src, Address::new(dst, Tag(tag), Context(context)))
        };
        self.buffer.edit(|envelope| *envelope = about);
    }

    /// Bytes as `pvm_bufinfo` tells them.
    pub(crate) fn size(&self) -> usize {
        match self.role {
            Role::Probed(size) => size,
            Role::Own | Role::Held(_) => self.buffer.reported_size(),
        }
    }
}

/// The form and use of a buffer, as one number, for calls that know few forms: each change of a
/// place sets it anew. It is [`Mode::OTHER`] where no buffer lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Mode(u8);

/// The buffer is read from.
const READ: u8 = 8;

impl Mode {
    /// A mode that is none of the others.
    pub(crate) const OTHER: Self = Self(0);
    /// The buffer is packed, in default encoding.
    pub(crate) const PACKS_DEFAULT: Self = Self::of(Form::Default, false);
    /// The buffer is packed, raw.
    pub(crate) const PACKS_RAW: Self = Self::of(Form::Raw, false);
    /// The buffer is packed, in place.
    pub(crate) const PACKS_IN_PLACE: Self = Self::of(Form::InPlace, false);
    /// The buffer is packed, raw, and is a message of typed items that was received.
    pub(crate) const PACKS_TYPED: Self = Self::of(Form::Typed, false);

    /// The mode of a buffer of this form.
    #[inline]
    pub(crate) const fn of(form: Form, reading: bool) -> Self {
        Self(form as u8 | if reading && !matches!(form, Form::Other) { READ } else { 0 })
    }

    /// The mode without the mark of buffers that are read.
    #[inline]
    pub(crate) const fn form(self) -> Self {
        Self(self.0 & !READ)
    }
}

/// The content of a place, or what lay there and was freed.
pub(crate) struct SlotState {
    pub(crate) content: Content,
    live: bool,
    pub(crate) mode: Mode,
}

impl SlotState {
    const fn vacant() -> Self {
        let content = Content { buffer: Buffer::vacant(), reading: false, role: Role::Own };
        Self { content, live: false, mode: Mode::OTHER }
    }

    /// The content is in use from now on.
    #[inline]
    pub(crate) fn take(&mut self) {
        self.live = true;
        self.settle();
    }

    /// The content has changed.
    #[inline]
    pub(crate) fn settle(&mut self) {
        self.mode = match self.content.role {
            Role::Own if self.live => Mode::of(self.content.buffer.form(), self.content.reading),
            _ => Mode::OTHER,
        };
    }

    /// The content is in use no more. It was plain, so that nothing is left to be dropped.
    #[inline]
    pub(crate) fn vacate(&mut self) {
        (self.live, self.mode) = (false, Mode::OTHER);
        let remains = self.content.buffer.vacate();
        debug_assert!(remains.is_none());
    }
}

/// Receives into a slot; the remains are dropped when no thread holds the slot any more.
fn receive_into(
    mut place: impl DerefMut<Target = SlotState>,
    receive: impl FnOnce(&mut Buffer) -> Result<bool, Code>,
) -> Result<bool, Code> {
    let received = receive(&mut place.content.buffer);
    place.live = received == Ok(true);
    (place.content.reading, place.content.role) = (true, Role::Own);
    let remains = if place.live { None } else { place.content.buffer.vacate() };
    drop(place);
    drop(remains);
    received
}

/// A place on a long way, which may change anything there.
struct SlotGuard<'a>(GateGuard<'a, SlotState>);

impl Deref for SlotGuard<'_> {
    type Target = SlotState;
    fn deref(&self) -> &SlotState {
        &self.0
    }
}

impl DerefMut for SlotGuard<'_> {
    fn deref_mut(&mut self) -> &mut SlotState {
        &mut self.0
    }
}

impl Drop for SlotGuard<'_> {
    fn drop(&mut self) {
        self.0.settle();
    }
}

/// A place, which one thread at a time looks at.
pub(crate) struct Slot(Gate<SlotState>);

impl Slot {
    /// An empty place.
    pub(crate) const fn new() -> Self {
        Self(Gate::new(SlotState::vacant()))
    }

    fn enter(&self) -> Result<SlotGuard<'_>, Code> {
        self.0.enter().map(SlotGuard)
    }

    /// Runs `body` on the content; `NoSuchBuf` if there is none.
    #[inline]
    pub(crate) fn content<T>(&self, body: impl FnOnce(&mut Content) -> T) -> Result<T, Code> {
        let mut place = self.enter()?;
        if place.live { Ok(body(&mut place.content)) } else { Err(Code::NoSuchBuf) }
    }

    /// The place with its content; none if it is empty, or another thread looks.
    #[inline]
    pub(crate) fn try_enter<O: Owner>(&self, owner: O) -> Option<FastGuard<'_, SlotState, O>> {
        let place = self.0.try_enter(owner)?;
        if place.live { Some(place) } else { None }
    }

    /// The place with its content, present or former: its mode tells.
    #[inline]
    pub(crate) fn enter_biased(&self, owner: Biased) -> Option<FastGuard<'_, SlotState, Biased>> {
        self.0.try_enter(owner)
    }

    /// The empty place; none if something is here, or another thread looks.
    #[inline]
    pub(crate) fn try_enter_vacant<O: Owner>(
        &self,
        owner: O,
    ) -> Option<FastGuard<'_, SlotState, O>> {
        let place = self.0.try_enter(owner)?;
        if place.live { None } else { Some(place) }
    }

    /// Runs `body` on the buffer.
    #[inline]
    pub(crate) fn with<T>(&self, body: impl FnOnce(&mut Buffer) -> T) -> Result<T, Code> {
        self.content(|content| body(&mut content.buffer))
    }

    /// Runs `body` on the buffer, to pack into it items of which the first are of `first`.
    #[inline]
    pub(crate) fn write<T>(
        &self,
        first: Kind,
        body: impl FnOnce(&mut Buffer) -> T,
    ) -> Result<T, Code> {
        self.content(|content| {
            if content.reading {
                content.begin_packing(first);
            }
            body(&mut content.buffer)
        })
    }

    /// Like `write`, with another buffer at hand. Two threads may pack each other's, so the places
    /// are taken in one order.
    pub(crate) fn write_beside<T>(
        &self,
        other: &Self,
        first: Kind,
        body: impl FnOnce(&mut Buffer, &Buffer) -> T,
    ) -> Result<T, Code> {
        if std::ptr::from_ref(self) < std::ptr::from_ref(other) {
            self.write(first, |own| other.with(|other| body(own, other)))?
        } else {
            other.with(|other| self.write(first, |own| body(own, other)))?
        }
    }

    /// True if nothing is here.
    pub(crate) fn is_empty(&self) -> bool {
        self.content(|_| ()) == Err(Code::NoSuchBuf)
    }

    /// Puts something here, whatever was here before.
    #[inline]
    pub(crate) fn put(&self, content: Content) -> Result<(), Code> {
        let mut place = self.enter()?;
        (place.content, place.live) = (content, true);
        Ok(())
    }

    /// Receives into the place of a number that was reserved for it. It stays empty if `receive`
    /// gives nothing.
    pub(crate) fn receive(
        &self,
        receive: impl FnOnce(&mut Buffer) -> Result<bool, Code>,
    ) -> Result<bool, Code> {
        receive_into(self.enter()?, receive)
    }

    /// Like `receive`, into a buffer that is here, which is given up in any case; `receive` is
    /// given back where another thread has freed it: its number may be given out again, so nobody
    /// may receive into this place.
    #[inline]
    pub(crate) fn receive_again<F: FnOnce(&mut Buffer) -> Result<bool, Code>>(
        &self,
        receive: F,
    ) -> Result<Result<bool, Code>, F> {
        match self.enter() {
            Ok(place) if place.live => Ok(receive_into(place, receive)),
            Ok(_) => Err(receive),
            Err(code) => Ok(Err(code)),
        }
    }

    /// Frees the content; false if there was none. The remains are to be dropped when no lock is
    /// held.
    pub(crate) fn free(&self) -> Result<(bool, Option<Remains>), Code> {
        let mut place = self.enter()?;
        let live = std::mem::replace(&mut place.live, false);
        Ok((live, if live { place.content.buffer.vacate() } else { None }))
    }

    /// Takes the buffer out; none if none of this role is here.
    pub(crate) fn take(&self, role: Role) -> Result<Option<Buffer>, Code> {
        let mut place = self.enter()?;
        if !place.live || place.content.role != role {
            return Ok(None);
        }
        place.live = false;
        Ok(Some(std::mem::replace(&mut place.content.buffer, Buffer::vacant())))
    }

    /// In the child of a fork: a buffer in shared memory is not there any more, and nothing of it
    /// is touched. True if something is still here.
    pub(crate) fn reset_after_fork(&self, forked: &Forked) -> bool {
        self.0.reset_fast_after_fork(forked, SlotState::vacant);
        let Ok(mut place) = self.enter() else { return false };
        if !place.content.buffer.is_private() {
            std::mem::forget(std::mem::replace(&mut place.content.buffer, Buffer::vacant()));
            place.live = false;
        }
        place.live
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_that_another_thread_has_freed_is_not_received_into() {
        let slot = Slot::new();
        let one = |buffer: &mut Buffer| {
            buffer.begin(Encoding::Raw);
            Ok(true)
        };
        assert!(slot.receive_again(one).is_err(), "nothing is here yet");
        assert_eq!(slot.receive(one), Ok(true));
        assert!(slot.receive_again(one).is_ok_and(|received| received == Ok(true)));
        assert!(slot.free().expect("nobody is in").0);
        assert!(slot.receive_again(one).is_err(), "its number may be another's");
        assert!(slot.content(|_| ()).is_err(), "and nothing has come to life here");
    }

    #[test]
    fn what_is_packed_behind_what_was_read_keeps_it_in_raw_encoding_or_if_it_is_bytes() {
        for (encoding, kind, size) in [
            (Encoding::Raw, Kind::Int, 8),
            (Encoding::Default, Kind::Int, 4),
            (Encoding::Default, Kind::Byte, 8),
        ] {
            let slot = Slot::new();
            let mut buffer = Buffer::new(encoding);
            buffer.pack(Kind::Int, &[1, 0, 0, 0]).expect("room");
            buffer.edit(|about| about.tag = 51);
            slot.put(Content { buffer, reading: true, role: Role::Own }).expect("nobody is in");
            let packed = slot.write(kind, |buffer| buffer.pack(kind, &[2, 0, 0, 0]));
            assert_eq!(packed, Ok(Ok(())));
            let told = slot.with(|buffer| (buffer.reported_size(), buffer.envelope().tag));
            assert_eq!(told, Ok((size, 51)), "{encoding:?} {kind:?}");
        }
    }
}
