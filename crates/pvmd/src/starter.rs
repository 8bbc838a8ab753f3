//! The thread that starts programs for the daemon: ssh, and further daemons on this computer.
//!
//! The thread that speaks to the network is confined ([`crate::guard`]) and starts nothing: its
//! children would be confined like it, tasks of further hosts included. So this thread is made
//! before.

use std::io::{Error, ErrorKind, Result};
use std::sync::OnceLock;
use std::sync::mpsc::{Sender, channel};
use tokio::process::{Child, Command};
use tokio::sync::oneshot;

type Job = Box<dyn FnOnce() + Send>;

static STARTER: OnceLock<Sender<Job>> = OnceLock::new();

/// Makes the thread. Within a runtime, once.
pub(crate) fn begin() {
    let (jobs, waiting) = channel::<Job>();
    let runtime = tokio::runtime::Handle::current();
    let work = move || {
        let _runtime = runtime.enter();
        waiting.into_iter().for_each(|job| job());
    };
    let made = std::thread::Builder::new().name("starter".to_owned()).spawn(work);
    // Without it the daemon would have to stay as free as it is.
    if made.is_ok() {
        let _ = STARTER.set(jobs);
    }
}

/// True where there is such a thread.
pub(crate) fn is_there() -> bool {
    STARTER.get().is_some()
}

/// Does something there, and waits for it as long as it takes; here, if there is no such thread.
pub(crate) fn run<T: Send + 'static>(job: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let Some(starter) = STARTER.get() else { return Some(job()) };
    let (sender, done) = channel();
    starter.send(Box::new(move || drop(sender.send(job())))).ok()?;
    done.recv().ok()
}

/// Starts a program there.
pub(crate) async fn spawn(mut command: Command) -> Result<Child> {
    let Some(starter) = STARTER.get() else { return command.spawn() };
    let gone = || Error::new(ErrorKind::BrokenPipe, "nothing can be started any more");
    let (sender, started) = oneshot::channel();
    let job = move || drop(sender.send(command.spawn()));
    starter.send(Box::new(job)).map_err(|_| gone())?;
    started.await.map_err(|_| gone())?
}
