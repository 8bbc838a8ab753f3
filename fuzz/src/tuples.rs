//! Frames to a server of tuple spaces and to its clients, each behind its length of two bytes. What
//! a server can read is done, by a primary and by a copy.

use pvm_tuples::carried::Frame as _;
use pvm_tuples::client::Client;
use pvm_tuples::frames::{Ask, Between, Entry, Full, Options, Told};
use pvm_tuples::partition::{Event, Partition, Title};
use pvm_wire::{Blob, HostIndex, Tid, Wire as _};

const ME: Tid = Tid(1 << 18 | 1);
const OTHER: Tid = Tid(2 << 18 | 1);

fn entry(when_full: Full) -> Entry {
    let options = Options { copies: 1, limit_bytes: 1 << 16, when_full, loss_ms: 0 };
    let (copies, owner, deleted) = (vec![OTHER], Tid::NONE, false);
    let (space, directory, generation) = (7, Default::default(), 0);
    Entry { space, primary: ME, copies, options, owner, deleted, directory, generation }
}

pub(crate) fn run(bytes: &[u8]) {
    let when_full = [Full::Wait, Full::Fail, Full::Spill][bytes.len() % 3];
    let title = Title { name: Blob::from("space"), epoch: 0, entry: entry(when_full) };
    let mut server = Partition::create(ME, title, None, None, 1);
    let mut client = Client::new(&entry(when_full));
    let mut rest = bytes;
    let mut now = 1;
    while let Some((&[low, high], behind)) = rest.split_first_chunk() {
        let size = usize::from(u16::from_le_bytes([low, high])).min(behind.len());
        let (frame, next) = behind.split_at(size);
        rest = next;
        now += 7;
        hear(&mut server, &mut client, now, frame);
    }
    server.handle_timeout(now + 100_000);
    client.handle_timeout(now + 100_000);
    while server.poll_output().is_some() {}
    while client.poll_output().is_some() {}
    assert!(server.store().count() <= bytes.len());
}

fn hear(server: &mut Partition, client: &mut Client, now: u64, frame: &[u8]) {
    let asker = Tid(1 << 18 | 2 + u32::from(frame.first().copied().unwrap_or(0)) % 3);
    let ask = Ask::decode_whole(frame.to_vec()).ok();
    let kept = kept(frame);
    assert!(kept.is_none() || kept == ask, "{kept:?} {ask:?}");
    if let Some(ask) = kept.or(ask) {
        server.handle(now, Event::Asked { client: asker, ask });
    }
    if let Ok(said) = Between::decode_whole(frame.to_vec()) {
        server.handle(now, Event::Heard { from: OTHER, said });
    }
    if let Ok(told) = Told::decode_whole(frame.to_vec()) {
        client.told(now, ME, told);
    }
    if let Ok(entry) = Entry::from_bytes(frame) {
        client.looked(now, 1, Some(&entry));
        server.handle(now, Event::Latest { look: now, entry: Some((1, entry)) });
    }
    server.handle(now, happening(frame));
    server.handle(now, Event::Gone { task: asker });
}

/// A request whose large tuple stays in its message.
fn kept(frame: &[u8]) -> Option<Ask> {
    let read = |at: usize, out: &mut [u8]| out.copy_from_slice(&frame[at..at + out.len()]);
    let (ask, start) = Ask::decode_head(frame.len(), read).ok()?;
    ask.with_parcel(Box::new(frame.to_vec()), start).ok()
}

/// Something else that happens to a server, drawn by the end of a frame.
fn happening(frame: &[u8]) -> Event {
    let last = frame.last().copied().unwrap_or(0);
    match last % 16 {
        1 => Event::Joined,
        2 => Event::Move { to: OTHER },
        3 => Event::Draining { hosts: [HostIndex(1), HostIndex(2)].into() },
        4 => Event::Draining { hosts: Default::default() },
        5 => Event::Helper { server: Some(OTHER) },
        6 => Event::Put { epoch: Some(i32::from(last)) },
        7 => Event::Refused,
        8 if last > 200 => Event::Failed,
        9 => Event::Gone { task: OTHER },
        _ => Event::Persisted { number: last.into() },
    }
}
