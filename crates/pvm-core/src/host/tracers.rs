//! Tracers are told which tasks come and go.
//!
//! As PVM's daemons do: `newtask` where a task that is traced begins, `spntask` where a spawn call
//! has started it, `endtask` with its exit status. A tracer gets the table of all data before a
//! host's first event, and of each kind one event that describes it; later ones have the values
//! only. Times that the processor spent are 0, as 3.4.6 tells them.

use super::Handler;
use crate::parcel::Parcel;
use crate::tracers::{TABLE_TOLD, Traced};
use pvm_wire::events::{
    DATA, DESCRIBED, DESCRIBED_END, END_TASK, INT, NEW_TASK, RECORD, RECORD_END, SPAWNED_TASK,
    STRING, TABLE, TABLE_END,
};
use pvm_wire::peer::OutputNews;
use pvm_wire::request::Target;
use pvm_wire::{Blob, Tid};

/// One datum of an event.
#[derive(Clone, Copy)]
enum Datum<'a> {
    Int(&'a str, i32),
    Text(&'a str, &'a [u8]),
}

impl Datum<'_> {
    fn describe(&self, parcel: Parcel) -> Parcel {
        let (name, kind) = match self {
            Self::Int(name, _) => (name, INT),
            Self::Text(name, _) => (name, STRING),
        };
        let number = DATA.iter().position(|(known, _)| known.to_bytes() == name.as_bytes());
        parcel.count(number.expect("an event's data are in the table")).int(kind)
    }

    fn pack(&self, parcel: Parcel) -> Parcel {
        match self {
            Self::Int(_, value) => parcel.int(*value),
            Self::Text(_, text) => parcel.text(text),
        }
    }
}

fn table() -> Parcel {
    let mut parcel = Parcel::new().int(TABLE);
    for (number, (name, meaning)) in DATA.iter().enumerate() {
        parcel = parcel.count(number).text(name.to_bytes()).text(meaning.to_bytes());
    }
    parcel.int(TABLE_END)
}

