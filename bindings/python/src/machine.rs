//! The machine as a task sees it: tasks, hosts, notices, its end.

use crate::calls::Call;
use crate::failure::{Failure, OrRaise as _};
use crate::memory;
use crate::session;
use crate::task::Task;
use crate::wait;
use pvm::Deadline;
use pvm_wire::record::calls;
use pvm_wire::request::{
    HostInfo, HostResult, Inherited, Reply, Request, SpawnRequest, Target, TaskInfo,
};
use pvm_wire::{Blob, Code, Tid};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

/// The wishes of a spawn: where and how programs start.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Wish<'py> {
    args: Texts<'py>,
    flags: i32,
    place: Vec<u8>,
    count: i32,
    environment: Texts<'py>,
    directory: Vec<u8>,
    /// The destination of the output: id, context, tag.
    output: Option<(i32, i32, i32)>,
}

/// The error for an answer of the machine that does not fit its request.
pub(crate) fn unexpected(py: Python<'_>, call: &str) -> PyErr {
    Failure::new(Code::DSysErr, call).because("an answer that does not fit").raise(py)
}

/// Bytes of Python's, however many.
type Texts<'py> = Vec<Bound<'py, PyBytes>>;

fn blobs(py: Python<'_>, list: &Texts<'_>, call: &str) -> PyResult<Vec<Blob>> {
    let size: usize = list.iter().map(|text| text.as_bytes().len()).sum();
    // For these and for the frame that the question travels in.
    memory::check_room(2 * size).or_raise(py, call)?;
    list.iter().map(|text| memory::copied(py, text.as_bytes(), call).map(Blob)).collect()
}

/// Id, name, architecture, speed, cores, whether it is drained, addresses, version.
type HostRow = (i32, String, String, i32, u32, bool, Vec<String>, String);
/// Id, parent, host, flags, process id, name.
type TaskRow = (i32, i32, i32, i32, u32, String);
/// Outcome, and where it failed: stage, detail, remedy.
type Change = (i32, String, String, String);

fn host_row(host: &HostInfo) -> HostRow {
    let (name, arch) = (host.name.to_text(), host.arch.to_text());
    let tid = host.tid.as_c_int();
    let (addresses, version) = (host.addresses.clone(), host.version.clone());
    (tid, name, arch, host.speed, host.cores, host.draining, addresses, version)
}

fn task_row(task: &TaskInfo) -> TaskRow {
    let tids = (task.tid.as_c_int(), task.parent.as_c_int(), task.host.as_c_int());
    (tids.0, tids.1, tids.2, task.flags, task.pid, task.name.to_text())
}

fn change(result: &HostResult) -> Change {
    let failure = result.failure.clone().unwrap_or_default();
    (result.outcome, failure.stage, failure.detail, failure.remedy)
}

impl Task {
    /// Asks and is answered that it is done.
    pub(crate) fn done(&self, py: Python<'_>, request: &Request, call: &str) -> PyResult<()> {
        self.number(py, request, call).map(drop)
    }

    /// Asks and is answered a number, or that it is done.
    pub(crate) fn number(&self, py: Python<'_>, request: &Request, call: &str) -> PyResult<i32> {
        match wait::ask(py, self.task, (request, false), call)? {
            Reply::Number { value } => Ok(value),
            Reply::Done => Ok(0),
            _ => Err(unexpected(py, call)),
        }
    }

    fn change_hosts(&self, py: Python<'_>, request: &Request, call: &str) -> PyResult<Vec<Change>> {
        match wait::ask(py, self.task, (request, true), call)? {
            Reply::HostResults { results } => Ok(results.iter().map(change).collect()),
            _ => Err(unexpected(py, call)),
        }
    }
}

#[pymethods]
impl Task {
    /// Starts programs: where a missing one was looked for. An id or a code for each is put into
    /// `outcomes`, which is the caller's before a signal can be seen.
    fn _spawn(
        &self,
        py: Python<'_>,
        program: Vec<u8>,
        wish: Wish<'_>,
        outcomes: &Bound<'_, PyList>,
    ) -> PyResult<Vec<String>> {
        let _call = Call::begin(self.task, calls::PYTHON_SPAWN);
        let mut inherited =
            Inherited { context: session::context(), ..self.task.welcome().inherited.clone() };
        if let Some((tid, context, tag)) = wish.output {
            inherited.output = Target { tid: Tid::from_c_int(tid), context, tag };
        }
        let spawn = SpawnRequest {
            file: Blob(program),
            args: blobs(py, &wish.args, "spawn")?,
            flags: wish.flags,
            place: Blob(wish.place),
            count: wish.count,
            environment: blobs(py, &wish.environment, "spawn")?,
            whole_environment: false,
            directory: Blob(wish.directory),
            inherited,
        };
        let id = wait::question(py, self.task, &Request::Spawn { spawn }, "spawn")?;
        let limit = Deadline::after(wait::ANSWER);
        // Withdrawn, it starts nobody; those whom it has started are told all the same.
        let (answer, raised) = wait::hear(py, self.task, (id, limit, "spawn"), Err);
        let tried = match answer {
            Some(Reply::Spawned { outcomes: list, tried }) => {
                list.into_iter().try_for_each(|outcome| outcomes.append(outcome))?;
                Ok(tried.iter().map(Blob::to_text).collect())
            }
            Some(_) => Err(unexpected(py, "spawn")),
            None => Err(Code::SysErr).or_raise(py, "spawn"),
        };
        raised.and(tried)
    }

