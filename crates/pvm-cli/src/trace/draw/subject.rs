//! The subject of a picture.

use crate::trace::place::Trace;
use pvm_trace::clocks::Clocks;
use std::path::Path;

/// A trace that is to be drawn.
pub(crate) struct Subject<'a> {
    /// The path of the trace.
    pub(crate) file: &'a Path,
    /// The trace.
    pub(crate) trace: &'a mut Trace,
    /// Its clocks.
    pub(crate) clocks: &'a Clocks,
    /// The time that is drawn, corrected.
    pub(crate) window: (u64, u64),
}
