//! Confirmations: a task's library confirms messages to senders of other hosts together with its
//! next message to them, or in a frame of its own when it looks for messages and finds no more.

use crate::action::TaskNumber;

/// The confirmations that each task owes.
#[derive(Debug)]
pub(super) struct Debts {
    /// Bytes of a confirmation; 0 if there are no confirmations.
    pub(super) bytes: u64,
    tasks: Vec<Debt>,
}

#[derive(Clone, Debug, Default)]
struct Debt {
    /// The senders of messages that have arrived since the task looked last.
    unseen: Vec<TaskNumber>,
    /// The senders of messages that the task has taken in.
    owed: Vec<TaskNumber>,
}

impl Debts {
    pub(super) fn new(tasks: TaskNumber, bytes: u64) -> Self {
        let tasks = if bytes == 0 { 0 } else { tasks as usize };
        Self { bytes, tasks: vec![Debt::default(); tasks] }
    }

    /// A message of `from` has arrived.
    pub(super) fn arrived(&mut self, task: TaskNumber, from: TaskNumber) {
        if let Some(debt) = self.tasks.get_mut(task as usize) {
            insert(&mut debt.unseen, from);
        }
    }

    /// A task looks for messages.
    pub(super) fn look(&mut self, task: TaskNumber) {
        if let Some(debt) = self.tasks.get_mut(task as usize) {
            for from in std::mem::take(&mut debt.unseen) {
                insert(&mut debt.owed, from);
            }
        }
    }

    /// A message to `to` carries the confirmation.
    pub(super) fn told(&mut self, task: TaskNumber, to: TaskNumber) {
        if let Some(debt) = self.tasks.get_mut(task as usize) {
            debt.owed.retain(|other| *other != to);
        }
    }

    /// A task has found no more messages. Returns the senders that get a confirmation now.
    pub(super) fn take(&mut self, task: TaskNumber) -> Vec<TaskNumber> {
        let debt = self.tasks.get_mut(task as usize);
        debt.map(|debt| std::mem::take(&mut debt.owed)).unwrap_or_default()
    }
}

/// Inserts a task in order, once.
fn insert(list: &mut Vec<TaskNumber>, task: TaskNumber) {
    if let Err(place) = list.binary_search(&task) {
        list.insert(place, task);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sender_is_told_once_by_a_message_or_by_a_frame() {
        let mut debts = Debts::new(3, 37);
        debts.arrived(0, 2);
        debts.arrived(0, 1);
        debts.arrived(0, 2);
        assert_eq!(debts.take(0), [], "it has not looked");
        debts.told(0, 1);
        debts.look(0);
        debts.told(0, 2);
        assert_eq!(debts.take(0), [1], "what it had not seen was told by no message");
        assert_eq!(debts.take(0), []);
        let mut none = Debts::new(3, 0);
        none.arrived(0, 1);
        none.look(0);
        assert_eq!(none.take(0), []);
    }
}
