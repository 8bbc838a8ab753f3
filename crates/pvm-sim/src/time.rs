//! Virtual time.

/// One millisecond of it.
pub const MS: u64 = 1_000_000;
