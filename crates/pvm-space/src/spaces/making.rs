//! Making spaces, and the server that keeps them.

use super::plan::Plan;
use super::{LOOK, Space, Spaces};
use crate::{Error, registry, starting};
use pvm::Deadline;
use pvm_tuples::frames::{Ask, TO_SERVER};
use pvm_wire::{Blob, Code, Tid};
use std::time::{Duration, Instant};

/// The longest time that a started server may take to announce itself.
const START_TIME_MAX: Duration = Duration::from_secs(10);
/// The number of servers that may end while they make a space.
const SERVERS_MAX: u32 = 5;
/// The number of attempts to open a space that other tasks make and delete meanwhile.
const TURNS_MAX: u32 = 100;

impl Spaces {
    /// Makes a space and opens it. The server of this host keeps it, and is started if there is
    /// none. Also returns the server's note about a file that the space begins with.
    ///
    /// # Errors
    /// [`Error::Exists`], [`Error::NoServer`], [`Error::Disk`], [`Error::Machine`].
    pub fn create(&self, name: &Blob, plan: &Plan) -> Result<(Space, Blob), Error> {
        if !plan.is_sound() {
            return Err(Code::BadParam.into());
        }
        for _ in 0..SERVERS_MAX {
            let server = self.server()?;
            let number = self.next();
            let Plan { options, owned, directory } = plan.clone();
            let ask = Ask::Create { number, name: name.clone(), options, owned, directory };
            let mut inner = self.lock();
            inner.watch(self.task, server)?;
            inner.asked.insert(server);
            inner.post.send(server, TO_SERVER, &ask)?;
            drop(inner);
            if let Some(created) = self.await_creation(server, number)? {
                let note = created?;
                return Ok((self.open(name)?, note));
            }
        }
        let text = format!("{SERVERS_MAX} have ended while they made the space");
        Err(Error::NoServer(text))
    }

    /// Opens a space, or makes it if there is none. With `is_new` an existing space is an error.
    ///
    /// # Errors
    /// The errors of [`Spaces::create`], and [`Error::Unsteady`].
    pub fn open_or_create(
        &self,
        name: &Blob,
        plan: &Plan,
        is_new: bool,
    ) -> Result<(Space, Blob), Error> {
        if is_new {
            return self.create(name, plan);
        }
        for turn in 0..TURNS_MAX {
            match self.open(name) {
                Err(Error::NoSpace) => {}
                other => return other.map(|space| (space, Blob::default())),
            }
            match self.create(name, plan) {
                // Another task has just made the space, or is deleting it.
                Err(Error::Exists | Error::NoSpace) => {
                    std::thread::sleep(LOOK * turn.min(10));
                }
                other => return other,
            }
        }
        Err(Error::Unsteady)
    }

    /// Waits for the answer to a creation; none if the server has ended.
    fn await_creation(
        &self,
        server: Tid,
        number: u64,
    ) -> Result<Option<Result<Blob, Error>>, Error> {
        loop {
            let token = self.task.token();
            let mut inner = self.lock();
            self.take_in(&mut inner, |_| false)?;
            if let Some(created) = inner.created.remove(&number) {
                return Ok(Some(created));
            }
            if !inner.watched.contains(&server) {
                return Ok(None);
            }
            drop(inner);
            (self.rest)(self.task, token, Deadline::Never)?;
        }
    }

    /// Finds or starts the server of this host.
    fn server(&self) -> Result<Tid, Error> {
        let host = self.task.tid().host();
        if let Some(server) = registry::server_of(self.task, host)? {
            return Ok(server);
        }
        let hosts = starting::hosts(self.task)?;
        let own = hosts.into_iter().find(|one| one.index == host).ok_or(Code::DSysErr)?;
        starting::start(self.task, &own.name).map_err(|code| Error::NoServer(code.to_string()))?;
        let until = Instant::now() + START_TIME_MAX;
        while Instant::now() < until {
            if let Some(server) = registry::server_of(self.task, host)? {
                return Ok(server);
            }
            std::thread::sleep(LOOK);
        }
        Err(Error::NoServer("it does not come up".to_owned()))
    }
}
