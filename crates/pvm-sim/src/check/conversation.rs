//! The messages between hosts: a number means one message for ever, even after restarts, and no
//! host has heard a message that was not said, or less than before.

use pvm_wire::peer::PeerMessage;
use pvm_wire::{HostIndex, Wire as _};
use std::collections::BTreeMap;

/// The messages of one host to another.
#[derive(Debug, Default)]
struct Speech {
    /// A sum of what was said, by its number.
    said: BTreeMap<u64, u64>,
    /// The number of its messages that the other one has confirmed.
    heard: u64,
}

/// All conversations.
#[derive(Debug, Default)]
pub(super) struct Conversations(BTreeMap<(HostIndex, HostIndex), Speech>);

impl Conversations {
    /// A host says something to another; what is wrong with that.
    pub(super) fn says(
        &mut self,
        from: HostIndex,
        to: HostIndex,
        message: &PeerMessage,
    ) -> Option<String> {
        match message {
            PeerMessage::Ordered { sequence, said } => {
                let sum = sum(&said.to_bytes());
                let speech = self.0.entry((from, to)).or_default();
                let known = *speech.said.entry(*sequence).or_insert(sum);
                (known != sum).then(|| format!("host {from} says two things as {sequence} to {to}"))
            }
            PeerMessage::Heard { through } => {
                let speech = self.0.entry((to, from)).or_default();
                let last = speech.said.last_key_value().map_or(0, |(&number, _)| number);
                let sound = (speech.heard..=last).contains(through);
                speech.heard = speech.heard.max(*through);
                (!sound).then(|| format!("host {from} has heard {through} of {last} from {to}"))
            }
            _ => None,
        }
    }
}

/// FNV-1a.
fn sum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |sum, &byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use pvm_wire::peer::Said;

    #[test]
    fn a_number_with_two_meanings_is_found_and_so_is_what_was_never_said() {
        let (a, b) = (HostIndex(1), HostIndex(2));
        let mut all = Conversations::default();
        let says =
            |sequence, term| PeerMessage::Ordered { sequence, said: Said::Reported { term } };
        for message in [says(1, 7), says(2, 7), says(1, 7)] {
            assert_eq!(all.says(a, b, &message), None);
        }
        assert!(all.says(a, b, &says(2, 8)).is_some());
        for through in [0, 1, 2] {
            assert_eq!(all.says(b, a, &PeerMessage::Heard { through }), None);
        }
        assert!(all.says(b, a, &PeerMessage::Heard { through: 1 }).is_some(), "less than before");
        assert!(all.says(b, a, &PeerMessage::Heard { through: 3 }).is_some(), "never said");
        assert!(all.says(a, b, &PeerMessage::Heard { through: 1 }).is_some(), "the other way");
    }
}
