//! The pieces of commands that are too long for one place of the log (`crate::proposals`). Every
//! host joins them. They are part of what all agree on, so a new member has them, too.

use crate::records::{Change, Table};
use pvm_wire::peer::Command;
use pvm_wire::{Blob, HostIndex, Wire};

/// The longest command.
const COMMAND_BYTES_MAX: u64 = 64 << 20;

/// The pieces of all hosts.
#[derive(Debug)]
pub(crate) struct Pieces {
    /// By their proposer and their place.
    pieces: Table<(HostIndex, u64), Blob>,
}

impl Pieces {
    pub(crate) const fn new() -> Self {
        Self { pieces: Table::new(b'^') }
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
        self.pieces.take_changes(out);
    }

    pub(crate) fn restore(&mut self, key: &[u8], value: &[u8]) -> bool {
        self.pieces.restore(key, value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: HostIndex = HostIndex(1);

    #[test]
    fn a_long_command_comes_out_of_its_pieces_as_it_was() {
        let command = Command::KnowHosts { lines: vec![Blob(vec![7; 1000])] };
        let (mut pieces, bytes) = (Pieces::new(), command.to_bytes());
        let middle = bytes.len() / 2;
        let (first, second) = (Blob(bytes[..middle].to_vec()), Blob(bytes[middle..].to_vec()));
        assert_eq!(pieces.join(HERE, 0, false, first), None);
        assert_eq!(pieces.join(HERE, middle as u64, true, second), Some(command));
        assert!(pieces.pieces.is_empty());
    }

    #[test]
    fn pieces_that_do_not_follow_one_another_make_nothing() {
        let mut pieces = Pieces::new();
        let piece = || Blob(vec![1; 10]);
        assert_eq!(pieces.join(HERE, 0, false, piece()), None);
        assert_eq!(pieces.join(HERE, 20, true, piece()), None);
        assert!(pieces.pieces.is_empty());
        assert_eq!(pieces.join(HERE, COMMAND_BYTES_MAX - 5, true, piece()), None);
        assert_eq!(pieces.join(HERE, 0, true, Blob::default()), None);
        assert!(pieces.pieces.is_empty());
    }
}
