//! The data of an acknowledgement about the network.

use crate::unit::Time;

/// The data of an acknowledgement.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Sample {
    /// Segments that have come, in or out of order.
    pub(super) delivered: f64,
    /// From when the last of them was sent to now, unless it was sent anew.
    pub(super) rtt: Option<Time>,
    /// Segments delivered since it was sent, in that time, and all so far when it was sent.
    pub(super) rate: Option<(f64, Time)>,
    pub(super) before: f64,
    /// The sender had nothing more to send then.
    pub(super) app_limited: bool,
    /// Under way before it, and whether the window was what bounded that.
    pub(super) under_way: f64,
    pub(super) was_limited: bool,
    /// Delivered in all.
    pub(super) total: f64,
}
