//! A process becomes a program.
//!
//! Until it does, the child uses the memory of this process, which waits for it (`CLONE_VM` and
//! `CLONE_VFORK`, as `posix_spawn` does): a parent with many pages starts a task as fast as a small
//! one. `posix_spawn` itself asks for each of 64 signals what is done with it and maps a stack for
//! each child; of the signals that this program handles we know, and the stack is kept. That saves
//! some 140 system calls a start.

use rustix::process::Rlimit;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd as _, BorrowedFd};
use std::ptr;
use std::sync::atomic::{AtomicI32, Ordering};

/// Standard input, output and error output.
pub(crate) type Streams<'a> = [BorrowedFd<'a>; 3];

/// Signals that this program handles or ignores: its children begin without that.
const HANDLED: [c_int; 6] =
    [libc::SIGHUP, libc::SIGINT, libc::SIGTERM, libc::SIGCHLD, libc::SIGPIPE, libc::SIGXFSZ];
/// Enough for a handful of system calls, four frames deep; pages that are not touched cost nothing.
const STACK_BYTES: usize = 64 << 10;

/// The stack of a child until it runs its program. One child uses it at a time: its starter waits.
#[derive(Debug)]
pub(crate) struct Stack(Box<[MaybeUninit<u128>]>);

impl Stack {
    /// An unused one.
    pub(crate) fn new() -> Self {
        Self(Box::new_uninit_slice(STACK_BYTES / size_of::<u128>()))
    }

    /// The address behind its last byte; stacks grow downwards.
    fn top(&mut self) -> *mut c_void {
        self.0.as_mut_ptr_range().end.cast()
    }
}

/// The program of a new process, and its surroundings.
#[derive(Debug)]
pub(crate) struct Program {
    /// The file to be executed.
    pub(crate) path: CString,
    /// Its arguments, its own name first.
    pub(crate) arguments: Vec<CString>,
    /// Its environment, `NAME=VALUE` each.
    pub(crate) environment: Vec<CString>,
    /// The folder in which it starts.
    pub(crate) directory: CString,
    /// The number of files that it may open.
    pub(crate) files: Rlimit,
    /// It leads a group of its own.
    pub(crate) group: bool,
}

/// A [`Program`] as the system takes it.
struct Plan<'a> {
    path: &'a CStr,
    arguments: Vec<*const c_char>,
    environment: Vec<*const c_char>,
    directory: &'a CStr,
    streams: [c_int; 3],
    files: libc::rlimit64,
    group: bool,
    /// The system's error number if the start failed.
    error: AtomicI32,
}

impl Program {
    /// Starts a process with this program; returns its number. Nobody else may start one meanwhile
    /// on this stack.
    ///
    /// # Errors
    /// The system cannot start processes, or not this program.
    pub(crate) fn start(&self, streams: Streams<'_>, stack: &mut Stack) -> io::Result<u32> {
        let words = |words: &[CString]| -> Vec<*const c_char> {
            words.iter().map(|word| word.as_ptr()).chain([ptr::null()]).collect()
        };
        let plan = Plan {
            path: &self.path,
            arguments: words(&self.arguments),
            environment: words(&self.environment),
            directory: &self.directory,
            streams: streams.map(|fd| fd.as_raw_fd()),
            files: libc::rlimit64 {
                rlim_cur: self.files.current.unwrap_or(libc::RLIM64_INFINITY),
                rlim_max: self.files.maximum.unwrap_or(libc::RLIM64_INFINITY),
            },
            group: self.group,
            error: AtomicI32::new(0),
        };
        let started = clone(&plan, stack)?;
        match plan.error.load(Ordering::Relaxed) {
            0 => Ok(started.cast_unsigned()),
            error => {
                let pid = rustix::process::Pid::from_raw(started);
                let _ = rustix::process::waitpid(pid, rustix::process::WaitOptions::empty());
                Err(io::Error::from_raw_os_error(error))
            }
        }
    }
}

/// Makes the child and waits until it is its program or has given up.
fn clone(plan: &Plan<'_>, stack: &mut Stack) -> io::Result<c_int> {
    let mut all = MaybeUninit::<libc::sigset_t>::uninit();
    let mut old = MaybeUninit::<libc::sigset_t>::uninit();
    // No handler of ours may run in the child: it would write into our memory and descriptors.
    // SAFETY: `all` is written here.
    unsafe { libc::sigfillset(all.as_mut_ptr()) };
    // SAFETY: `all` was filled above; `old` is written here.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), old.as_mut_ptr()) };
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
    let plan = ptr::from_ref(plan).cast_mut().cast();
    // SAFETY: the stack is the child's alone, because this thread waits until the child has left
    // it; so does `plan` stay valid for as long. `become_program` allocates nothing, takes no lock
    // and does not unwind.
    let pid = unsafe { libc::clone(become_program, stack.top(), flags, plan) };
    let result = if pid < 0 { Err(io::Error::last_os_error()) } else { Ok(pid) };
    // SAFETY: `old` was written above.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, old.as_ptr(), ptr::null_mut()) };
    result
}

