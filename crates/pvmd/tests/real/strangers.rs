//! Clients that may not connect, and bytes that are no request.

use crate::client::{Client, Host, PATIENCE};
use pvm_wire::request::{Reply, Request, Role};
use pvm_wire::{Blob, Code, Layout, PROTOCOL_VERSION, Tid};
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};

#[test]
fn another_version_is_refused_with_both_named() {
    let host = Host::start();
    let mut client = Client::connect(&host);
    let version = PROTOCOL_VERSION + 7;
    client.send(&Request::Hello {
        version,
        role: Role::Task,
        program: Blob::default(),
        reset: true,
        cookie: 0,
        layout: Layout::NATIVE,
    });
    let Reply::Refused { code, reason } = client.answer(0) else { panic!("not refused") };
    assert_eq!(code, Code::BadVersion);
    assert!(reason.contains(&format!("protocol {PROTOCOL_VERSION}")), "{reason}");
    assert!(reason.contains(&format!("protocol {version}")), "{reason}");
    assert!(client.is_closed());
}

/// It would have shared memory with the others and read every number in it backwards.
#[test]
fn a_task_of_the_other_byte_order_was_let_in_and_hung() {
    let host = Host::start();
    for layout in Layout::ALL.into_iter().filter(|layout| layout.is_swapped_to(Layout::NATIVE)) {
        let mut client = Client::connect(&host);
        client.send(&Request::Hello {
            version: PROTOCOL_VERSION,
            role: Role::Task,
            program: Blob::default(),
            reset: true,
            cookie: 0,
            layout,
        });
        let Reply::Refused { code, reason } = client.answer(0) else { panic!("not refused") };
        assert_eq!(code, Code::BadVersion);
        assert!(reason.contains("order of bytes"), "{reason}");
        assert!(client.is_closed());
    }
}

#[test]
fn garbage_ends_its_connection_and_nothing_else() {
    let host = Host::start();
    let mut good = Client::operator(&host);
    let mut seed = 1u32;
    for round in 0..60 {
        let mut bad = Client::connect(&host);
        let bytes: Vec<u8> = (0..round * 13 + 9)
            .map(|_| {
                seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (seed >> 24) as u8
            })
            .collect();
        bad.send_raw(&[(bytes.len() as u32).to_le_bytes(), [0; 4]].concat());
        bad.send_raw(&bytes);
        assert!(bad.is_closed());
    }
    let mut long = Client::connect(&host);
    long.send_raw(&[0xff; 8]);
    assert!(long.is_closed());
    let mut early = Client::connect(&host);
    early.send(&Request::Config);
    assert!(early.is_closed());
    let Reply::Status { status } = good.ask(&Request::DaemonStatus) else { panic!() };
    assert_eq!((status.bad_peers, status.restarts), (62, 0));
}

#[test]
fn who_is_no_task_gets_no_segments() {
    let host = Host::start();
    let mut client = Client::operator(&host);
    for request in [
        Request::OpenLane { to: Tid(0x40001), cells: 64 },
        Request::OpenSlab { bytes: u64::MAX },
        Request::MapSegment { id: 1 },
    ] {
        assert_eq!(client.ask(&request), Reply::Failed { code: Code::Denied });
    }
}

#[test]
fn absurd_requests_of_a_task_are_refused_and_harm_nobody() {
    let host = Host::start();
    let mut client = Client::connect(&host);
    let Reply::Welcome { .. } = client.hello(Role::Task, PROTOCOL_VERSION) else { panic!() };
    for (request, code) in [
        (Request::OpenSlab { bytes: u64::MAX }, Code::NoMem),
        (Request::OpenSlab { bytes: 1 << 50 }, Code::NoMem),
        (Request::OpenLane { to: Tid(0x4ffff), cells: u32::MAX }, Code::NoTask),
        (Request::MapSegment { id: 77_777 }, Code::NotFound),
    ] {
        assert_eq!(client.ask(&request), Reply::Failed { code }, "{request:?}");
    }
    assert!(matches!(client.ask(&Request::Config), Reply::Hosts { .. }));
}

#[test]
fn garbage_on_the_link_port_is_refused() {
    let host = Host::start();
    let mut good = Client::operator(&host);
    let Reply::Status { status } = good.ask(&Request::DaemonStatus) else { panic!() };
    let mut idle = Vec::new();
    for round in 0..100 {
        let mut stream = TcpStream::connect(&status.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        if round % 4 == 0 && idle.len() < 20 {
            idle.push(stream);
            continue;
        }
        let _ = stream.write_all(&vec![round; 10 + usize::from(round) * 40]);
        let _ = stream.shutdown(Shutdown::Write);
        // An alert at most, never a hello.
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        assert!(answer.len() < 20, "{answer:?}");
    }
    assert!(matches!(good.ask(&Request::AddLocal { count: 1 }), Reply::HostResults { .. }));
    let Reply::Status { status } = good.ask(&Request::DaemonStatus) else { panic!() };
    assert_eq!(status.restarts, 0);
}
