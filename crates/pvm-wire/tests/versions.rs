//! Other programs that speak this protocol without this crate.

use pvm_wire::PROTOCOL_VERSION;

/// The engine in straight Java, which writes requests and replies itself.
const JAVA: &str = include_str!("../../../bindings/java/src/main/java/org/neopvm/wire/Host.java");

#[test]
fn the_engine_in_straight_java_was_left_behind_by_a_new_protocol() {
    let line = format!("int VERSION = {PROTOCOL_VERSION};");
    assert!(JAVA.contains(&line), "Host.java does not say `{line}`");
}
