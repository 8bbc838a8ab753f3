//! How a daemon comes to be: for the first time, to join a machine, or in the place of one that
//! died.

use super::{Basics, Placed, Shell, host_frame};
use crate::between::{Begin, Down, Up};
use crate::broker::ParentBroker;
use crate::config::Places;
use crate::inbox::Inbox;
use crate::link::connection::{Wiring, events};
use crate::link::{Links, Place};
use crate::shell::own_records::OwnRecords;
use crate::shell::uplink::Uplink;
use crate::{facts, local, tls};
use anyhow::{Context as _, Result, bail};
use pvm_core::{Config, Machine, Order, Rules};
use pvm_quorum::Core;
use pvm_wire::{Blob, HostIndex, Tid};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ffi::OsString;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt as _;
use tokio::net::{TcpListener, UnixStream};
use tokio::sync::mpsc;

/// Runs the daemon to its end.
pub(crate) fn run() -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async { start().await?.serve().await })
}

/// Takes the sockets that the parent gave as standard input and output, and reads the beginning.
async fn start() -> Result<Shell> {
    let (uplink, broker) = sockets()?;
    let mut uplink = Uplink::new(uplink);
    let mut records = Vec::new();
    let mut frames = Vec::new().into_iter();
    let begin = loop {
        match frames.next() {
            None => frames = uplink.receive().await?.into_iter(),
            Some((_, Up::Records { records: more })) => records.extend(more),
            Some((_, Up::Begin { begin })) => break begin,
            Some(_) => bail!("no beginning"),
        }
    };
    let mut shell = build(begin, records, (uplink, broker)).await?;
    for (number, up) in frames {
        if let Up::Happened { event } = up {
            shell.happened(number, event).await?;
        }
    }
    Ok(shell)
}

fn sockets() -> Result<(UnixStream, ParentBroker)> {
    let taken = |fd| rustix::io::fcntl_dupfd_cloexec(fd, 3);
    let uplink: OwnedFd = taken(rustix::stdio::stdin())?;
    let broker: OwnedFd = taken(rustix::stdio::stdout())?;
    let null = std::fs::File::options().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&null)?;
    rustix::stdio::dup2_stdout(&null)?;
    let uplink = std::os::unix::net::UnixStream::from(uplink);
    uplink.set_nonblocking(true).context("started by no parent")?;
    Ok((UnixStream::from_std(uplink)?, ParentBroker::new(broker.into())))
}

async fn build(
    begin: Begin,
    mut records: Vec<(Blob, Blob)>,
    (uplink, broker): (Uplink, ParentBroker),
) -> Result<Shell> {
    let own = OwnRecords::take(&mut records);
    let key = own.key.map_or_else(tls::new_key, |key| Ok(key.0))?;
    let identity = tls::Identity::new(&key)?;
    let listener = listen(own.address.as_deref()).await?;
    let address = listener.local_addr()?.to_string();
    let places = Places::from_environment()?;
    let fingerprint = identity.fingerprint().clone();
    let facts = facts::gather(&places, &begin.name, address.clone(), fingerprint);

    let (link_sender, link_events) = events();
    let links = Links::new(identity, Wiring::new(link_sender), tls::new_number()?);
    links.listen(listener)?;
    let kept = OwnRecords { key: Some(Blob(key)), address: Some(address), ..Default::default() };
    uplink.effects(0, kept.effects()).await?;

    let mut tasks: BTreeMap<Tid, BTreeSet<u32>> = BTreeMap::new();
    for (tid, pid) in begin.processes {
        tasks.entry(tid).or_default().insert(pid);
    }
    let mut shell = Shell {
        uplink,
        links,
        link_events,
        starts: mpsc::channel(16),
        placed: None,
        facts,
        begin: Basics {
            clock: begin.clock,
            folder: OsString::from_vec(begin.folder.0),
            parent_pid: begin.parent_pid,
            restarts: begin.restarts,
            root: places.root,
            broker: Some(broker),
        },
        tasks,
        turns: VecDeque::new(),
    };
    let first = Place { host: HostIndex(1), first: HostIndex(1) };
    let joins = !begin.join_address.is_empty();
    let line = if joins { local::reply_line(&shell.facts) } else { String::new() };
    if let Some(place) = own.place.or_else(|| (!joins).then_some(first)) {
        shell.place(place, &records).await?;
        if !own.hosts.is_empty() && records.is_empty() {
            shell.turns.extend(shell.links.set_hosts(own.hosts));
        }
    } else {
        let address: SocketAddr = begin.join_address.parse().context("the machine's address")?;
        shell.links.join(address, begin.join_fingerprint.0);
    }
    shell.uplink.tell(&Down::Ready { line }).await?;
    Ok(shell)
}

/// The address that the hosts of the machine use. All of them are on this computer so far.
async fn listen(before: Option<&str>) -> Result<TcpListener> {
    let anew = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    if let Some(before) = before.and_then(|address| address.parse::<SocketAddr>().ok())
        && let Ok(listener) = TcpListener::bind(before).await
    {
        return Ok(listener);
    }
    TcpListener::bind(anew).await.context("cannot listen on the loopback interface")
}

impl Shell {
    /// This host has its place: the machine begins, or goes on from these records.
    pub(super) async fn place(&mut self, place: Place, records: &[(Blob, Blob)]) -> Result<()> {
        self.uplink.tell(&host_frame(place)).await?;
        let broker = self.begin.broker.take().context("a host has one place")?;
        let inbox = Inbox::open(broker, Tid::daemon(place.host))?;
        let config = Config {
            host: place.host,
            first: place.first,
            facts: self.facts.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            parent_pid: self.begin.parent_pid,
            daemon_pid: std::process::id(),
            restarts: self.begin.restarts,
            debugger: self.debugger(),
        };
        let quorum = Box::new(Core::new(tls::new_number()?));
        let order = Order { quorum, rules: Rules::plain() };
        let machine = match records {
            [] => Machine::new(config, order),
            records => Machine::restore(config, order, records),
        };
        self.links.set_place(place);
        self.placed = Some(Placed { machine, inbox });
        self.follow(0).await
    }

    fn debugger(&self) -> Blob {
        let root = self.begin.root.as_ref();
        let path = root.map(|root| root.join("lib/debugger").into_os_string().into_vec());
        Blob(path.unwrap_or_default())
    }
}
