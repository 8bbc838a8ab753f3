//! When a wait ends by itself. Records hold a number: 0 is no deadline.

use pvm_wire::{DecodeError, Reader, Wire};

/// The end of a wait, if there is one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Deadline {
    /// Nothing but what is waited for ends the wait.
    Unset,
    /// The wait ends at this moment.
    At(u64),
}

impl Deadline {
    /// The moment, if there is one.
    pub(crate) const fn moment(self) -> Option<u64> {
        match self {
            Self::Unset => None,
            Self::At(moment) => Some(moment),
        }
    }

    /// True once the moment has come.
    pub(crate) const fn is_over(self, now: u64) -> bool {
        matches!(self, Self::At(moment) if moment <= now)
    }
}

impl Wire for Deadline {
    fn encode(&self, out: &mut Vec<u8>) {
        self.moment().unwrap_or(0).encode(out);
    }
    fn decode(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(match u64::decode(input)? {
            0 => Self::Unset,
            moment => Self::At(moment),
        })
    }
}

/// The wait of ready daemons of one addition for daemons that were named before them. Records hold
/// a number: 0 while none is ready, the largest one when none waits any more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Precedence {
    /// No daemon is ready.
    Open,
    /// Ready daemons wait until this moment.
    Until(u64),
    /// No daemon waits for another one any more.
    Over,
}

impl Precedence {
    /// The moment at which the wait ends, if there is one.
    pub(crate) const fn moment(self) -> Option<u64> {
        match self {
            Self::Until(moment) => Some(moment),
            Self::Open | Self::Over => None,
        }
    }
}

impl Wire for Precedence {
    fn encode(&self, out: &mut Vec<u8>) {
        let number = match self {
            Self::Open => 0,
            Self::Until(moment) => *moment,
            Self::Over => u64::MAX,
        };
        number.encode(out);
    }
    fn decode(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(match u64::decode(input)? {
            0 => Self::Open,
            u64::MAX => Self::Over,
            moment => Self::Until(moment),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A daemon of an earlier version has written such numbers.
    #[test]
    fn records_hold_the_numbers_that_they_have_always_held() {
        fn check<T: Wire + PartialEq + std::fmt::Debug>(value: &T, number: u64) {
            let (mut ours, mut plain) = (Vec::new(), Vec::new());
            value.encode(&mut ours);
            number.encode(&mut plain);
            assert_eq!(ours, plain);
            assert_eq!(T::decode(&mut Reader::new(&plain)).as_ref(), Ok(value));
        }
        check(&Deadline::Unset, 0);
        check(&Deadline::At(7), 7);
        check(&Precedence::Open, 0);
        check(&Precedence::Until(7), 7);
        check(&Precedence::Over, u64::MAX);
    }
}
