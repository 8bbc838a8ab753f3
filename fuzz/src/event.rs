//! Messages of parent and daemon: either may be of another version, or gone mad.

use pvm_core::io::{Effect, Event};
use pvm_wire::Wire;

pub(crate) fn run(bytes: &[u8]) {
    if let Ok(event) = Event::from_bytes(bytes) {
        assert_eq!(Event::from_bytes(&event.to_bytes()), Ok(event));
    }
    if let Ok(effects) = Vec::<Effect>::from_bytes(bytes) {
        assert_eq!(Vec::<Effect>::from_bytes(&effects.to_bytes()), Ok(effects));
    }
}
