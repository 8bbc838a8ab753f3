//! Commands that are too long for one place of the log.
//!
//! A long command would stop all later commands for as long as its bytes take to come to a
//! majority. So its host puts it into the log in pieces, a few at a time, each with a ticket of its
//! own: what others propose meanwhile comes between them. Every host joins the pieces, which are
//! part of what all agree on, and the command counts where its last piece stands.

use crate::records::{Change, Slot, Table};
use pvm_wire::peer::Command;
use pvm_wire::{Blob, HostIndex, Tid, Wire, record};

/// Bytes of a piece, and of the longest command that is ordered as a whole. Two pieces fit into one
/// message of the consensus library.
pub(crate) const PIECE_BYTES: usize = 30 << 10;
/// The most bytes of pieces of one host that are in the log, or on their way to it, and not
/// applied.
pub(crate) const WINDOW_BYTES: usize = 4 * PIECE_BYTES;
/// The longest command.
const COMMAND_BYTES_MAX: u64 = 64 << 20;

record! {
    /// A long command of this host.
    pub struct Open {
        /// The number by which this host knows it.
        pub mark: u64,
        /// The task that it is for, if any.
        pub owner: Tid,
        pub bytes: Blob,
    }

    /// The position up to which the pieces of this host's long commands have been put into the log.
    pub struct Cursor {
        /// The command whose turn it is.
        pub number: u64,
        pub offset: u64,
        /// The number of the last command.
        pub last: u64,
    }
}

/// The long commands of this host, and the pieces of all.
#[derive(Debug)]
pub(crate) struct Long {
    open: Table<u64, Open>,
    cursor: Slot<Cursor>,
    /// The pieces, by their proposer and their place.
    pieces: Table<(HostIndex, u64), Blob>,
}

impl Long {
    pub(crate) const fn new() -> Self {
        Self {
            open: Table::new(b'('),
            cursor: Slot::new(b')', Cursor { number: 1, offset: 0, last: 0 }),
            pieces: Table::new(b'^'),
        }
    }

    /// True where this host has none.
    pub(crate) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Notes a command of this host; `mark` is what it is known by here.
    pub(crate) fn add(&mut self, mark: u64, owner: Tid, bytes: Vec<u8>) {
        let cursor = self.cursor.get_mut();
        cursor.last += 1;
        self.open.insert(cursor.last, Open { mark, owner, bytes: Blob(bytes) });
    }

    /// The next piece to be proposed, and the number of its command.
    pub(crate) fn next_piece(&mut self) -> Option<(u64, Command)> {
        let Cursor { number, offset, .. } = *self.cursor.get();
        let (&of, open) = self.open.range(number..).next()?;
        let whole = &open.bytes.0;
        let begin = if of == number { usize::try_from(offset).ok()?.min(whole.len()) } else { 0 };
        let end = (begin + PIECE_BYTES).min(whole.len());
        let last = end == whole.len();
        let bytes = Blob(whole[begin..end].to_vec());
        let cursor = self.cursor.get_mut();
        (cursor.number, cursor.offset) = if last { (of + 1, 0) } else { (of, end as u64) };
        Some((of, Command::Piece { offset: begin as u64, last, bytes }))
    }

    /// All of a command of this host has been ordered: its mark.
    pub(crate) fn close(&mut self, number: u64) -> Option<u64> {
        self.open.remove(&number).map(|open| open.mark)
    }

    /// A task is gone: its commands are not put into the log any more. True if a part of them is
    /// there already.
    pub(crate) fn abandon(&mut self, tid: Tid) -> bool {
        let Cursor { number, offset, .. } = *self.cursor.get();
        let mut begun = false;
        // What is there as a whole counts.
        for of in self.open.keys_where(|of, open| *of >= number && open.owner == tid) {
            begun |= of == number && offset > 0;
            self.open.remove(&of);
        }
        if begun {
            let cursor = self.cursor.get_mut();
            (cursor.number, cursor.offset) = (number + 1, 0);
        }
        begun
    }

    /// The marks of this host's commands.
    pub(crate) fn marks(&self) -> Vec<u64> {
        self.open.values().map(|open| open.mark).collect()
    }

