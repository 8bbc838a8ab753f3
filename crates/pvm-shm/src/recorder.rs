//! The trace ring of a task: what its probe points noted, for whoever reads along.
//!
//! ```text
//! segment:  0 reserved u64   64 read u64   128 dropped u64   192 about   256 + 64 k  record k
//! record:   0 stamp u32      4 60 bytes
//! ```
//! Threads of the task claim places by their number and fill them; the stamp of the record for
//! position `p` becomes `p + 1` when it is complete. One reader at a time takes them out. A ring that
//! is full counts what it drops: nobody ever waits for a reader, and no call goes into the kernel.

use crate::segment::Mapping;
use crate::sync::{AtomicU32, AtomicU64, Ordering, Shared};
use crate::ticks::{self, Scale, Source};
use std::sync::Arc;

/// Bytes in front of the records.
const HEADER_SIZE: usize = 256;
/// Bytes of a record.
pub const RECORD_SIZE: usize = 64;
/// Records of a ring that is asked for without a number: 1 MiB.
pub const RECORDS: u32 = 1 << 14;
/// No ring has more: 64 MiB.
pub const RECORDS_MAX: u32 = 1 << 20;

/// What a record tells of.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub enum Point {
    /// A call of the library begins; [`Record::call`] says which.
    Enter = 1,
    /// It ends, with [`Record::result`].
    Leave = 2,
    /// The task waits for a message or an answer.
    WaitBegin = 3,
    /// It goes on.
    WaitEnd = 4,
    /// A message (or a piece of it) is copied or written to a socket.
    SendBegin = 5,
    /// That is done; the message has its number.
    SendEnd = 6,
    /// A message was taken: who sent it, and what was asked for.
    Received = 7,
    /// Data of a message are read out of where they lie.
    CopyBegin = 8,
    /// That is done.
    CopyEnd = 9,
    /// Negotiation of a direct route: [`Record::result`] is 1 asked, 2 stands, 3 refused, 4 broke.
    Route = 10,
}

impl Point {
    const ALL: [Self; 10] = [
        Self::Enter,
        Self::Leave,
        Self::WaitBegin,
        Self::WaitEnd,
        Self::SendBegin,
        Self::SendEnd,
        Self::Received,
        Self::CopyBegin,
        Self::CopyEnd,
        Self::Route,
    ];

    /// The point of this number.
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|point| *point as u8 == number)
    }
}

/// How a message travels.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
#[repr(u8)]
pub enum Way {
    /// No message is meant.
    #[default]
    None = 0,
    /// Shared memory of one host.
    Memory = 1,
    /// A direct route between two hosts.
    Direct = 2,
    /// The links of the daemons.
    Daemons = 3,
    /// To the task itself.
    Own = 4,
}

/// What one probe point notes. Fields that a point has no use for are 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C, packed(4))]
pub struct Record {
    /// [`Point`], as its number.
    pub point: u8,
    /// [`Way`], as its number.
    pub way: u8,
    /// Daemons that the message passes.
    pub hops: u8,
    /// Not used yet.
    pub spare: u8,
    /// When, in ticks of the recorder's clock; [`Reader::drain`] turns it into nanoseconds.
    pub time: u64,
    /// The thread: a small number of the task's own.
    pub thread: u32,
    /// Sender or receiver.
    pub peer: u32,
    /// Tag of the message.
    pub tag: i32,
    /// Its context.
    pub context: i32,
    /// Bytes of its data.
    pub bytes: u64,
    /// Its number among those of this pair of tasks, 0 where it is not known.
    pub sequence: u64,
    /// The source that a receive asked for, 0 for any.
    pub asked_source: u32,
    /// The tag that it asked for, -1 for any.
    pub asked_tag: i32,
    /// Which call: its number as a kind of event (`TEV_*`).
    pub call: u16,
    /// Not used yet.
    pub spare2: u16,
    /// What it returned.
    pub result: i32,
}

#[derive(Debug)]
#[repr(C, align(64))]
struct Line<T>(T);

