//! What stands in front of a message in its cell, and stays with it from the packing to the reading.
//!
//! ```text
//! cell:  4 kind u8   5 encoding u8   6 layout u8   7 flags u8
//!        8 size u8   9 data_size u8   10 run_count u16
//!        12 key u64: the context in the upper half, the tag in the lower
//!        20 source u32   24 destination or moment u32   28 wait_id i32   32 first_run u64   40 sequence u64
//! ```
//! Numbers are as the processor has them, as both ends are on one host. A message on the fast path is described by this
//! alone: the [`Envelope`] of the wire is made of it when somebody asks.

use crate::lane::kind::{Extent, INLINE_MAX, Kind};
use pvm_wire::{Encoding, Envelope, Layout, Run, Tid};

/// The 44 bytes behind a cell's stamp.
#[derive(Clone, Copy, Debug)]
#[repr(C, packed(4))]
pub struct Head {
    pub(super) shape: Shape,
    /// Context and tag, compared as one number.
    key: u64,
    pub(super) source: u32,
    /// In lanes to tasks, which know their own names, the lower half of the moment ([`crate::clock`]).
    pub(super) destination: u32,
    wait_id: i32,
    first_run: u64,
    sequence: u64,
}

/// What decides how a message is read: one word, which is read from a cell once.
#[derive(Clone, Copy, Debug)]
#[repr(C, packed(4))]
pub(super) struct Shape {
    pub(super) kind: u8,
    pub(super) encoding: u8,
    pub(super) layout: u8,
    pub(super) flags: u8,
    /// Bytes of the payload; of a message that rides in the cell, those that are data; its runs.
    pub(super) size: u8,
    pub(super) data_size: u8,
    pub(super) run_count: u16,
}

/// Which messages of a lane are wanted: a context, a tag or any, and perhaps raw ones only.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    value: u64,
    mask: u64,
    raw: bool,
}

#[inline(always)]
const fn key_of(context: i32, tag: i32) -> u64 {
    (context.cast_unsigned() as u64) << 32 | tag.cast_unsigned() as u64
}

impl Key {
    /// Messages of this context and tag, or of any tag.
    #[inline(always)]
    pub const fn new(context: i32, tag: Option<i32>) -> Self {
        match tag {
            Some(tag) => Self { value: key_of(context, tag), mask: u64::MAX, raw: false },
            None => Self { value: key_of(context, 0), mask: !(u32::MAX as u64), raw: false },
        }
    }

    /// Of these the raw ones.
    #[inline(always)]
    pub const fn raw(self) -> Self {
        Self { raw: true, ..self }
    }

    /// True if a message is one of them.
    #[inline(always)]
    pub(super) const fn fits(self, head: &Head) -> bool {
        (head.key ^ self.value) & self.mask == 0
            && (!self.raw || head.shape.encoding == Encoding::Raw as u8)
    }
}

/// A message that rides in its lane, as its sender describes it: all but its number and its moment.
#[derive(Clone, Copy, Debug)]
pub struct Small<'a> {
    /// Raw or default; the items are laid out as here.
    pub encoding: Encoding,
    /// The only run as [`Run::to_word`], 0 for none.
    pub run: u64,
    /// Who sends it.
    pub source: Tid,
    /// Its tag.
    pub tag: i32,
    /// Its context.
    pub context: i32,
    /// `pvm_setminfo`'s wait id.
    pub wait_id: i32,
    /// Its data.
    pub data: &'a [u8],
}

impl Small<'_> {
    /// Runs that are counted: a raw message has no list, though it may say what its items are.
    #[inline(always)]
    pub(super) const fn run_count(&self) -> u32 {
        (self.encoding.has_runs() && self.run != 0) as u32
    }

    /// As it stands in a cell of this kind.
    #[inline(always)]
    pub(super) fn head(&self, kind: Kind, size: usize, (sequence, moment): (u64, u32)) -> Head {
        Head {
            shape: Shape {
                kind: kind as u8,
                encoding: self.encoding as u8,
                layout: Layout::NATIVE as u8,
                flags: 0,
                size: size as u8,
                data_size: self.data.len() as u8,
                run_count: self.run_count() as u16,
            },
            key: key_of(self.context, self.tag),
            source: self.source.0,
            destination: moment,
            wait_id: self.wait_id,
            first_run: self.run,
            sequence,
        }
    }
}

impl Shape {
    const NONE: Self =
        Self { kind: 0, encoding: 0, layout: 0, flags: 0, size: 0, data_size: 0, run_count: 0 };

    /// The first four bytes as one number.
    #[inline(always)]
    const fn first(self) -> u32 {
        u32::from_ne_bytes([self.kind, self.encoding, self.layout, self.flags])
    }

    /// True for a message of this kind that was packed on a computer such as this one, raw or by default, for one receiver.
    #[inline(always)]
    pub(super) const fn is_plain(self, kind: Kind) -> bool {
        const BUT_ENCODING: u32 = u32::from_ne_bytes([u8::MAX, 0, u8::MAX, u8::MAX]);
        let plain = u32::from_ne_bytes([kind as u8, 0, Layout::NATIVE as u8, 0]);
        self.first() & BUT_ENCODING == plain && self.encoding <= Encoding::Raw as u8
    }

    /// The bytes of a plain message that rides in one cell; none if its numbers do not fit one another, or it has several runs.
    #[inline(always)]
    pub(super) fn riding(self) -> Option<usize> {
        let sound = self.size == self.data_size && self.run_count <= 1;
        let size = usize::from(self.size);
        (sound && self.is_plain(Kind::Inline) && size <= INLINE_MAX).then_some(size)
    }
}