    /// A piece has its place in the log: the whole command with the last one.
    pub(crate) fn join(
        &mut self,
        host: HostIndex,
        offset: u64,
        last: bool,
        bytes: Blob,
    ) -> Option<Command> {
        if offset == 0 {
            self.forget(host);
        }
        let before = self.pieces.range((host, 0)..=(host, u64::MAX)).next_back();
        let end = before.map_or(0, |((_, at), piece)| at + piece.0.len() as u64);
        let fits = end + bytes.0.len() as u64 <= COMMAND_BYTES_MAX;
        if end != offset || !fits || bytes.0.is_empty() {
            self.forget(host);
            return None;
        }
        self.pieces.insert((host, offset), bytes);
        if !last {
            return None;
        }
        let pieces = self.pieces.range((host, 0)..=(host, u64::MAX));
        let whole = pieces.flat_map(|(_, piece)| piece.0.iter().copied()).collect::<Vec<u8>>();
        self.forget(host);
        Command::from_bytes(&whole).ok()
    }

    /// Drops the pieces of a host.
    pub(crate) fn forget(&mut self, host: HostIndex) {
        for key in self.pieces.keys_where(|(of, _), _| *of == host) {
            self.pieces.remove(&key);
        }
    }

    /// Drops the pieces of all hosts.
    pub(crate) fn forget_all(&mut self) {
        self.pieces.clear();
    }

    /// The records that a new host starts from.
    pub(crate) fn records(&self, out: &mut Vec<(Blob, Blob)>) {
        self.pieces.records(out);
    }

    pub(crate) fn adopt(&mut self, key: &[u8], value: &[u8]) -> bool {
        self.pieces.adopt(key, value)
    }

    pub(crate) fn take_changes(&mut self, out: &mut Vec<Change>) {
        self.open.take_changes(out);
        self.cursor.take_changes(out);
        self.pieces.take_changes(out);
    }

    pub(crate) fn restore(&mut self, key: &[u8], value: &[u8]) -> bool {
        self.open.restore(key, value)
            || self.cursor.restore(key, value)
            || self.pieces.restore(key, value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: HostIndex = HostIndex(1);

    fn lines(bytes: usize) -> Command {
        Command::KnowHosts { lines: vec![Blob(vec![7; bytes])] }
    }

    fn pieces(long: &mut Long) -> Vec<(u64, u64, bool, Blob)> {
        let next = || match long.next_piece()? {
            (of, Command::Piece { offset, last, bytes }) => Some((of, offset, last, bytes)),
            other => panic!("{other:?}"),
        };
        std::iter::from_fn(next).collect()
    }

    #[test]
    fn a_long_command_comes_out_of_its_pieces_as_it_was() {
        let (mut long, command) = (Long::new(), lines(3 * PIECE_BYTES));
        long.add(5, Tid::NONE, command.to_bytes());
        let pieces = pieces(&mut long);
        assert_eq!(pieces.len(), 4);
        let mut whole = None;
        for (_, offset, last, bytes) in pieces {
            assert!(whole.is_none() && bytes.0.len() <= PIECE_BYTES);
            whole = long.join(HERE, offset, last, bytes);
        }
        assert_eq!(whole, Some(command));
        assert_eq!((long.close(1), long.close(1)), (Some(5), None));
        assert!(long.pieces.is_empty());
    }

    #[test]
    fn pieces_that_do_not_follow_one_another_make_nothing() {
        let mut long = Long::new();
        let piece = || Blob(vec![1; 10]);
        assert_eq!(long.join(HERE, 0, false, piece()), None);
        assert_eq!(long.join(HERE, 20, true, piece()), None);
        assert!(long.pieces.is_empty());
        assert_eq!(long.join(HERE, COMMAND_BYTES_MAX - 5, true, piece()), None);
        assert_eq!(long.join(HERE, 0, true, Blob::default()), None);
        assert!(long.pieces.is_empty());
    }

    #[test]
    fn what_a_task_wanted_that_is_gone_is_put_into_the_order_no_further() {
        let (mut long, task) = (Long::new(), Tid(0x40001));
        long.add(1, task, lines(2 * PIECE_BYTES).to_bytes());
        long.add(2, Tid::NONE, lines(PIECE_BYTES).to_bytes());
        long.add(3, task, lines(PIECE_BYTES).to_bytes());
        assert!(long.next_piece().is_some_and(|(of, _)| of == 1));
        assert!(long.abandon(task));
        assert!(pieces(&mut long).iter().all(|(of, ..)| *of == 2));
        assert_eq!(long.marks(), [2]);
        assert!(!long.abandon(task));
    }
}
