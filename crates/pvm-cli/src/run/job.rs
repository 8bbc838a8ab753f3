//! `pvm run --as NAME`: the keeper of a job.
//!
//! A job is ranks 0 to N-1 of an interface that is older than PVM 3, or beside it. The keeper
//! starts them, tells each of them who the others are, and ends all of them when one fails. It is
//! an operator, as every `pvm run` is, so it has the ranks' output and their exits and takes them
//! with it; and it is a task, so that ranks can talk to it ([`words`]).
//! [ADR 35](../../../../doc/adr/0035-jobs-and-their-keeper.md)

mod cluster;
mod files;
mod plan;
mod ranks;
pub(crate) mod words;

use super::ending;
use super::events::{Event, Events};
use super::own::{Own, lost, machine};
use super::program::{self, JOB_VARIABLE, ON_HOST, Start};
use super::running::{CHILDREN_GRACE, Running, SIGCONT, SIGKILL, SIGTERM, Stage};
use crate::failure::{Failure, Status};
use crate::operator::Operator;
use crate::options::tasks::{Interface, RunOptions};
use crate::program::in_path;
use crate::signals;
use cluster::{Cluster, check_size};
use plan::Plan;
use pvm_wire::request::{HostInfo, Reply, Request, SpawnRequest};
use pvm_wire::{Blob, Code, Tid};
use ranks::Ranks;
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use words::{Heard, Line, RankMessage};

/// Between the signal that asks the ranks of a failed job to end and the one that ends them.
const FAILED_GRACE: Duration = Duration::from_millis(300);
/// The number of words of each rank that are kept if they come before the machine has listed the
/// ranks.
const EARLY_EACH: usize = 4;
/// The last words of a rank may come this much later than the news of its end.
const WORD_DELAY: Duration = Duration::from_millis(200);
/// The parent of a forked rank may report how the rank has ended this much later than the news of
/// the end. No other process knows it, and on a busy computer the parent may wait for a core.
const PARENT_DELAY: Duration = Duration::from_secs(5);

/// Runs the job to its end.
pub(super) fn run(options: &RunOptions, interface: Interface) -> Result<ExitCode, Failure> {
    let mut plan = Plan::new(options, interface)?;
    let (own, operator) = machine()?;
    let mut asks = match &own {
        Some(own) => Operator::connect_at(&own.bound.socket)?,
        None => Operator::connect_if_running()?,
    }
    .ok_or_else(lost)?;
    let hosts = hosts(&mut asks)?;
    let here = hosts.here();
    plan::find_hosts(&mut plan.clusters, &hosts.list, &here)
        .map_err(|text| Failure::new(Status::Refused, text))?;
    let line = Line::open(own.as_ref().map(|own| &own.bound.socket))?;
    let (asker, answers) = operator.split()?;
    let events = Events::listen(asker, answers)?;
    line.listen(events.words())?;
    let wanted = program::wanted(options, own.as_ref().map(|own| own.vmid.as_str()))?;
    let running = Running::new(events, &Start::default(), options)?;
    let mut keeper = Keeper::new(interface, running, asks, line, (plan, wanted));
    let ended = keeper.until_finished();
    keeper.line.close();
    let ending = keeper.running.finish();
    ended?;
    drop::<Option<Own>>(own);
    Ok(ExitCode::from(ending.status()))
}

struct Hosts {
    list: Vec<HostInfo>,
    own: Option<Tid>,
}

impl Hosts {
    fn name(&self, tid: Tid) -> String {
        let host = self.list.iter().find(|host| host.tid.host() == tid.host());
        host.map_or_else(|| format!("host {}", tid.host()), |host| host.name.to_text())
    }

    /// The host whose daemon we talk to.
    fn here(&self) -> String {
        self.own.map_or_else(|| ".".to_owned(), |tid| self.name(tid))
    }
}

fn hosts(asks: &mut Operator) -> Result<Hosts, Failure> {
    let refused = |code| Failure::refused("the hosts of the machine", code);
    let Reply::Hosts { hosts: list } = asks.ask(&Request::Config).map_err(refused)? else {
        return Err(Failure::unexpected("the hosts"));
    };
    let own = match asks.ask(&Request::HostStatus { name: ".".into() }) {
        Ok(Reply::Number { value }) => Some(Tid::from_c_int(value)),
        _ => None,
    };
    Ok(Hosts { list, own })
}

