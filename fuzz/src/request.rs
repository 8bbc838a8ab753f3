//! Requests of a task or an operator to its daemon.

use pvm_wire::Wire;
use pvm_wire::request::Request;

pub(crate) fn run(bytes: &[u8]) {
    if let Ok(request) = Request::from_bytes(bytes) {
        // What was understood is written so that it is understood the same.
        let written = request.to_bytes();
        let again = Request::from_bytes(&written).expect("what we write we can read");
        assert_eq!(again.to_bytes(), written);
    }
}
