//! What a daemon answers.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pvm_wire::Wire;
use pvm_wire::request::Reply;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(reply) = Reply::from_bytes(bytes) {
        let written = reply.to_bytes();
        let again = Reply::from_bytes(&written).expect("what we write we can read");
        assert_eq!(again.to_bytes(), written);
    }
});
