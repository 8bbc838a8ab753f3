//! The series of a calibration, in the order of their weight.

use super::measured::{Route, encoding_word};
use pvm_wire::Encoding;

/// One series of measurements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Series {
    /// The times of calls.
    Calls(Route),
    /// Messages of all sizes, forth and back.
    Echoes(Route, Encoding),
    /// One message behind the other.
    Stream(Route),
    /// Everybody to everybody.
    Exchange,
    /// The processors and the memory of each host.
    Work,
    /// A short message to each other host.
    Pairs,
}

impl Series {
    /// All of them. A series for which no time is left is one of the last.
    pub(super) const ALL: [Self; 13] = [
        Self::Calls(Route::Direct),
        Self::Echoes(Route::Direct, Encoding::Raw),
        Self::Echoes(Route::Memory, Encoding::Raw),
        Self::Stream(Route::Direct),
        Self::Exchange,
        Self::Work,
        Self::Echoes(Route::Daemons, Encoding::Raw),
        Self::Stream(Route::Daemons),
        Self::Calls(Route::Memory),
        Self::Pairs,
        Self::Echoes(Route::Direct, Encoding::Default),
        Self::Echoes(Route::Memory, Encoding::Default),
        Self::Echoes(Route::Daemons, Encoding::Default),
    ];

    /// The name of a series for a user to whom it is missing.
    pub(super) fn name(self) -> String {
        match self {
            Self::Calls(route) => format!("calls by {}", route.word()),
            Self::Echoes(route, encoding) => {
                format!("messages {} by {}", encoding_word(encoding), route.word())
            }
            Self::Stream(route) => format!("a stream by {}", route.word()),
            Self::Exchange => "everybody to everybody".to_owned(),
            Self::Work => "processors".to_owned(),
            Self::Pairs => "messages to each other host".to_owned(),
        }
    }
}
