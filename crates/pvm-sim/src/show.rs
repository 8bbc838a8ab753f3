//! The written form of a conversation, for people who read a recorded script.

use pvm_core::io::{Act, Effect};
use pvm_wire::peer::{Command, OutputNews, PeerMessage, Released, Said};
use pvm_wire::request::{HostInfo, Reply, Request};
use pvm_wire::{Blob, Message, Tid};

pub(crate) fn tid(code: i32) -> String {
    let id = Tid::from_c_int(code);
    if id.is_task() || id.is_host() { id.to_string() } else { code.to_string() }
}

fn tids(all: &[Tid]) -> String {
    let all: Vec<_> = all.iter().map(|tid| tid.to_string()).collect();
    format!("[{}]", all.join(" "))
}

/// The ints of a message as the machine makes them; the rest as text.
pub(crate) fn message(message: &Message) -> String {
    let size = usize::try_from(message.envelope.data_size).unwrap_or(0);
    let data = &message.body.0[..size.min(message.body.0.len())];
    let ints: Vec<i32> =
        data.chunks_exact(4).map(|c| i32::from_ne_bytes([c[0], c[1], c[2], c[3]])).collect();
    match ints[..] {
        [of, count, ..] if count > 0 && size == 8 + count as usize => {
            format!("[{} {count} {:?}]", tid(of), Blob(data[8..].to_vec()))
        }
        _ => {
            let all: Vec<_> = ints.iter().map(|&int| tid(int)).collect();
            format!("[{}]", all.join(" "))
        }
    }
}

/// A message on a link; acknowledgements are not worth a line.
pub(crate) fn peer(message: &PeerMessage) -> Option<String> {
    match message {
        PeerMessage::Ordered { sequence, said } => {
            Some(format!("#{sequence} {}", self::said(said)))
        }
        PeerMessage::Forward { .. }
        | PeerMessage::Heard { .. }
        | PeerMessage::Quorum { .. }
        | PeerMessage::Hasty { .. } => None,
    }
}

fn said(said: &Said) -> String {
    match said {
        Said::Put { term, ticket, command } => {
            format!("put {ticket} in term {term}: {}", self::command(command))
        }
        Said::AskHome { term, ask, asker, again, request, .. } => {
            let again = if *again { " again" } else { "" };
            let request = self::request(request);
            format!("ask {ask} for {asker} of the leader of term {term}{again}: {request}")
        }
        Said::Report { term, released } => {
            format!("report to the leader of term {term}: {} let go", released.len())
        }
        Said::Release { released } => {
            let Released { term, number, asks, reply, .. } = released;
            let asks: Vec<_> = asks.iter().map(|(host, ask)| format!("{host}:{ask}")).collect();
            format!("let go {term}.{number}: {} of {}", self::reply(reply), asks.join(" "))
        }
        Said::Ask { ask, asker, request } => {
            format!("ask {ask} for {asker}: {}", self::request(request))
        }
        Said::Answer { ask, reply } => format!("answer {ask}: {}", self::reply(reply)),
        Said::Launch { ask, spawn, parent, .. } => {
            let (count, file) = (spawn.count, spawn.file.to_text());
            format!("launch {ask}: {count} {file}, parent {}", tid(*parent))
        }
        Said::Siblings { tids } => format!("siblings {}", self::tids(tids)),
        Said::Watch { watch, tid } => format!("watch {watch}: {tid}"),
        Said::Unwatch { watch, tid } => format!("unwatch {watch}: {tid}"),
        Said::RouteWanted { from, to } => format!("{from} wants a route to {to}"),
        Said::RouteAnswer { from, to, agreed } => {
            format!("route of {from} to {to}: {}", if *agreed { "yes" } else { "no" })
        }
        Said::RouteBroken { from, to } => format!("route of {from} to {to} broke"),
        Said::Gone { watch } => format!("gone {watch}"),
        Said::GoneBehind { watch, ticket } => format!("gone {watch} behind put {ticket}"),
        Said::RunOutput { tid, bytes, .. } => format!("output of {tid} for a command: {bytes:?}"),
        Said::RunExited { tid, status, .. } => format!("{tid} exited with {status}"),
        Said::RunSpawning { .. } => "a task of a command spawns".to_owned(),
        Said::RunSpawned { tids, .. } => format!("it has spawned {}", self::tids(tids)),
        Said::Output { target, tid, news } => {
            format!("output of {tid} for {}: {}", target.tid, output(news))
        }
        other => format!("{other:?}"),
    }
}