impl Head {
    /// Of no message.
    pub const NONE: Self = Self {
        shape: Shape::NONE,
        key: 0,
        source: 0,
        destination: 0,
        wait_id: 0,
        first_run: 0,
        sequence: 0,
    };

    /// Of a message that is packed, or to be received.
    pub const NEW: Self =
        Self { shape: Shape { layout: Layout::NATIVE as u8, ..Shape::NONE }, ..Self::NONE };

    /// What a head tells that nobody understands.
    pub const fn no_envelope() -> Envelope {
        Envelope::new(Tid::NONE, Tid::NONE, 0, 0)
    }

    /// Of the last cell of a ring: its payload is the number of a segment.
    pub(super) const MOVED: Self =
        Self { shape: Shape { kind: Kind::Moved as u8, size: 4, ..Shape::NONE }, ..Self::NONE };

    /// Of a message with this envelope, of which so many bytes are in the cell.
    #[inline(always)]
    pub(super) fn of(kind: Kind, envelope: &Envelope, size: usize) -> Self {
        let shape = Shape {
            kind: kind as u8,
            encoding: envelope.encoding as u8,
            layout: envelope.layout as u8,
            flags: envelope.flags as u8,
            size: size as u8,
            data_size: envelope.data_size as u8,
            run_count: envelope.run_count as u16,
        };
        Self { shape, ..Self::about(envelope) }
    }

    /// What an envelope says besides sizes: for a message that is not in a cell.
    pub fn about(envelope: &Envelope) -> Self {
        let shape = Shape {
            layout: envelope.layout as u8,
            flags: envelope.flags as u8,
            encoding: envelope.encoding as u8,
            ..Shape::NONE
        };
        Self {
            shape,
            key: key_of(envelope.context, envelope.tag),
            source: envelope.src.0,
            destination: envelope.dst.0,
            wait_id: envelope.wait_id,
            first_run: envelope.first_run,
            sequence: envelope.sequence,
        }
    }

    /// The envelope; none if it is nonsense.
    #[inline(always)]
    pub fn envelope(&self) -> Option<Envelope> {
        let Shape { encoding, layout, flags, data_size, run_count, .. } = self.shape;
        Some(Envelope {
            src: Tid(self.source),
            dst: Tid(self.destination),
            tag: self.tag(),
            context: self.context(),
            encoding: Encoding::from_number(encoding.into())?,
            layout: Layout::from_number(layout)?,
            flags: flags.into(),
            run_count: run_count.into(),
            wait_id: self.wait_id,
            data_size: data_size.into(),
            first_run: self.first_run,
            sequence: self.sequence,
        })
    }

    /// The envelope where size and runs stand in front of the payload.
    #[inline(always)]
    pub(super) fn envelope_of(&self, extent: &Extent) -> Option<Envelope> {
        let Extent { data_size, run_count } = *extent;
        Some(Envelope { data_size, run_count, ..self.envelope()? })
    }

    /// The only run of a plain message of so many bytes, which has none or one; none if it does not describe them.
    #[inline(always)]
    pub(super) fn only_run(&self, run_count: u32, size: usize) -> Option<Option<Run>> {
        let has_list = self.shape.encoding != Encoding::Raw as u8;
        if has_list && run_count == 0 || !has_list && self.first_run == 0 {
            return (size == 0 || !has_list).then_some(None);
        }
        let run = Run::from_word(self.first_run).ok()?;
        if run.shape.is_narrow_long() {
            // What a computer of the other width has packed, which some readers have to convert.
            return None;
        }
        // A count has 56 bits, so this does not overflow.
        let described = run.count as u64 * run.shape.size() as u64;
        (run.count > 0 && described == size as u64).then_some(Some(run))
    }

    /// The tag.
    #[inline(always)]
    pub const fn tag(&self) -> i32 {
        (self.key as u32).cast_signed()
    }

    /// The context.
    #[inline(always)]
    pub const fn context(&self) -> i32 {
        ((self.key >> 32) as u32).cast_signed()
    }

    /// The sender.
    #[inline(always)]
    pub const fn source(&self) -> Tid {
        Tid(self.source)
    }

    /// The receiver of a message that was taken out of a lane.
    #[inline(always)]
    pub const fn destination(&self) -> Tid {
        Tid(self.destination)
    }

    /// The encoding of a message that was taken out of a lane.
    #[inline(always)]
    pub const fn encoding(&self) -> Encoding {
        // What it does not know it takes for the default: nothing else comes here.
        match Encoding::from_number(self.shape.encoding as i32) {
            Some(encoding) => encoding,
            None => Encoding::Default,
        }
    }

    /// True where the items are laid out as on this computer.
    #[inline(always)]
    pub const fn is_native(&self) -> bool {
        self.shape.layout == Layout::NATIVE as u8
    }

    /// Its number among the messages of its sender to its receiver.
    #[inline(always)]
    pub const fn sequence(&self) -> u64 {
        self.sequence
    }

    /// `pvm_setminfo`'s wait id.
    #[inline(always)]
    pub const fn wait_id(&self) -> i32 {
        self.wait_id
    }

    /// Context, tag and receiver of a message that is sent.
    #[inline(always)]
    pub const fn address(&mut self, (to, tag, context): (Tid, i32, i32)) {
        (self.key, self.destination) = (key_of(context, tag), to.0);
    }

    /// Who has received it, in place of the moment, which is given out.
    #[inline(always)]
    pub(crate) const fn received_by(&mut self, me: Tid) -> u32 {
        std::mem::replace(&mut self.destination, me.0)
    }
}

const _: () = assert!(size_of::<Head>() == 44);
