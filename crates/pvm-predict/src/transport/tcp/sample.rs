//! The data of an acknowledgement about the network.

use crate::unit::Time;

/// The data of an acknowledgement.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Sample {
    /// The number of segments that have arrived, in or out of order.
    pub(super) delivered: f64,
    /// The time since the last of them was sent, unless it was sent again.
    pub(super) rtt: Option<Time>,
    /// The segments delivered since it was sent, and that time; with all segments delivered when it
    /// was sent.
    pub(super) rate: Option<(f64, Time)>,
    pub(super) before: f64,
    /// True if the sender had nothing more to send then.
    pub(super) app_limited: bool,
    /// The segments under way before it, and whether the window was the bound of these.
    pub(super) under_way: f64,
    pub(super) was_limited: bool,
    /// All delivered segments.
    pub(super) total: f64,
}
