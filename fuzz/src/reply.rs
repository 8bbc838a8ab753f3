//! Answers of a daemon.

use pvm_wire::Wire;
use pvm_wire::request::Reply;

pub(crate) fn run(bytes: &[u8]) {
    if let Ok(reply) = Reply::from_bytes(bytes) {
        let written = reply.to_bytes();
        let again = Reply::from_bytes(&written).expect("what we write we can read");
        assert_eq!(again.to_bytes(), written);
    }
}
