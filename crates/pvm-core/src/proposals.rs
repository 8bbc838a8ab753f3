//! The commands that this host has proposed and that have not been applied.
//!
//! Each has a *ticket*, the number among the commands of this host, by which all hosts apply it
//! exactly once. It is kept until it has been applied, and put to every new leader again, in the
//! sequence of the tickets. A command has a *mark*, too, by which this host knows the request that
//! waits for it.
//!
//! A long command would stop all later ones for as long as its bytes take to come to a majority. So
//! it goes into the log in pieces, a few at a time, each with a ticket of its own: commands that
//! other tasks and hosts propose meanwhile come between them. Every host joins the pieces
//! (`order/pieces`), and the command counts where its last piece stands.

use crate::planted::{self, Bug};
use crate::records::{Change, Slot, Table};
use pvm_wire::peer::Command;
use pvm_wire::{Blob, Tid, Wire, record};

/// Bytes of a piece, and of the longest command that is ordered as a whole. Two pieces fit into one
/// message of the consensus library.
pub(crate) const PIECE_BYTES: usize = 30 << 10;
/// The most bytes of pieces of one host that are in the log, or on their way to it, and not
/// applied.
const WINDOW_BYTES: usize = 4 * PIECE_BYTES;

record! {
    /// A command of this host.
    pub struct Proposed {
        /// The number by which this host knows it; 0 if no request waits for it.
        pub mark: u64,
        pub command: Command,
    }

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

/// The proposals of this host.
#[derive(Debug)]
pub(crate) struct Proposals {
    proposed: Table<u64, Proposed>,
    tickets: Slot<u64>,
    /// Long commands.
    open: Table<u64, Open>,
    cursor: Slot<Cursor>,
}

impl Proposals {
    pub(crate) const fn new() -> Self {
        Self {
            proposed: Table::new(b'O'),
            tickets: Slot::new(b'9', 0),
            open: Table::new(b'('),
            cursor: Slot::new(b')', Cursor { number: 1, offset: 0, last: 0 }),
        }
    }

    /// Notes what this host proposes; returns its number, none for what goes in pieces.
    pub(crate) fn note(&mut self, mark: u64, command: &Command) -> Option<u64> {
        let bytes = command.to_bytes();
        if bytes.len() > PIECE_BYTES && !planted::is(Bug::LongInOnePiece) {
            let owner = match command {
                Command::PutInfo { owner, .. } => *owner,
                _ => Tid::NONE,
            };
            self.add_long(mark, owner, bytes);
            return None;
        }
        Some(self.note_short(mark, command.clone()))
    }

    fn note_short(&mut self, mark: u64, command: Command) -> u64 {
        let ticket = self.tickets.next();
        self.proposed.insert(ticket, Proposed { mark, command });
        ticket
    }

    /// The next piece of a long command, if another one may be on its way: its number and itself.
    pub(crate) fn next_piece(&mut self) -> Option<(u64, Command)> {
        if self.open.is_empty() {
            return None;
        }
        let bytes = |proposed: &Proposed| match &proposed.command {
            Command::Piece { bytes, .. } => bytes.0.len(),
            _ => 0,
        };
        if self.proposed.values().map(bytes).sum::<usize>() >= WINDOW_BYTES {
            return None;
        }
        let (number, piece) = self.cut_piece()?;
        Some((self.note_short(number, piece.clone()), piece))
    }

    fn add_long(&mut self, mark: u64, owner: Tid, bytes: Vec<u8>) {
        let cursor = self.cursor.get_mut();
        cursor.last += 1;
        self.open.insert(cursor.last, Open { mark, owner, bytes: Blob(bytes) });
    }