/// A start that was asked for.
struct Batch {
    first: usize,
    ranks: u32,
    request: SpawnRequest,
    /// It is looked for in PATH if the machine does not know it.
    is_plain: bool,
}

struct Keeper {
    /// The name of the interface on the command line.
    interface: String,
    running: Running,
    asks: Operator,
    line: Line,
    plan: Plan,
    /// The request of the command line.
    wanted: SpawnRequest,
    ranks: Ranks,
    /// By the numbers of their requests: starts that are not answered.
    starting: BTreeMap<u32, Batch>,
    /// The numbers of the starts whose tasks have not all ended.
    open: BTreeSet<u32>,
    is_told: bool,
    /// When ends are looked at that looked wrong.
    look: Option<Instant>,
    /// Messages of ranks that came before the machine reported their ids.
    early: Vec<Heard>,
    /// The last messages of ranks that cannot go on, which are not printed yet.
    held: Vec<Fault>,
}

/// The reason of a rank that cannot go on.
struct Fault {
    from: Tid,
    status: i32,
    text: String,
}

impl Keeper {
    fn new(
        interface: Interface,
        running: Running,
        asks: Operator,
        line: Line,
        job: (Plan, SpawnRequest),
    ) -> Self {
        let (plan, wanted) = job;
        Self {
            interface: interface.name(),
            running,
            asks,
            line,
            plan,
            wanted,
            ranks: Ranks::default(),
            starting: BTreeMap::new(),
            open: BTreeSet::new(),
            is_told: false,
            look: None,
            early: Vec::new(),
            held: Vec::new(),
        }
    }

    fn until_finished(&mut self) -> Result<(), Failure> {
        let count = if self.plan.is_deferred { 1 } else { self.plan.clusters.len() };
        let at_once = self.plan.clusters[..count].to_vec();
        self.start(&at_once)?;
        while !self.open.is_empty() {
            let stage = self.running.deadline();
            let silence = self.ranks.first_silent().map(|(until, _)| until);
            let deadline = [stage, self.look, silence].into_iter().flatten().min();
            match self.running.events.next(deadline) {
                Some(event) => self.handle(event)?,
                None if self.is_past(self.look) => self.look_at_ends(),
                None if self.is_past(silence) => self.give_up_parent(),
                None if self.is_past(stage) && self.running.overdue() => break,
                None => {}
            }
            self.running.send_signals()?;
        }
        Ok(())
    }

    fn is_past(&self, deadline: Option<Instant>) -> bool {
        deadline.is_some_and(|at| at <= Instant::now())
    }

    /// Asks for the start of clusters whose ranks come behind those that there are.
    fn start(&mut self, clusters: &[Cluster]) -> Result<(), Failure> {
        for cluster in clusters {
            let index = self.ranks.cluster_sizes().len();
            let first = self.ranks.add(cluster);
            let (count, wanted) =
                if cluster.shares { (1, cluster.ranks) } else { (cluster.ranks, 1) };
            let variable = self.line.variable(&self.interface, (index, first), count, wanted);
            let request = self.request(cluster, count, &variable)?;
            let named = Path::new(std::ffi::OsStr::from_bytes(&request.file.0)).to_path_buf();
            let is_plain = program::is_plain(&named);
            let batch = Batch { first, ranks: count, request, is_plain };
            self.send(batch)?;
        }
        Ok(())
    }

    fn send(&mut self, batch: Batch) -> Result<(), Failure> {
        let id = self.running.events.send(&Request::Run { spawn: batch.request.clone() })?;
        self.open.insert(id);
        self.starting.insert(id, batch);
        Ok(())
    }

    fn request(
        &self,
        cluster: &Cluster,
        count: u32,
        variable: &str,
    ) -> Result<SpawnRequest, Failure> {
        let mut request = self.wanted.clone();
        request.count = i32::try_from(count).unwrap_or(i32::MAX);
        request.environment.push(Blob(format!("{JOB_VARIABLE}={variable}").into_bytes()));
        if self.plan.is_hosted {
            request.environment.push("NEOPVM_NX_HOST=1".into());
        }
        let blob = |path: &Path| Blob(path.as_os_str().as_bytes().to_vec());
        if let Some(program) = &cluster.program {
            request.file = blob(&std::path::absolute(program)?);
        }
        if let Some(folder) = &cluster.folder {
            request.directory = blob(&std::path::absolute(folder)?);
        }
        if let Some(host) = &cluster.host {
            (request.flags, request.place) = (ON_HOST, Blob::from(host.clone()));
        }
        Ok(request)
    }

