//! A message that is being packed or read; PVM's buffers are both.
//!
//! Packing writes to the place from which the message will be sent: into the buffer itself while it
//! is small, then straight into a slab of the task's. A received message is read where it lies. So
//! pack and unpack are the only copies a message makes on one host.

mod fast;
mod form;
mod forwarding;
mod nested;
mod packing;
pub(crate) mod sending;
mod text;
mod unpacking;
mod view;

pub use form::Form;

use crate::sys::memory::ProgramMemory;
use pvm_shm::lane::{Head, Room, SPANNING_MAX, room_for};
use pvm_shm::slab::SlabView;
use pvm_shm::spill::SpillView;
use pvm_shm::{Payload, Slab, Unmapped};
use pvm_wire::{
    Address, Blob, Bytes, Code, Cursor, Encoding, Envelope, Layout, Message, RunList, Tid, foreign,
};

/// The place of the bytes.
#[derive(Debug)]
pub(crate) enum Store {
    /// In the buffer: no more than rides in a lane.
    Small(Room),
    /// In private memory: before enrolment, or where no slab was to be had.
    Heap(Vec<u8>),
    /// In a slab of this task's.
    Slab(Slab),
    /// In the sender's slab.
    Received(SlabView),
    /// In a file, from which it is loaded when the program takes the message.
    Spilled(SpillView),
    /// In the sender's slab, which could not be mapped; once more when the program takes the
    /// message.
    Unmapped(Unmapped),
}

impl From<Payload> for Store {
    fn from(payload: Payload) -> Self {
        match payload {
            Payload::Inline { bytes, .. } => Self::Small(bytes),
            Payload::Slab(view) => Self::Received(view),
            Payload::Spilled(view) => Self::Spilled(view),
            Payload::Unmapped(slab) => Self::Unmapped(slab),
        }
    }
}

/// The data of a store, without a run list behind them.
struct Data<'a> {
    store: &'a Store,
    size: usize,
}

impl Bytes for Data<'_> {
    fn size(&self) -> usize {
        self.size
    }
    fn copy_to(&self, offset: usize, out: &mut [u8]) {
        match self.store {
            Store::Small(bytes) => out.copy_from_slice(&bytes[offset..offset + out.len()]),
            Store::Heap(bytes) => out.copy_from_slice(&bytes[offset..offset + out.len()]),
            Store::Slab(slab) => slab.read(offset, out),
            Store::Received(view) => view.read(offset, out),
            Store::Spilled(_) | Store::Unmapped(_) => unreachable!("at hand before it is read"),
        }
    }
}

/// The memory that a freed message leaves, to be given back.
#[derive(Debug)]
pub struct Remains {
    _buffer: Buffer,
}

/// A message.
#[derive(Debug)]
pub struct Buffer {
    /// The head of its message: as it came out of a cell, or goes into one.
    head: Head,
    encoding: Encoding,
    store: Store,
    size: usize,
    runs: RunList,
    cursor: Cursor,
    in_place: Vec<ProgramMemory>,
    /// A run list lies behind the data in the slab, and readers may be looking at it.
    sealed: bool,
}

impl Buffer {
    /// An empty message.
    pub fn new(encoding: Encoding) -> Self {
        Self {
            head: Head::NEW,
            encoding,
            store: Store::Small(room_for(0)),
            size: 0,
            runs: RunList::new(),
            cursor: Cursor::new(),
            in_place: Vec::new(),
            sealed: false,
        }
    }

    /// A place for a message that is to be received; has no memory of its own.
    pub const fn vacant() -> Self {
        Self {
            head: Head::NEW,
            encoding: Encoding::Default,
            store: Store::Heap(Vec::new()),
            size: 0,
            runs: RunList::new(),
            cursor: Cursor::new(),
            in_place: Vec::new(),
            sealed: false,
        }
    }

    /// The message is done with; memory beyond that of a small one is returned, to be dropped where
    /// no lock is held.
    pub fn vacate(&mut self) -> Option<Remains> {
        self.size = 0;
        (!self.is_plain()).then(|| Remains { _buffer: std::mem::replace(self, Self::vacant()) })
    }

    /// The memory of a small message, which is the next one's.
    pub(crate) fn take_room(&mut self) -> Option<Room> {
        if !matches!(self.store, Store::Small(_)) {
            return None;
        }
        match std::mem::replace(&mut self.store, Store::Heap(Vec::new())) {
            Store::Small(room) => Some(room),
            _ => None,
        }
    }

