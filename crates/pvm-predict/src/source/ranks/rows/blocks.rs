//! Blocks of a file that were read last.
//!
//! Of many ranks each has few lines. Those of ranks that go on one after the other lie in few
//! places of the file: a row of a stencil and the row before, the leaves of a tree and their
//! parents. So some blocks are kept, and a rank that goes on finds its lines in one of them.

use std::io::{Read, Result, Seek, SeekFrom};

/// As large as the buffers of readers, which then read into the block without a copy.
const SIZE: usize = 1 << 16;
const COUNT: u64 = 32;

/// The blocks, each at the place that follows from its number.
#[derive(Debug)]
pub(super) struct Blocks {
    /// The number of bytes of the file.
    length: u64,
    all: Vec<Block>,
}

#[derive(Clone, Debug, Default)]
struct Block {
    begin: u64,
    bytes: Vec<u8>,
}

impl Blocks {
    pub(super) fn new(length: u64) -> Self {
        Self { length, all: vec![Block::default(); COUNT as usize] }
    }

    /// The bytes from an offset in the file to the end of its block.
    pub(super) fn from(&mut self, reader: &mut (impl Read + Seek), offset: u64) -> Result<&[u8]> {
        let size = SIZE as u64;
        let begin = offset - offset % size;
        let block = &mut self.all[(begin / size % COUNT) as usize];
        if block.begin != begin || block.bytes.is_empty() {
            block.begin = begin;
            block.bytes.resize(self.length.saturating_sub(begin).min(size) as usize, 0);
            reader.seek(SeekFrom::Start(begin))?;
            reader.read_exact(&mut block.bytes)?;
        }
        Ok(&block.bytes[(offset - begin) as usize..])
    }
}