    fn handle(&mut self, event: Event) -> Result<(), Failure> {
        match event {
            Event::RankMessage(heard) => self.hear(heard),
            Event::Answer(Ok((id, Reply::Spawned { outcomes, tried })), _) => {
                self.started(id, &outcomes, &tried)
            }
            Event::Answer(Ok((id, Reply::Failed { code })), _) => {
                self.started(id, &[code.number()], &[])
            }
            Event::Answer(Ok((_, Reply::Exited { tid, status })), _) => {
                self.exited(tid, status);
                Ok(())
            }
            Event::Answer(Ok((id, Reply::Finished)), _) => {
                self.open.remove(&id);
                Ok(())
            }
            Event::Answer(Ok((_, Reply::Cut { tid })), _) => {
                self.ranks.get_mut(tid).into_iter().for_each(|rank| rank.cut = true);
                self.running.handle_reply(Reply::Cut { tid });
                Ok(())
            }
            event => self.running.handle(event),
        }
    }

    fn started(&mut self, id: u32, outcomes: &[i32], tried: &[Blob]) -> Result<(), Failure> {
        let Some(batch) = self.starting.remove(&id) else { return Ok(()) };
        if let Some(&outcome) = outcomes.iter().find(|&&outcome| outcome <= 0) {
            return self.not_started(batch, outcome, tried);
        }
        let hosts = hosts(&mut self.asks)?;
        for (rank, &outcome) in (batch.first..batch.first + batch.ranks as usize).zip(outcomes) {
            let tid = Tid::from_c_int(outcome);
            self.ranks.set(rank, tid, hosts.name(tid));
            self.running.streams.name(tid, rank.to_string());
            self.running.own.insert(tid);
            self.running.end_late(tid)?;
            if rank == 0 {
                self.running.events.feed(tid)?;
            } else if rank == batch.first {
                // The machine keeps the input of each start's first task open. An empty piece is
                // its end.
                self.running.events.send(&Request::Feed { tid, bytes: Blob::default() })?;
            }
        }
        self.tell_all()?;
        std::mem::take(&mut self.early).into_iter().try_for_each(|heard| self.hear(heard))
    }

    /// Not all of them were: the job is not begun, or ends.
    fn not_started(
        &mut self,
        mut batch: Batch,
        outcome: i32,
        tried: &[Blob],
    ) -> Result<(), Failure> {
        let code = Code::from_number(outcome).unwrap_or(Code::DSysErr);
        let named = Path::new(std::ffi::OsStr::from_bytes(&batch.request.file.0)).to_path_buf();
        let found = in_path(&named).filter(|_| batch.is_plain && code == Code::NoFile);
        if let Some(found) = found {
            batch.request.file = Blob(found.as_os_str().as_bytes().to_vec());
            batch.is_plain = false;
            return self.send(batch);
        }
        let name = named.to_string_lossy();
        let failure = match code {
            Code::NoFile => program::not_found(&name, tried),
            _ => Failure::refused(&name, code),
        };
        let last = batch.first + batch.ranks as usize - 1;
        let who = if last == batch.first {
            format!("rank {last} was not started")
        } else {
            format!("ranks {} to {last} were not all started", batch.first)
        };
        Err(failure.and(&format!("  {who}: the job is ended")))
    }

    /// Sends the table of ranks to all of them, once all have come.
    fn tell_all(&mut self) -> Result<(), Failure> {
        let waits = self.plan.is_deferred || !self.starting.is_empty();
        if self.is_told || waits || !self.ranks.is_complete() {
            return Ok(());
        }
        self.is_told = true;
        self.line.tell_table(&self.ranks).map_err(|code| Failure::refused("the ranks", code))
    }

