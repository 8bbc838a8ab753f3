//! The frames that wait at a host's link, up to a bound.

use super::frame::Frame;
use std::collections::VecDeque;

/// Frames in the order in which they came.
#[derive(Clone, Debug, Default)]
pub(super) struct Waiting {
    frames: VecDeque<Frame>,
    bytes: u64,
}

impl Waiting {
    /// Takes a frame, unless more than `most` bytes would wait.
    pub(super) fn offer(&mut self, frame: Frame, most: u64) -> bool {
        let bytes = self.bytes.saturating_add(frame.bytes);
        let has_room = bytes <= most;
        if has_room {
            self.bytes = bytes;
            self.frames.push_back(frame);
        }
        has_room
    }

    /// The first frame, which stays.
    pub(super) fn first(&self) -> Option<&Frame> {
        self.frames.front()
    }

    /// Takes the first frame out.
    pub(super) fn pop(&mut self) -> Option<Frame> {
        let frame = self.frames.pop_front()?;
        self.bytes -= frame.bytes;
        Some(frame)
    }
}
