//! Faults of a trace, and their places.

/// A fault in the bytes of a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// They end too early.
    #[error("it ends too early")]
    Short,
    /// Something is left over.
    #[error("it is longer than its content")]
    Trailing,
    /// Their checksum says so.
    #[error("its checksum is wrong")]
    Checksum,
    /// A kind that this version does not know.
    #[error("unknown kind {0}")]
    UnknownKind(u32),
    /// A value outside of its range.
    #[error("a value is out of range")]
    Range,
    /// A task that no section told of.
    #[error("it names task number {0}, which the file does not tell of")]
    UnknownTask(u32),
    /// More than this version wants to hold in memory.
    #[error("it has more {0} than this program holds in memory")]
    TooMany(&'static str),
}

impl From<pvm_wire::DecodeError> for Fault {
    fn from(error: pvm_wire::DecodeError) -> Self {
        match error {
            pvm_wire::DecodeError::Short => Self::Short,
            pvm_wire::DecodeError::Trailing => Self::Trailing,
            pvm_wire::DecodeError::UnknownKind(kind) => Self::UnknownKind(kind),
            _ => Self::Range,
        }
    }
}

/// The reason why a trace cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file cannot be read or written.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// It does not begin as a trace does.
    #[error("this is no trace of NeoPVM: it does not begin with NEOTRACE")]
    NoTrace,
    /// A later version wrote it.
    #[error("the trace has version {found}, this program reads up to {known}: use the newer pvm")]
    Version {
        /// Its version.
        found: u16,
        /// Ours.
        known: u16,
    },
    /// Something in it is damaged.
    #[error("at byte {at} of the trace, {what}: {fault}")]
    Damaged {
        /// The byte at which the damaged part begins.
        at: u64,
        /// The part that should be there.
        what: &'static str,
        /// The fault.
        fault: Fault,
    },
    /// A text file of another tool has a line that makes no sense.
    #[error("line {line}: {what}")]
    Line {
        /// The line, from 1 on.
        line: u64,
        /// The fault.
        what: String,
    },
}
