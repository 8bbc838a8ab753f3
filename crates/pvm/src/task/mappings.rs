//! The mappings of the inbox and of the host's count of awake tasks. The tasks of this process use
//! the same ones, one after the other.

use crate::connection::Connection;
use crate::sys::gate::Gate;
use pvm_shm::Broker as _;
use pvm_shm::activity::Activity;
use pvm_shm::inbox::Inbox;
use pvm_shm::segment::Mapping;
use pvm_wire::Code;
use pvm_wire::request::ACTIVITY_SEGMENT;
use rustix::fd::OwnedFd;
use std::sync::Arc;

/// Two mappings, of a task's inbox and of the host's count. They are never unmapped, because calls
/// read them without a lock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mappings {
    inbox: &'static Mapping,
    activity: &'static Mapping,
    /// The process that has mapped them.
    process: u32,
}

/// The mappings of tasks that have ended.
static FREE: Gate<Vec<Mappings>> = Gate::new(Vec::new());

impl Mappings {
    /// Maps the inbox and the host's count, at the addresses of a task that has ended if there is
    /// one.
    pub(super) fn map(
        inbox: &OwnedFd,
        connection: &mut Connection,
    ) -> Result<(Inbox, Activity, Self), Code> {
        let (_, activity) = connection.map(ACTIVITY_SEGMENT)?;
        let mapped = match Self::take() {
            Some(old) => old.inbox.replace(inbox).and_then(|inbox| {
                let activity = old.activity.replace(&activity)?;
                Ok((inbox, activity))
            }),
            None => Mapping::new(inbox, Inbox::SIZE, true).and_then(|inbox| {
                let activity = Mapping::new(&activity, Activity::SIZE, true)?;
                Ok((Arc::new(inbox), Arc::new(activity)))
            }),
        };
        let (inbox, activity) = mapped.map_err(|_| Code::NoMem)?;
        let process = std::process::id();
        let mappings = Self { inbox: for_ever(&inbox), activity: for_ever(&activity), process };
        Ok((Inbox::new(inbox), Activity::new(activity), mappings))
    }

    fn take() -> Option<Self> {
        // A child of a fork has the list of its parent and not the mappings.
        let process = std::process::id();
        let mut free = FREE.enter().ok()?;
        free.retain(|mappings| mappings.process == process);
        free.pop()
    }

    /// Leaves the mappings to the next task.
    pub(super) fn give(self) {
        if let Ok(mut free) = FREE.enter() {
            free.push(self);
        }
    }
}

fn for_ever(mapping: &Arc<Mapping>) -> &'static Mapping {
    Box::leak(Box::new(mapping.clone()))
}
