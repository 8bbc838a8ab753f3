//! The descriptors for which the parent waits.

use rustix::event::Timespec;
use rustix::event::epoll::{self, Event, EventData, EventFlags};
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

/// The owner of a ready descriptor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Token {
    /// The local socket: a process connects.
    Listener,
    /// The daemon's socket.
    Daemon,
    /// The socket on which the daemon asks for segments.
    Broker,
    /// A child ended.
    Children,
    /// A signal asks for the end.
    Terminate,
    /// Standard input of a bound parent.
    Input,
    /// A local connection.
    Connection(u64),
    /// A pipe that a task writes to.
    Output(u64),
    /// A pipe that a task reads from.
    Feed(u64),
    /// A process that is no child of ours.
    Process(u64),
}

const KIND_SHIFT: u32 = 56;

impl Token {
    const fn to_word(self) -> u64 {
        let (kind, number) = match self {
            Self::Listener => (0, 0),
            Self::Daemon => (1, 0),
            Self::Broker => (2, 0),
            Self::Children => (3, 0),
            Self::Terminate => (9, 0),
            Self::Input => (4, 0),
            Self::Connection(number) => (5, number),
            Self::Output(number) => (6, number),
            Self::Feed(number) => (7, number),
            Self::Process(number) => (8, number),
        };
        kind << KIND_SHIFT | number
    }

    const fn from_word(word: u64) -> Option<Self> {
        let number = word & ((1 << KIND_SHIFT) - 1);
        Some(match word >> KIND_SHIFT {
            0 => Self::Listener,
            1 => Self::Daemon,
            2 => Self::Broker,
            3 => Self::Children,
            9 => Self::Terminate,
            4 => Self::Input,
            5 => Self::Connection(number),
            6 => Self::Output(number),
            7 => Self::Feed(number),
            8 => Self::Process(number),
            _ => return None,
        })
    }
}

/// The events for which to wait on a descriptor. The end of the other side is told with any of
/// them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Interest {
    /// Bytes to read.
    Read,
    /// Room to write.
    Write,
    /// Either.
    Both,
}

impl Interest {
    /// From two wishes; none where there is nothing to wait for.
    pub(crate) const fn of(read: bool, write: bool) -> Option<Self> {
        match (read, write) {
            (true, true) => Some(Self::Both),
            (true, false) => Some(Self::Read),
            (false, true) => Some(Self::Write),
            (false, false) => None,
        }
    }

    const fn flags(self) -> EventFlags {
        match self {
            Self::Read => EventFlags::IN,
            Self::Write => EventFlags::OUT,
            Self::Both => EventFlags::IN.union(EventFlags::OUT),
        }
    }
}

/// The set of descriptors.
pub(crate) struct Poll {
    epoll: OwnedFd,
    ready: Vec<Event>,
}

impl std::fmt::Debug for Poll {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Poll").finish_non_exhaustive()
    }
}

impl Poll {
    /// An empty set.
    pub(crate) fn new() -> std::io::Result<Self> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        Ok(Self { epoll, ready: Vec::with_capacity(64) })
    }

    /// Adds a descriptor; closing it takes it out.
    pub(crate) fn add(
        &self,
        fd: impl AsFd,
        token: Token,
        interest: Interest,
    ) -> std::io::Result<()> {
        let data = EventData::new_u64(token.to_word());
        Ok(epoll::add(&self.epoll, fd, data, interest.flags())?)
    }

    /// Changes what is waited for on a descriptor; none takes it out of the set.
    pub(crate) fn change(
        &self,
        fd: impl AsFd,
        token: Token,
        (old, new): (Option<Interest>, Option<Interest>),
    ) {
        let data = EventData::new_u64(token.to_word());
        let result = match (old, new) {
            (old, new) if old == new => Ok(()),
            (None, Some(new)) => epoll::add(&self.epoll, fd, data, new.flags()),
            (Some(_), Some(new)) => epoll::modify(&self.epoll, fd, data, new.flags()),
            (_, None) => epoll::delete(&self.epoll, fd),
        };
        // Only memory can lack here; the next change tries again.
        debug_assert!(result.is_ok(), "{token:?}: {result:?}");
    }

    /// Takes a descriptor out of the set, if it is in it.
    pub(crate) fn remove(&self, fd: impl AsFd) {
        let _ = epoll::delete(&self.epoll, fd);
    }

    /// The descriptors that are ready within the time; none after it or after a signal.
    pub(crate) fn wait(&mut self, timeout: Option<Duration>) -> std::io::Result<Vec<Token>> {
        let timeout = timeout.map(|t| Timespec {
            tv_sec: t.as_secs().try_into().unwrap_or(i64::MAX),
            tv_nsec: t.subsec_nanos().into(),
        });
        self.ready.clear();
        let buffer = rustix::buffer::spare_capacity(&mut self.ready);
        match epoll::wait(&self.epoll, buffer, timeout.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(self.ready.iter().filter_map(|event| Token::from_word(event.data.u64())).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_come_back() {
        for token in [
            Token::Listener,
            Token::Daemon,
            Token::Broker,
            Token::Children,
            Token::Terminate,
            Token::Input,
            Token::Connection(7),
            Token::Output(1 << 50),
            Token::Feed(0),
            Token::Process(3),
        ] {
            assert_eq!(Token::from_word(token.to_word()), Some(token));
        }
    }
}