fn output(news: &OutputNews) -> String {
    match news {
        OutputNews::Begin { .. } => "begin".to_owned(),
        OutputNews::Moved { .. } => "moved".to_owned(),
        OutputNews::Bytes { bytes } => format!("{bytes:?}"),
        OutputNews::End => "end".to_owned(),
    }
}

fn command(command: &Command) -> String {
    match command {
        Command::AddHost { facts, again } => {
            let again = if *again { " (one more)" } else { "" };
            format!("add host {}{again}", facts.name.to_text())
        }
        Command::DrainHost { host, on } => {
            format!("{} host {host}", if *on { "drain" } else { "no longer drain" })
        }
        Command::Retire { host } => format!("host {host} has nothing left to do"),
        Command::RemoveHost { host, dead } => {
            format!("remove host {host}{}", if *dead { " (dead)" } else { "" })
        }
        Command::PutInfo { name, flags, owner, .. } => {
            format!("put {} flags {flags} owner {owner}", name.to_text())
        }
        Command::TakeInfo { name, index, asker, .. } => {
            format!("take {} {index} for {asker}", name.to_text())
        }
        Command::DelInfo { name, index, asker, .. } => {
            format!("delete {} {index} for {asker}", name.to_text())
        }
        Command::JoinGroup { group, tid } => format!("{tid} joins {}", group.to_text()),
        Command::LeaveGroup { group, tid } => format!("{tid} leaves {}", group.to_text()),
        Command::TaskGone { tid } => format!("{tid} is gone"),
        Command::TaskLeft { tid } => format!("{tid} leaves its groups"),
        other => format!("{other:?}"),
    }
}

fn request(request: &Request) -> String {
    match request {
        Request::Shown { number } => format!("is command {number} shown?"),
        Request::Hears { host } => format!("is host {host} heard?"),
        Request::Settled { epoch } => format!("is change {epoch} known?"),
        Request::Load => "how busy?".to_owned(),
        Request::Tasks { place } => format!("tasks of {place}"),
        Request::TaskStatus { tid } => format!("status of {tid}"),
        Request::Signal { tid, signal } => format!("signal {signal} to {tid}"),
        Request::Barrier { group, count } => format!("barrier {} {count}", group.to_text()),
        Request::GroupMembers { group } => format!("members of {}", group.to_text()),
        Request::RecvInfo { name, index, .. } => format!("read {} {index}", name.to_text()),
        other => format!("{other:?}"),
    }
}

pub(crate) fn reply(reply: &Reply) -> String {
    match reply {
        Reply::Done => "done".to_owned(),
        Reply::NoRoute { peer } => format!("no route to {peer}"),
        Reply::Failed { code } => format!("failed: {code} ({})", code.number()),
        Reply::Refused { reason, .. } => format!("refused: {reason}"),
        Reply::Number { value } => format!("number {value}"),
        Reply::Spawned { outcomes, .. } => {
            let all: Vec<_> = outcomes.iter().map(|&outcome| tid(outcome)).collect();
            format!("spawned [{}]", all.join(" "))
        }
        Reply::Members { tids, frozen } => {
            format!("members {}{}", self::tids(tids), if *frozen { " frozen" } else { "" })
        }
        Reply::Info { message, index } => {
            format!("info {index} from {}: {}", message.envelope.src, self::message(message))
        }
        Reply::Tasks { tasks } => {
            let all: Vec<_> = tasks.iter().map(|task| task.tid).collect();
            format!("tasks {}", tids(&all))
        }
        Reply::Hosts { hosts } => {
            let name = |host: &HostInfo| {
                host.name.to_text() + if host.draining { " (draining)" } else { "" }
            };
            let all: Vec<_> = hosts.iter().map(name).collect();
            format!("hosts [{}]", all.join(" "))
        }
        Reply::HostResults { results } => {
            let all: Vec<_> = results.iter().map(|result| tid(result.outcome)).collect();
            format!("results [{}]", all.join(" "))
        }
        Reply::Load { load } => format!("{} tasks, {} cores", load.tasks, load.cores),
        Reply::Ready { host } => format!("ready at host {host}"),
        Reply::Output { tid, bytes, stream } => format!("output {stream} of {tid}: {bytes:?}"),
        Reply::Joined { tids } => format!("joined by {}", self::tids(tids)),
        Reply::Exited { tid, status } => format!("{tid} exited with {status}"),
        Reply::Finished => "finished".to_owned(),
        other => format!("{other:?}"),
    }
}

