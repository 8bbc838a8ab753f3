//! A file is a row of chapters; each can be read without the others.
//!
//! ```text
//! head      0 magic "NEOTRACE"   8 version u16   10 zero u16   12 crc u32 (of the other bytes)
//!          16 chapter_size u64 (0: one chapter, as long as the file)
//!          24 sequence u64   32 identity u64
//! footer    0 end u64 (where the section END begins)   8 crc u32 (of end, sequence, identity)
//!          12 zero u32   16 magic "ECARTOEN"
//! ```
//! Chapter `n` begins at byte `(n mod 8) * chapter_size`: a file of bounded size is a ring.

use crate::error::Error;

pub(super) const MAGIC: &[u8; 8] = b"NEOTRACE";
const FOOTER_MAGIC: &[u8; 8] = b"ECARTOEN";
/// The version of the file.
pub(super) const VERSION: u16 = 1;
pub(super) const HEAD_SIZE: usize = 40;
pub(super) const FOOTER_SIZE: usize = 24;
/// The number of chapters of a file with a bounded size.
pub(super) const CHAPTERS: u64 = 8;

/// The head of a chapter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Chapter {
    /// The bytes from one chapter to the next; 0 if there is only one.
    pub(super) size: u64,
    /// Its number, from 0 on.
    pub(super) sequence: u64,
    /// A number that all chapters of a trace have in common.
    pub(super) identity: u64,
}

impl Chapter {
    /// The byte at which it begins.
    pub(super) const fn begin(&self) -> u64 {
        self.size.saturating_mul(self.sequence % CHAPTERS)
    }

    /// A checksum for the sections of this chapter. It begins with the chapter's numbers, so
    /// sections that an older chapter has left in its place do not pass.
    pub(super) fn hasher(&self) -> crc32fast::Hasher {
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&self.sequence.to_le_bytes());
        hasher.update(&self.identity.to_le_bytes());
        hasher
    }

    pub(super) fn head(&self) -> [u8; HEAD_SIZE] {
        let mut head = [0; HEAD_SIZE];
        head[..8].copy_from_slice(MAGIC);
        head[8..10].copy_from_slice(&VERSION.to_le_bytes());
        head[16..24].copy_from_slice(&self.size.to_le_bytes());
        head[24..32].copy_from_slice(&self.sequence.to_le_bytes());
        head[32..40].copy_from_slice(&self.identity.to_le_bytes());
        let crc = crc32fast::hash(&head);
        head[12..16].copy_from_slice(&crc.to_le_bytes());
        head
    }

    /// Reads a head; `None` if there is none, an error for the head of a later version.
    pub(super) fn of_head(head: &[u8; HEAD_SIZE]) -> Result<Option<Self>, Error> {
        let number = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| head[at + i]));
        if &head[..8] != MAGIC {
            return Ok(None);
        }
        let found = u16::from_le_bytes([head[8], head[9]]);
        if found != VERSION {
            return Err(Error::Version { found, known: VERSION });
        }
        let mut zeroed = *head;
        zeroed[12..16].fill(0);
        let chapter = Self { size: number(16), sequence: number(24), identity: number(32) };
        let crc = number(8) >> 32;
        let sound = crc == u64::from(crc32fast::hash(&zeroed));
        Ok(sound.then_some(chapter))
    }

    pub(super) fn footer(&self, end: u64) -> [u8; FOOTER_SIZE] {
        let mut footer = [0; FOOTER_SIZE];
        let mut hasher = self.hasher();
        hasher.update(&end.to_le_bytes());
        footer[..8].copy_from_slice(&end.to_le_bytes());
        footer[8..12].copy_from_slice(&hasher.finalize().to_le_bytes());
        footer[16..].copy_from_slice(FOOTER_MAGIC);
        footer
    }

    /// The byte at which the section END begins, if these bytes are the footer of this chapter.
    pub(super) fn of_footer(&self, footer: &[u8; FOOTER_SIZE]) -> Option<u64> {
        let end = u64::from_le_bytes(*footer.first_chunk()?);
        (self.footer(end) == *footer).then_some(end)
    }
}
