//! Items are read out of a buffer, one behind the other.

use super::{Buffer, Data, Store};
use pvm_shm::bytes::copy_slice;
use pvm_wire::{Body, Code, Cursor, Encoding, Kind, foreign};

impl Buffer {
    /// Reads items; the length of `out` says how many.
    ///
    /// # Errors
    /// [`Code::NoData`] if there are fewer; then nothing is read. [`Code::BadMsg`] for raw data of
    /// a machine that lays such items out otherwise, and for an in-place message that was not sent.
    #[inline]
    pub fn unpack(&mut self, kind: Kind, out: &mut [u8]) -> Result<(), Code> {
        let is_here = self.encoding != Encoding::InPlace;
        if !is_here || !foreign::can_read(&self.envelope(), self.encoding, kind) {
            return Err(Code::BadMsg);
        }
        if let Store::Small(bytes) = &self.store
            && let Some(from) =
                self.cursor.pass(&self.runs, (self.encoding, self.size), kind, out.len())
            && let Some(from) = bytes.get(from..from + out.len())
        {
            copy_slice(from, out);
            return Ok(());
        }
        let data = Data { store: &self.store, size: self.size };
        let body = Body { data: &data, runs: &self.runs, encoding: self.encoding };
        let read = self.cursor.read(body, kind, out);
        match &self.store {
            // Its sender has died in the middle of it.
            Store::Received(view) if view.is_broken() => Err(Code::NoData),
            _ => read,
        }
    }

    /// Reads a string, without its NUL.
    ///
    /// # Errors
    /// [`Code::NoData`] if there is none or its length is nonsense.
    pub fn unpack_str(&mut self) -> Result<Vec<u8>, Code> {
        let length = self.unpack_length()?;
        self.unpack_str_of(usize::try_from(length).map_err(|_| Code::NoData)?)
    }

    /// Reads the length that stands before a string, if it is one.
    ///
    /// # Errors
    /// As for [`Buffer::unpack`].
    pub fn unpack_length(&mut self) -> Result<i32, Code> {
        let mut length = [0; 4];
        self.unpack(Kind::Int, &mut length)?;
        Ok(i32::from_ne_bytes(length))
    }

    /// Reads the string itself.
    ///
    /// # Errors
    /// [`Code::NoData`] if there are fewer bytes.
    pub fn unpack_str_of(&mut self, length: usize) -> Result<Vec<u8>, Code> {
        // A length that lies reserves no memory: one byte more than there is fails as well.
        let left = self.reported_size() - self.cursor.done();
        let mut text = vec![0; length.min(left + 1)];
        self.unpack(Kind::Byte, &mut text)?;
        if let Some(end) = text.iter().position(|byte| *byte == 0) {
            text.truncate(end);
        }
        Ok(text)
    }

    /// Bytes (as [`Buffer::reported_size`] counts them) that were read.
    pub const fn read_size(&self) -> usize {
        self.cursor.done()
    }

    /// The next read begins with the first item again.
    pub fn rewind(&mut self) {
        self.cursor = Cursor::new();
    }
}
