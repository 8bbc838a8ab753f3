//! The place for the bytes of tuples that have no room in memory: files of the server, in a
//! simulation some memory.

use std::fmt;

/// The bytes of one tuple on a shelf.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Extent {
    /// The number of its file.
    pub file: u32,
    /// Its offset in the file.
    pub offset: u64,
    /// Its length.
    pub bytes: u64,
}

/// Files of a server.
///
/// What lies on it does not outlive the server, and what lies there and what in memory may differ
/// from server to server: that changes no answer.
pub trait Shelf: fmt::Debug {
    /// Has room for so many bytes, whatever else happens; false if it cannot have it.
    fn reserve(&mut self, bytes: u64) -> bool;
    /// Puts bytes; none if they are not there now.
    fn put(&mut self, bytes: &[u8]) -> Option<Extent>;
    /// Reads them; none if that fails.
    fn get(&self, place: Extent) -> Option<Vec<u8>>;
    /// They are not needed any more.
    fn free(&mut self, place: Extent);
}
