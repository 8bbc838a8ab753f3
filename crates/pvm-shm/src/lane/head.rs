//! The head that stands in front of a message in its cell, and stays with it from the packing to
//! the reading.
//!
//! ```text
//! cell:  4 kind u8   5 encoding u8   6 layout u8   7 flags u8
//!        8 size u8   9 data_size u8   10 run_count u16
//!        12 key u64: the context in the upper half, the tag in the lower
//!        20 source u32   24 destination or moment u32   28 wait_id i32
//!        32 first_run u64   40 sequence u64
//! ```
//! Numbers are as the processor has them, as both ends are on one host. A message on the fast path
//! is described by this alone: the [`Envelope`] of the wire is made of it when somebody asks.

use crate::lane::kind::{Extent, Kind};
use pvm_wire::{Address, Context, Encoding, Envelope, Layout, Run, Tag, Tid};

/// The 44 bytes behind a cell's stamp.
#[derive(Clone, Copy, Debug)]
#[repr(C, packed(4))]
pub struct Head {
    pub(super) shape: Shape,
    /// Context and tag, compared as one number.
    key: u64,
    pub(super) source: u32,
    /// In lanes to tasks, which know their own names, the lower half of the moment
    /// ([`crate::clock`]).
    pub(super) destination: u32,
    wait_id: i32,
    first_run: u64,
    sequence: u64,
}

/// The fields that decide how a message is read, as one number whose lowest byte is the first. A
/// receive reads it from the cell once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(transparent)]
pub(super) struct Shape(u64);

/// The bits at which the parts of a [`Shape`] begin.
const ENCODING: u32 = 8;
const LAYOUT: u32 = 16;
const FLAGS: u32 = 24;
/// Bytes of the payload; of a message that rides in the cell, those that are data; its runs.
const SIZE: u32 = 32;
const DATA_SIZE: u32 = 40;
const RUN_COUNT: u32 = 48;

/// The wanted messages of a lane: a context, a tag or any tag, and perhaps raw messages only.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    value: u64,
    mask: u64,
    raw: bool,
}

#[inline]
const fn key_of(context: Context, tag: Tag) -> u64 {
    (context.0.cast_unsigned() as u64) << 32 | tag.0.cast_unsigned() as u64
}

impl Key {
    /// Messages of this context and tag, or of any tag.
    #[inline]
    pub const fn new(context: Context, tag: Option<Tag>) -> Self {
        match tag {
            Some(tag) => Self { value: key_of(context, tag), mask: u64::MAX, raw: false },
            None => Self { value: key_of(context, Tag(0)), mask: !(u32::MAX as u64), raw: false },
        }
    }

    /// The raw ones among these messages.
    #[inline]
    pub const fn raw(self) -> Self {
        Self { raw: true, ..self }
    }

    /// True if a message is one of them.
    #[inline]
    pub(super) const fn fits(&self, head: &Head) -> bool {
        (head.key ^ self.value) & self.mask == 0
            && (!self.raw || head.shape.encoding() == Encoding::Raw as u8)
    }
}

impl Shape {
    const NONE: Self = Self(0);

    #[inline]
    const fn of(kind: u8, encoding: u8, layout: u8, flags: u8) -> Self {
        Self::from_number(
            kind as u64
                | (encoding as u64) << ENCODING
                | (layout as u64) << LAYOUT
                | (flags as u64) << FLAGS,
        )
    }

    /// This shape with these sizes.
    #[inline]
    const fn with(self, size: u8, data_size: u8, run_count: u16) -> Self {
        let sizes = (size as u64) << SIZE
            | (data_size as u64) << DATA_SIZE
            | (run_count as u64) << RUN_COUNT;
        Self::from_number(self.number() & u32::MAX as u64 | sizes)
    }

    #[inline]
    const fn from_number(number: u64) -> Self {
        Self(number.to_le())
    }

    #[inline]
    const fn number(self) -> u64 {
        u64::from_le(self.0)
    }

    #[inline]
    pub(super) const fn kind(self) -> u8 {
        self.number() as u8
    }

    #[inline]
    const fn encoding(self) -> u8 {
        (self.number() >> ENCODING) as u8
    }

    #[inline]
    const fn layout(self) -> u8 {
        (self.number() >> LAYOUT) as u8
    }

