//! Frames of a link once both ends have proved their keys, and the frame that a bearer of a token
//! sends before that.

#[allow(dead_code)]
#[path = "../../crates/pvmd/src/link/frames.rs"]
mod frames;

use frames::LinkFrame;
use pvm_wire::Wire;

pub(crate) fn run(bytes: &[u8]) {
    if let Ok(frame) = LinkFrame::from_bytes(bytes) {
        assert_eq!(LinkFrame::from_bytes(&frame.to_bytes()), Ok(frame));
    }
}
