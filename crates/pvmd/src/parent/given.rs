//! Direct routes that tasks have, so that they can be ended: when a host is taken out, nothing more
//! comes from it, however long it lives and whatever the kernel still has on its way.
//!
//! The parent keeps them and not the daemon, which does not know what daemons before it have given.

use pvm_wire::{HostIndex, Tid};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::Resource;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Result;
use std::os::fd::OwnedFd;

/// With fewer sockets the ended ones are not looked for.
const SWEEP_COUNT: usize = 64;

/// The task here and the task there.
type Pair = (Tid, Tid);

/// The parent's copies of the sockets of direct routes.
///
/// Two tasks may have more than one for a moment: the next one is made while the last one breaks.
/// So each has a number here, and what tells that a route is over is its own socket.
#[derive(Debug, Default)]
pub(crate) struct RouteSockets {
    /// Copies of the sockets, by the two tasks and the number of the route.
    sockets: BTreeMap<(Pair, u64), OwnedFd>,
    /// Routes that were given so far.
    count: u64,
    /// With this many sockets the ended ones are looked for.
    sweep_at: usize,
}

impl RouteSockets {
    /// A task is about to get this. What is over of earlier routes of the two is forgotten.
    ///
    /// # Errors
    /// There is no descriptor for a copy, or too few are left for others: the route could not be
    /// ended, so it must not be given.
    pub(crate) fn keep(&mut self, pair: Pair, socket: &OwnedFd) -> Result<()> {
        let ours = (pair, 0)..=(pair, u64::MAX);
        self.sockets.extract_if(ours, |_, socket| is_over(socket)).for_each(drop);
        if self.sockets.len() >= self.sweep_at.max(SWEEP_COUNT).min(most()) {
            self.sockets.retain(|_, socket| !is_over(socket));
            self.sweep_at = self.sockets.len() * 2;
        }
        if self.sockets.len() >= most() {
            return Err(std::io::ErrorKind::QuotaExceeded.into());
        }
        let copy = socket.try_clone()?;
        self.count += 1;
        self.sockets.insert((pair, self.count), copy);
        Ok(())
    }

    /// A task is gone.
    pub(crate) fn gone(&mut self, local: Tid) {
        self.sockets.retain(|(pair, _), _| pair.0 != local);
    }

    /// These are the members: what leads to other hosts ends.
    pub(crate) fn fence(&mut self, members: &BTreeSet<HostIndex>) {
        let leads_away =
            |(pair, _): &(Pair, u64), _: &mut OwnedFd| !members.contains(&pair.1.host());
        for (_, socket) in self.sockets.extract_if(.., leads_away) {
            let _ = rustix::net::shutdown(&socket, rustix::net::Shutdown::Both);
        }
    }
}

/// The number of descriptors that may be copies: the others are for connections, pipes and
/// segments.
fn most() -> usize {
    let most = rustix::process::getrlimit(Resource::Nofile).current;
    most.and_then(|most| usize::try_from(most).ok()).unwrap_or(usize::MAX) / 4
}

/// True if one side has ended the connection, so that nothing more can come.
fn is_over(socket: &OwnedFd) -> bool {
    let over = PollFlags::RDHUP | PollFlags::HUP | PollFlags::ERR;
    let mut looked = [PollFd::new(socket, PollFlags::RDHUP)];
    let _ = poll(&mut looked, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }));
    looked.iter().any(|looked| looked.revents().intersects(over))
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
        let mut given = RouteSockets::default();
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

    /// The other task's end of a new route, and what this host's task gets.
    fn route() -> (TcpStream, OwnedFd) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let far = TcpStream::connect(listener.local_addr().expect("its address")).expect("one");
        far.set_read_timeout(Some(Duration::from_secs(10))).expect("a limit");
        let (task, _) = listener.accept().expect("a connection");
        (far, task.into())
    }

    #[test]
    fn a_route_that_broke_does_not_take_a_newer_one_out_of_reach_of_the_fence() {
        let mut given = RouteSockets::default();
        let ((first_far, first), (mut far, task)) = (route(), route());
        given.keep((HERE, THERE), &first).expect("a descriptor");
        given.keep((HERE, THERE), &task).expect("a descriptor");
        rustix::net::shutdown(&first, rustix::net::Shutdown::Both).expect("a connection");
        drop((first_far, first));
        let (_last_far, last) = route();
        given.keep((HERE, THERE), &last).expect("a descriptor");
        assert_eq!(given.sockets.len(), 2, "the newer ones are left");
        given.fence(&BTreeSet::from([HERE.host()]));
        assert_eq!(far.read(&mut [0; 1]).expect("an end"), 0);
    }

    #[test]
    fn two_routes_of_the_same_tasks_both_end_with_their_host() {
        let mut given = RouteSockets::default();
        let ((mut first_far, first), (mut far, second)) = (route(), route());
        given.keep((HERE, THERE), &first).expect("a descriptor");
        given.keep((HERE, THERE), &second).expect("a descriptor");
        given.fence(&BTreeSet::from([HERE.host()]));
        assert_eq!(first_far.read(&mut [0; 1]).expect("an end"), 0);
        assert_eq!(far.read(&mut [0; 1]).expect("an end"), 0);
    }

    #[test]
    fn a_route_that_its_own_task_has_ended_is_kept_no_longer_than_until_the_next() {
        let mut given = RouteSockets::default();
        let ((_far, broken), (_other_far, other)) = (route(), route());
        given.keep((HERE, THERE), &broken).expect("a descriptor");
        given.keep((HERE, Tid(THERE.0 + 1)), &other).expect("a descriptor");
        rustix::net::shutdown(&broken, rustix::net::Shutdown::Both).expect("a connection");
        let (_next_far, next) = route();
        given.keep((HERE, THERE), &next).expect("a descriptor");
        let left: Vec<u64> = given.sockets.keys().map(|(_, number)| *number).collect();
        assert_eq!(left, [3, 2], "in the order of the tasks");
    }

    #[test]
    fn routes_whose_other_task_is_gone_do_not_use_up_descriptors() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("its address");
        let mut given = RouteSockets::default();
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
        assert!(
            lasting.iter().all(|(_, peer)| given.sockets.keys().any(|key| key.0 == (HERE, *peer)))
        );
    }

    #[test]
    fn a_task_that_is_gone_holds_no_socket_open() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let mut far = TcpStream::connect(listener.local_addr().expect("its address")).expect("one");
        let (task, _) = listener.accept().expect("a connection");
        far.set_read_timeout(Some(Duration::from_secs(10))).expect("a limit");
        let mut given = RouteSockets::default();
        let socket = OwnedFd::from(task);
        given.keep((HERE, THERE), &socket).expect("a descriptor");
        drop(socket);
        given.gone(HERE);
        assert_eq!(far.read(&mut [0; 1]).expect("an end"), 0);
    }
}