    fn hear(&mut self, Heard { from, word }: Heard) -> Result<(), Failure> {
        if let RankMessage::Ended { tid } = word {
            return self.ended_somehow(tid);
        }
        let Some(rank) = self.ranks.get_mut(from) else {
            // A rank may be faster than the answer to its start. What strangers say is bounded.
            let most = EARLY_EACH * self.ranks.len();
            if !self.starting.is_empty() && self.early.len() < most {
                self.early.push(Heard { from, word });
            }
            return Ok(());
        };
        match word {
            RankMessage::Entered { last_call } => {
                rank.entered = Some(last_call);
                self.look_soon();
            }
            RankMessage::Left => {
                rank.left = true;
                self.line.heard(from);
            }
            RankMessage::Fatal { code, text } => {
                let status = if code & 0xff == 0 { 1 } else { code & 0xff };
                self.fatal(Fault { from, status: status << 8, text });
            }
            RankMessage::Forked { tids } => return self.forked(from, &tids),
            RankMessage::Kill { tids } => return self.kill_ranks(&tids),
            RankMessage::Start { clusters } => return self.start_others(from, clusters),
            RankMessage::Exited { tid, status } => {
                let is_its_own = self.running.forked.remove(&tid);
                if is_its_own {
                    self.ranks.get_mut(tid).into_iter().for_each(|rank| rank.silent = None);
                    self.exited(tid, status);
                    self.tell_held();
                }
            }
            RankMessage::Ended { .. } => {}
        }
        Ok(())
    }

    fn forked(&mut self, from: Tid, tids: &[Tid]) -> Result<(), Failure> {
        if self.plan.is_deferred && self.ranks.rank(from) == Some(0) {
            // It may know better than the file.
            self.ranks.resize_first(tids.len() + 1);
        }
        let Some(others) = self.ranks.others_of(from).filter(|others| others.len() == tids.len())
        else {
            return Ok(());
        };
        let hosts = hosts(&mut self.asks)?;
        let call = self.ranks.get(from).and_then(|rank| rank.entered.clone()).unwrap_or_default();
        for (rank, &tid) in others.zip(tids).filter(|(_, tid)| tid.is_task()) {
            self.ranks.set(rank, tid, hosts.name(tid));
            self.running.forked.insert(tid);
            self.running.end_late(tid)?;
            if let Some(one) = self.ranks.get_mut(tid) {
                one.entered = Some(call.clone());
            }
        }
        let watched: Vec<Tid> = tids.iter().copied().filter(|tid| tid.is_task()).collect();
        self.line.watch(&watched).map_err(|code| Failure::refused("the forked ranks", code))?;
        self.tell_all()
    }

    /// A forked rank has ended. How, its parent says. A parent that is stopped goes on to say it,
    /// where the job ends by this rank anyway.
    fn ended_somehow(&mut self, tid: Tid) -> Result<(), Failure> {
        if !self.running.forked.contains(&tid) {
            return Ok(());
        }
        let parent = self.ranks.first_of(tid);
        let Some(rank) = self.ranks.get_mut(tid) else { return Ok(()) };
        rank.silent = Some(Instant::now() + PARENT_DELAY);
        if let Some(tid) = parent.filter(|_| !rank.left) {
            self.running.events.send(&Request::Signal { tid, signal: SIGCONT })?;
        }
        Ok(())
    }

    /// The parent of a forked rank does not tell how that has ended.
    fn give_up_parent(&mut self) {
        let Some((_, tid)) = self.ranks.first_silent() else { return };
        self.ranks.get_mut(tid).into_iter().for_each(|rank| rank.silent = None);
        self.fail(tid, 1 << 8, "has ended, and its parent does not tell how");
        self.tell_held();
    }

    /// A rank cannot go on. A rank that waited for another one that has ended is not the cause: its
    /// message is printed after the way in which that one ended.
    fn fatal(&mut self, fault: Fault) {
        if self.held.len() < self.ranks.len() {
            self.held.push(fault);
        }
        self.tell_held();
    }

    /// Tells the faults of ranks, unless the end of a rank before them is not understood yet.
    fn tell_held(&mut self) {
        if self.ranks.first_silent().is_some() {
            return;
        }
        for Fault { from, status, text } in std::mem::take(&mut self.held) {
            self.fail(from, status, &text);
            self.line.heard(from);
        }
    }

