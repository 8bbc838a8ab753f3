//! The output of tasks: each piece comes to a reader, or into the log file, and comes there once.

use pvm_core::io::Effect;
use pvm_wire::Tid;
use pvm_wire::request::Reply;
use std::collections::BTreeMap;

/// In front of the number of a piece, and behind it.
const MARKS: (&str, u8) = ("<o", b'>');

/// All pieces, by number: the task that wrote it, and how often it has come.
#[derive(Debug, Default)]
pub(super) struct Written(BTreeMap<u64, (Tid, u32)>);

impl Written {
    /// A task writes; what is to be in it.
    pub(super) fn writes(&mut self, tid: Tid) -> String {
        let number = self.0.len() as u64;
        self.0.insert(number, (tid, 0));
        format!("{}{number}{}", MARKS.0, char::from(MARKS.1))
    }

    /// The parent of a host is told to do something; what is wrong with that.
    pub(super) fn effect(&mut self, effect: &Effect) -> Option<String> {
        let bytes = match effect {
            _ if self.0.is_empty() => return None,
            Effect::Deliver { message, .. } => &message.body.0[..],
            Effect::Log { text } => text.as_bytes(),
            Effect::Reply { reply: Reply::Output { bytes, .. }, .. } => &bytes.0,
            _ => return None,
        };
        numbers(bytes).into_iter().find_map(|number| {
            let (tid, count) = self.0.get_mut(&number)?;
            *count += 1;
            (*count > 1).then(|| format!("what {tid} wrote as number {number} came twice"))
        })
    }

    /// A piece that has not come although its writer has to be heard.
    pub(super) fn lost(&self, counts: impl Fn(Tid) -> bool) -> Option<String> {
        let lost = self.0.iter().find(|(_, (tid, count))| *count == 0 && counts(*tid));
        lost.map(|(number, (tid, _))| format!("what {tid} wrote as number {number} is lost"))
    }
}

/// The numbers of the pieces in some bytes.
fn numbers(bytes: &[u8]) -> Vec<u64> {
    let begins = |at: &usize| bytes[*at..].starts_with(MARKS.0.as_bytes());
    let number = |at: usize| {
        let rest = &bytes[at + MARKS.0.len()..];
        let end = rest.iter().position(|byte| *byte == MARKS.1)?;
        std::str::from_utf8(&rest[..end]).ok()?.parse().ok()
    };
    (0..bytes.len()).filter(begins).filter_map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_twice_or_never_is_found() {
        let mut written = Written::default();
        let (here, there) = (Tid(0x40001), Tid(0x80001));
        let (first, second) = (written.writes(here), written.writes(there));
        let log = |text: &str| Effect::Log { text: text.to_owned() };
        assert_eq!(written.effect(&log("<o77> <o x>")), None);
        assert!(written.lost(|_| true).is_some());
        assert_eq!(written.effect(&log(&format!("[t40001] {first}{second}"))), None);
        assert_eq!(written.lost(|_| true), None);
        assert!(written.effect(&log(&second)).is_some());
        written.writes(there);
        assert!(written.lost(|tid| tid == there).is_some());
        assert_eq!(written.lost(|tid| tid == here), None);
    }
}
