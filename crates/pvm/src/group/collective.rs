//! Reduce, gather and scatter: messages between the members of a group and the root.
//!
//! The members do not wait for one another: a member that is not the root sends and goes on, as in
//! PVM. How the root (of a scatter: the others) waits is the caller's business, as a C program has
//! handlers to be run meanwhile: it gives a [`Take`]. [`patiently`] is the plain one.

use super::vigil::Vigil;
use crate::buffer::Buffer;
use crate::members::Members;
use crate::pattern::Pattern;
use crate::reduction::{Operation, combine};
use crate::task::Task;
use crate::task::receiving::receive_beside;
use crate::task::until::Step;
use crate::wait::Deadline;
use pvm_shm::Glance;
use pvm_wire::{Address, Code, Context, Encoding, Kind, Tag, Tid};
use std::sync::Arc;

/// The context of collective messages; PVM's `SYSCTX_SG`.
pub const CONTEXT: i32 = 0x7_fffd;
/// Bytes that are combined at once: they stay in the first cache.
const BLOCK: usize = 16 << 10;

/// Arguments that the calls share.
#[derive(Clone, Copy, Debug)]
pub struct Arguments<'a> {
    /// The group.
    pub group: &'a [u8],
    /// The root's instance number.
    pub root: i32,
    /// The tag of the messages.
    pub tag: i32,
    /// The type of each member's items.
    pub kind: Kind,
    /// The number of items of each member.
    pub count: usize,
}

/// One call of one member.
#[derive(Clone, Debug)]
pub struct Collective<'a> {
    /// The arguments of the call.
    pub arguments: Arguments<'a>,
    members: Arc<Members>,
    own: Tid,
    root: Tid,
}

/// Reads a member's message.
pub type Read<'a> = &'a mut dyn FnMut(&mut Buffer) -> Result<(), Code>;
/// Waits for the message of a member, which comes into the buffer, and has it read.
pub type Take<'a> =
    &'a mut dyn FnMut(&Collective<'_>, Tid, &mut Buffer, Read<'_>) -> Result<(), Code>;

/// Makes the first array the result of both.
pub type Fold<'a> = &'a mut dyn FnMut(&mut [u8], &mut [u8]) -> Result<(), Code>;

/// The operation that combines the items of two members.
pub enum Combination<'a> {
    /// By an operation of PVM's.
    Known(Operation),
    /// By a function.
    Function(Fold<'a>),
}

impl<'a> Collective<'a> {
    /// Checks the arguments and finds the members.
    ///
    /// # Errors
    /// [`Code::BadParam`] for no items or a type that is not for collective calls, [`Code::NoInst`]
    /// if there is no such root, [`Code::NotInGroup`], [`Code::NoGroup`].
    pub fn new(task: &Task, arguments: Arguments<'a>) -> Result<Self, Code> {
        Self::among(task, arguments, || task.members(arguments.group))
    }

    /// Like `new`, with the members as the caller finds them, such as a host that looks for signals
    /// while it waits.
    ///
    /// # Errors
    /// As for [`Collective::new`], and what `members` says.
    pub fn among(
        task: &Task,
        arguments: Arguments<'a>,
        members: impl FnOnce() -> Result<Arc<Members>, Code>,
    ) -> Result<Self, Code> {
        let unsigned = matches!(arguments.kind, Kind::Ushort | Kind::Uint | Kind::Ulong);
        if arguments.count == 0 || unsigned {
            return Err(Code::BadParam);
        }
        let members = members()?;
        members.instance(task.tid())?;
        let root = members.tid(arguments.root)?;
        Ok(Self { arguments, own: task.tid(), members, root })
    }

    /// True for the member that gathers or scatters.
    pub fn is_root(&self) -> bool {
        self.own == self.root
    }

    /// Bytes of one member's items.
    pub const fn bytes(&self) -> usize {
        self.arguments.count.saturating_mul(self.arguments.kind.size())
    }