    /// A rank has no more use for these.
    fn kill_ranks(&mut self, tids: &[Tid]) -> Result<(), Failure> {
        for &tid in tids {
            let Some(rank) = self.ranks.get_mut(tid) else { continue };
            (rank.unwanted, rank.left) = (true, true);
            self.running.events.send(&Request::Signal { tid, signal: SIGKILL })?;
        }
        Ok(())
    }

    /// The first rank wants the other clusters.
    fn start_others(&mut self, from: Tid, clusters: Option<Vec<Cluster>>) -> Result<(), Failure> {
        let outcome = self.others(from, clusters);
        let answered = self.line.answer(from, outcome.as_ref().err().map(String::as_str));
        answered.map_err(|code| Failure::refused("the first rank", code))?;
        if let Ok(others) = outcome {
            self.start(&others)?;
            self.tell_all()?;
        }
        Ok(())
    }

    /// The clusters to be started, or why they are not.
    fn others(&mut self, from: Tid, given: Option<Vec<Cluster>>) -> Result<Vec<Cluster>, String> {
        if self.ranks.rank(from) != Some(0) {
            return Err("only rank 0 can have others started".to_owned());
        }
        if !self.plan.is_deferred || self.is_told {
            return Err("the ranks of this job are started already".to_owned());
        }
        let mut clusters = given.unwrap_or_else(|| self.plan.clusters.clone());
        check_size(&clusters).map_err(|failure| failure.text().to_owned())?;
        let Some(first) = clusters.first() else { return Err("no clusters".to_owned()) };
        self.ranks.resize_first(first.ranks as usize);
        let hosts = hosts(&mut self.asks).map_err(|failure| failure.text().to_owned())?;
        let here = hosts.name(from);
        clusters.remove(0);
        plan::find_hosts(&mut clusters, &hosts.list, &here)?;
        self.plan.is_deferred = false;
        Ok(clusters)
    }

    fn exited(&mut self, tid: Tid, status: i32) {
        if self.ranks.rank(tid).is_none() {
            // What a rank has spawned.
            return self.running.handle_reply(Reply::Exited { tid, status });
        }
        self.running.streams.end_of(tid);
        self.running.own.remove(&tid);
        let unwanted = self.ranks.get(tid).is_some_and(|rank| rank.unwanted);
        if status != 0 && !unwanted {
            let cut = self.ranks.get(tid).is_some_and(|rank| rank.cut);
            return self.fail(tid, status, &cause(status, cut));
        }
        self.ranks.get_mut(tid).into_iter().for_each(|rank| rank.ended = true);
        self.look_soon();
        let over = self.running.own.is_empty() && !self.running.children.is_empty();
        if over && matches!(self.running.stage, Stage::Running) {
            self.running.stage = Stage::Parting(Instant::now() + CHILDREN_GRACE);
        }
    }

    fn look_soon(&mut self) {
        if self.ranks.complaints().is_some() && self.look.is_none() {
            self.look = Some(Instant::now() + WORD_DELAY);
        }
    }

    fn look_at_ends(&mut self) {
        self.look = None;
        // When the last rank ends, no rank waits.
        if let Some((tid, complaint)) = self.ranks.complaints() {
            self.fail(tid, 1 << 8, &complaint);
        }
    }

    /// A rank has failed: the first one that does ends all.
    fn fail(&mut self, tid: Tid, status: i32, cause: &str) {
        let ends_already = matches!(self.running.stage, Stage::Ending(_) | Stage::Killed(_));
        self.running.ending.exited(status);
        if ends_already {
            return;
        }
        let who = self.ranks.describe(tid);
        let others = if self.ranks.len() > 1 { "; the job is ended" } else { "" };
        self.running.streams.say(&format!("{who} {cause}{others}"));
        self.running.end_by(SIGTERM, FAILED_GRACE);
        // A stopped rank gets its SIGTERM when it goes on, and the keeper does not wait for that.
        self.running.pending.push_back(SIGCONT);
    }
}

fn cause(status: i32, cut: bool) -> String {
    match ending::signal_of(status) {
        _ if cut => "is lost with its host".to_owned(),
        Some(signal) => format!("was ended by {}", signals::name(signal)),
        None => format!("ended with status {}", (status >> 8) & 0xff),
    }
}
