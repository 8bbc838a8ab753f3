//! The actions of a task of a rehearsal, as words that go to it in a message.

use pvm_predict::{Action, Matching, Time};

/// Words of a script at most: a task's script is held in memory there and here.
pub(super) const WORDS_MAX: usize = 8 << 20;

/// Bytes of a message at most: a part holds one in memory.
pub(super) const BYTES_MAX: u64 = 1 << 30;

/// A receive of so many bytes takes a message, whatever its length.
pub(super) const MESSAGE: u64 = u64::MAX;

/// One thing to do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Step {
    /// Be busy for so many nanoseconds: a rehearsal sleeps.
    Busy(u64),
    /// Send so many bytes with a tag.
    Send { bytes: u64, tag: i32, to: Vec<u32> },
    /// Take so many bytes of a task.
    Receive { bytes: u64, tag: i32, from: u32 },
    /// Wait until so many tasks have come to this point.
    Meet { point: u32, count: u32 },
    /// The next section of the program.
    Enter(u32),
    /// Tell these tasks to begin.
    Start(Vec<u32>),
    /// Wait until another task says so.
    Await,
}

const BUSY: u64 = 1;
const SEND: u64 = 2;
const RECEIVE: u64 = 3;
const MEET: u64 = 4;
const ENTER: u64 = 5;
const START: u64 = 6;
const AWAIT: u64 = 7;

/// The bytes of each message that an action sends.
pub(super) const fn sent(action: &Action) -> u64 {
    match action {
        Action::Send { bytes, .. } | Action::Multicast { bytes, .. } => *bytes,
        _ => 0,
    }
}

/// Steps of a task, and what its receives take.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Script {
    words: Vec<u64>,
}

impl Script {
    /// Adds what an action of a program is in a rehearsal. False if the script is too long.
    pub(super) fn act(&mut self, action: &Action, matching: Matching) -> bool {
        let tag = |tag: i32| if matching == Matching::Bytes { 0 } else { tag & i32::MAX };
        match action {
            Action::Compute(time) | Action::Call(time) | Action::Idle(time) => self.busy(*time),
            Action::Start(tasks) => self.push(&Step::Start(tasks.to_vec())),
            Action::Meet { point, count, .. } => {
                self.push(&Step::Meet { point: *point, count: *count });
            }
            // A rehearsal waits where the recorded program found its message.
            Action::Look | Action::CatchUp => (),
            Action::Enter(section) => self.push(&Step::Enter(*section)),
            Action::Send { bytes, to, tag: sent, .. } => {
                self.push(&Step::Send { bytes: *bytes, tag: tag(*sent), to: vec![*to] });
            }
            Action::Multicast { bytes, to, tag: sent, .. } => {
                self.push(&Step::Send { bytes: *bytes, tag: tag(*sent), to: to.to_vec() });
            }
            Action::Receive { bytes, from, tag: wanted, .. } => {
                let bytes = if matching == Matching::Bytes { *bytes } else { MESSAGE };
                self.push(&Step::Receive { bytes, tag: tag(*wanted), from: *from });
            }
        }
        self.words.len() <= WORDS_MAX
    }

    /// The number of its words.
    pub(super) const fn len(&self) -> usize {
        self.words.len()
    }

    /// Adds a step.
    pub(super) fn push(&mut self, step: &Step) {
        let words = &mut self.words;
        match step {
            Step::Busy(time) => words.extend([BUSY, *time]),
            Step::Send { bytes, tag, to } => {
                words.extend([SEND, *bytes, *tag as u64, to.len() as u64]);
                words.extend(to.iter().map(|to| u64::from(*to)));
            }
            Step::Receive { bytes, tag, from } => {
                words.extend([RECEIVE, *bytes, *tag as u64, u64::from(*from)]);
            }
            Step::Meet { point, count } => {
                words.extend([MEET, u64::from(*point), u64::from(*count)]);
            }
            Step::Enter(section) => words.extend([ENTER, u64::from(*section)]),
            Step::Start(tasks) => {
                words.extend([START, tasks.len() as u64]);
                words.extend(tasks.iter().map(|task| u64::from(*task)));
            }
            Step::Await => words.push(AWAIT),
        }
    }

