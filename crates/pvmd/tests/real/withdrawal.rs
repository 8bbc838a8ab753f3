//! Questions that are given up, while the daemon is killed.

use crate::client::{Client, Host};
use crate::life::kill;
use pvm_wire::request::{Reply, Request, Role};
use pvm_wire::{Address, Blob, Envelope, Message, PROTOCOL_VERSION, Tid};

const WAIT: i32 = 32;
const TAKE: i32 = 16;

fn task(host: &Host) -> Client {
    let mut client = Client::connect(host);
    let reply = client.hello(Role::Task, PROTOCOL_VERSION);
    assert!(matches!(reply, Reply::Welcome { .. }), "{reply:?}");
    let joined = client.ask(&Request::JoinGroup { group: "g".into() });
    assert!(matches!(joined, Reply::Number { .. }), "{joined:?}");
    client
}

fn get(flags: i32) -> Request {
    Request::RecvInfo { name: Blob::from("x"), index: 0, flags, context: 0 }
}

#[test]
fn what_was_given_up_around_the_death_of_a_daemon_is_answered_and_has_no_effect() {
    let host = Host::start();
    let (mut asker, mut other) = (task(&host), task(&host));
    let barrier = Request::Barrier { group: "g".into(), count: 2 };
    for (at, question) in [get(WAIT | TAKE), get(WAIT), barrier.clone()].iter().enumerate() {
        let id = asker.send(question);
        if at % 2 == 0 {
            // What was asked before is with the machine, or with the parent, when the daemon dies.
            asker.ask(&Request::TaskStatus { tid: Tid::task(pvm_wire::HostIndex(1), 1) });
        }
        kill("-KILL", host.daemon());
        asker.send(&Request::GiveUp { question: id });
        assert_eq!(asker.answer(id), Reply::Withdrawn, "{question:?}");
    }
    let message = Message::of_ints(Envelope::new(Tid(1), Address::untagged(Tid(1))), &[7]);
    let put = Request::PutInfo { name: "x".into(), flags: 4, message };
    assert_eq!(other.ask(&put), Reply::Number { value: 0 });
    let there = other.ask(&get(TAKE));
    assert!(matches!(there, Reply::Info { .. }), "{there:?}");
    let alone = other.send(&barrier);
    let together = asker.send(&barrier);
    assert_eq!([other.answer(alone), asker.answer(together)], [Reply::Done, Reply::Done]);
}
