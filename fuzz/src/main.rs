//! Bytes from nowhere for every decoder, each of which is a target with a file of its own.
//!
//! All targets are one program: the fuzzer's instrumentation makes a build expensive, and so all
//! share one. The variable `NEOPVM_FUZZ` names the target; `cargo xtask fuzz` sets it.
#![no_main]

mod event;
mod frame;
mod growth;
#[allow(dead_code)]
#[path = "../../crates/pvmd/src/hex.rs"]
mod hex;
mod hostfile;
mod lane;
mod link;
mod message;
mod order;
mod pattern;
mod peer;
mod platform;
mod proxy;
mod ranks;
mod recorded;
mod reply;
mod request;
mod route;
mod script;
mod sddf;
mod stations;
mod thesis;
mod trace;
mod tuples;
mod words;

use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

/// Runs a target once on these bytes.
type Target = fn(&[u8]);

const TARGETS: [(&str, Target); 24] = [
    ("event", event::run),
    ("frame", frame::run),
    ("growth", growth::run),
    ("hostfile", hostfile::run),
    ("lane", lane::run),
    ("link", link::run),
    ("message", message::run),
    ("order", order::run),
    ("pattern", pattern::run),
    ("peer", peer::run),
    ("platform", platform::run),
    ("proxy", proxy::run),
    ("ranks", ranks::run),
    ("recorded", recorded::run),
    ("reply", reply::run),
    ("request", request::run),
    ("route", route::run),
    ("script", script::run),
    ("sddf", sddf::run),
    ("stations", stations::run),
    ("thesis", thesis::run),
    ("trace", trace::run),
    ("tuples", tuples::run),
    ("words", words::run),
];

/// The variable that names the target.
const CHOICE: &str = "NEOPVM_FUZZ";

static CHOSEN: LazyLock<Target> = LazyLock::new(|| {
    let name = std::env::var(CHOICE).unwrap_or_default();
    let found = TARGETS.iter().find(|(known, _)| *known == name);
    found.unwrap_or_else(|| panic!("{CHOICE} names no target: '{name}'")).1
});

fuzz_target!(|bytes: &[u8]| CHOSEN(bytes));
