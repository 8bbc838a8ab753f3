//! The places in which the tasks of this process have their inbox and the host's count mapped, one
//! task after the other.

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

/// The place in which a task has its inbox and the host's count mapped: for ever, as calls look
/// there without a lock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    inbox: &'static Mapping,
    activity: &'static Mapping,
    /// The process that it is in.
    process: u32,
}

/// The places of tasks that are over.
static PLACES: Gate<Vec<Place>> = Gate::new(Vec::new());

impl Place {
    /// The inbox and the host's count, mapped: where the last task had them, if that is over.
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
        let place = Self { inbox: for_ever(&inbox), activity: for_ever(&activity), process };
        Ok((Inbox::new(inbox), Activity::new(activity), place))
    }

    fn take() -> Option<Self> {
        // A child of a fork has the list of its parent and not the mappings.
        let process = std::process::id();
        let mut places = PLACES.enter().ok()?;
        places.retain(|place| place.process == process);
        places.pop()
    }

    /// Leaves the place to the next task.
    pub(super) fn give(self) {
        if let Ok(mut places) = PLACES.enter() {
            places.push(self);
        }
    }
}

fn for_ever(mapping: &Arc<Mapping>) -> &'static Mapping {
    Box::leak(Box::new(mapping.clone()))
}
