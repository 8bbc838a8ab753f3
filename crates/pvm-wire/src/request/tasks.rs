//! The data of tasks: their start, their inheritance and their welcome.

use crate::{Blob, Tid, record};

/// In [`TraceOptions::options`]: the task is recorded from its first call on, and so are the tasks
/// that it spawns. Programs do not see it.
pub const RECORDED: i32 = 1 << 16;
/// Beside [`RECORDED`]: the recorded tasks of a host take turns, as if each had a computer of its
/// own.
pub const ALONE: i32 = 1 << 17;

record! {
    /// The destination of a message of the machine (output of a task, a trace event).
    pub struct Target {
        /// The receiving task, or none.
        pub tid: Tid,
        /// The context to send it in.
        pub context: i32,
        /// The tag to send it with.
        pub tag: i32,
    }

    /// Tracing as a task sets it (`PvmTraceTid`, `PvmTraceBuffer`, `pvm_settmask` ...).
    pub struct TraceOptions {
        /// The destination of the events.
        pub target: Target,
        /// Bytes collected before they are sent.
        pub buffer: i32,
        /// `PvmTraceFull`, `PvmTraceTime`, `PvmTraceCount`; beside them [`RECORDED`] and [`ALONE`].
        pub options: i32,
        /// The mask in its text form.
        pub mask: Blob,
    }

    /// The settings that a task hands on to the tasks that it spawns.
    pub struct Inherited {
        /// The context that it starts in.
        pub context: i32,
        /// The destination of its output.
        pub output: Target,
        /// The destination of its trace events.
        pub trace: TraceOptions,
    }

    /// `pvm_spawn`.
    pub struct SpawnRequest {
        /// Program: an absolute path, or a name to be looked up on the spawn path.
        pub file: Blob,
        /// Arguments without the program's name.
        pub args: Vec<Blob>,
        /// `PvmTaskHost`, `PvmTaskArch`, ... as given.
        pub flags: i32,
        /// Host or architecture name, according to the flags.
        pub place: Blob,
        /// The number of tasks.
        pub count: i32,
        /// Additions to the daemon's environment (`NAME=value`), from `PVM_EXPORT` or `pvm run`.
        pub environment: Vec<Blob>,
        /// True where `environment` is the whole environment (`pvm run`).
        pub whole_environment: bool,
        /// Working directory; empty for the default.
        pub directory: Blob,
        /// The inheritance of the children.
        pub inherited: Inherited,
    }

    /// A task as `pvm_tasks` shows it.
    pub struct TaskInfo {
        /// The task.
        pub tid: Tid,
        /// Its parent as `pvm_parent` would tell, 0 for none.
        pub parent: Tid,
        /// Its host's id.
        pub host: Tid,
        /// PVM's flags: 4 connected, 2 child of the daemon, ...
        pub flags: i32,
        /// Program name as given to spawn, empty for others.
        pub name: Blob,
        /// Process id.
        pub pid: u32,
    }

    /// The data that a task gets when it enrols.
    pub struct Welcome {
        /// Its id.
        pub tid: Tid,
        /// `pvm_parent`: an id or a code.
        pub parent: i32,
        /// Its inheritance.
        pub inherited: Inherited,
        /// Path of the datagram socket to bind as its doorbell.
        pub doorbell: Blob,
        /// True for a task that the host started itself: it ends with its host.
        pub spawned: bool,
        /// Ids of the tasks of the same spawn call, itself included.
        pub siblings: Vec<Tid>,
        /// Tasks that may run at the same time here: cores.
        pub cores: u32,
    }
}