    /// Empties it for another message. Memory of its own is used again.
    #[inline]
    pub fn begin(&mut self, encoding: Encoding) {
        if !matches!(self.store, Store::Small(_)) {
            *self = Self::new(encoding);
            return;
        }
        self.head = Head::NEW;
        self.encoding = encoding;
        self.size = 0;
        self.runs.clear();
        self.cursor = Cursor::new();
        self.in_place.clear();
        self.sealed = false;
    }

    /// Becomes a message as it arrived, made readable on this machine; false if its run list does
    /// not fit its data.
    #[inline]
    pub(crate) fn fill(&mut self, mut envelope: Envelope, mut store: Store) -> bool {
        let Some((mut size, mut runs)) = described(&envelope, &store) else { return false };
        if envelope.layout != Layout::NATIVE {
            let mut data = vec![0; size];
            Data { store: &store, size }.copy_to(0, &mut data);
            let Ok(data) = foreign::make_native(&mut envelope, &mut runs, data) else {
                return false;
            };
            size = data.len();
            store = Store::Heap(data);
        }
        self.head = Head::about(&envelope);
        self.encoding = envelope.encoding;
        self.store = store;
        self.size = size;
        self.runs = runs;
        self.cursor = Cursor::new();
        self.in_place.clear();
        self.sealed = false;
        true
    }

    /// A message as it arrived; none if its run list does not fit its data.
    pub(crate) fn received(envelope: Envelope, store: Store) -> Option<Self> {
        let mut buffer = Self::vacant();
        buffer.fill(envelope, store).then_some(buffer)
    }

    /// The encoding of the items.
    pub const fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// Source, tag, context and wait id, as received or as last sent, with what is in it: made anew
    /// by each call.
    pub fn envelope(&self) -> Envelope {
        let mut envelope = self.head.envelope().unwrap_or_else(Head::no_envelope);
        envelope.describe(self.sent_encoding(), self.sent_size(), &self.runs);
        envelope
    }

    /// The head of its message.
    pub const fn head(&self) -> &Head {
        &self.head
    }

    /// Its tag, as received or as last sent.
    pub const fn tag(&self) -> i32 {
        self.head.tag()
    }

    /// Its context, as received or as last sent.
    pub const fn context(&self) -> i32 {
        self.head.context()
    }

    /// The sender; none while it is packed.
    pub const fn source(&self) -> Tid {
        self.head.source()
    }

    /// Changes what [`Buffer::envelope`] tells besides what is in it (`pvm_setminfo`).
    pub fn edit(&mut self, change: impl FnOnce(&mut Envelope)) {
        let mut envelope = self.envelope();
        change(&mut envelope);
        self.head = Head::about(&envelope);
    }

    /// Sets its receiver, tag and context.
    pub const fn address(&mut self, to: Address) {
        self.head.address(to);
    }

    /// Bytes as `pvm_bufinfo` counts them: of the XDR form for default encoding, 0 for an
    /// in-place message, which is raw once it was sent.
    pub const fn reported_size(&self) -> usize {
        match self.encoding {
            Encoding::Default | Encoding::Trace => self.runs.xdr_size(),
            Encoding::Raw => self.size,
            Encoding::InPlace => 0,
        }
    }

    /// Bytes of data in memory.
    pub const fn data_size(&self) -> usize {
        self.size
    }

    /// The runs of a message in default encoding.
    pub const fn runs(&self) -> &RunList {
        &self.runs
    }

    /// False if the bytes lie in shared memory, which the child of a fork does not have: there
    /// such a buffer must be forgotten, not dropped.
    pub const fn is_private(&self) -> bool {
        !matches!(
            self.store,
            Store::Slab(_) | Store::Received(_) | Store::Spilled(_) | Store::Unmapped(_)
        )
    }

    /// The address of the data, and how many bytes they are. The sender of a received message may
    /// still write there: read through the pointer, form no reference. The call waits for a message
    /// that is still being written.
    ///
    /// # Errors
    /// [`Code::NoData`] if its sender died before it was whole.
    pub fn view(&self) -> Result<(*const u8, usize), Code> {
        let address = match &self.store {
            Store::Small(bytes) => bytes.as_ptr(),
            Store::Heap(bytes) => bytes.as_ptr(),
            Store::Slab(slab) => slab.address(0, self.size).cast_const(),
            Store::Received(view) => {
                let address = view.address();
                if view.is_broken() {
                    return Err(Code::NoData);
                }
                address
            }
            Store::Spilled(_) | Store::Unmapped(_) => return Err(Code::NoData),
        };
        Ok((address, self.size))
    }

