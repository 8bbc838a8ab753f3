//! The log of a durable space: what a server writes to its disk, and what it reads there.
//!
//! ```text
//! 0   MAGIC, 16 bytes
//! 16  records, one behind the other:
//!     0   bytes of the record, 8 bytes, little-endian
//!     8   hash of these bytes and the length, 8 bytes
//!     16  the record
//! ```
//!
//! The first record is all that the space held when the file was begun; steps follow. A server
//! begins a new file when the steps have become much longer than that. What was answered is in
//! front of any damage that a crash can do, because nothing is answered before it is on the disk.

use crate::frames::{Entry, Options};
use crate::hash::of_bytes;
use crate::ops::Input;
use crate::planted::{self, Bug};
use crate::snapshot::Snapshot;
use crate::store::Store;
use pvm_wire::{Wire as _, choice};

/// The first bytes of a file; the last of them is the version.
pub const MAGIC: [u8; 16] = *b"NeoPVM tuples \n\x05";
/// An earlier version, whose records are all records of this one.
const EARLIER: u8 = 4;
/// In front of each record.
const HEAD: usize = 16;

choice! {
    /// A part of a log.
    pub enum Record {
        /// The state of the space behind the step `number`.
        1 => Begun { /// The epoch.
            epoch: i32, /// The entry of that epoch.
            entry: Entry, /// The last step.
            number: u64, /// The state of the space.
            snapshot: Snapshot },
        /// The next step.
        2 => Step { /// The number of the step.
            number: u64, /// The time, in milliseconds of the primary's clock.
            at_ms: u64, /// The input.
            input: Input },
        /// The space has a new entry.
        3 => Named { /// The epoch.
            epoch: i32, /// The entry.
            entry: Entry },
    }
}

/// Appends a record to the bytes that are to be written.
pub fn append(out: &mut Vec<u8>, record: &Record) {
    let start = out.len();
    out.resize(start + HEAD, 0);
    record.encode(out);
    let length = ((out.len() - start - HEAD) as u64).to_le_bytes();
    let hash = hash(length, &out[start + HEAD..]);
    out[start..start + 8].copy_from_slice(&length);
    out[start + 8..start + HEAD].copy_from_slice(&hash.to_le_bytes());
}

fn hash(length: [u8; 8], record: &[u8]) -> u64 {
    of_bytes(u64::from_le_bytes(length), record)
}

/// A space as its log describes it.
#[derive(Debug)]
pub struct Replay {
    /// The last epoch.
    pub epoch: i32,
    /// Its entry.
    pub entry: Entry,
    /// The last step.
    pub number: u64,
    /// The content of the space.
    pub store: Store,
    /// The number of sound bytes. The bytes behind them are damaged, or their writing was not
    /// completed.
    pub whole: usize,
}

/// The version of a log that other versions of this program have written.
pub fn other_version(bytes: &[u8]) -> Option<u8> {
    let (version, name) = MAGIC.split_last()?;
    let (own, rest) = bytes.split_at_checked(name.len())?;
    rest.first().copied().filter(|other| own == name && ![*version, EARLIER].contains(other))
}

/// Reads a log up to its first damage; none if it holds no space.
pub fn replay(bytes: &[u8]) -> Option<Replay> {
    let mut at = MAGIC.len();
    let (version, name) = bytes.get(..at)?.split_last()?;
    if !MAGIC.starts_with(name) || ![MAGIC[at - 1], EARLIER].contains(version) {
        return None;
    }
    let (first, length) = record(bytes.get(at..)?)?;
    let Record::Begun { epoch, entry, number, snapshot } = first else { return None };
    let store = Store::restore(snapshot);
    at += length;
    let mut replay = Replay { epoch, entry, number, store, whole: at };
    while let Some((record, length)) = bytes.get(at..).and_then(record)
        && replay.apply(record)
    {
        at += length;
        replay.whole = at;
    }
    Some(replay)
}