/// The child's whole life before its program.
extern "C" fn become_program(plan: *mut c_void) -> c_int {
    // SAFETY: `clone` got it from a reference that outlives this process's use of our memory;
    // nobody writes it but for `error`, which is atomic.
    let plan = unsafe { &*plan.cast::<Plan<'_>>() };
    for signal in HANDLED {
        // SAFETY: no handler, so none that could be wrong; signal handlers are a process's own even
        // where the memory is shared.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
    let mut none = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: `none` is written here.
    unsafe { libc::sigemptyset(none.as_mut_ptr()) };
    // SAFETY: `none` was written above.
    unsafe { libc::sigprocmask(libc::SIG_SETMASK, none.as_ptr(), ptr::null_mut()) };
    if prepare(plan) {
        // SAFETY: strings that end in NUL, lists that end in a null pointer, all alive in `plan`'s
        // owner.
        unsafe {
            libc::execve(plan.path.as_ptr(), plan.arguments.as_ptr(), plan.environment.as_ptr())
        };
    }
    let error = io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO);
    plan.error.store(error, Ordering::Relaxed);
    // SAFETY: ends the child without running what is registered for the end of this process.
    unsafe { libc::_exit(127) }
}

/// Streams, folder and limits. False where one of them cannot be had; the system says why.
fn prepare(plan: &Plan<'_>) -> bool {
    for (from, to) in plan.streams.into_iter().zip(0..) {
        // SAFETY: descriptors of this process; a copy of one onto itself keeps its mark, which is
        // taken off.
        let copied = unsafe {
            if from == to { libc::fcntl(to, libc::F_SETFD, 0) } else { libc::dup2(from, to) }
        };
        if copied < 0 {
            return false;
        }
    }
    if plan.group {
        // SAFETY: no pointers; a child that was just made can always lead a group.
        unsafe { libc::setpgid(0, 0) };
    }
    // SAFETY: the limit lies in `plan`. A limit that cannot be set is the one that there is.
    unsafe { libc::setrlimit64(libc::RLIMIT_NOFILE, &raw const plan.files) };
    // SAFETY: a string that ends in NUL.
    unsafe { libc::chdir(plan.directory.as_ptr()) == 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd as _;
    use std::os::unix::process::ExitStatusExt as _;
    use std::process::ExitStatus;

    fn word(text: &str) -> CString {
        CString::new(text).unwrap()
    }

    fn shell(script: &str) -> Program {
        Program {
            path: word("/bin/sh"),
            arguments: ["sh", "-c", script].map(word).into(),
            environment: vec![word("A=1")],
            directory: word("/usr"),
            files: Rlimit { current: Some(20), maximum: Some(30) },
            group: false,
        }
    }

    fn end_of(program: &Program) -> io::Result<ExitStatus> {
        let null = std::fs::File::options().read(true).write(true).open("/dev/null")?;
        let pid = program.start([null.as_fd(); 3], &mut Stack::new())?;
        let pid = rustix::process::Pid::from_raw(pid.cast_signed());
        let waited = rustix::process::waitpid(pid, rustix::process::WaitOptions::empty())?;
        let (_, status) = waited.expect("it was waited for");
        Ok(ExitStatus::from_raw(status.as_raw()))
    }

    #[test]
    fn a_child_has_the_folder_the_limits_and_nothing_else_of_ours() {
        let kept = std::fs::File::open("/dev/null").unwrap();
        let script = format!(
            "test $A = 1 && test $(pwd) = /usr && test $(ulimit -n) = 20 && test $(ulimit -Hn) = \
             30 &&
             test -z \"$HOME\" && test ! -e /proc/$$/fd/{}",
            kept.as_raw_fd()
        );
        assert_eq!(end_of(&shell(&script)).unwrap().code(), Some(0));
    }

    #[test]
    fn a_child_can_be_ended_by_what_we_handle_or_ignore() {
        for signal in HANDLED.into_iter().filter(|signal| *signal != libc::SIGCHLD) {
            let status = end_of(&shell(&format!("kill -{signal} $$; exit 0"))).unwrap();
            assert_eq!(status.signal(), Some(signal));
        }
    }

    #[test]
    fn a_child_leads_a_group_if_it_is_to() {
        let script = "set -- $(cat /proc/$$/stat); test $5 = $$";
        assert_eq!(end_of(&shell(script)).unwrap().code(), Some(1));
        assert_eq!(end_of(&Program { group: true, ..shell(script) }).unwrap().code(), Some(0));
    }

    #[test]
    fn what_is_no_program_is_an_error_and_no_child() {
        let none = Program { path: word("/no/such/program"), ..shell("") };
        assert_eq!(end_of(&none).unwrap_err().raw_os_error(), Some(libc::ENOENT));
        let nowhere = Program { directory: word("/no/such/folder"), ..shell("") };
        assert_eq!(end_of(&nowhere).unwrap_err().raw_os_error(), Some(libc::ENOENT));
        let folder = Program { path: word("/usr"), ..shell("") };
        assert_eq!(end_of(&folder).unwrap_err().raw_os_error(), Some(libc::EACCES));
    }
}
