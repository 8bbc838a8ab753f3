//! The start of a daemon: for the first time, to join a machine, or in the place of one that died.

use super::{Basics, Placed, Shell, host_frame};
use crate::alarm::Alarm;
use crate::between::{Begin, Down, Invited, Up};
use crate::broker::ParentBroker;
use crate::config::Places;
use crate::inbox::Inbox;
use crate::launch::reply;
use crate::launch::token::Token;
use crate::link::connection::{Wiring, events};
use crate::link::{ALONE_TIME, Links, Membership};
use crate::ports::{Ports, Reach};
use crate::shell::own_records::OwnRecords;
use crate::shell::turn::TurnClock;
use crate::shell::uplink::Uplink;
use crate::sys::Text;
use crate::version::version;
use crate::{between, facts, guard, starter, tls};
use anyhow::{Context as _, Result, bail};
use pvm_core::io::Effect;
use pvm_core::{Config, Machine, Rules, Setup};
use pvm_quorum::Core;
use pvm_wire::route::Secret;
use pvm_wire::{Blob, Code, HostIndex, PROTOCOL_VERSION, Tid};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ffi::{OsStr, OsString};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::Path;
use std::time::{Duration, Instant};
use tokio::net::UnixStream;
use tokio::runtime::LocalOptions;
use tokio::sync::mpsc;

/// A daemon that was started from elsewhere and is not let in ends after this time.
const JOIN_TIME: Duration = Duration::from_secs(10);

/// Between two tries of one whose hoster has not answered yet.
const HOSTED_PAUSE: Duration = Duration::from_millis(200);

/// For tests: a host has fewer task ids, so that they come again soon.
const TASK_IDS: &str = "NEOPVM_TASK_IDS";

/// Runs the daemon to its end.
pub(crate) fn run() -> Result<()> {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().build_local(LocalOptions::default())?;
    // The runtime asks the kernel for news before each turn of what it was given to run to its end.
    // A task of its own has its turn at once.
    let served = async { start().await?.serve().await };
    runtime.block_on(async { tokio::task::spawn_local(served).await? })
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
    if let Some(reason) = unfit(&begin) {
        uplink.tell(&Down::Unfit { reason: reason.clone() }).await?;
        bail!(reason);
    }
    let text = Text::find();
    // From here on it hears the network.
    starter::begin();
    let guard = guard::confine(Path::new(OsStr::from_bytes(&begin.folder.0)));
    uplink.tell(&Down::Version { version: version().to_owned(), guard }).await?;
    let mut shell = build(begin, records, (uplink, broker)).await?;
    for (number, up) in frames {
        if let Up::Happened { event } = up {
            shell.happened(number, event).await?;
        }
    }
    text.give_back();
    Ok(shell)
}

/// The reason why this program cannot go on with the parent's data, if there is one.
fn unfit(begin: &Begin) -> Option<String> {
    let version = version();
    if begin.between != between::VERSION {
        let (ours, theirs) = (between::VERSION, begin.between);
        return Some(format!("version {version} reads records of form {ours}, not {theirs}"));
    }
    (begin.protocol != PROTOCOL_VERSION).then(|| {
        format!(
            "version {version} speaks protocol {PROTOCOL_VERSION}, this machine's tasks protocol \
             {}",
            begin.protocol
        )
    })
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
    let places = Places::from_environment()?;
    let fingerprint = identity.fingerprint().clone();
    let (link_sender, link_events) = events();
    let mut links = Links::new(identity, Wiring::new(link_sender));
    if let Some(via) = begin.join.as_ref().and_then(|join| join.via.parse().ok()) {
        links.set_relay(via);
    }
    let guest = begin.join.as_ref().is_some_and(|join| !join.local);
    links.tokens.set(own.tokens.unwrap_or_default());
    let reach = if guest { Reach::Outward } else { Reach::Inside };
    let ports = Ports::open(&links, own.ports, reach)?;
    let names = (begin.name.as_str(), begin.options.as_str());
    let facts = facts::gather(&places, names, ports.addresses(), fingerprint);
    let kept = OwnRecords { key: Some(Blob(key)), ports: Some(ports), ..Default::default() };
    uplink.effects(0, kept.effects()).await?;

    let mut tasks: BTreeMap<Tid, BTreeSet<u32>> = BTreeMap::new();
    for (tid, pid) in begin.processes {
        tasks.entry(tid).or_default().insert(pid);
    }
    let mut shell = Shell {
        tunnels: Vec::new(),
        uplink,
        links,
        link_events,
        starts: mpsc::channel(16),
        witnessed: mpsc::channel(4),
        joining: BTreeMap::new(),
        placed: None,
        facts,
        ports,
        begin: Basics {
            clock: begin.clock,
            folder: OsString::from_vec(begin.folder.0),
            parent_pid: begin.parent_pid,
            restarts: begin.restarts,
            vmid: places.vmid,
            broker: Some(broker),
        },
        tasks,
        events: VecDeque::new(),
        told_when_joined: None,
        told: false,
        flushing: false,
        clock: TurnClock::new(Instant::now()),
        alarm: Alarm::new(),
    };
    let first = Membership { host: HostIndex(1), first: HostIndex(1) };
    shell.reopen(own.tunnels);
    let joins = begin.join.is_some();
    let line = if joins { reply::ready_line(&shell.facts) } else { String::new() };
    if let Some(place) = own.place.or_else(|| (!joins).then_some(first)) {
        shell.place(place, &records).await?;
        if !own.hosts.is_empty() && records.is_empty() {
            shell.events.extend(shell.links.set_hosts(own.hosts));
        }
    } else if let Some(join) = begin.join {
        let patience = match join {
            Invited { patience: 1.., .. } => Duration::from_secs(join.patience.into()),
            Invited { local: true, .. } => ALONE_TIME,
            _ => JOIN_TIME,
        };
        if let Some(token) = join.token
            && !shell.redeem_own(token, patience).await?
        {
            return Ok(shell);
        }
        shell.links.join(&join.addresses, join.fingerprint.0, patience);
    }
    if shell.told_when_joined.is_none() && !shell.told {
        shell.uplink.tell(&Down::Ready { line }).await?;
    }
    Ok(shell)
}