/// The first record of these bytes, and its length including its head.
fn record(bytes: &[u8]) -> Option<(Record, usize)> {
    let (head, rest) = bytes.split_at_checked(HEAD)?;
    let (length, own_hash) = head.split_first_chunk::<8>()?;
    let size = usize::try_from(u64::from_le_bytes(*length)).ok()?;
    let record = rest.get(..size)?;
    if hash(*length, record).to_le_bytes() != own_hash && !planted::is(Bug::TrustsTheDisk) {
        return None;
    }
    Some((Record::from_bytes(record).ok()?, HEAD + size))
}

impl Replay {
    /// Applies a record; false for a record that cannot come next.
    fn apply(&mut self, record: Record) -> bool {
        match record {
            Record::Step { number, at_ms, input } if number == self.number + 1 => {
                self.number = number;
                self.store.apply(at_ms, input, &mut Vec::new());
                true
            }
            Record::Named { epoch, entry } => {
                (self.epoch, self.entry) = (epoch, entry);
                true
            }
            Record::Begun { .. } | Record::Step { .. } => false,
        }
    }

    /// The state with which a new server begins. The clients of the old one have ended, or know
    /// that the space was lost. So their claimed tuples become free, and the waiters are removed.
    pub fn into_store(mut self, options: Options) -> Store {
        for client in self.store.clients().collect::<Vec<_>>() {
            self.store.apply(0, Input::Gone { client }, &mut Vec::new());
        }
        self.store.limit = options.limit_bytes;
        self.store.when_full = options.when_full;
        self.store
    }