#[derive(Debug)]
#[repr(C)]
struct About {
    /// 1: the counter; else the kernel's clock.
    source: AtomicU32,
    ready: AtomicU32,
    ticks: AtomicU64,
    nanoseconds: AtomicU64,
}

/// In front of the records.
#[derive(Debug)]
#[repr(C, align(64))]
struct Header {
    reserved: Line<AtomicU64>,
    read: Line<AtomicU64>,
    dropped: Line<AtomicU64>,
    about: Line<About>,
}

#[derive(Debug)]
#[repr(C, align(64))]
struct Cell {
    stamp: AtomicU32,
    content: Shared<Record>,
}

const _: () = assert!(cfg!(loom) || size_of::<Cell>() == RECORD_SIZE);
const _: () = assert!(cfg!(loom) || size_of::<Header>() == HEADER_SIZE);

/// Bytes of a segment for so many records (a power of two).
pub fn segment_size(records: u32) -> usize {
    HEADER_SIZE + records.clamp(2, RECORDS_MAX).next_power_of_two() as usize * RECORD_SIZE
}

#[derive(Clone, Debug)]
enum Place {
    Shared(Arc<Mapping>),
    Heap(Arc<(Header, Box<[Cell]>)>),
}

impl Place {
    fn header(&self) -> &Header {
        match self {
            // SAFETY: atomics, valid for any bits.
            Self::Shared(mapping) => unsafe { mapping.view(0) },
            Self::Heap(heap) => &heap.0,
        }
    }

    fn cells(&self) -> &[Cell] {
        match self {
            Self::Shared(mapping) => {
                let cells = mapping.size().saturating_sub(HEADER_SIZE) / RECORD_SIZE;
                // A segment is whole pages, the ring a power of two of records.
                let cells = if cells == 0 { 0 } else { 1 << cells.ilog2() };
                // SAFETY: an atomic and bytes behind `Shared`, valid for any bits.
                unsafe { mapping.views(HEADER_SIZE, cells) }
            }
            Self::Heap(heap) => &heap.1,
        }
    }
}

/// Whether a record that claims `position` finds a cell that has been read. The claim may be older than what was read since:
/// others have claimed it then, and it is made anew.
const fn has_room(position: u64, read: u64, cells: usize) -> bool {
    let ahead = position.wrapping_sub(read).cast_signed();
    ahead < 0 || ahead.cast_unsigned() < cells as u64
}

/// The task's end.
#[derive(Clone, Debug)]
pub struct Recorder {
    place: Place,
    source: Source,
    cells: usize,
}

impl Recorder {
    /// Notes into this segment, which is fresh.
    pub fn new(mapping: Arc<Mapping>) -> Self {
        Self::in_place(Place::Shared(mapping), Source::best())
    }

    /// On the heap, for models. `records` is a power of two.
    pub fn on_heap(records: usize) -> Self {
        let cell = || Cell { stamp: AtomicU32::new(0), content: Shared::new(Record::default()) };
        let line = || Line(AtomicU64::new(0));
        let about = About {
            source: AtomicU32::new(0),
            ready: AtomicU32::new(0),
            ticks: AtomicU64::new(0),
            nanoseconds: AtomicU64::new(0),
        };
        let header = Header { reserved: line(), read: line(), dropped: line(), about: Line(about) };
        let heap = Arc::new((header, (0..records).map(|_| cell()).collect()));
        Self::in_place(Place::Heap(heap), Source::Kernel)
    }

    fn in_place(place: Place, source: Source) -> Self {
        let about = &place.header().about.0;
        about.source.store(u32::from(source == Source::Counter), Ordering::Relaxed);
        about.ticks.store(source.now(), Ordering::Relaxed);
        about.nanoseconds.store(ticks::nanoseconds(), Ordering::Relaxed);
        // PAIRS WITH: `Reader::drain`.
        about.ready.store(1, Ordering::Release);
        let cells = place.cells().len();
        Self { place, source, cells }
    }

