//! Orders of a calibration to its parts, as words that go to them in a message.

use pvm_wire::{Encoding, Tid};

/// One thing to do. Each is answered by a list of numbers, most of them nanoseconds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Order {
    /// Send messages that `with` answers: `tries` of them, fewer if they take longer than `within`
    /// nanoseconds, and 1 at least. The answer: half of each round trip.
    Echo { with: Tid, bytes: u64, encoding: Encoding, tries: u64, within: u64 },
    /// Answer what `to` sends, until it says that this is over. The answer: nothing.
    Answer { to: Tid, encoding: Encoding },
    /// Send messages as fast as they go. The answer: how long each call took.
    Stream { to: Tid, bytes: u64, count: u64 },
    /// Take messages as they come. The answer: the time from the first one to the last one.
    Drain { from: Tid, count: u64 },
    /// Wait until so many messages are here, then take them. The answer: how long each took.
    Collect { from: Tid, count: u64 },
    /// Send a message to each of the others and take one of each, `rounds` times. The answer: how
    /// long each round took.
    Exchange { with: Vec<Tid>, bytes: u64, rounds: u64 },
    /// Compute. The answer: see [`super::work`].
    Work,
    /// The end. The answer: nothing.
    Leave,
}

/// Words of an order at most.
const WORDS_MAX: usize = 1 << 10;
/// Bytes of a message at most.
pub(super) const BYTES_MAX: u64 = 1 << 24;
/// Messages of an order at most.
const COUNT_MAX: u64 = 1 << 20;

impl Order {
    /// As bytes.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let tid = |tid: &Tid| u64::from(tid.0);
        let words = match self {
            Self::Echo { with, bytes, encoding, tries, within } => {
                vec![1, tid(with), *bytes, *encoding as u64, *tries, *within]
            }
            Self::Answer { to, encoding } => vec![2, tid(to), *encoding as u64],
            Self::Stream { to, bytes, count } => vec![3, tid(to), *bytes, *count],
            Self::Drain { from, count } => vec![4, tid(from), *count],
            Self::Collect { from, count } => vec![5, tid(from), *count],
            Self::Exchange { with, bytes, rounds } => [*bytes, *rounds]
                .into_iter()
                .chain(with.iter().map(tid))
                .fold(vec![6], |mut words, word| {
                    words.push(word);
                    words
                }),
            Self::Work => vec![7],
            Self::Leave => vec![8],
        };
        words.into_iter().flat_map(u64::to_le_bytes).collect()
    }

    /// Reads bytes; nothing if they are no order.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let words = numbers(bytes).filter(|words| words.len() <= WORDS_MAX)?;
        let order = match words.as_slice() {
            [1, with, bytes, encoding, tries, within] => Self::Echo {
                with: tid(*with)?,
                bytes: size(*bytes)?,
                encoding: encoding_of(*encoding)?,
                tries: count(*tries)?,
                within: *within,
            },
            [2, to, encoding] => Self::Answer { to: tid(*to)?, encoding: encoding_of(*encoding)? },
            [3, to, bytes, messages] => {
                Self::Stream { to: tid(*to)?, bytes: size(*bytes)?, count: count(*messages)? }
            }
            [4, from, messages] => Self::Drain { from: tid(*from)?, count: count(*messages)? },
            [5, from, messages] => Self::Collect { from: tid(*from)?, count: count(*messages)? },
            [6, bytes, rounds, with @ ..] => Self::Exchange {
                with: with.iter().map(|with| tid(*with)).collect::<Option<_>>()?,
                bytes: size(*bytes)?,
                rounds: count(*rounds)?,
            },
            [7] => Self::Work,
            [8] => Self::Leave,
            _ => return None,
        };
        Some(order)
    }
}

/// Bytes as numbers; nothing if there is a part of one.
pub(super) fn numbers(bytes: &[u8]) -> Option<Vec<u64>> {
    let (words, rest) = bytes.as_chunks::<8>();
    rest.is_empty().then(|| words.iter().map(|word| u64::from_le_bytes(*word)).collect())
}

fn tid(word: u64) -> Option<Tid> {
    u32::try_from(word).ok().map(Tid)
}

fn size(word: u64) -> Option<u64> {
    (word <= BYTES_MAX).then_some(word)
}

fn count(word: u64) -> Option<u64> {
    (1..=COUNT_MAX).contains(&word).then_some(word)
}

fn encoding_of(word: u64) -> Option<Encoding> {
    [Encoding::Default, Encoding::Raw].into_iter().find(|encoding| *encoding as u64 == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_read_as_it_was_written_and_nothing_else_is() {
        let (one, two) = (Tid(0x40001), Tid(0x80002));
        let (encoding, bytes, count) = (Encoding::Default, 1 << 20, 3);
        let orders = [
            Order::Echo { with: one, bytes, encoding, tries: 5, within: 7 },
            Order::Answer { to: one, encoding: Encoding::Raw },
            Order::Stream { to: two, bytes, count },
            Order::Drain { from: two, count },
            Order::Collect { from: two, count },
            Order::Exchange { with: vec![one, two], bytes, rounds: 9 },
            Order::Work,
            Order::Leave,
        ];
        for order in orders {
            let bytes = order.to_bytes();
            assert_eq!(Order::from_bytes(&bytes), Some(order.clone()));
            assert_eq!(Order::from_bytes(&bytes[1..]), None);
            let many = [bytes, vec![0; 8 * WORDS_MAX]].concat();
            assert_eq!(Order::from_bytes(&many), None);
        }
        let wrong = [vec![3, 1, BYTES_MAX + 1, 1], vec![4, 1, 0], vec![2, 1, 2], vec![9], vec![]];
        for words in wrong {
            let bytes: Vec<u8> = words.into_iter().flat_map(u64::to_le_bytes).collect();
            assert_eq!(Order::from_bytes(&bytes), None);
        }
    }
}