    #[inline]
    const fn flags(self) -> u8 {
        (self.number() >> FLAGS) as u8
    }

    #[inline]
    pub(super) const fn size(self) -> usize {
        (self.number() >> SIZE) as u8 as usize
    }

    #[inline]
    const fn data_size(self) -> u8 {
        (self.number() >> DATA_SIZE) as u8
    }

    #[inline]
    pub(super) const fn run_count(self) -> u16 {
        (self.number() >> RUN_COUNT) as u16
    }

    /// True for a message of this kind that was packed on a computer such as this one, raw or by
    /// default, for one receiver, and that has one run at most.
    #[inline]
    pub(super) const fn is_plain(self, kind: Kind) -> bool {
        // Default and raw differ in one bit, no run and one run as well; sizes may be any.
        const MASK: u64 = !(1 << ENCODING | 0xffff << SIZE | 1 << RUN_COUNT);
        const { assert!(Encoding::Default as u8 == 0 && Encoding::Raw as u8 == 1) };
        self.number() & MASK == kind as u64 | (Layout::NATIVE as u64) << LAYOUT
    }
}

impl Head {
    /// The head of no message.
    pub const NONE: Self = Self {
        shape: Shape::NONE,
        key: 0,
        source: 0,
        destination: 0,
        wait_id: 0,
        first_run: 0,
        sequence: 0,
    };

    /// The head of a message that is packed, or to be received.
    pub const NEW: Self = Self {
        shape: Shape::of(0, Encoding::Default as u8, Layout::NATIVE as u8, 0),
        ..Self::NONE
    };

    /// The envelope in place of a head that makes no sense.
    pub const fn no_envelope() -> Envelope {
        Envelope::new(Tid::NONE, Address::untagged(Tid::NONE))
    }

    /// The head of the last cell of a ring: its payload is the number of a segment.
    pub(super) const MOVED: Self =
        Self { shape: Shape::of(Kind::Moved as u8, 0, 0, 0).with(4, 0, 0), ..Self::NONE };

    /// Becomes the head of a small message that was packed here, raw or by default, and has `size`
    /// bytes. `run` describes them as [`Run::to_word`] does; 0 describes nothing.
    #[inline]
    pub fn describe(&mut self, encoding: Encoding, size: usize, run: u64) {
        let shape = Shape::of(Kind::Inline as u8, encoding as u8, Layout::NATIVE as u8, 0);
        // A longer message goes into several cells, which have room for its size.
        let run_count = u16::from(encoding.has_runs() && run != 0);
        self.shape = shape.with(size as u8, size as u8, run_count);
        self.first_run = run;
    }

    /// Its number.
    #[inline]
    pub(crate) const fn set_sequence(&mut self, sequence: u64) {
        self.sequence = sequence;
    }

    /// The head as it lies in the sender's lane to a task, where the moment stands in the
    /// receiver's place.
    #[inline]
    pub(super) const fn of_sender(self, (source, moment): (Tid, u32)) -> Self {
        Self { source: source.0, destination: moment, ..self }
    }

    /// Makes this the head of a message that lies in several cells, with `size` bytes of payload in
    /// the first one.
    #[inline]
    pub(super) const fn spanning(mut self, size: usize) -> Self {
        let shape = self.shape;
        let kind = Shape::of(Kind::Spanning as u8, shape.encoding(), shape.layout(), 0);
        self.shape = kind.with(size as u8, shape.data_size(), shape.run_count());
        self
    }

    /// The head of a message with this envelope and `size` bytes of payload in the cell.
    #[inline]
    pub(super) fn of(kind: Kind, envelope: &Envelope, size: usize) -> Self {
        let Envelope { encoding, layout, flags, .. } = *envelope;
        let shape = Shape::of(kind as u8, encoding as u8, layout as u8, flags as u8);
        let runs = envelope.run_count as u16;
        let shape = shape.with(size as u8, envelope.data_size as u8, runs);
        Self { shape, ..Self::about(envelope) }
    }

    /// The head of this envelope, without sizes: for a message that is not in a cell.
    pub fn about(envelope: &Envelope) -> Self {
        let Envelope { encoding, layout, flags, .. } = *envelope;
        let shape = Shape::of(0, encoding as u8, layout as u8, flags as u8);
        Self {
            shape,
            key: key_of(Context(envelope.context), Tag(envelope.tag)),
            source: envelope.src.0,
            destination: envelope.dst.0,
            wait_id: envelope.wait_id,
            first_run: envelope.first_run,
            sequence: envelope.sequence,
        }
    }