    /// The time now, for [`Record::time`].
    #[inline]
    pub fn now(&self) -> u64 {
        self.source.now()
    }

    /// Notes a record, or counts it if there is no room. Any thread; never waits.
    #[inline]
    pub fn put(&self, record: &Record) {
        let header = self.place.header();
        let mut position = header.reserved.0.load(Ordering::Relaxed);
        loop {
            // PAIRS WITH: `Reader::drain`, which is done with the records before this one.
            let read = header.read.0.load(Ordering::Acquire);
            if !has_room(position, read, self.cells) {
                header.dropped.0.fetch_add(1, Ordering::Relaxed);
                return;
            }
            match header.reserved.0.compare_exchange_weak(
                position,
                position.wrapping_add(1),
                Ordering::Relaxed,
                Ordering::Relaxed,
            ) {
                Ok(_) => break,
                Err(now) => position = now,
            }
        }
        let Some(cell) = self.place.cells().get(position as usize & (self.cells - 1)) else {
            return;
        };
        cell.content.with_mut(|content| {
            // SAFETY: this position is ours alone, and the reader is done with the former record
            // in the cell; a raw write of plain bytes.
            unsafe { content.write_unaligned(*record) }
        });
        // PAIRS WITH: `Reader::drain`.
        cell.stamp.store((position as u32).wrapping_add(1), Ordering::Release);
    }

    /// A reader of the same ring, for tests of one process.
    pub fn reader(&self) -> Reader {
        Reader { place: self.place.clone() }
    }
}

/// What one look at a ring gave.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Drained {
    /// Records taken out.
    pub taken: usize,
    /// Records that found no room since the ring began.
    pub dropped: u64,
}

/// The other end. Only one at a time: whoever comes later goes on where the last one was.
#[derive(Debug)]
pub struct Reader {
    place: Place,
}

impl Reader {
    /// Reads a task's recorder. The task may write anything there at any time.
    pub const fn new(mapping: Arc<Mapping>) -> Self {
        Self { place: Place::Shared(mapping) }
    }

    /// Takes out what is complete, in the order of the claims, at most `room` records and a ring full.
    /// Times are nanoseconds of the kernel's monotonic clock then.
    pub fn drain(&mut self, room: usize, mut each: impl FnMut(Record)) -> Drained {
        let header = self.place.header();
        let cells = self.place.cells();
        let dropped = header.dropped.0.load(Ordering::Relaxed);
        // PAIRS WITH: `Recorder::in_place`.
        if cells.is_empty() || header.about.0.ready.load(Ordering::Acquire) == 0 {
            return Drained { taken: 0, dropped };
        }
        let scale = self.scale();
        let mut taken = 0;
        let mut position = header.read.0.load(Ordering::Relaxed);
        while taken < cells.len().min(room) {
            let cell = &cells[position as usize & (cells.len() - 1)];
            // PAIRS WITH: `Recorder::put`.
            if cell.stamp.load(Ordering::Acquire) != (position as u32).wrapping_add(1) {
                break;
            }
            let mut record = cell.content.with(|content| {
                // SAFETY: inside of the mapping; plain bytes, valid whatever they are. The stamp
                // says that the writer is done; one that lies spoils its own record.
                unsafe { content.read_unaligned() }
            });
            record.time = scale.nanoseconds(record.time);
            each(record);
            taken += 1;
            position = position.wrapping_add(1);
            // PAIRS WITH: `Recorder::put`, which may use the cell again now.
            header.read.0.store(position, Ordering::Release);
        }
        Drained { taken, dropped }
    }

