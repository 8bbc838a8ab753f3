//! A hoster that has as little room as the sample that comes with PVM.

use crate::client::{Client, Host};
use crate::hosts::hosts;
use crate::task::Task;
use pvm_wire::request::{Reply, Request};
use pvm_wire::{
    Address, Blob, Context, Encoding, Envelope, Kind, Message, RunList, Tag, Tid, plug,
};
use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// The ints and texts of a message, one after the other.
struct Items(Vec<u8>);

impl Items {
    fn int(&mut self) -> i32 {
        let bytes: Vec<u8> = self.0.drain(..4).collect();
        i32::from_ne_bytes(bytes.try_into().unwrap())
    }

    fn text(&mut self) -> String {
        let size = self.int() as usize;
        let bytes: Vec<u8> = self.0.drain(..size).collect();
        String::from_utf8(bytes[..size - 1].to_vec()).unwrap()
    }
}

/// A hoster's answer for one host.
fn answer(asked: &Envelope, host: i32, text: &str) -> Message {
    let ints = [1, host, text.len() as i32 + 1];
    let mut body: Vec<u8> = ints.iter().flat_map(|int: &i32| int.to_ne_bytes()).collect();
    body.extend(text.bytes().chain([0]));
    let mut runs = RunList::new();
    runs.push(Kind::Int, 3);
    runs.push(Kind::Byte, text.len() + 1);
    let mut envelope = Envelope::new(
        asked.dst,
        Address::new(asked.src, Tag(plug::START_HOST_ACK), Context::FIRST),
    );
    envelope.wait_id = asked.wait_id;
    envelope.describe(Encoding::Default, body.len(), &runs);
    body.extend(runs.iter().flat_map(|run| run.to_word().to_le_bytes()));
    Message { envelope, body: Blob(body) }
}

#[test]
fn a_hoster_with_512_bytes_for_the_command_and_256_for_the_answer_starts_a_host() {
    let host = Host::start();
    let place = host.place.home().join("there");
    std::fs::create_dir_all(&place).unwrap();
    let mut hoster = Task::enrol(&host.socket);
    let registered = hoster.broker.0.ask(&Request::Register { service: 2, trace: None, on: true });
    assert!(matches!(registered, Reply::Number { .. }), "{registered:?}");
    let mut client = Client::operator(&host);
    let adding = client.send(&Request::AddHosts { hosts: vec!["$far".into()] });

    let (asked, body) = hoster.receive_whole();
    assert_eq!(asked.tag, plug::START_HOST);
    let mut items = Items(body);
    assert_eq!(items.int(), 1);
    let (tid, _options, _login) = (items.int(), items.text(), items.text());
    let command = items.text();
    assert!(command.len() <= 400, "{} bytes: {command}", command.len());

    let bin = Path::new(env!("CARGO_BIN_EXE_pvmd")).parent().unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", &command]).env("PVM_TMP", &place).env("PATH", path);
    let mut started = shell.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let mut room = [0; 256];
    let n = started.stdout.take().unwrap().read(&mut room).unwrap();
    let line = std::str::from_utf8(&room[..n]).unwrap();
    assert!(n <= 200 && line.ends_with('\n'), "{n} bytes: {line}");
    assert!(started.wait().unwrap().success());

    let message = answer(&asked, tid, line.trim_end());
    let said = hoster.broker.0.ask(&Request::Post { to: Tid(asked.src.0), message });
    assert_eq!(said, Reply::Done);
    let Reply::HostResults { results } = client.answer(adding) else { panic!() };
    assert!(results[0].outcome > 0, "{results:?}");
    assert_eq!(hosts(&mut client).len(), 2);
}
