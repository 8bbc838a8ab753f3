//! The storage for the bytes of tuples that have no room in memory: files of the server, or memory
//! in a simulation.

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
/// Their content ends with the server. Which tuples are in files may differ between servers, and
/// changes no answer.
pub trait Shelf: fmt::Debug {
    /// Reserves room for this many bytes; false if there is none.
    fn reserve(&mut self, bytes: u64) -> bool;
    /// Stores bytes; none if that fails.
    fn put(&mut self, bytes: &[u8]) -> Option<Extent>;
    /// Reads bytes; none if that fails.
    fn get(&self, place: Extent) -> Option<Vec<u8>>;
    /// Frees the storage of bytes.
    fn free(&mut self, place: Extent);
}