    fn send(&self, task: &Task, to: Tid, items: &[u8]) -> Result<(), Code> {
        let mut buffer = Buffer::new(Encoding::Default);
        buffer.pack(self.arguments.kind, items)?;
        let tag = Tag(self.arguments.tag);
        task.send(&mut buffer, Address { to, tag, context: Context(CONTEXT) })
    }

    /// The message that a vigil is for into `message`, if it is there.
    ///
    /// # Errors
    /// As for [`Task::receive`].
    pub fn receive(
        &self,
        task: &Task,
        vigil: &Vigil<'_>,
        message: &mut Buffer,
    ) -> Result<bool, Code> {
        let tag = Some(self.arguments.tag);
        let pattern = Pattern { context: CONTEXT, source: Some(vigil.from), tag };
        let taken = task.fast_receive(&pattern, message) == Glance::Taken(());
        Ok(taken || receive_beside(task, &pattern, vigil.awaited.others(), message)?)
    }

    /// Watches over the wait for a member.
    pub fn vigil(&self, from: Tid) -> Vigil<'a> {
        Vigil::new(self.arguments.group, from)
    }

    /// Sends the items to the root.
    ///
    /// # Errors
    /// As for [`Task::send`].
    pub fn hand_in(&self, task: &Task, items: &[u8]) -> Result<(), Code> {
        self.send(task, self.root, items)
    }

    /// Root of a reduce: combines the items of all others with its own.
    ///
    /// # Errors
    /// [`Code::NoTask`] if a member died before it sent its items, [`Code::BadParam`] for an
    /// operation that the type does not have, or what the function or `take` says.
    pub fn combine(
        &self,
        items: &mut [u8],
        how: &mut Combination<'_>,
        take: Take<'_>,
    ) -> Result<(), Code> {
        let (kind, size) = (self.arguments.kind, items.len());
        let mut room =
            vec![0; if matches!(how, Combination::Known(_)) { size.min(BLOCK) } else { size }];
        let message = &mut Buffer::new(Encoding::Default);
        for from in self.members.present().filter(|&tid| tid != self.own) {
            match how {
                Combination::Known(operation) => take(self, from, message, &mut |message| {
                    for part in items.chunks_mut(BLOCK / 16 * 16) {
                        let other = &mut room[..part.len()];
                        message.unpack(kind, other)?;
                        combine(*operation, kind, part, other)?;
                    }
                    Ok(())
                })?,
                Combination::Function(function) => {
                    take(self, from, message, &mut |message| message.unpack(kind, &mut room))?;
                    function(items, &mut room)?;
                }
            }
        }
        Ok(())
    }

    /// Root of a gather: puts the items of each member, its own among them, into `result` in the
    /// order of their instances. `own` is none where they are in their place already.
    ///
    /// # Errors
    /// [`Code::NoTask`] if a member died before it sent its items, or what `take` says.
    pub fn gather(
        &self,
        result: &mut [u8],
        own: Option<&[u8]>,
        take: Take<'_>,
    ) -> Result<(), Code> {
        let message = &mut Buffer::new(Encoding::Default);
        for (part, from) in result.chunks_exact_mut(self.bytes().max(1)).zip(self.members.present())
        {
            if from != self.own {
                let kind = self.arguments.kind;
                take(self, from, message, &mut |message| message.unpack(kind, part))?;
            } else if let Some(own) = own {
                part.copy_from_slice(own);
            }
        }
        Ok(())
    }

    /// Root of a scatter: sends each other member its part of `data`, in the order of their
    /// instances. Returns which part is its own.
    ///
    /// # Errors
    /// As for [`Task::send`].
    pub fn deal(&self, task: &Task, data: &[u8]) -> Result<usize, Code> {
        let mut own = 0;
        for (i, (part, to)) in
            data.chunks_exact(self.bytes().max(1)).zip(self.members.present()).enumerate()
        {
            if to == self.own {
                own = i;
            } else {
                self.send(task, to, part)?;
            }
        }
        Ok(own)
    }

    /// The others of a scatter: waits for its part.
    ///
    /// # Errors
    /// [`Code::NoTask`] if the root died before it sent it, or what `take` says.
    pub fn receive_part(&self, result: &mut [u8], take: Take<'_>) -> Result<(), Code> {
        let message = &mut Buffer::new(Encoding::Default);
        take(self, self.root, message, &mut |message| message.unpack(self.arguments.kind, result))
    }

    /// The number of members.
    pub fn size(&self) -> usize {
        self.members.size()
    }

    /// The place of this task's part among all.
    pub fn own_place(&self) -> usize {
        self.members.present().take_while(|&tid| tid != self.own).count()
    }
}

