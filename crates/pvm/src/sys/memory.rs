//! Memory that is not Rust's: the program's own, noted for an in-place message, and fresh slabs.

use pvm_shm::Slab;

/// Bytes of the program's, noted by an in-place pack and read at each send.
#[derive(Clone, Copy, Debug)]
pub struct ProgramMemory {
    address: *const u8,
    size: usize,
}

// SAFETY: the program promised (at `new`) that the memory may be read at each
// send; which thread sends is its own affair, as with any C buffer.
unsafe impl Send for ProgramMemory {}
// SAFETY: as above.
unsafe impl Sync for ProgramMemory {}

impl ProgramMemory {
    /// Notes `size` bytes.
    ///
    /// # Safety
    /// They must be readable whenever a message that notes them is sent, from any thread that
    /// sends it.
    pub const unsafe fn new(address: *const u8, size: usize) -> Self {
        Self { address, size }
    }

    /// The memory of bytes that stay.
    #[cfg(test)]
    pub(crate) const fn of_a_test(bytes: &'static [u8]) -> Self {
        Self { address: bytes.as_ptr(), size: bytes.len() }
    }

    /// The size in bytes.
    pub const fn size(self) -> usize {
        self.size
    }

    /// The bytes as they are now.
    pub(crate) fn bytes(&self) -> &[u8] {
        if self.size == 0 {
            return &[];
        }
        // SAFETY: promised at `new`.
        unsafe { std::slice::from_raw_parts(self.address, self.size) }
    }
}

/// Fills the first `size` bytes of a slab that was just taken.
pub(crate) fn fill(slab: &mut Slab, size: usize, fill: impl FnOnce(&mut [u8])) {
    if size > 0 {
        // SAFETY: `address` checks the range; the slab is borrowed exclusively, and a slab that
        // was just taken has been sent to nobody, so no reader looks.
        fill(unsafe { std::slice::from_raw_parts_mut(slab.address(0, size), size) });
    }
}
