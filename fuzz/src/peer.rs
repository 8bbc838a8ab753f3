//! Messages of daemons to one another, the host table included.

use pvm_wire::Wire;
use pvm_wire::peer::PeerMessage;

pub(crate) fn run(bytes: &[u8]) {
    if let Ok(message) = PeerMessage::from_bytes(bytes) {
        let written = message.to_bytes();
        let again = PeerMessage::from_bytes(&written).expect("what we write we can read");
        assert_eq!(again.to_bytes(), written);
    }
}
