//! Spaces whose disk has failed and that no other server holds: nothing can be done in them.

use crate::registry;
use pvm::Task;
use pvm_tuples::frames::{Ask, Entry};
use pvm_tuples::partition::{Partition, directory_of};
use pvm_tuples::{Outcome, Reason};
use pvm_wire::{Blob, Code};
use std::collections::BTreeMap;

/// All of them, each with its name and whether it has files.
#[derive(Default)]
pub(super) struct Abandoned(BTreeMap<u64, (Blob, bool)>);

impl<'a> Extend<&'a Partition> for Abandoned {
    fn extend<T: IntoIterator<Item = &'a Partition>>(&mut self, spaces: T) {
        let entry = |space: &Partition| {
            (space.space(), (space.name().clone(), !directory_of(space).0.is_empty()))
        };
        self.0.extend(spaces.into_iter().map(entry));
    }
}

impl Abandoned {
    pub(super) fn has(&self, space: u64) -> bool {
        self.0.contains_key(&space)
    }

    /// The outcome of a request to such a space; none for another space. A space that is deleted
    /// loses its name; files of it may be left.
    pub(super) fn asked(
        &mut self,
        task: &Task,
        space: u64,
        ask: &Ask,
    ) -> Result<Option<Outcome>, Code> {
        let Some((name, has_files)) = self.0.get(&space) else { return Ok(None) };
        let failed = Outcome::Failed { reason: Reason::Disk };
        let Ask::Delete { .. } = ask else { return Ok(Some(failed)) };
        let is_it = |(_, entry): &(i32, Entry)| entry.space == space;
        let forgotten = match registry::latest(task, name) {
            Ok(latest) if latest.as_ref().is_some_and(is_it) => registry::forget(task, name, None),
            other => other.map(drop),
        };
        let outcome = match forgotten {
            Err(Code::SysErr) => return Err(Code::SysErr),
            Err(_) => return Ok(Some(Outcome::Failed { reason: Reason::Machine })),
            Ok(()) if *has_files => failed,
            Ok(()) => Outcome::Done,
        };
        self.0.remove(&space);
        Ok(Some(outcome))
    }
}