fn event((kind, name): (i32, &str), known: bool, data: &[Datum<'_>]) -> Parcel {
    if known {
        let parcel = Parcel::new().int(RECORD).int(kind);
        return data.iter().fold(parcel, |parcel, datum| datum.pack(parcel)).int(RECORD_END);
    }
    let parcel = Parcel::new().int(DESCRIBED).int(kind).text(name.as_bytes());
    let both = |parcel, datum: &Datum<'_>| datum.pack(datum.describe(parcel));
    data.iter().fold(parcel, both).int(DESCRIBED_END)
}

impl Handler<'_> {
    /// A traced task is about to be started.
    pub(super) fn trace_launch(&mut self, tid: Tid, flags: i32) {
        let target = self.host.tasks.get(tid).map(|task| task.inherited.trace.target.clone());
        if let Some(target) = target.filter(|target| target.tid.is_task()) {
            self.host.tracers.tasks.insert(tid, Traced { target, flags, begun: false });
        }
    }

    /// It could not be started.
    pub(super) fn trace_nothing(&mut self, tid: Tid) {
        self.host.tracers.tasks.remove(&tid);
    }

    /// A task is there, started or enrolled: its tracer is told, once.
    pub(super) fn trace_begins(&mut self, tid: Tid) {
        if !self.host.tracers.tasks.contains(&tid) {
            let launched = self.host.tasks.get(tid).is_some_and(|task| task.launched);
            self.trace_launch(tid, if launched { 0 } else { -1 });
        }
        let Some(traced) = self.host.tracers.tasks.get(&tid).filter(|traced| !traced.begun) else {
            return;
        };
        let traced = Traced { begun: true, ..traced.clone() };
        self.host.tracers.tasks.insert(tid, traced.clone());
        let Some(task) = self.host.tasks.get(tid) else { return };
        let nobody = Blob::from("-");
        // As PVM tells of a task that it has not started itself.
        let (parent, name) = match task.launched {
            true => (task.parent, task.name.clone()),
            false => (-1, nobody),
        };
        let flags = Datum::Int("TF", traced.flags);
        let data = [Datum::Int("PT", parent), flags, Datum::Text("TN", &name.0)];
        self.tell_tracer(&traced.target, tid, (NEW_TASK, "newtask"), &data);
    }

    /// A spawn call has started it.
    pub(super) fn trace_spawned(&mut self, tid: Tid) {
        self.trace_begins(tid);
        let Some(traced) = self.host.tracers.tasks.get(&tid).cloned() else { return };
        let parent = self.host.tasks.get(tid).map_or(0, |task| task.parent);
        let data = [Datum::Int("PT", parent)];
        self.tell_tracer(&traced.target, tid, (SPAWNED_TASK, "spntask"), &data);
    }

    /// It has ended, and told all that it had to tell.
    pub(super) fn trace_ends(&mut self, tid: Tid, status: i32) {
        let Some(traced) = self.host.tracers.tasks.remove(&tid) else { return };
        let [user, user_micros, system, system_micros] =
            ["TUS", "TUU", "TSS", "TSU"].map(|name| Datum::Int(name, 0));
        let status = Datum::Int("TST", status);
        let data = [status, user, user_micros, system, system_micros];
        self.tell_tracer(&traced.target, tid, (END_TASK, "endtask"), &data);
    }

    /// Another tracer is told from now on.
    pub(super) fn trace_moved(&mut self, tid: Tid, target: &Target) {
        if let Some(traced) = self.host.tracers.tasks.get(&tid)
            && target.tid.is_task()
        {
            let traced = Traced { target: target.clone(), ..traced.clone() };
            self.host.tracers.tasks.insert(tid, traced);
        }
    }

    /// Gives the registered tracer's options to a task that enrols and has no other tracer.
    pub(super) fn give_tracer(&mut self, tid: Tid) {
        let Some(given) = self.tracer() else { return };
        let Some(task) = self.host.tasks.get_mut(tid) else { return };
        if given.trace.target.tid == tid || task.inherited.trace.target.tid != Tid::NONE {
            return;
        }
        task.inherited.trace = given.trace;
        if task.inherited.output.tid == Tid::NONE && given.output.tid != Tid::NONE {
            task.inherited.output = given.output.clone();
            self.give_output(tid, given.output);
        }
    }

    fn give_output(&mut self, tid: Tid, target: Target) {
        let Some(child) = self.host.tasks.child_mut(tid) else { return };
        if child.output.tid != Tid::NONE || child.is_direct() || child.output_ended {
            return;
        }
        child.output = target.clone();
        let parent = child.parent;
        self.tell_output(&target, tid, OutputNews::Moved { parent });
    }

    fn tell_tracer(&mut self, to: &Target, tid: Tid, kind: (i32, &str), data: &[Datum<'_>]) {
        if !self.host.tracers.knows(to.tid, TABLE_TOLD) {
            self.send_tracer(to, table());
        }
        let known = self.host.tracers.knows(to.tid, TABLE_TOLD << (kind.0 - NEW_TASK + 1));
        let seconds = i32::try_from(self.host.now.0 / 1_000_000_000).unwrap_or(i32::MAX);
        let micros = (self.host.now.0 / 1000 % 1_000_000) as i32;
        let when = [Datum::Int("TS", seconds), Datum::Int("TU", micros)];
        let whose = Datum::Int("TID", tid.as_c_int());
        let all = [&when[..], &[whose], data].concat();
        self.send_tracer(to, event(kind, known, &all));
    }

    fn send_tracer(&mut self, to: &Target, parcel: Parcel) {
        let here = to.tid.host() == self.me();
        let from = if here { Tid::NOTICE_SOURCE } else { Tid::daemon(self.me()) };
        let mut message = parcel.message(from, to.tid, to.tag, 0);
        message.envelope.context = to.context;
        self.carry(to.tid, message);
    }
}