/// An effect for the parent; records are not worth a line.
pub(crate) fn effect(effect: &Effect) -> Option<String> {
    Some(match effect {
        Effect::Reply { connection, reply, .. } => {
            format!("to connection {connection}: {}", self::reply(reply))
        }
        Effect::Enrol { welcome, connection, .. } => {
            let siblings = tids(&welcome.siblings);
            let parent = tid(welcome.parent);
            format!(
                "connection {connection} is {}, parent {parent}, siblings {siblings}",
                welcome.tid
            )
        }
        Effect::Launch { launch } => format!("launch {} {}", launch.tid, launch.file.to_text()),
        Effect::Signal { tid, signal } => format!("signal {signal} to {tid}"),
        Effect::Deliver { to, message } => {
            format!("deliver to {to}: tag {} {}", message.envelope.tag, self::message(message))
        }
        Effect::Feed { tid, bytes } => format!("feed {tid} {bytes:?}"),
        Effect::Log { text } => format!("log: {text}"),
        Effect::Ask { request, .. } => format!("ask the parent: {request:?}"),
        Effect::Forget { tid } => format!("forget {tid}"),
        Effect::Save { .. } => return None,
        Effect::Upgrade { program, .. } => format!("upgrade to {}", program.to_text()),
        Effect::End => "end".to_owned(),
        Effect::Hold { tid: Tid::NONE, .. } => return None,
        Effect::Hold { tid, on: true } => format!("read no more of {tid}"),
        Effect::Hold { tid, on: false } => format!("read {tid} again"),
    })
}

/// An act for the shell, except messages: these are written down as they cross the link.
pub(crate) fn act(act: &Act) -> Option<String> {
    Some(match act {
        Act::Say { .. } | Act::Drain { .. } | Act::Group { .. } => return None,
        Act::Near { .. } | Act::Reach { .. } => return None,
        Act::ReleaseRoute { from, to } => {
            format!("what {from} sent directly to {to} goes by the link")
        }
        Act::Route { local, peer } => format!("route of {local} to {peer}"),
        Act::StartHost { line, .. } if line.0.is_empty() => "start a daemon here".to_owned(),
        Act::StartHost { line, .. } => format!("start a daemon: {}", line.to_text()),
        Act::Admit { host, .. } => format!("admit host {host}"),
        Act::AskWitness { witness, pair } => {
            format!("ask {} for lock {pair}", witness.to_text())
        }
        Act::Dismiss { key } => format!("dismiss the daemon with {}", key.to_text()),
        Act::Invite { line, .. } => format!("invite: {}", line.to_text()),
        Act::HosterSaid { answer, .. } => format!("the hoster says {}", answer.to_text()),
        Act::Token { seconds, .. } => format!("make a token for {seconds} s"),
        Act::Distrust { host } => format!("drop the link to host {host}"),
        Act::Flush => "flush".to_owned(),
        Act::Hosts { hosts, .. } => {
            let all: Vec<_> = hosts
                .iter()
                .map(|(host, facts)| format!("{host} {}", facts.name.to_text()))
                .collect();
            format!("hosts are {}", all.join(", "))
        }
    })
}