fn number_in(variable: &str) -> Option<u32> {
    std::env::var(variable).ok()?.parse().ok()
}

impl Shell {
    /// Uses the token that this daemon was given. False if it is not good: the host ends.
    async fn redeem_own(&mut self, token: Token, patience: Duration) -> Result<bool> {
        if token.is_hosted() {
            return self.redeem_hosted(token, patience).await;
        }
        // One that was started again has used it already, or will hear that it is not good.
        let redeemed = self.links.redeem(&token, &self.facts).await;
        if let (Err(error), 0) = (redeemed, self.begin.restarts) {
            let line = reply::refused_line(Code::CantStart, "join", &format!("{error:#}"));
            self.uplink.tell(&Down::Ready { line }).await?;
            self.uplink.effects(0, vec![Effect::End]).await?;
            return Ok(false);
        }
        self.told_when_joined = Some(String::new());
        Ok(true)
    }

    /// A hoster brings the fingerprint of this daemon's key to the machine, which lets the key in
    /// then. Until then that key is refused there.
    async fn redeem_hosted(&mut self, token: Token, patience: Duration) -> Result<bool> {
        let token = Token { secret: Secret(self.facts.key.0.to_vec()), ..token };
        self.uplink.tell(&Down::Ready { line: reply::key_line(&self.facts) }).await?;
        self.told = true;
        let end = Instant::now() + patience;
        while let Err(error) = self.links.redeem(&token, &self.facts).await {
            // See above.
            if self.begin.restarts > 0 {
                break;
            }
            if Instant::now() >= end {
                let text = format!("the machine does not let this host in: {error:#}");
                self.uplink.effects(0, vec![Effect::Log { text }, Effect::End]).await?;
                return Ok(false);
            }
            tokio::time::sleep(HOSTED_PAUSE).await;
        }
        Ok(true)
    }

    /// This host has its place: the machine begins, or goes on from these records.
    pub(super) async fn place(
        &mut self,
        place: Membership,
        records: &[(Blob, Blob)],
    ) -> Result<()> {
        self.uplink.tell(&host_frame(place)).await?;
        let broker = self.begin.broker.take().context("a host has one place")?;
        let inbox = Inbox::open(broker, place.host)?;
        let config = Config {
            host: place.host,
            first: place.first,
            facts: self.facts.clone(),
            version: version().to_owned(),
            parent_pid: self.begin.parent_pid,
            daemon_pid: std::process::id(),
            restarts: self.begin.restarts,
            debugger: self.facts.debugger.clone(),
        };
        let quorum = Box::new(Core::new(tls::new_number()?));
        let setup = Setup { quorum, rules: Rules::plain() };
        let mut machine = match records {
            [] => Machine::new(config, setup),
            records => Machine::restore(config, setup, records),
        };
        if let Some(highest) = number_in(TASK_IDS) {
            machine.number_tasks_up_to(highest);
        }
        self.links.set_place(place);
        self.placed = Some(Placed { machine, inbox });
        self.follow(0).await
    }
}
