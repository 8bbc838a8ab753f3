//! In whose name a host may propose commands: its own, and its own tasks'.

use pvm_wire::peer::Command;
use pvm_wire::{HostIndex, Tid};

/// True where a host may propose this command that came in pieces: only the whole tells.
pub(super) fn may_order(host: HostIndex, command: &Command) -> bool {
    !matches!(command, Command::Piece { .. }) && may_propose(host, command)
}

/// True where a host may propose this command.
pub(crate) fn may_propose(host: HostIndex, command: &Command) -> bool {
    match source_of(command) {
        Source::Task(tid) => tid == Tid::NONE || tid.host() == host,
        Source::Host(of) => of == host,
        Source::Leader => false,
        Source::User | Source::Whole => true,
    }
}

/// In whose name a command is proposed.
enum Source {
    /// A task's, or none if a command of the user asks.
    Task(Tid),
    /// A host's.
    Host(HostIndex),
    /// The leader orders that itself.
    Leader,
    /// The user's: the joining, leaving and draining of hosts, and rules for all. Any host may
    /// propose these.
    User,
    /// The source of the command of which this is a piece; it is asked when all pieces have come.
    Whole,
}

/// Every command is named here: a new one has to say whose it is.
const fn source_of(command: &Command) -> Source {
    match command {
        Command::PutInfo { owner, .. } | Command::Withdraw { owner, .. } => Source::Task(*owner),
        Command::TakeInfo { asker, .. } | Command::DelInfo { asker, .. } => Source::Task(*asker),
        Command::JoinGroup { tid, .. }
        | Command::LeaveGroup { tid, .. }
        | Command::TaskLeft { tid }
        | Command::TaskGone { tid } => Source::Task(*tid),
        Command::SetAddresses { host, .. } | Command::Retire { host } => Source::Host(*host),
        Command::Fence { .. } => Source::Leader,
        Command::Piece { .. } => Source::Whole,
        // The leader proposes a freeze, and a freeze of a leader that has just given way may still
        // be under way.
        Command::Freeze { .. }
        | Command::AddHost { .. }
        | Command::RemoveHost { .. }
        | Command::DrainHost { .. }
        | Command::KnowHosts { .. }
        | Command::SetRules { .. }
        | Command::ClearNames => Source::User,
    }
}
