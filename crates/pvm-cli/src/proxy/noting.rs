//! Records of a task without shared memory: the proxy makes its calls, so the proxy's ring has
//! them.

use pvm::Task;
use pvm::probe::{Current, Noting, begin};
use pvm_wire::proxy::{Ask, Saying};
use pvm_wire::record::{Class, What, calls};

/// The call that an ask stands for; none for what is no call of its own.
const fn call_of(ask: &Ask) -> Option<u16> {
    Some(match ask {
        Ask::Send { to, .. } if to.len() == 1 => calls::NEOPVM_SEND,
        Ask::Send { .. } => calls::NEOPVM_MULTICAST,
        Ask::Broadcast { .. } => calls::NEOPVM_BROADCAST,
        Ask::Receive { .. } => calls::NEOPVM_RECEIVE,
        Ask::Probe { .. } => calls::NEOPVM_PROBE,
        Ask::Join { .. } => calls::NEOPVM_JOIN,
        Ask::LeaveGroup { .. } => calls::NEOPVM_LEAVE_GROUP,
        Ask::Members { .. } => calls::NEOPVM_MEMBERS,
        Ask::Barrier { .. } => calls::NEOPVM_BARRIER,
        _ => return None,
    })
}

/// A call that is made for the task; empty while no recorder reads.
pub(super) struct Call(Option<(Noting, Current)>);

impl Call {
    pub(super) fn begin(task: &'static Task, ask: &Ask) -> Self {
        let noting = call_of(ask).and_then(|call| Some((task.noting_slowly()?, begin(call, 0))));
        Self(noting)
    }

    /// It is over. What has to wait is no call yet: another thread begins it once more.
    pub(super) fn end(self, is_done: bool) {
        match self.0 {
            Some((noting, outer)) if is_done => noting.end(outer, 0, None),
            Some(_) => drop(begin(calls::NONE, 0)),
            None => (),
        }
    }
}

/// Notes a statement of the program about itself.
pub(super) fn note(task: &'static Task, saying: Saying, name: &[u8], (value, total): (i64, u64)) {
    let (call, class) = match saying {
        Saying::Mark => (calls::NEOPVM_MARK, Class::Mark),
        Saying::State => (calls::NEOPVM_STATE, Class::State),
        Saying::Progress => (calls::NEOPVM_PROGRESS, Class::Progress),
    };
    let Some(noting) = task.noting_slowly() else { return };
    let name = if name.is_empty() { 0 } else { task.number_of(class, name) };
    let what = match saying {
        Saying::Mark => What::Mark { name, value },
        Saying::State => What::State { name },
        Saying::Progress => What::Progress { name, done: value.cast_unsigned(), total },
    };
    let outer = begin(call, 0);
    noting.end(outer, 0, Some(what));
}
