//! The commands that a leader keeps until their turn to be put into the log.

use crate::planted::{self, Bug};
use pvm_wire::HostIndex;
use pvm_wire::peer::Command;
use std::collections::VecDeque;

/// A command that came to this host as the leader and is not in the log yet.
#[derive(Debug)]
pub(super) struct WaitingCommand {
    pub(super) from: HostIndex,
    pub(super) ticket: u64,
    pub(super) command: Command,
}

/// Commands that wait for the order to rest, and those behind them.
///
/// The first one is next, unless it takes out this host, which then leads no more. Commands of
/// other hosts go before it, until the last call: each host's own commands keep their sequence.
#[derive(Debug)]
pub(super) struct HeldCommands {
    me: HostIndex,
    queue: VecDeque<WaitingCommand>,
    /// This host is to be taken out, and lets no further commands of others go first.
    last_call: bool,
}

impl HeldCommands {
    pub(super) const fn new(me: HostIndex) -> Self {
        Self { me, queue: VecDeque::new(), last_call: false }
    }

    pub(super) fn push(&mut self, command: WaitingCommand) {
        self.queue.push_back(command);
    }

    /// There is another leader, or none: the proposers put their commands to the next one.
    pub(super) fn clear(&mut self) {
        self.queue.clear();
        self.last_call = false;
    }

    /// The command whose turn it is.
    pub(super) fn first(&self) -> Option<&Command> {
        self.queue.get(self.turn()).map(|held| &held.command)
    }

    pub(super) fn take_first(&mut self) -> Option<WaitingCommand> {
        self.queue.remove(self.turn())
    }

    fn turn(&self) -> usize {
        if self.last_call {
            return 0;
        }
        let mut behind = Vec::new();
        self.queue.iter().position(|held| !self.waits(held, &mut behind)).unwrap_or(0)
    }

    /// True for a command that takes out this host, and for those behind it by the same host.
    fn waits(&self, held: &WaitingCommand, behind: &mut Vec<HostIndex>) -> bool {
        let waits = behind.contains(&held.from) || removes(&held.command, self.me);
        if waits {
            behind.push(held.from);
        }
        waits
    }

    /// The last call before this host is taken out, if that is wanted: the commands that are held
    /// now go before that, and those that come later do not. Otherwise hosts that always want
    /// something ordered would keep it for ever, as it goes when the order rests.
    pub(super) fn call_last(&mut self) {
        let is_next = self.queue.front().is_some_and(|held| removes(&held.command, self.me));
        if self.last_call || !is_next || planted::is(Bug::NoLastCall) {
            return;
        }
        self.last_call = true;
        let mut behind = Vec::new();
        let all = std::mem::take(&mut self.queue);
        let (mut last, first): (VecDeque<_>, VecDeque<_>) =
            all.into_iter().partition(|held| self.waits(held, &mut behind));
        self.queue = first;
        self.queue.append(&mut last);
    }
}

/// True for a command after which this host is no member.
pub(super) fn removes(command: &Command, this: HostIndex) -> bool {
    match command {
        Command::RemoveHost { host, .. } | Command::Retire { host } => *host == this,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ME: HostIndex = HostIndex(1);
    const OTHERS: [HostIndex; 2] = [HostIndex(2), HostIndex(3)];

    fn put(queue: &mut HeldCommands, from: HostIndex, ticket: u64, removed: Option<HostIndex>) {
        let command = match removed {
            Some(host) => Command::RemoveHost { host, dead: false },
            None => Command::KnowHosts { lines: Vec::new() },
        };
        queue.push(WaitingCommand { from, ticket, command });
    }

    #[test]
    fn commands_of_other_hosts_kept_a_deleted_leader_for_ever() {
        let mut queue = HeldCommands::new(ME);
        put(&mut queue, OTHERS[0], 1, Some(ME));
        put(&mut queue, OTHERS[0], 2, None);
        put(&mut queue, OTHERS[1], 1, None);
        queue.call_last();
        put(&mut queue, OTHERS[1], 2, None);
        let all = std::iter::from_fn(|| queue.take_first());
        let all: Vec<_> = all.map(|held| (held.from, held.ticket)).collect();
        assert_eq!(all, [(OTHERS[1], 1), (OTHERS[0], 1), (OTHERS[0], 2), (OTHERS[1], 2)]);
    }

    #[test]
    fn until_the_last_call_others_go_first() {
        let mut queue = HeldCommands::new(ME);
        put(&mut queue, OTHERS[0], 1, Some(ME));
        put(&mut queue, OTHERS[1], 1, None);
        assert_eq!(queue.take_first().map(|held| held.from), Some(OTHERS[1]));
        assert_eq!(queue.take_first().map(|held| held.from), Some(OTHERS[0]));
    }
}
