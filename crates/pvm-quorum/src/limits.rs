//! The limits of the data that a leader sends ahead of answers, of the log, and of the members to
//! which it sends.

/// The bounds of one member. With small bounds events are frequent that otherwise take megabytes,
/// or thousands of members.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The most bytes that are sent to one member and not confirmed yet.
    pub window_bytes: usize,
    /// The most bytes of entries, or of the state, in one message.
    pub piece_bytes: usize,
    /// The log is truncated when all members have this many of its entries.
    pub cut_count: u64,
    /// The log is truncated, as far as all members have it, when its entries have this many bytes.
    pub cut_bytes: usize,
    /// A member that lags behind by more bytes than this gets the state instead. Then half of this
    /// many bytes of the log are kept.
    pub lag_bytes: usize,
    /// Up to this many members a leader sends to each of them; with more the log goes along a tree.
    pub star_count: usize,
    /// The number of members below each one in the tree.
    pub tree_width: usize,
    /// The most voters that may fail at once; this bounds the number of voters.
    pub failures_max: usize,
}

impl Limits {
    /// The limits of a machine.
    pub const USUAL: Self = Self {
        window_bytes: 256 << 10,
        piece_bytes: 64 << 10,
        cut_count: 32,
        cut_bytes: 256 << 10,
        lag_bytes: 4 << 20,
        star_count: 32,
        tree_width: 20,
        failures_max: 4,
    };
}

impl Default for Limits {
    fn default() -> Self {
        Self::USUAL
    }
}
