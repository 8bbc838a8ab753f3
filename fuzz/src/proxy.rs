//! Asks of a task without shared memory, and the answers of its proxy.

use pvm_wire::Wire;
use pvm_wire::proxy::{Answer, Ask};

pub(crate) fn run(bytes: &[u8]) {
    if let Ok(ask) = Ask::from_bytes(bytes) {
        let written = ask.to_bytes();
        let again = Ask::from_bytes(&written).expect("what we write we can read");
        assert_eq!(again.to_bytes(), written);
    }
    if let Ok(answer) = Answer::from_bytes(bytes) {
        let written = answer.to_bytes();
        let again = Answer::from_bytes(&written).expect("what we write we can read");
        assert_eq!(again.to_bytes(), written);
    }
}