    fn busy(&mut self, time: Time) {
        self.push(&Step::Busy(time.to_nanoseconds()));
    }

    /// As bytes.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        self.words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    /// Reads bytes; nothing if they are no script.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Vec<Step>> {
        let (words, rest) = bytes.as_chunks::<8>();
        let words: Vec<u64> = words.iter().map(|word| u64::from_le_bytes(*word)).collect();
        let mut left = words.as_slice();
        let mut steps = Vec::new();
        while !left.is_empty() {
            steps.push(step(&mut left)?);
        }
        (rest.is_empty() && words.len() <= WORDS_MAX).then_some(steps)
    }
}

fn step(left: &mut &[u64]) -> Option<Step> {
    Some(match word(left)? {
        BUSY => Step::Busy(word(left)?),
        SEND => {
            let bytes = word(left).filter(|bytes| *bytes <= BYTES_MAX)?;
            let tag = i32::try_from(word(left)?).ok()?;
            Step::Send { bytes, tag, to: tasks(left)? }
        }
        RECEIVE => {
            let (bytes, tag) = (word(left)?, i32::try_from(word(left)?).ok()?);
            Step::Receive { bytes, tag, from: number(left)? }
        }
        MEET => Step::Meet { point: number(left)?, count: number(left)? },
        ENTER => Step::Enter(number(left)?),
        START => Step::Start(tasks(left)?),
        AWAIT => Step::Await,
        _ => return None,
    })
}

fn word(left: &mut &[u64]) -> Option<u64> {
    left.split_off_first().copied()
}

fn number(left: &mut &[u64]) -> Option<u32> {
    word(left).and_then(|word| u32::try_from(word).ok())
}

fn tasks(left: &mut &[u64]) -> Option<Vec<u32>> {
    let count = usize::try_from(word(left)?).ok()?;
    let words = left.split_off(..count)?;
    words.iter().map(|word| u32::try_from(*word).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_read_as_it_was_written_and_nothing_else_is() {
        let steps = [
            Step::Await,
            Step::Busy(7),
            Step::Send { bytes: 9, tag: i32::MAX, to: vec![1, 2] },
            Step::Receive { bytes: 0, tag: 3, from: 4 },
            Step::Meet { point: 1, count: 2 },
            Step::Enter(5),
            Step::Start(vec![6]),
        ];
        let mut script = Script::default();
        steps.iter().for_each(|step| script.push(step));
        let bytes = script.to_bytes();
        assert_eq!(Script::from_bytes(&bytes).as_deref(), Some(&steps[..]));
        assert_eq!(Script::from_bytes(&bytes[1..]), None);
        for cut in (0..bytes.len()).step_by(8) {
            // Cut between steps it is a shorter script, elsewhere none.
            if let Some(short) = Script::from_bytes(&bytes[..cut]) {
                assert_eq!(short, steps[..short.len()]);
            }
        }
        let long = [SEND, 1, 1, u64::MAX].map(u64::to_le_bytes).concat();
        assert_eq!(Script::from_bytes(&long), None);
    }

    #[test]
    fn a_message_that_no_memory_holds_is_refused() {
        let send = |bytes| [SEND, bytes, 1, 0].map(u64::to_le_bytes).concat();
        assert!(Script::from_bytes(&send(BYTES_MAX)).is_some());
        assert_eq!(Script::from_bytes(&send(BYTES_MAX + 1)), None);
        let largest = |bytes| {
            let (time, to, tag) = (Time::ZERO, Box::from([1]), 0);
            let action = Action::Multicast { time, bytes, to, tag };
            sent(&action) <= BYTES_MAX
        };
        assert!(largest(BYTES_MAX) && !largest(1_000_000_000_000));
    }
}
