//! Hosts come: the member that is asked starts their daemons, and lets each in by a command.

use super::{HOST_START_NS, Handler, OrderInput, SECOND_NS};
use crate::agreed::folded;
use crate::deadline::Precedence;
use crate::io::{Act, HostFacts};
use crate::pending::{Addition, Asker, Start};
use pvm_wire::hostfile::{HostLine, parse_line};
use pvm_wire::peer::Command;
use pvm_wire::request::{Failure, HostResult, Reply, Request};
use pvm_wire::{Blob, Code, HostIndex, Tid};

/// The name in `pvm_addhosts` that means: one more daemon on this computer.
pub(super) const LOCAL: &[u8] = b"local";
/// Daemons that one request may start: as many as a machine has places.
const ADD_COUNT_MAX: usize = HostIndex::MAX.0 as usize;
/// The time for which a ready daemon waits for daemons that were named before it.
const TURN_NS: u64 = SECOND_NS;

/// The reason why a host is not added.
type Refusal = (Code, Failure);

impl Handler<'_> {
    pub(super) fn add_local(&mut self, asker: Asker, count: u32) {
        let lines = vec![Blob(LOCAL.to_vec()); (count as usize).min(ADD_COUNT_MAX + 1)];
        self.add_hosts(asker, &lines);
    }

    pub(super) fn add_hosts(&mut self, asker: Asker, lines: &[Blob]) {
        if lines.is_empty() || lines.len() > ADD_COUNT_MAX {
            let code = if lines.is_empty() { Code::BadParam } else { Code::OutOfRes };
            return self.fail(asker, code);
        }
        if self.hosts_elsewhere(lines) {
            let hosts = lines.to_vec();
            let Some(eldest) = self.order.log().eldest() else { return };
            return self.ask_and_wait(eldest, asker, Request::AddHosts { hosts });
        }
        self.propose_rules(lines);
        let addition = self.host.pending.number();
        let results = vec![None; lines.len()];
        let record = Addition { asker, results, precedence: Precedence::Open, new: Vec::new() };
        self.host.pending.additions.insert(addition, record);
        let mut earlier: Vec<Blob> = Vec::new();
        for (place, line) in (0..).zip(lines) {
            match self.wanted(line, &earlier) {
                Err((code, failure)) => self.not_added(addition, place, code, failure),
                Ok(line) => {
                    earlier.push(folded(&line.host_name()));
                    self.add_host(addition, place, &line);
                }
            }
        }
    }

    /// The host that a line asks for, with all options that count; or why it is refused.
    fn wanted(&self, line: &Blob, earlier: &[Blob]) -> Result<HostLine, Refusal> {
        let refused = |code, why: String| (code, Failure::of(why));
        let line = parse_line(&line.0).map_err(|why| refused(Code::BadParam, why.to_string()))?;
        let name = line.host_name();
        if name.0.is_empty() {
            return Err(refused(Code::BadParam, "there is no host name".to_owned()));
        }
        if name.0 == LOCAL {
            // Nothing but its speed: it has the rest from this computer's daemon.
            let allowed = HostLine { sp: line.sp, ..HostLine::named(name) };
            let why = "a host on this computer takes sp= only";
            return if line == allowed {
                Ok(line)
            } else {
                Err(refused(Code::BadParam, why.into()))
            };
        }
        let marked = line.later || name.0 == b"*";
        if marked {
            return Err(refused(Code::NoHost, "this stands for a host in host files only".into()));
        }
        let member =
            self.agreed.hosts().named(&name).filter(|&host| !self.agreed.hosts().is_draining(host));
        if !line.again && (earlier.contains(&folded(&name)) || member.is_some()) {
            let why = "it is in the machine already".to_owned();
            let known =
                member.and_then(|host| self.agreed.hosts().facts(host)).map(|facts| &facts.name);
            let other = known.filter(|known| **known != name);
            let named = other.map(|other| format!(", as {}", other.to_text()));
            return Err(refused(Code::DupHost, why + &named.unwrap_or_default()));
        }
        Ok(self.agreed.hosts().complete(&line))
    }

    fn add_host(&mut self, addition: u64, place: u32, line: &HostLine) {
        let name = line.host_name();
        if let Some(host) = self.agreed.hosts().named(&name).filter(|_| !line.again) {
            return self.take_back(addition, place, host);
        }
        let ticket = self.host.pending.number();
        let deadline = self.after(HOST_START_NS);
        let local = name.0 == LOCAL;
        let started = if local { Blob::default() } else { line.to_line() };
        let start =
            Start { addition, place, deadline, facts: None, proposed: false, line: line.to_line() };
        self.host.pending.starts.insert(ticket, start);
        if local {
            self.act(Act::StartHost { ticket, line: started });
        } else {
            self.start_elsewhere(addition, ticket, started);
        }
    }

    /// A host that is being drained is added again: it stays.
    fn take_back(&mut self, addition: u64, place: u32, host: HostIndex) {
        let asker = Asker::Kept { addition, place, host };
        self.propose(asker, Command::DrainHost { host, on: false });
    }

    pub(super) fn host_kept(&mut self, addition: u64, place: u32, host: HostIndex, reply: &Reply) {
        match reply {
            Reply::Failed { code } => {
                let why = "it was being drained, and has left";
                self.not_added(addition, place, *code, Failure::of(why));
            }
            _ => {
                let outcome = Tid::host_id(host).as_c_int();
                self.add_result(addition, place, HostResult { outcome, failure: None });
            }
        }
    }

    pub(super) fn not_added(&mut self, addition: u64, place: u32, code: Code, failure: Failure) {
        let result = HostResult { outcome: code.number(), failure: Some(failure) };
        self.add_result(addition, place, result);
    }

    /// One more result of a request to add hosts; the last one answers it.
    fn add_result(&mut self, addition: u64, place: u32, result: HostResult) {
        let Some(waiting) = self.host.pending.additions.get_mut(&addition) else { return };
        if let Some(slot) = waiting.results.get_mut(place as usize) {
            *slot = Some(result);
        }
        if waiting.results.iter().any(Option::is_none) {
            return;
        }
        let Some(Addition { asker, results, new, .. }) =
            self.host.pending.additions.remove(&addition)
        else {
            return;
        };
        let results = results.into_iter().flatten().collect();
        self.change(asker, results, Vec::new(), new);
    }

    pub(super) fn host_ready(&mut self, ticket: u64, mut facts: HostFacts) {
        let Some(start) = self.host.pending.starts.get_mut(&ticket) else {
            return self.act(Act::Dismiss { key: facts.key });
        };
        if start.facts.is_some() {
            return;
        }
        let line = parse_line(&start.line.0).unwrap_or_default();
        if line.name.0 != LOCAL && !line.host_name().0.is_empty() {
            // It goes by the name that it was asked for.
            facts.name = line.host_name();
        }
        facts.speed = line.sp.unwrap_or(facts.speed);
        start.facts = Some(facts);
        let addition = start.addition;
        let until = self.after(TURN_NS);
        if let Some(waiting) = self.host.pending.additions.get_mut(&addition)
            && waiting.precedence == Precedence::Open
        {
            waiting.precedence = Precedence::Until(until);
        }
        self.propose_ready(addition);
    }

    /// Proposes the daemons that are ready, as far as possible in the order in which they were
    /// asked for: as in PVM their places in the table follow it.
    fn propose_ready(&mut self, addition: u64) {
        let precedence = self.host.pending.additions.get(&addition).map(|a| a.precedence);
        let in_turn = precedence != Some(Precedence::Over);
        let open = |start: &Start| start.addition == addition && !start.proposed;
        for ticket in self.host.pending.starts.keys_where(|_, start| open(start)) {
            let Some(start) = self.host.pending.starts.get_mut(&ticket) else { continue };
            match start.facts.clone() {
                Some(facts) => {
                    start.proposed = true;
                    let line = parse_line(&start.line.0).unwrap_or_default();
                    let again = line.again || line.name.0 == LOCAL;
                    self.propose_ticket(ticket, Command::AddHost { facts, again });
                }
                None if in_turn => return,
                None => {}
            }
        }
    }

    /// Daemons that have waited long enough for those named before them.
    fn end_turns(&mut self) {
        let now = self.host.now.0;
        let due = |a: &Addition| a.precedence.moment().is_some_and(|until| until <= now);
        for addition in self.host.pending.additions.keys_where(|_, waiting| due(waiting)) {
            if let Some(waiting) = self.host.pending.additions.get_mut(&addition) {
                waiting.precedence = Precedence::Over;
            }
            self.propose_ready(addition);
        }
    }

    pub(super) fn host_failed(&mut self, ticket: u64, code: Code, failure: Failure) {
        self.not_invited(ticket);
        if let Some(start) = self.host.pending.starts.remove(&ticket) {
            if let Some(facts) = start.facts {
                self.act(Act::Dismiss { key: facts.key });
            }
            self.not_added(start.addition, start.place, code, failure);
            self.propose_ready(start.addition);
        }
    }

    /// Daemons that took too long.
    pub(super) fn end_starts(&mut self) {
        self.end_turns();
        let now = self.host.now.0;
        for ticket in self.host.pending.starts.keys_where(|_, start| start.deadline <= now) {
            let failure = Failure::of("the daemon did not answer in time");
            self.host_failed(ticket, Code::CantStart, failure);
        }
    }

    /// A host was not let in, on every host at this place of the log.
    pub(super) fn host_refused(&mut self, key: Blob, code: Code, ticket: Option<u64>) {
        let Some(ticket) = ticket else { return };
        self.act(Act::Dismiss { key });
        if let Some(start) = self.host.pending.starts.remove(&ticket) {
            let why = if code == Code::DupHost {
                "it is in the machine already"
            } else {
                "the machine has no place left"
            };
            self.not_added(start.addition, start.place, code, Failure::of(why));
        }
    }

    /// A host was let in, on every host at this place of the log.
    pub(super) fn host_is_in(&mut self, host: HostIndex, ticket: Option<u64>) {
        let start = ticket.and_then(|ticket| self.host.pending.starts.remove(&ticket));
        let computer = self.agreed.hosts().facts(host).map(|facts| facts.computer.clone());
        self.tell_order(OrderInput::In { host, computer: computer.unwrap_or_default() });
        match (start, ticket) {
            (Some(start), Some(ticket)) => self.start_is_in(&start, ticket, host),
            // No request waits for it any more.
            (_, Some(_)) => self.propose(Asker::Nobody, Command::RemoveHost { host, dead: false }),
            (_, None) => {}
        }
        self.tell_changed(host);
        if let (true, Some(facts)) = (self.order.log().is_leader(), self.agreed.hosts().facts(host))
        {
            let text =
                format!("host {} is in: {}", facts.name.to_text(), facts.addresses.join(" "));
            self.log(text);
        }
        self.host_is_new(host);
    }

    /// A daemon that was started here has its place.
    pub(super) fn start_is_in(&mut self, start: &Start, ticket: u64, host: HostIndex) {
        self.act(Act::Admit { ticket, host });
        if let Some(addition) = self.host.pending.additions.get_mut(&start.addition) {
            addition.new.push(host);
        }
        let outcome = Tid::host_id(host).as_c_int();
        self.add_result(start.addition, start.place, HostResult { outcome, failure: None });
    }
}
