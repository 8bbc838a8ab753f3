//! Servers on other hosts that are to hold copies: the search for them, and their start.

use crate::starting::Host;
use crate::{registry, starting};
use pvm::Task;
use pvm_wire::{Code, HostIndex, Tid};
use std::time::{Duration, Instant};

/// The longest time that a started server may take to announce itself.
const START_TIME_MAX: Duration = Duration::from_secs(20);
const LOOK: Duration = Duration::from_millis(10);

/// A space that waits for a server.
struct ServerSearch {
    space: u64,
    host: HostIndex,
    until: Instant,
    is_next: bool,
}

/// The result of a search.
pub(super) struct SearchResult {
    pub(super) space: u64,
    pub(super) server: Option<Tid>,
    /// True if the space moves to the server. Otherwise the server gets a copy.
    pub(super) is_next: bool,
}

/// The searches of all spaces.
pub(super) struct Helpers {
    task: &'static Task,
    wanted: Vec<ServerSearch>,
    found: Vec<SearchResult>,
}

impl Helpers {
    pub(super) const fn new(task: &'static Task) -> Self {
        Self { task, wanted: Vec::new(), found: Vec::new() }
    }

    /// Begins the search for one more server, on a host that none of these servers is on.
    pub(super) fn want(&mut self, space: u64, besides: &[Tid]) -> Result<(), Code> {
        let is_used = |index: HostIndex| besides.iter().any(|tid| tid.host() == index);
        let hosts = starting::hosts(self.task)?;
        let mut free: Vec<_> =
            hosts.into_iter().filter(|host| host.takes_tasks && !is_used(host.index)).collect();
        // Each space begins its search at another host, so the copies of several spaces are spread
        // over hosts.
        let first = usize::try_from(space >> 8).unwrap_or(0) % free.len().max(1);
        free.rotate_left(first);
        for host in free {
            if self.find(space, &host, false)? {
                return Ok(());
            }
        }
        self.found.push(SearchResult { space, server: None, is_next: false });
        Ok(())
    }

    /// Begins to move a space to a host.
    pub(super) fn move_to(&mut self, space: u64, host: &Host) -> Result<(), Code> {
        self.find(space, host, true).map(drop)
    }

    /// Finds or starts the server of a host; false if it cannot be started.
    fn find(&mut self, space: u64, host: &Host, is_next: bool) -> Result<bool, Code> {
        if let Some(server) = registry::server_of(self.task, host.index)? {
            self.found.push(SearchResult { space, server: Some(server), is_next });
            return Ok(true);
        }
        let is_started = starting::start(self.task, &host.name).is_ok();
        if is_started {
            let until = Instant::now() + START_TIME_MAX;
            self.wanted.push(ServerSearch { space, host: host.index, until, is_next });
        }
        Ok(is_started)
    }

    /// The spaces whose search has ended, each with the server, or none if there is none.
    pub(super) fn found(&mut self) -> Vec<SearchResult> {
        let mut waiting = Vec::new();
        for wanted in self.wanted.drain(..) {
            match registry::server_of(self.task, wanted.host) {
                Ok(None) | Err(_) if Instant::now() < wanted.until => waiting.push(wanted),
                server => {
                    let (space, is_next) = (wanted.space, wanted.is_next);
                    self.found.push(SearchResult { space, server: server.ok().flatten(), is_next });
                }
            }
        }
        self.wanted = waiting;
        std::mem::take(&mut self.found)
    }

    /// The time until the next look.
    pub(super) fn pause(&self) -> Option<Duration> {
        if !self.found.is_empty() {
            return Some(Duration::ZERO);
        }
        (!self.wanted.is_empty()).then_some(LOOK)
    }

    /// Ends the search for a space that this server does not keep any more.
    pub(super) fn forget(&mut self, space: u64) {
        self.wanted.retain(|wanted| wanted.space != space);
        self.found.retain(|found| found.space != space);
    }
}
