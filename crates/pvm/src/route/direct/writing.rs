//! Writes of sealed records to the socket of a route, and how long they wait for room.

use super::{Around, Broken, Direct, PATIENCE};
use crate::probe::waits;
use crate::sys;
use pvm_wire::congestion::UnderWay;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::net::SendFlags;
use std::time::{Duration, Instant};

/// Like `PATIENCE`, where bytes wait in the network: on a slow cable that others fill, too, a
/// segment takes its time.
const NETWORK_PATIENCE: Duration = Duration::from_secs(1);

const WRITABLE: PollFlags = PollFlags::IN.union(PollFlags::OUT);

/// The time for which a write has waited in vain.
#[derive(Default)]
struct WritePatience {
    since: Option<Instant>,
    /// The bytes that were under way in the network when they last became fewer.
    least: Option<u64>,
}

impl WritePatience {
    /// There is no room. While the network takes bytes that is only slow.
    fn lose(&mut self, full: Option<UnderWay>) -> Result<(), Broken> {
        let now = Instant::now();
        if let Some(full) = full
            && self.least.is_none_or(|least| full.bytes < least)
        {
            *self = Self { since: Some(now), least: Some(full.bytes) };
        }
        let since = *self.since.get_or_insert(now);
        let patience = if full.is_some() { NETWORK_PATIENCE } else { PATIENCE };
        if now - since > patience { Err(Broken) } else { Ok(()) }
    }
}

impl Direct {
    /// Writes the sealed records. While there is no room, takes in what comes: the other task may
    /// be doing the same. Room also lacks while much of this route stands in queues of the network,
    /// where messages of daemons would have to wait behind it.
    pub(super) fn write(&mut self, around: &mut Around<'_>) -> Result<(), Broken> {
        let mut written = 0;
        let mut patience = WritePatience::default();
        let mut waits = None;
        while written < self.out.bytes().len() {
            let room = self.ahead.room(sys::clock(), || sys::under_way(&self.socket));
            let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
            let rest = &self.out.bytes()[written..];
            let sent = match room {
                Ok(room) => rustix::net::send(&self.socket, &rest[..rest.len().min(room)], flags),
                Err(_) => Err(Errno::AGAIN),
            };
            match sent {
                Ok(n) => {
                    self.note_wait(&mut waits);
                    written += n;
                    self.ahead.went(n);
                    patience = WritePatience::default();
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    self.begin_wait(&mut waits);
                    let waited = match patience.lose(room.err()) {
                        Ok(()) => self.wait_for_room(room.is_ok(), waits.is_some(), around),
                        broken => broken,
                    };
                    if waited.is_err() {
                        self.note_wait(&mut waits);
                        return waited;
                    }
                }
                Err(_) => {
                    self.note_wait(&mut waits);
                    return Err(Broken);
                }
            }
        }
        self.out.clear();
        Ok(())
    }

    /// Takes in what comes, and waits for room in the socket, or for the network to take more.
    fn wait_for_room(
        &mut self,
        in_socket: bool,
        is_noted: bool,
        around: &mut Around<'_>,
    ) -> Result<(), Broken> {
        self.receive(around)?;
        let (wanted, time) = match in_socket {
            true => (WRITABLE, PATIENCE / 8),
            false => (PollFlags::IN, self.ahead.pause()),
        };
        let mut fds = [PollFd::new(&self.socket, wanted)];
        let _ = waits::sleep(is_noted, || poll(&mut fds, Some(&sys::timespec(time))));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn under_way(bytes: u64) -> UnderWay {
        let (least, without_room) = (PATIENCE, Duration::ZERO);
        UnderWay { bytes, sent: true, confirmed: 0, least, without_room }
    }

    #[test]
    fn a_write_waits_while_the_network_takes_bytes_and_no_longer() {
        let mut patience = WritePatience::default();
        for bytes in (10..13).rev() {
            assert_eq!(patience.lose(Some(under_way(bytes))), Ok(()));
            std::thread::sleep(NETWORK_PATIENCE * 2 / 3);
        }
        std::thread::sleep(NETWORK_PATIENCE / 3);
        assert_eq!(patience.lose(Some(under_way(10))), Err(Broken));
        let mut patience = WritePatience::default();
        assert_eq!(patience.lose(None), Ok(()));
        std::thread::sleep(PATIENCE + PATIENCE / 10);
        assert_eq!(patience.lose(None), Err(Broken), "the other task takes nothing");
    }
}
