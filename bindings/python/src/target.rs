//! To whom a message goes: one task, or several.

use crate::failure::Failure;
use crate::memory::{self, LONG};
use pvm::{Buffer, Task};
use pvm_wire::{Address, Code, Context, Tag, Tid};
use pyo3::prelude::*;

/// Receivers and tag of a message.
pub(crate) struct Target {
    one: Tid,
    many: Option<Vec<Tid>>,
    tag: i32,
}

impl Target {
    /// `dest` is an id or a sequence of ids.
    pub(crate) fn new(dest: &Bound<'_, PyAny>, tag: i32, call: &str) -> PyResult<Self> {
        let py = dest.py();
        let refuse = |cause: &str| Failure::new(Code::BadParam, call).because(cause).raise(py);
        if tag < 0 {
            return Err(refuse(&format!("tag {tag}: tags are not negative")));
        }
        if let Ok(tid) = dest.extract::<i32>() {
            let one = Tid::from_c_int(tid);
            if !one.is_task() {
                return Err(refuse(&format!("{tid} is no task")));
            }
            return Ok(Self { one, many: None, tag });
        }
        let list = dest.extract::<Vec<i32>>().map_err(|_| refuse("the receiver is no task"))?;
        let many: Vec<Tid> = list.into_iter().map(Tid::from_c_int).collect();
        if let Some(stranger) = many.iter().find(|tid| !tid.is_task()) {
            return Err(refuse(&format!("{} is no task", stranger.as_c_int())));
        }
        Ok(Self { one: Tid::NONE, many: Some(many), tag })
    }

    /// True if all receivers are on the host of `tid`, which is not one of them.
    pub(crate) fn is_on_host_of(&self, tid: Tid) -> bool {
        let here = |to: &Tid| to.host() == tid.host() && *to != tid;
        self.many.as_ref().map_or_else(|| here(&self.one), |many| many.iter().all(here))
    }

    /// True if that task is one of the receivers.
    pub(crate) fn is_for(&self, tid: Tid) -> bool {
        self.many.as_ref().map_or(self.one == tid, |many| many.contains(&tid))
    }

    /// Whether there is room for the copy that a task keeps of what it sends to itself.
    pub(crate) fn check_room(&self, own: Tid, size: usize) -> Result<(), Code> {
        if size >= LONG && self.is_for(own) { memory::check_room(size) } else { Ok(()) }
    }

    /// Sends it.
    pub(crate) fn send(&self, task: &Task, buffer: &mut Buffer, context: i32) -> Result<(), Code> {
        let (tag, context) = (Tag(self.tag), Context(context));
        match &self.many {
            None => task.send(buffer, Address { to: self.one, tag, context }),
            Some(many) => task.multicast(buffer, many, tag, context),
        }
    }
}
