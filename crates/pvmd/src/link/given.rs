//! Direct routes that tasks have, as far as the daemon can end them: when a host is taken out, nothing
//! more comes from it, however long it lives and whatever the kernel still has on its way.

use pvm_wire::{HostIndex, Tid};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Result;
use std::os::fd::OwnedFd;

/// With fewer sockets nobody looks for those that are over.
const SWEEP_COUNT: usize = 64;

/// What the daemon keeps of them.
#[derive(Debug, Default)]
pub(crate) struct Given {
    /// Copies of the sockets, by the task here and the task there.
    sockets: BTreeMap<(Tid, Tid), OwnedFd>,
    /// With so many those that are over are looked for.
    sweep_at: usize,
}

impl Given {
    /// A task is about to get this.
    ///
    /// # Errors
    /// There is no descriptor for a copy: the route could not be ended, so it must not be given.
    pub(crate) fn keep(&mut self, pair: (Tid, Tid), socket: &OwnedFd) -> Result<()> {
        if self.sockets.len() >= self.sweep_at.max(SWEEP_COUNT) {
            self.sweep();
            self.sweep_at = self.sockets.len() * 2;
        }
        let copy = socket.try_clone().or_else(|_| {
            self.sweep();
            socket.try_clone()
        })?;
        self.sockets.insert(pair, copy);
        Ok(())
    }

    /// Where the other side has closed nothing more can come.
    fn sweep(&mut self) {
        let over = PollFlags::RDHUP | PollFlags::HUP | PollFlags::ERR;
        self.sockets.retain(|_, socket| {
            let mut looked = [PollFd::new(socket, PollFlags::RDHUP)];
            let _ = poll(&mut looked, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }));
            !looked.iter().any(|looked| looked.revents().intersects(over))
        });
    }

    /// A task is gone, or does not use its route to one task any more.
    pub(crate) fn forget(&mut self, local: Tid, peer: Option<Tid>) {
        match peer {
            Some(peer) => drop(self.sockets.remove(&(local, peer))),
            None => self.sockets.retain(|pair, _| pair.0 != local),
        }
    }

    /// These are the members: what leads to other hosts ends.
    pub(crate) fn fence(&mut self, members: &BTreeSet<HostIndex>) {
        for (_, socket) in self.sockets.extract_if(.., |pair, _| !members.contains(&pair.1.host()))
        {
            let _ = rustix::net::shutdown(&socket, rustix::net::Shutdown::Both);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read as _, Write as _};
    use std::net::{TcpListener, TcpStream};
    use std::time::Duration;

    const HERE: Tid = Tid(0x40001);
    const THERE: Tid = Tid(0x80001);

    #[test]
    fn what_a_task_has_from_a_host_that_is_taken_out_ends_and_nothing_comes_later() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let mut far = TcpStream::connect(listener.local_addr().expect("its address")).expect("one");
        let (mut task, _) = listener.accept().expect("a connection");
        task.set_read_timeout(Some(Duration::from_secs(10))).expect("a limit");
        let mut given = Given::default();
        let socket = OwnedFd::from(task.try_clone().expect("a descriptor"));
        given.keep((HERE, THERE), &socket).expect("a descriptor");
        drop(socket);
        far.write_all(b"before").expect("room");
        let mut heard = [0; 6];
        task.read_exact(&mut heard).expect("what was sent");
        given.fence(&BTreeSet::from([HERE.host(), THERE.host()]));
        far.write_all(b"member").expect("room");
        task.read_exact(&mut heard).expect("what was sent");
        given.fence(&BTreeSet::from([HERE.host()]));
        let _ = far.write_all(b"late");
        std::thread::sleep(Duration::from_millis(50));
        let _ = far.write_all(b"later");
        assert!(matches!(task.read(&mut heard), Ok(0) | Err(_)));
    }

    #[test]
    fn routes_whose_other_task_is_gone_do_not_use_up_descriptors() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("its address");
        let mut given = Given::default();
        let mut lasting = Vec::new();
        for number in 0..1000 {
            let far = TcpStream::connect(address).expect("one");
            let (task, _) = listener.accept().expect("a connection");
            let peer = Tid(THERE.0 + number);
            given.keep((HERE, peer), &OwnedFd::from(task)).expect("a descriptor");
            if number % 100 == 0 {
                lasting.push((far, peer));
            }
        }
        assert!(given.sockets.len() < 200, "{} are kept", given.sockets.len());
        assert!(lasting.iter().all(|(_, peer)| given.sockets.contains_key(&(HERE, *peer))));
    }

    #[test]
    fn a_task_that_is_gone_holds_no_socket_open() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let mut far = TcpStream::connect(listener.local_addr().expect("its address")).expect("one");
        let (task, _) = listener.accept().expect("a connection");
        far.set_read_timeout(Some(Duration::from_secs(10))).expect("a limit");
        let mut given = Given::default();
        let socket = OwnedFd::from(task);
        given.keep((HERE, THERE), &socket).expect("a descriptor");
        drop(socket);
        given.forget(HERE, None);
        assert_eq!(far.read(&mut [0; 1]).expect("an end"), 0);
    }
}
