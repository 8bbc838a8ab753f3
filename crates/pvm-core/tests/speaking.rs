//! No host speaks in another host's name: each kind of message that names its source.

#[path = "support/first_host.rs"]
mod support;

use pvm_core::io::{Act, Event, Input, News, Output};
use pvm_core::{Machine, Time};
use pvm_wire::peer::{Command, Operator, OutputNews, PeerMessage, Said};
use pvm_wire::request::{Reply, Request, Target};
use pvm_wire::{Address, Blob, Context, Encoding, Envelope, HostIndex, Message, Tag, Tid};
use support::{facts, first_host};

const FIRST: HostIndex = HostIndex(1);
const SECOND: HostIndex = HostIndex(2);
/// Tasks of this host, of the one that speaks, and of a third one.
const OURS: Tid = Tid(0x40001);
const ITS: Tid = Tid(0x80001);
const ANOTHERS: Tid = Tid(0xc0001);

/// The first host, with the second one in and its link up.
struct Here {
    machine: Machine,
    sequence: u64,
}

impl Here {
    fn new() -> Self {
        let mut machine = first_host();
        let now = Time(1_000_000);
        let hello = Event::Hello {
            connection: 1,
            id: 1,
            role: pvm_wire::request::Role::Operator,
            program: "pvm".into(),
            reset: false,
            pid: 9,
            launched: None,
        };
        machine.handle(now, Input::Event(hello));
        let request = Request::AddLocal { count: 1 };
        machine.handle(now, Input::Event(Event::Asked { connection: 1, id: 2, request }));
        let outputs: Vec<Output> = std::iter::from_fn(|| machine.poll_output()).collect();
        let ticket = outputs.iter().find_map(|output| match output {
            Output::Act(Act::StartHost { ticket, .. }) => Some(*ticket),
            _ => None,
        });
        let ready = News::HostReady { ticket: ticket.expect("a start"), facts: facts("b") };
        machine.handle(now, Input::News(ready));
        machine.handle(now, Input::News(News::LinkUp { host: SECOND }));
        while machine.poll_output().is_some() {}
        assert_eq!(machine.members().len(), 2);
        Self { machine, sequence: 0 }
    }

    /// True where the link is dropped for this.
    fn distrusts(&mut self, said: Said) -> bool {
        self.sequence += 1;
        let message = PeerMessage::Ordered { sequence: self.sequence, said };
        let news = News::Said { host: SECOND, message };
        self.machine.handle(Time(2_000_000), Input::News(news));
        let outputs: Vec<Output> = std::iter::from_fn(|| self.machine.poll_output()).collect();
        outputs.contains(&Output::Act(Act::Distrust { host: SECOND }))
    }
}

fn message(from: Tid) -> Message {
    let mut envelope = Envelope::new(from, Address::new(OURS, Tag(1), Context::FIRST));
    envelope.encoding = Encoding::Raw;
    Message { envelope, body: Blob::default() }
}

/// All that a host can say on behalf of a task, with that task in it.
fn in_the_name_of(tid: Tid) -> Vec<Said> {
    let propose = |command| Said::Put { term: 1, ticket: 1, command };
    let operator = Operator { host: FIRST, connection: 99, id: 1 };
    let target = Target { tid: OURS, context: 0, tag: 0 };
    let name = || Blob::from("n");
    vec![
        Said::Ask { ask: 1, asker: tid, request: Request::Config },
        Said::Ask { ask: 0, asker: tid, request: Request::Config },
        Said::AskHome {
            term: 1,
            ask: 2,
            asker: tid,
            again: false,
            since: 0,
            request: Request::Groups,
        },
        Said::Reset { asker: tid },
        propose(Command::PutInfo { name: name(), flags: 0, owner: tid, message: message(tid) }),
        propose(Command::TakeInfo { name: name(), index: 0, flags: 0, asker: tid }),
        propose(Command::DelInfo { name: name(), index: 0, flags: 0, asker: tid }),
        propose(Command::JoinGroup { group: name(), tid }),
        propose(Command::LeaveGroup { group: name(), tid }),
        propose(Command::Withdraw { name: name(), owner: tid }),
        propose(Command::SetAddresses { host: tid.host(), addresses: Vec::new() }),
        propose(Command::Retire { host: tid.host() }),
        propose(Command::TaskLeft { tid }),
        propose(Command::TaskGone { tid }),
        Said::Output { target, tid, news: OutputNews::End },
        Said::RunOutput { operator: operator.clone(), tid, stream: 1, bytes: name() },
        Said::RunExited { operator, tid, status: 0 },
        Said::Post { to: OURS, message: message(tid) },
        Said::RouteWanted { from: tid, to: OURS },
        Said::RouteAnswer { from: OURS, to: tid, agreed: false },
        Said::RouteBroken { from: OURS, to: tid },
        Said::Meet { host: HostIndex(9), with: tid.host() },
    ]
}

#[test]
fn a_host_speaks_for_its_own_tasks() {
    let mut here = Here::new();
    for said in in_the_name_of(ITS) {
        assert!(!here.distrusts(said.clone()), "{said:?}");
    }
}

#[test]
fn a_host_that_speaks_for_others_loses_its_link() {
    let mut here = Here::new();
    for other in [OURS, ANOTHERS] {
        for said in in_the_name_of(other) {
            assert!(here.distrusts(said.clone()), "{said:?}");
        }
    }
}

#[test]
fn who_is_dead_is_for_the_leader_alone_to_order() {
    let mut here = Here::new();
    let command = Command::Fence { host: FIRST, incarnation: 1 };
    assert!(here.distrusts(Said::Put { term: 1, ticket: 1, command }));
}

#[test]
fn an_answer_counts_only_from_who_was_asked() {
    let mut here = Here::new();
    // There was no question: it is no answer, and no lie either.
    assert!(!here.distrusts(Said::Answer { ask: 77, reply: Reply::Done }));
}

#[test]
fn a_notice_counts_only_from_the_host_of_the_task() {
    let mut here = Here::new();
    for connection in [2, 3] {
        let hello = Event::Hello {
            connection,
            id: 1,
            role: pvm_wire::request::Role::Task,
            program: "p".into(),
            reset: true,
            pid: 10,
            launched: None,
        };
        here.machine.handle(Time(1_000_000), Input::Event(hello));
    }
    let other = Tid(OURS.0 + 1);
    for tid in [other, ITS] {
        let tids = vec![tid];
        let request =
            Request::Notify { kind: 1, cancel: false, context: 0, tag: 5, count: 0, tids };
        let asked = Event::Asked { connection: 2, id: 2, request };
        here.machine.handle(Time(1_000_000), Input::Event(asked));
    }
    assert!(here.distrusts(Said::Gone { watch: 1 }), "its task is none of that host's");
    assert!(here.distrusts(Said::GoneBehind { watch: 1, ticket: 0 }));
    assert!(!here.distrusts(Said::Gone { watch: 2 }));
}