    fn scale(&self) -> Scale {
        let about = &self.place.header().about.0;
        let first =
            (about.ticks.load(Ordering::Relaxed), about.nanoseconds.load(Ordering::Relaxed));
        if about.source.load(Ordering::Relaxed) == 1 {
            Scale::new(first, (Source::Counter.now(), ticks::nanoseconds()))
        } else {
            Scale::new((0, 0), (1, 1))
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::segment;

    fn record(number: u64) -> Record {
        Record { point: Point::Enter as u8, sequence: number, ..Record::default() }
    }

    fn mapped(records: u32) -> Arc<Mapping> {
        let size = segment_size(records).next_multiple_of(segment::PAGE);
        Arc::new(Mapping::of_a_test(size).expect("memory"))
    }

    #[test]
    fn what_is_noted_is_read_once_and_in_order() {
        let mapping = mapped(64);
        let recorder = Recorder::new(mapping.clone());
        let before = ticks::nanoseconds();
        (0..50).for_each(|i| recorder.put(&Record { time: recorder.now(), ..record(i) }));
        let mut reader = Reader::new(mapping);
        let mut seen = Vec::new();
        let drained = reader.drain(usize::MAX, |record| seen.push((record.sequence, record.time)));
        assert_eq!(drained, Drained { taken: 50, dropped: 0 });
        assert!(seen.iter().map(|(number, _)| *number).eq(0..50));
        // The two clocks were looked at one after the other; a task can be interrupted between.
        assert!(seen.iter().all(|(_, time)| time + 50_000_000 > before));
        assert_eq!(reader.drain(usize::MAX, |_| panic!("read twice")).taken, 0);
    }

    #[test]
    fn a_ring_that_is_full_counts_what_it_drops_and_goes_on_when_it_was_read() {
        let recorder = Recorder::on_heap(4);
        (0..7).for_each(|i| recorder.put(&record(i)));
        let mut reader = recorder.reader();
        let mut seen = Vec::new();
        let drained = reader.drain(usize::MAX, |record| seen.push(record.sequence));
        assert_eq!((seen.as_slice(), drained.dropped), ([0, 1, 2, 3].as_slice(), 3));
        recorder.put(&record(9));
        reader.drain(usize::MAX, |record| seen.push(record.sequence));
        assert_eq!(seen.last(), Some(&9));
    }

    #[test]
    fn a_claim_that_others_had_made_and_had_read_dropped_its_record() {
        assert!(has_room(305, 306, 4096) && has_room(0, u64::MAX, 4));
        assert!(has_room(3, 0, 4) && !has_room(4, 0, 4) && has_room(u64::MAX, u64::MAX - 3, 4));
    }

    #[test]
    fn threads_note_side_by_side_and_nothing_is_lost_or_torn() {
        let recorder = Recorder::on_heap(1 << 12);
        let mut reader = recorder.reader();
        let each = if cfg!(miri) { 30 } else { 1000 };
        let mut next = [0; 3];
        let mut seen = 0;
        std::thread::scope(|scope| {
            for thread in 0..3u32 {
                let recorder = recorder.clone();
                scope.spawn(move || {
                    for i in 0..each {
                        let peer = thread ^ i as u32;
                        recorder.put(&Record { thread, peer, ..record(i) });
                    }
                });
            }
            while seen < 3 * each as usize {
                seen += reader
                    .drain(usize::MAX, |record| {
                        let (thread, number, peer) = (record.thread, record.sequence, record.peer);
                        assert_eq!(peer, thread ^ number as u32, "torn");
                        assert_eq!(number, next[thread as usize], "out of order");
                        next[thread as usize] += 1;
                    })
                    .taken;
                std::thread::yield_now();
            }
        });
        assert_eq!(next, [each; 3]);
    }

    #[test]
    fn scribbled_rings_cost_nothing_but_their_records() {
        let mapping = mapped(16);
        let recorder = Recorder::new(mapping.clone());
        for filler in [0xff, 0x80, 1] {
            mapping.write(0, &vec![filler; mapping.size()]);
            let mut reader = Reader::new(mapping.clone());
            assert!(reader.drain(usize::MAX, |_| ()).taken <= mapping.size() / RECORD_SIZE);
            (0..100).for_each(|i| recorder.put(&record(i)));
        }
    }

    #[test]
    fn points_keep_their_numbers() {
        assert_eq!(Point::from_number(7), Some(Point::Received));
        assert_eq!(Point::from_number(11), None);
        assert_eq!(size_of::<Record>(), 60);
    }
}