    /// The data as they are in memory, and the run list.
    fn body(&self) -> Result<Vec<u8>, Code> {
        let list = self.run_list();
        let size = if self.in_place.is_empty() { self.size } else { self.sent_size() };
        let mut body = room_in_memory(size + list.len())?;
        if self.in_place.is_empty() {
            body.resize(size, 0);
            Data { store: &self.store, size }.copy_to(0, &mut body);
        } else {
            self.in_place.iter().for_each(|piece| body.extend_from_slice(piece.bytes()));
        }
        body.extend(list);
        Ok(body)
    }

    /// The run list as it goes behind the data; empty where the envelope holds it all.
    fn run_list(&self) -> Vec<u8> {
        if self.encoding.has_runs() && self.runs.len() > 1 {
            self.runs.iter().flat_map(|run| run.to_word().to_le_bytes()).collect()
        } else {
            Vec::new()
        }
    }

    /// A copy of the whole, for named messages and for sending to oneself.
    ///
    /// # Errors
    /// [`Code::NoMem`] where there is no memory for it.
    pub fn to_message(&self) -> Result<Message, Code> {
        Ok(Message { envelope: self.envelope(), body: Blob(self.body()?) })
    }

    /// The buffer of such a message.
    ///
    /// # Errors
    /// [`Code::BadMsg`] if it does not hold together.
    pub fn from_message(message: Message) -> Result<Self, Code> {
        if !message.is_sound() {
            return Err(Code::BadMsg);
        }
        Self::received(message.envelope, Store::Heap(message.body.0)).ok_or(Code::BadMsg)
    }
}

/// An empty vector that takes `bytes` bytes without another allocation.
fn room_in_memory(bytes: usize) -> Result<Vec<u8>, Code> {
    let mut room = Vec::new();
    room.try_reserve_exact(bytes).map_err(|_| Code::NoMem)?;
    Ok(room)
}

/// Size and runs of a message as it arrived; none if its run list does not fit its data, or lies
/// out of reach.
fn described(envelope: &Envelope, store: &Store) -> Option<(usize, RunList)> {
    let size = usize::try_from(envelope.data_size).ok()?;
    let list_size = usize::try_from(envelope.run_list_size()).ok()?;
    if list_size > 0 && matches!(store, Store::Spilled(_) | Store::Unmapped(_)) {
        // Its length is only claimed so far, and there may be no room for it.
        return None;
    }
    let mut list = vec![0; list_size];
    if list_size > 0 {
        Data { store, size: size.checked_add(list_size)? }.copy_to(size, &mut list);
    }
    Some((size, envelope.runs(&list).ok()?))
}

/// Bytes of a waiting message as `pvm_bufinfo` counts them. `list`: its run list, where that does
/// not lie in memory.
pub(crate) fn reported_size(
    envelope: &Envelope,
    store: &Store,
    list: Option<&[u8]>,
) -> Option<usize> {
    let (size, runs) = match list {
        None => described(envelope, store)?,
        Some(list) => (usize::try_from(envelope.data_size).ok()?, envelope.runs(list).ok()?),
    };
    let native = || foreign::native_size(envelope, &runs, size);
    Some(if envelope.encoding.has_runs() { runs.xdr_size() } else { native() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use pvm_wire::Kind;

    fn ints(values: &[i32]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_ne_bytes()).collect()
    }

    #[test]
    fn what_is_packed_is_unpacked_and_its_length_is_pvms() {
        for encoding in [Encoding::Default, Encoding::Raw] {
            let mut buffer = Buffer::new(encoding);
            buffer.pack_str(b"hello\0").expect("room");
            buffer.pack(Kind::Int, &ints(&(0..1000).collect::<Vec<_>>())).expect("room");
            let string = if encoding == Encoding::Raw { 10 } else { 12 };
            assert_eq!(buffer.reported_size(), string + 4000);
            assert_eq!(buffer.unpack_str(), Ok(b"hello".to_vec()));
            let mut out = vec![0; 4000];
            buffer.unpack(Kind::Int, &mut out).expect("data");
            assert_eq!(out, ints(&(0..1000).collect::<Vec<_>>()));
            assert_eq!(buffer.unpack(Kind::Byte, &mut [0]), Err(Code::NoData));
        }
    }

    #[test]
    fn a_string_whose_length_lies_is_no_string() {
        let mut buffer = Buffer::new(Encoding::Raw);
        buffer.pack(Kind::Int, &ints(&[i32::MAX])).expect("room");
        assert_eq!(buffer.unpack_str(), Err(Code::NoData));
    }
}