    /// The next piece of a long command, and the number of that command.
    fn cut_piece(&mut self) -> Option<(u64, Command)> {
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

    /// All pieces of a long command have been applied: its mark.
    fn close(&mut self, number: u64) -> Option<u64> {
        self.open.remove(&number).map(|open| open.mark)
    }

    /// A task is gone: its long commands go into the log no further. Returns the command that takes
    /// back the pieces that are there already.
    pub(crate) fn abandon(&mut self, tid: Tid) -> Option<Command> {
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
        let nothing = Command::Piece { offset: 0, last: true, bytes: Blob::default() };
        begun.then_some(nothing)
    }

    /// The marks of the commands that go in pieces.
    pub(crate) fn long_marks(&self) -> Vec<u64> {
        self.open.values().map(|open| open.mark).collect()
    }

    /// The command with this ticket has been applied here. Returns its mark, for a long command
    /// with its last piece.
    pub(crate) fn applied(&mut self, ticket: u64) -> Option<u64> {
        match self.proposed.remove(&ticket)? {
            Proposed { command: Command::Piece { last: false, .. }, .. } => None,
            Proposed { mark, command: Command::Piece { .. } } => self.close(mark),
            Proposed { mark, .. } => Some(mark),
        }
    }

    /// The number of the command by which this host has proposed the end of a task, while it has
    /// not been applied here.
    pub(crate) fn end_of(&self, tid: Tid) -> Option<u64> {
        let ends = |proposed: &Proposed| proposed.command == Command::TaskGone { tid };
        self.proposed.iter().find(|(_, proposed)| ends(proposed)).map(|(&ticket, _)| ticket)
    }

    /// Everything that this host has proposed and that has not been applied.
    pub(crate) fn outstanding(&self) -> Vec<(u64, Command)> {
        self.proposed.iter().map(|(&ticket, p)| (ticket, p.command.clone())).collect()
    }

    /// The askers of these commands were told that they failed. Commands that take a message become
    /// empty, unless a leader has ordered them already: the first command under a number counts.
    pub(crate) fn end_takes(&mut self, marks: &[u64]) {
        let takes = |command: &Command| matches!(command, Command::TakeInfo { .. });
        let late = |_: &u64, p: &Proposed| marks.contains(&p.mark) && takes(&p.command);
        for ticket in self.proposed.keys_where(late) {
            let command = Command::Piece { offset: 0, last: true, bytes: Blob::default() };
            self.proposed.insert(ticket, Proposed { mark: 0, command });
        }
    }

    /// The marks of this host's commands that fit and have not been applied here.
    pub(crate) fn marks_of(&self, fits: impl Fn(&Command) -> bool) -> Vec<u64> {
        let fitting = self.proposed.values().filter(|p| p.mark != 0 && fits(&p.command));
        fitting.map(|p| p.mark).collect()
    }

    /// The commands up to this number were applied while this host missed them: the mark of each
    /// and, if it went in one piece, the command.
    pub(crate) fn take_missed(&mut self, applied: u64) -> Vec<(u64, Option<Command>)> {
        let mut marks = Vec::new();
        for ticket in self.proposed.keys_where(|ticket, _| *ticket <= applied) {
            match self.proposed.remove(&ticket) {
                Some(Proposed { mark, command: Command::Piece { last, .. } }) => {
                    let closed = if last { self.close(mark) } else { None };
                    marks.extend(closed.map(|mark| (mark, None)));
                }
                Some(Proposed { mark, command }) => marks.push((mark, Some(command))),
                None => {}
            }
        }
        marks
    }

    pub(crate) fn take_changes(&mut self, out: &mut Vec<Change>) {
        self.proposed.take_changes(out);
        self.tickets.take_changes(out);
        self.open.take_changes(out);
        self.cursor.take_changes(out);
    }

    pub(crate) fn restore(&mut self, key: &[u8], value: &[u8]) -> bool {
        self.proposed.restore(key, value)
            || self.tickets.restore(key, value)
            || self.open.restore(key, value)
            || self.cursor.restore(key, value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(bytes: usize) -> Command {
        Command::KnowHosts { lines: vec![Blob(vec![7; bytes])] }
    }

    /// The pieces of all long commands, each with the number of its command.
    fn pieces(proposals: &mut Proposals) -> Vec<(u64, Command)> {
        std::iter::from_fn(|| proposals.cut_piece()).collect()
    }

    #[test]
    fn a_long_command_is_cut_into_pieces_and_applied_with_the_last_one() {
        let (mut proposals, command) = (Proposals::new(), lines(3 * PIECE_BYTES));
        assert_eq!(proposals.note(5, &command), None);
        let mut whole = Vec::new();
        let mut marks = Vec::new();
        while let Some((ticket, piece)) = proposals.next_piece() {
            let Command::Piece { offset, bytes, .. } = piece else { panic!("{piece:?}") };
            assert!(offset == whole.len() as u64 && bytes.0.len() <= PIECE_BYTES);
            whole.extend(bytes.0);
            marks.extend(proposals.applied(ticket));
        }
        assert_eq!((Command::from_bytes(&whole), marks), (Ok(command), vec![5]));
        assert!(proposals.outstanding().is_empty() && proposals.long_marks().is_empty());
    }

    #[test]
    fn no_more_pieces_are_on_their_way_than_the_window_holds() {
        let mut proposals = Proposals::new();
        proposals.note(1, &lines(9 * PIECE_BYTES));
        let tickets: Vec<_> = std::iter::from_fn(|| proposals.next_piece()).collect();
        assert_eq!(tickets.len(), WINDOW_BYTES / PIECE_BYTES);
        assert_eq!(proposals.applied(1), None);
        assert!(proposals.next_piece().is_some() && proposals.next_piece().is_none());
    }

    #[test]
    fn what_a_task_wanted_that_is_gone_is_put_into_the_order_no_further() {
        let (mut proposals, task) = (Proposals::new(), Tid(0x40001));
        proposals.add_long(1, task, lines(2 * PIECE_BYTES).to_bytes());
        proposals.add_long(2, Tid::NONE, lines(PIECE_BYTES).to_bytes());
        proposals.add_long(3, task, lines(PIECE_BYTES).to_bytes());
        assert!(proposals.cut_piece().is_some_and(|(of, _)| of == 1));
        assert!(proposals.abandon(task).is_some());
        assert!(pieces(&mut proposals).iter().all(|(of, ..)| *of == 2));
        assert_eq!(proposals.long_marks(), [2]);
        assert_eq!(proposals.abandon(task), None);
    }
}
