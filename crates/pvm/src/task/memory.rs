//! Exposed memory: memory of this task that others read and write, and memory of theirs.

use super::Task;
use super::asking::ANSWER;
use crate::memory::{ExposedMemory, Memory};
use crate::wait::Deadline;
use pvm_shm::exposed::Exposed;
use pvm_wire::request::{Change, MEMORY_BYTES_MAX, Reply, Request};
use pvm_wire::{Blob, Code, Tid};
use std::collections::VecDeque;

/// Pieces on their way to or from another host at the same time.
const PIECES: usize = 4;

impl Task {
    /// Exposes fresh memory, all 0, under a number of this task's own. All tasks of the machine may
    /// read it with [`Task::get`] and, if `writable`, write it with [`Task::put`], while this task
    /// does something else. It goes with the task.
    ///
    /// # Errors
    /// [`Code::BadParam`] for no bytes, [`Code::Already`] for a number in use, [`Code::NoMem`],
    /// [`Code::NotImpl`] where the kernel (before Linux 5.1) cannot keep others from writing.
    pub fn expose(&self, number: u32, bytes: u64, writable: bool) -> Result<Memory, Code> {
        if bytes == 0 {
            return Err(Code::BadParam);
        }
        let segment = {
            let mut state = self.live()?.enter()?;
            state.connection.ask_segment(&Request::Expose { number, bytes })?
        };
        match Exposed::own(segment, writable) {
            Ok(exposed) => {
                let memory = Memory { address: exposed.address(), bytes: exposed.bytes() };
                self.memories.add_own(number, exposed)?;
                Ok(memory)
            }
            Err(code) => {
                let _ = self.request(&Request::Withdraw { number });
                Err(code)
            }
        }
    }

    /// The memory that this task exposes under a number, mapped for as long as the caller wants it:
    /// for languages whose views outlive [`Task::withdraw`].
    ///
    /// # Errors
    /// [`Code::NotFound`].
    pub fn hold(&self, number: u32) -> Result<ExposedMemory, Code> {
        self.memories.own(number)?.map(ExposedMemory).ok_or(Code::NotFound)
    }

    /// Exposes it no more; its address is of no more use here. Others are told
    /// [`Code::NotFound`] from now on.
    ///
    /// # Errors
    /// [`Code::NotFound`].
    pub fn withdraw(&self, number: u32) -> Result<(), Code> {
        let own = self.memories.remove_own(number)?;
        let withdrawn = self.done(&Request::Withdraw { number });
        drop(own);
        withdrawn
    }

    /// The number of bytes that a task exposes under this number, and whether others may write
    /// them.
    ///
    /// # Errors
    /// As for [`Task::get`].
    pub fn exposed(&self, owner: Tid, number: u32) -> Result<(u64, bool), Code> {
        if owner.host() == self.tid().host() {
            // The owner may always write; others are asked about.
            let exposed = if owner == self.tid() {
                self.map_exposed(owner, number)?
            } else {
                self.exposed_memory(owner, number)?
            };
            return Ok((exposed.bytes() as u64, exposed.is_writable()));
        }
        match self.request(&Request::DescribeMemory { owner, number })? {
            Reply::Exposed { bytes, writable } => Ok((bytes, writable)),
            _ => Err(Code::DSysErr),
        }
    }

    /// Reads exposed memory of any task of the machine, without its taking part. On one host it
    /// copies the memory; four or eight bytes at a multiple of their number are read as a whole,
    /// and a reader of what a `put` wrote sees what was put before, too. Between hosts the host of
    /// the owner answers, in pieces of [`MEMORY_BYTES_MAX`].
    ///
    /// # Errors
    /// [`Code::NotFound`] if nothing is exposed under this number, [`Code::NoTask`] if its owner is
    /// gone, [`Code::HostFail`] if its host is, [`Code::BadParam`] for bytes that are not all
    /// inside. The bytes that were read then are not defined.
    pub fn get(&self, owner: Tid, number: u32, offset: u64, out: &mut [u8]) -> Result<(), Code> {
        if owner.host() == self.tid().host() && owner.is_task() {
            return self.exposed_memory(owner, number)?.get(offset, out);
        }
        check_owner(owner)?;
        if out.is_empty() {
            return self.look_for_nothing((owner, number), offset).map(drop);
        }
        let pieces = out.chunks_mut(MEMORY_BYTES_MAX);
        let ask = |piece: &&mut [u8], offset| {
            let bytes = u32::try_from(piece.len()).unwrap_or(u32::MAX);
            Request::GetMemory { owner, number, offset, bytes }
        };
        self.in_pieces(offset, pieces, ask, |piece: &mut [u8], reply| match reply {
            Reply::Memory { bytes } if bytes.0.len() == piece.len() => {
                piece.copy_from_slice(&bytes.0);
                Ok(())
            }
            _ => Err(Code::DSysErr),
        })
    }