/// Waits for a member's message and nothing else.
///
/// # Errors
/// [`Code::NoTask`] if the member is gone and has sent none; as for [`Task::receive`].
pub fn patiently(
    task: &Task,
    call: &Collective<'_>,
    from: Tid,
    message: &mut Buffer,
    read: Read<'_>,
) -> Result<(), Code> {
    let mut vigil = call.vigil(from);
    if call.receive(task, &vigil, message)? {
        return read(message);
    }
    let result = task.until(Deadline::Never, |token| {
        let in_vain = vigil.is_in_vain(task)?;
        let token = vigil.narrow(task, token);
        if call.receive(task, &vigil, message)? {
            return read(message).map(Step::Done);
        }
        if in_vain { Err(Code::NoTask) } else { Ok(Step::Sleep(token)) }
    });
    vigil.end(task);
    result.map(drop)
}

impl Task {
    /// Combines the items of all members in the root's (`pvm_reduce`). The others go on when theirs
    /// are sent.
    ///
    /// # Errors
    /// As for [`Collective::new`] and [`Collective::combine`].
    pub fn reduce(
        &self,
        arguments: Arguments<'_>,
        items: &mut [u8],
        mut how: Combination<'_>,
    ) -> Result<(), Code> {
        let call = Collective::new(self, arguments)?;
        if items.len() != call.bytes() {
            return Err(Code::BadParam);
        }
        if !call.is_root() {
            return call.hand_in(self, items);
        }
        call.combine(items, &mut how, &mut |call, from, message, read| {
            patiently(self, call, from, message, read)
        })
    }

    /// Collects the items of all members in the root's `result`, in the order of their instances
    /// (`pvm_gather`).
    ///
    /// # Errors
    /// As for [`Collective::new`] and [`Collective::gather`].
    pub fn gather(
        &self,
        arguments: Arguments<'_>,
        items: &[u8],
        result: &mut [u8],
    ) -> Result<(), Code> {
        let call = Collective::new(self, arguments)?;
        if items.len() != call.bytes() {
            return Err(Code::BadParam);
        }
        if !call.is_root() {
            return call.hand_in(self, items);
        }
        if result.len() != call.bytes().saturating_mul(call.size()) {
            return Err(Code::BadParam);
        }
        let take: Take<'_> =
            &mut |call, from, message, read| patiently(self, call, from, message, read);
        call.gather(result, Some(items), take)
    }

    /// Gives each member its part of the root's `data`, in the order of their instances
    /// (`pvm_scatter`).
    ///
    /// # Errors
    /// As for [`Collective::new`] and [`Collective::receive_part`].
    pub fn scatter(
        &self,
        arguments: Arguments<'_>,
        data: &[u8],
        result: &mut [u8],
    ) -> Result<(), Code> {
        let call = Collective::new(self, arguments)?;
        if result.len() != call.bytes() {
            return Err(Code::BadParam);
        }
        if !call.is_root() {
            let take: Take<'_> =
                &mut |call, from, message, read| patiently(self, call, from, message, read);
            return call.receive_part(result, take);
        }
        if data.len() != call.bytes().saturating_mul(call.size()) {
            return Err(Code::BadParam);
        }
        let own = call.deal(self, data)?;
        result.copy_from_slice(&data[own * call.bytes()..][..call.bytes()]);
        Ok(())
    }
}
