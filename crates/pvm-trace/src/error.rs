//! Faults of a trace, and their places.

/// A fault in the bytes of a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// The bytes end too early.
    #[error("it ends too early")]
    Short,
    /// Bytes are left over.
    #[error("it is longer than its content")]
    Trailing,
    /// The checksum is wrong.
    #[error("its checksum is wrong")]
    Checksum,
    /// The kind is not known to this version.
    #[error("unknown kind {0}")]
    UnknownKind(u32),
    /// A value is outside of its range.
    #[error("a value is out of range")]
    Range,
    /// The task was not described by an earlier section.
    #[error("it names task number {0}, which the file does not tell of")]
    UnknownTask(u32),
    /// There is more than this version keeps in memory.
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
    /// The file does not begin as a trace does.
    #[error("this is no trace of NeoPVM: it does not begin with NEOTRACE")]
    NoTrace,
    /// A later version has written the file.
    #[error("the trace has version {found}, this program reads up to {known}: use the newer pvm")]
    Version {
        /// The version of the file.
        found: u16,
        /// The version of this program.
        known: u16,
    },
    /// A part of the file is damaged.
    #[error("at byte {at} of the trace, {what}: {fault}")]
    Damaged {
        /// The byte at which the damaged part begins.
        at: u64,
        /// The part that should be there.
        what: &'static str,
        /// The fault.
        fault: Fault,
    },
    /// A line of a text file of another tool cannot be understood.
    #[error("line {line}: {what}")]
    Line {
        /// The line, from 1 on.
        line: u64,
        /// The fault.
        what: String,
    },
}
