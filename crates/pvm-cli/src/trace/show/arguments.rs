//! The arguments of a call, from the fields of its record.

use pvm_trace::What;
use pvm_wire::Tid;
use pvm_wire::record::{RouteKind, Transfer};
use serde_json::Value;

/// Gives each argument its name.
pub(super) fn of(what: &What, put: &mut impl FnMut(&str, Value)) {
    match what {
        What::Call { bytes } | What::Copy { bytes } => put("bytes", (*bytes).into()),
        What::Send { message, wire, pieces } => {
            transfer(message, put);
            put("wire_bytes", (*wire).into());
            put("pieces", (*pieces).into());
        }
        What::Receive { message, any_source, any_tag } => {
            transfer(message, put);
            put("any_source", (*any_source).into());
            put("any_tag", (*any_tag).into());
        }
        What::Chunk { message } => transfer(message, put),
        What::Poll { source, tag, context } => {
            let asked = (source.0 != 0).then(|| source.to_string());
            put("asked_source", asked.into());
            put("asked_tag", (*tag).into());
            put("context", (*context).into());
        }
        // Of a wait that did not sleep nobody has asked for the processor's clock.
        What::Wait { processor: Some(clock), .. } => {
            put("processor_ns", clock.end.saturating_sub(clock.begin).into());
        }
        What::Group { members, instance, root, count, .. } => {
            put("members", (*members).into());
            put("instance", (*instance).into());
            put("root", (*root).into());
            put("count", (*count).into());
        }
        What::Spawn { children } => put("children", children.iter().map(child).collect()),
        What::Mark { value, .. } => put("value", (*value).into()),
        What::Progress { done, total, .. } => {
            put("done", (*done).into());
            put("total", (*total).into());
        }
        What::Route { peer, step } => {
            put("peer", peer.to_string().into());
            put("step", format!("{step:?}").to_lowercase().into());
        }
        _ => (),
    }
}

/// A task, or the error in place of one.
fn child(child: &i32) -> Value {
    if *child < 0 { (*child).into() } else { Tid::from_c_int(*child).to_string().into() }
}

fn transfer(message: &Transfer, put: &mut impl FnMut(&str, Value)) {
    put("peer", message.peer.to_string().into());
    put("tag", message.tag.into());
    put("context", message.context.into());
    put("number", message.number.into());
    put("bytes", message.bytes.into());
    put("encoding", format!("{:?}", message.encoding).to_lowercase().into());
    put("way", route(message.route).into());
}

const fn route(route: RouteKind) -> &'static str {
    match route {
        RouteKind::None => "unknown",
        RouteKind::Memory => "memory",
        RouteKind::Daemons => "daemons",
        RouteKind::Direct => "direct",
        RouteKind::Own => "own",
    }
}