    /// Writes exposed memory of any task of the machine, without its taking part. It is done when
    /// it returns: a later read there gives these bytes.
    ///
    /// # Errors
    /// As for [`Task::get`]; [`Code::Denied`] if others may only read. Some of it may be written
    /// then.
    pub fn put(&self, owner: Tid, number: u32, offset: u64, bytes: &[u8]) -> Result<(), Code> {
        if owner.host() == self.tid().host() && owner.is_task() {
            return self.exposed_memory(owner, number)?.put(offset, bytes);
        }
        check_owner(owner)?;
        if bytes.is_empty() {
            let writable = self.look_for_nothing((owner, number), offset)?;
            return if writable { Ok(()) } else { Err(Code::Denied) };
        }
        let ask = |piece: &&[u8], offset| {
            let bytes = Blob(piece.to_vec());
            Request::PutMemory { owner, number, offset, bytes }
        };
        self.in_pieces(offset, bytes.chunks(MEMORY_BYTES_MAX), ask, |_, reply| match reply {
            Reply::Done => Ok(()),
            _ => Err(Code::DSysErr),
        })
    }

    /// Changes a word of exposed memory of any task of the machine in one indivisible step, and
    /// gives its value before (zeros above four bytes). On one host it is one instruction of the
    /// processor; between hosts the parent process of the owner's host does it, once for each call
    /// that returns.
    ///
    /// # Errors
    /// As for [`Task::put`]; [`Code::BadParam`] for a word that is not at a multiple of its size.
    /// After [`Code::HostFail`] the word may have been changed or not.
    pub fn change(
        &self,
        owner: Tid,
        number: u32,
        offset: u64,
        change: Change,
    ) -> Result<u64, Code> {
        if owner.host() == self.tid().host() && owner.is_task() {
            return self.exposed_memory(owner, number)?.change(offset, &change);
        }
        check_owner(owner)?;
        match self.request(&Request::ChangeMemory { owner, number, offset, change })? {
            Reply::Word { before } => Ok(before),
            _ => Err(Code::DSysErr),
        }
    }

    /// No bytes are no piece for another host: it is asked whether they would be inside, as on this
    /// one. True if the exposed memory may be written.
    fn look_for_nothing(&self, (owner, number): (Tid, u32), offset: u64) -> Result<bool, Code> {
        let (bytes, writable) = self.exposed(owner, number)?;
        if offset <= bytes { Ok(writable) } else { Err(Code::BadParam) }
    }

    /// Asks for one piece after the other, some of them ahead, and takes all answers in their
    /// order.
    fn in_pieces<P: AsRef<[u8]>>(
        &self,
        mut offset: u64,
        pieces: impl Iterator<Item = P>,
        ask: impl Fn(&P, u64) -> Request,
        mut take: impl FnMut(P, Reply) -> Result<(), Code>,
    ) -> Result<(), Code> {
        let mut pieces = pieces.peekable();
        let mut asked: VecDeque<(u32, P)> = VecDeque::new();
        let mut done = Ok(());
        loop {
            while done.is_ok()
                && asked.len() < PIECES
                && let Some(piece) = pieces.next()
            {
                let length = piece.as_ref().len() as u64;
                match self.ask(&ask(&piece, offset)) {
                    Ok(id) => asked.push_back((id, piece)),
                    Err(code) => done = Err(code),
                }
                offset = offset.saturating_add(length);
            }
            let Some((id, piece)) = asked.pop_front() else { return done };
            // All answers are taken: one that nobody takes would be kept for ever.
            let took =
                self.await_answer(id, Deadline::after(ANSWER)).and_then(|reply| take(piece, reply));
            done = done.and(took);
        }
    }

    /// The memory of a task of this host.
    #[inline]
    fn exposed_memory(&self, owner: Tid, number: u32) -> Result<Exposed, Code> {
        self.live()?;
        if owner == self.tid() {
            return self.memories.own(number)?.ok_or(Code::NotFound);
        }
        match self.memories.find((owner, number))? {
            Some(exposed) => Ok(exposed),
            None => self.map_other(owner, number),
        }
    }

    #[cold]
    fn map_other(&self, owner: Tid, number: u32) -> Result<Exposed, Code> {
        let exposed = match self.map_exposed(owner, number) {
            // Whether its owner lives is for the machine to say.
            Err(Code::NotFound) => {
                self.request(&Request::TaskStatus { tid: owner })?;
                return Err(Code::NotFound);
            }
            exposed => exposed?,
        };
        self.memories.keep((owner, number), exposed.clone())?;
        Ok(exposed)
    }

    fn map_exposed(&self, owner: Tid, number: u32) -> Result<Exposed, Code> {
        let mut state = self.live()?.enter()?;
        let (segment, fd) = state.connection.ask_segment(&Request::MapExposed { owner, number })?;
        Exposed::map(&fd, segment.size)
    }
}

fn check_owner(owner: Tid) -> Result<(), Code> {
    if owner.is_task() { Ok(()) } else { Err(Code::BadParam) }
}