    /// True if this log, of two logs of one space, has every answered step that the other one has.
    ///
    /// Logs under one primary have equal steps, so the longer one counts: the primary's own log may
    /// lack its end. Otherwise the log of the later primary counts.
    pub fn is_later_than(&self, other: &Self) -> bool {
        let of_primary = |log: &Self| (log.entry.generation, log.entry.primary);
        let age = |log: &Self| (log.entry.generation, log.epoch, log.number);
        if of_primary(self) == of_primary(other) {
            return (self.number, self.epoch) > (other.number, other.epoch);
        }
        age(self) > age(other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frames::Full;
    use crate::ops::{Find, Op, Outcome, Reason};
    use pvm_wire::{Blob, Tid};

    fn entry() -> Entry {
        Entry {
            space: 7,
            primary: Tid(0x4_0001),
            copies: Vec::new(),
            options: Options { copies: 0, limit_bytes: 1 << 20, when_full: Full::Wait, loss_ms: 0 },
            owner: Tid::NONE,
            deleted: false,
            directory: Blob::from("/d"),
            generation: 3,
        }
    }

    fn tuple(number: i32) -> crate::Tuple {
        let mut builder = crate::Builder::new();
        builder.int(number).expect("fits");
        builder.tuple().expect("a field")
    }

    fn step(number: u64) -> Record {
        let tuples = vec![tuple(i32::try_from(number).expect("small"))];
        let op = Op::Put { tuples, wait: true };
        let input = Input::Asked { client: Tid(0x4_0002), number, settled: number, op };
        Record::Step { number, at_ms: 5, input }
    }

    fn log(steps: u64) -> (Vec<u8>, Vec<usize>) {
        log_of(1, entry(), steps)
    }

    fn log_of(epoch: i32, entry: Entry, steps: u64) -> (Vec<u8>, Vec<usize>) {
        let snapshot = Store::new(1 << 20, Full::Wait).snapshot();
        let mut bytes = MAGIC.to_vec();
        append(&mut bytes, &Record::Begun { epoch, entry, number: 0, snapshot });
        let mut ends = vec![bytes.len()];
        for number in 1..=steps {
            append(&mut bytes, &step(number));
            ends.push(bytes.len());
        }
        (bytes, ends)
    }

    #[test]
    fn what_is_whole_is_kept_wherever_the_file_ends_or_is_damaged() {
        let (bytes, ends) = log(6);
        for cut in 0..=bytes.len() {
            let whole = ends.iter().rposition(|end| *end <= cut);
            let found = replay(&bytes[..cut]).map(|replay| replay.store.count());
            assert_eq!(found, whole, "cut at {cut}");
        }
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x10;
            let whole = ends.iter().rposition(|end| *end <= at);
            let found = replay(&damaged).map(|replay| replay.store.count());
            assert_eq!(found, whole, "damaged at {at}");
        }
    }

    #[test]
    fn claims_come_back_and_nobody_waits_when_a_space_begins_anew() {
        let (mut bytes, _) = log(1);
        let mut template = crate::Builder::new();
        template.formal(crate::Kind::Int, crate::Shape::Scalar, 0).expect("fits");
        let template = template.tuple().expect("a field");
        for (number, how) in [(2, Find::Claim { lease_ms: None }), (3, Find::Take)] {
            let op = Op::Find { template: template.clone(), how, wait: true, limit_ms: None };
            let input = Input::Asked { client: Tid(0x4_0002), number, settled: number, op };
            append(&mut bytes, &Record::Step { number, at_ms: 5, input });
        }
        let store = replay(&bytes).expect("a log").into_store(entry().options);
        assert_eq!((store.count(), store.clients().count()), (1, 0));
        assert_eq!(store.seen(9, 9).waiting.len() + store.seen(9, 9).claimed.len(), 0);
    }

    #[test]
    fn a_log_of_the_version_before_is_read_and_no_older_one() {
        let (mut bytes, _) = log(1);
        for (version, is_read) in [(MAGIC[15], true), (EARLIER, true), (EARLIER - 1, false)] {
            bytes[15] = version;
            assert_eq!(
                (replay(&bytes).is_some(), other_version(&bytes).is_none()),
                (is_read, is_read)
            );
        }
    }

    #[test]
    fn a_space_that_was_too_small_stayed_so_when_it_was_made_again() {
        let (bytes, _) = log(1);
        let options =
            |limit_bytes| Options { copies: 0, limit_bytes, when_full: Full::Fail, loss_ms: 0 };
        let put = |limit| {
            let mut store = replay(&bytes).expect("a log").into_store(options(limit));
            let op = Op::Put { tuples: vec![tuple(7)], wait: true };
            let client = Tid(0x4_0003);
            let mut answers = Vec::new();
            store.apply(5, Input::Asked { client, number: 1, settled: 1, op }, &mut answers);
            answers.pop().expect("an answer").outcome
        };
        assert_eq!(put(1 << 20), Outcome::Done);
        assert_eq!(put(200), Outcome::Failed { reason: Reason::Full });
        assert_eq!(put(100), Outcome::Failed { reason: Reason::TooLarge });
    }

    #[test]
    fn a_step_twice_or_out_of_order_is_damage() {
        for next in [1, 3] {
            let (mut bytes, ends) = log(1);
            append(&mut bytes, &step(next));
            assert_eq!(replay(&bytes).map(|replay| replay.whole), ends.last().copied());
        }
    }

    #[test]
    fn a_damaged_log_of_the_primary_was_preferred_to_the_whole_one_of_its_copy() {
        let of = |epoch, primary, steps| {
            let entry = Entry { primary: Tid(primary), ..entry() };
            replay(&log_of(epoch, entry, steps).0).expect("it is whole")
        };
        let (damaged, copy) = (of(3, 1, 2), of(1, 1, 6));
        assert!(copy.is_later_than(&damaged) && !damaged.is_later_than(&copy));
        // The steps of a later primary count, however many steps of an earlier one had no answer.
        let heir = of(4, 2, 5);
        assert!(heir.is_later_than(&copy) && !copy.is_later_than(&heir));
        let again = of(4, 2, 5);
        assert!(!again.is_later_than(&heir) && !heir.is_later_than(&again));
    }
}
