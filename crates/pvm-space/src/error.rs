//! The reasons why an operation on a space fails.

use pvm_tuples::Reason;
use pvm_wire::Code;

/// The reason why an operation on a space has failed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No space has this name, or the space has been deleted.
    #[error("there is no such space")]
    NoSpace,
    /// A space of this name exists already.
    #[error("a space of this name exists")]
    Exists,
    /// All servers that kept the space have died.
    #[error("the servers that held the space have died: its tuples are lost")]
    Lost,
    /// All servers that kept the space have died. Its files, in this directory, are not deleted.
    #[error("the servers that held the space have died; its files in {0} are not deleted")]
    OnDisk(String),
    /// The space has reached its limit.
    #[error("the space is full")]
    Full,
    /// The tuples are larger than the space may be.
    #[error("the tuple is larger than the space may be")]
    TooLarge,
    /// The claim has ended.
    #[error("the claim is over: it was done, given back, or its lease has ended")]
    ClaimOver,
    /// The tuple to be put has a formal.
    #[error("a tuple that is put must not have formals")]
    Formal,
    /// The server cannot be started.
    #[error("no tuple server can be started on this host ({0})")]
    NoServer(String),
    /// Other tasks make and delete a space of this name again and again, so it can neither be
    /// opened nor made.
    #[error("the space cannot be made: others make and delete it again and again")]
    Unsteady,
    /// The servers of the space have not answered in time.
    #[error("the space's server does not answer: it is stopped, or cut off")]
    Unanswered,
    /// The caller's wait was ended from outside ([`crate::Rest`]).
    #[error("the wait was interrupted")]
    Interrupted,
    /// The disk of a durable space is full, or reports an error.
    #[error("the disk under the space is full or fails{0}")]
    Disk(String),
    /// A space was deleted, but some of its files in this directory may be left.
    #[error("the space is deleted, but files of it may be left in {0} on a host that kept it")]
    FilesLeft(String),
    /// The machine has refused a call, or does not answer.
    #[error("{0}")]
    Machine(Code),
}

impl From<Code> for Error {
    fn from(code: Code) -> Self {
        Self::Machine(code)
    }
}

impl From<Reason> for Error {
    fn from(reason: Reason) -> Self {
        match reason {
            Reason::Full => Self::Full,
            Reason::TooLarge => Self::TooLarge,
            Reason::ClaimOver => Self::ClaimOver,
            Reason::NoSpace => Self::NoSpace,
            Reason::Exists => Self::Exists,
            Reason::Formal => Self::Formal,
            Reason::Disk => Self::Disk(String::new()),
            Reason::Machine => Self::Machine(Code::DSysErr),
        }
    }
}