    /// The envelope; none if it is nonsense.
    #[inline]
    pub fn envelope(&self) -> Option<Envelope> {
        let shape = self.shape;
        Some(Envelope {
            src: Tid(self.source),
            dst: Tid(self.destination),
            tag: self.tag(),
            context: self.context(),
            encoding: Encoding::from_number(shape.encoding().into())?,
            layout: Layout::from_number(shape.layout())?,
            flags: shape.flags().into(),
            run_count: shape.run_count().into(),
            wait_id: self.wait_id,
            data_size: shape.data_size().into(),
            first_run: self.first_run,
            sequence: self.sequence,
        })
    }

    /// The envelope where size and runs stand in front of the payload.
    #[inline]
    pub(super) fn envelope_of(&self, extent: &Extent) -> Option<Envelope> {
        let Extent { data_size, run_count } = *extent;
        Some(Envelope { data_size, run_count, ..self.envelope()? })
    }

    /// True for a raw message whose items have no known type.
    #[inline]
    pub(super) const fn is_raw_and_untyped(&self) -> bool {
        self.first_run == 0 && self.shape.number() & (1 << ENCODING) != 0
    }

    /// True if the only run of a plain message describes exactly its `size` bytes. A message
    /// without a run must be raw or empty.
    // Inlined: pvm_recv of 8 bytes in the default encoding takes 20 instructions less.
    #[inline(always)]
    pub(super) fn is_described(&self, run_count: u32, size: usize) -> bool {
        let is_raw = self.shape.encoding() == Encoding::Raw as u8;
        if self.first_run == 0 {
            return is_raw || size == 0;
        }
        let Ok(run) = Run::from_word(self.first_run) else { return false };
        // A count has 56 bits, so this does not overflow. Some readers have to convert longs that a
        // computer of the other width has packed.
        let described = run.count as u64 * run.shape.size() as u64;
        let is_listed = is_raw || run_count == 1;
        is_listed && run.count > 0 && described == size as u64 && !run.shape.is_narrow_long()
    }

    /// The only run of a small message that was taken out of a lane.
    #[inline]
    pub fn run(&self) -> Option<Run> {
        if self.first_run == 0 { None } else { Run::from_word(self.first_run).ok() }
    }

    /// The tag.
    #[inline]
    pub const fn tag(&self) -> i32 {
        (self.key as u32).cast_signed()
    }

    /// The context.
    #[inline]
    pub const fn context(&self) -> i32 {
        ((self.key >> 32) as u32).cast_signed()
    }

    /// The sender.
    #[inline]
    pub const fn source(&self) -> Tid {
        Tid(self.source)
    }

    /// The receiver of a message that was taken out of a lane.
    #[inline]
    pub const fn destination(&self) -> Tid {
        Tid(self.destination)
    }

    /// The encoding of a small message that was taken out of a lane.
    #[inline]
    pub const fn encoding(&self) -> Encoding {
        if self.shape.encoding() == Encoding::Raw as u8 { Encoding::Raw } else { Encoding::Default }
    }

    /// True where the items are laid out as on this computer.
    #[inline]
    pub const fn is_native(&self) -> bool {
        self.shape.layout() == Layout::NATIVE as u8
    }

    /// Runs in the list: none or one.
    #[inline]
    pub(super) const fn run_count(&self) -> u32 {
        self.shape.run_count() as u32
    }

    /// Its number among the messages of its sender to its receiver.
    #[inline]
    pub const fn sequence(&self) -> u64 {
        self.sequence
    }

    /// `pvm_setminfo`'s wait id.
    #[inline]
    pub const fn wait_id(&self) -> i32 {
        self.wait_id
    }

    /// Context, tag and receiver of a message that is sent.
    #[inline]
    pub const fn address(&mut self, to: Address) {
        (self.key, self.destination) = (key_of(to.context, to.tag), to.to.0);
    }

    /// Puts the receiver in place of the moment, and returns the moment.
    #[inline]
    pub(crate) const fn received_by(&mut self, me: Tid) -> u32 {
        std::mem::replace(&mut self.destination, me.0)
    }
}

const _: () = assert!(size_of::<Head>() == 44);