    fn _hosts(&self, py: Python<'_>) -> PyResult<Vec<HostRow>> {
        match wait::ask(py, self.task, (&Request::Config, false), "hosts")? {
            Reply::Hosts { hosts } => Ok(hosts.iter().map(host_row).collect()),
            _ => Err(unexpected(py, "hosts")),
        }
    }

    /// The tasks of the machine (0), of a host, or one task; none of what is not there.
    fn _tasks(&self, py: Python<'_>, place: i32) -> PyResult<Vec<TaskRow>> {
        let place = Tid::from_c_int(place);
        let id = wait::question(py, self.task, &Request::Tasks { place }, "tasks")?;
        let answer = wait::until(py, self.task, (Deadline::Never, "tasks"), || {
            match self.task.answer(id) {
                // As in PVM, an unknown task is an empty answer.
                Err(Code::NoTask) => Ok(Some(Reply::Tasks { tasks: Vec::new() })),
                answer => answer,
            }
        })?;
        match answer {
            Some(Reply::Tasks { tasks }) => Ok(tasks.iter().map(task_row).collect()),
            _ => Err(unexpected(py, "tasks")),
        }
    }

    /// Sends a signal; a task that does not exist is no error.
    fn _signal(&self, py: Python<'_>, tid: i32, signal: i32) -> PyResult<()> {
        let tid = Tid::from_c_int(tid);
        let checked = if tid.is_task() { Ok(()) } else { Err(Code::BadParam) };
        checked.or_raise(py, "signal")?;
        let id = wait::question(py, self.task, &Request::Signal { tid, signal }, "signal")?;
        let answer = wait::until(py, self.task, (Deadline::Never, "signal"), || {
            match self.task.answer(id) {
                Err(Code::NoTask) => Ok(Some(Reply::Done)),
                answer => answer,
            }
        });
        answer.map(drop)
    }

    /// Asks for messages when tasks (1) or hosts (2) end or hosts come (3).
    fn _notify(
        &self,
        py: Python<'_>,
        what: (i32, bool),
        place: (i32, i32),
        count: i32,
        tids: Vec<i32>,
    ) -> PyResult<()> {
        let ((kind, cancel), (context, tag)) = (what, place);
        let tids: Vec<Tid> = tids.into_iter().map(Tid::from_c_int).collect();
        let good = |tid: &Tid| match kind {
            1 => tid.is_task(),
            2 => tid.host().0 != 0,
            _ => false,
        };
        if !(1..=3).contains(&kind) || tag < 0 || !tids.iter().all(good) {
            return Err(Failure::new(Code::BadParam, "notify").raise(py));
        }
        let request = Request::Notify { kind, cancel, context, tag, count, tids };
        self.done(py, &request, "notify")
    }

    fn _add_hosts(&self, py: Python<'_>, lines: Texts<'_>) -> PyResult<Vec<Change>> {
        self.change_hosts(
            py,
            &Request::AddHosts { hosts: blobs(py, &lines, "add_hosts")? },
            "add_hosts",
        )
    }

    fn _delete_hosts(&self, py: Python<'_>, names: Texts<'_>) -> PyResult<Vec<Change>> {
        self.change_hosts(
            py,
            &Request::DelHosts { hosts: blobs(py, &names, "delete_hosts")? },
            "delete_hosts",
        )
    }

    /// Starts so many more hosts on this computer.
    fn _add_local(&self, py: Python<'_>, count: u32) -> PyResult<Vec<Change>> {
        match wait::ask(py, self.task, (&Request::AddLocal { count }, true), "add_local")? {
            Reply::HostResults { results } => Ok(results.iter().map(change).collect()),
            Reply::Done => Ok(Vec::new()),
            _ => Err(unexpected(py, "add_local")),
        }
    }
}
