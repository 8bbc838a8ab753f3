//! Trace events of jobs as text, in the form of PVM's tracers: a description of each kind of event,
//! then its records.

use pvm_wire::events::{
    DATA, DESCRIBED, DESCRIBED_END, END_TASK, NEW_TASK, RECORD, RECORD_END, STRING, TABLE,
    TABLE_END,
};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

const COLLECTED: i32 = -1;
const COLLECTED_END: i32 = -2;
/// The first number of data that a program has packed itself, if the program keeps to the form.
const OWN: i32 = -9;
const ENTRY: i32 = 0x4000;
const EXIT: i32 = 0x8000;
const ARRAY: i32 = 0x80;

/// True for the first int of a message with trace events; output begins with a task.
pub(crate) const fn is_trace(first: i32) -> bool {
    matches!(first, COLLECTED | TABLE | DESCRIBED | RECORD | OWN)
}

/// The forms of events, by their codes: the name, and the types of the data. Daemons describe
/// theirs to the console once, whatever job they are of; the library does it for each task, and
/// always alike.
pub(crate) type EventForms = BTreeMap<i32, (String, Vec<(&'static str, i32)>)>;

/// The trace of one job.
#[derive(Debug, Default)]
pub(crate) struct Traces {
    /// Codes that the text has described.
    described: Vec<i32>,
    /// Tasks that have begun and not ended.
    open: BTreeSet<String>,
    /// Those of them that the last text is the first to tell of.
    begun: Vec<String>,
}

/// The head of a file.
pub(crate) fn head() -> String {
    let version = env!("CARGO_PKG_VERSION");
    format!("/*\n * \"Machine\" \"Console (NeoPVM {version})\"\n */ ;;\n")
}

impl Traces {
    /// The text of a message; what makes no sense ends it.
    pub(crate) fn text(&mut self, known: &mut EventForms, message: &[i32]) -> String {
        let mut words = Unread(message);
        let mut text = String::new();
        while self.event(known, &mut words, &mut text).is_some() {}
        text
    }

    /// True until all tasks have reported their end.
    pub(crate) fn is_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// The ids of tasks that have begun since the last call.
    pub(crate) fn take_begun(&mut self) -> Vec<String> {
        std::mem::take(&mut self.begun)
    }

    fn event(
        &mut self,
        known: &mut EventForms,
        words: &mut Unread<'_>,
        text: &mut String,
    ) -> Option<()> {
        let mark = words.int()?;
        match mark {
            COLLECTED | COLLECTED_END => return Some(()),
            // Names of data, which are known here.
            TABLE => return words.pass_table(),
            _ => {}
        }
        let code = words.int()?;
        let mut values = Vec::new();
        match mark {
            DESCRIBED => {
                let name = words.string()?;
                let mut data = Vec::new();
                loop {
                    let datum = words.int()?;
                    if datum == DESCRIBED_END {
                        break;
                    }
                    let name = usize::try_from(datum).ok().and_then(|datum| DATA.get(datum))?;
                    let kind = words.int()?;
                    values.push(words.value(kind)?);
                    data.push((name.0.to_str().ok()?, kind));
                }
                known.insert(code, (name, data));
            }
            RECORD => {
                for (_, kind) in &known.get(&code)?.1 {
                    values.push(words.value(*kind)?);
                }
                if words.int()? != RECORD_END {
                    return None;
                }
            }
            _ => return None,
        }
        self.follow(code, &values);
        let (name, data) = known.get(&code)?;
        let kind = code & 0xfff;
        let (number, name) = match code & (ENTRY | EXIT) {
            ENTRY => (1000 + 2 * kind, format!("{name}(0.0)")),
            EXIT => (2001 + 2 * kind, format!("{name}(1.1)")),
            _ => (1000 + 2 * kind, format!("{name}(0)")),
        };
        if !self.described.contains(&code) {
            self.described.push(code);
            write!(text, "\n#{number}: \"{name}\"\n{{\n{}}};;\n\n", describe(data)).ok()?;
        }
        writeln!(text, "\"{name}\" {{ {} }};;", values.join(", ")).ok()
    }
}

/// A line for each datum.
fn describe(data: &[(&str, i32)]) -> String {
    let line = |&(name, kind): &(&str, i32)| {
        let c = if kind & !ARRAY == STRING { "char" } else { "int" };
        let many = if kind == STRING || kind & ARRAY != 0 { "[]" } else { "" };
        format!("\t{c} \"{name}\"{many};\n")
    };
    data.iter().map(line).collect()
}

impl Traces {
    /// Follows the begins and ends of tasks. The third datum of each event is the task.
    fn follow(&mut self, code: i32, values: &[String]) {
        let Some(task) = values.get(2) else { return };
        if code == NEW_TASK && self.open.insert(task.clone()) {
            self.begun.push(task.clone());
        } else if code == END_TASK {
            self.open.remove(task);
        }
    }
}

/// The words of a message that are not taken yet.
struct Unread<'a>(&'a [i32]);

impl Unread<'_> {
    fn int(&mut self) -> Option<i32> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    /// Numbers, each with a name and a meaning, up to the end mark.
    fn pass_table(&mut self) -> Option<()> {
        while self.int()? != TABLE_END {
            self.string()?;
            self.string()?;
        }
        Some(())
    }

    /// A text: its length with the final NUL, then its bytes, four to a word.
    fn string(&mut self) -> Option<String> {
        let length = usize::try_from(self.int()?).ok()?;
        let words = length.div_ceil(4);
        if words > self.0.len() {
            return None;
        }
        let (text, rest) = self.0.split_at(words);
        self.0 = rest;
        let bytes: Vec<u8> = text.iter().flat_map(|word| word.to_be_bytes()).collect();
        let bytes = bytes[..length].split(|byte| *byte == 0).next().unwrap_or_default();
        Some(String::from_utf8_lossy(bytes).into_owned())
    }

    fn value(&mut self, kind: i32) -> Option<String> {
        if kind & ARRAY == 0 {
            return self.one(kind);
        }
        let count = usize::try_from(self.int()?).ok()?;
        let all: Option<Vec<String>> =
            (0..count.min(self.0.len() + 1)).map(|_| self.one(kind & !ARRAY)).collect();
        Some(format!("[{count}] {{ {} }}", all?.join(", ")))
    }

    fn one(&mut self, kind: i32) -> Option<String> {
        if kind == STRING {
            let text = self.string()?;
            return Some(format!("[{}] {{ \"{text}\" }}", text.len() + 1));
        }
        self.int().map(|number| number.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIME: [i32; 6] = [106, 6, 107, 6, 88, 6];

    fn words(text: &[u8]) -> Vec<i32> {
        let mut words = vec![text.len() as i32];
        for part in text.chunks(4) {
            let mut word = [0; 4];
            word[..part.len()].copy_from_slice(part);
            words.push(i32::from_be_bytes(word));
        }
        words
    }

    #[test]
    fn events_are_described_once_and_then_told() {
        let mut message = vec![COLLECTED, DESCRIBED, 26 | EXIT];
        message.extend(words(b"mytid\0"));
        for (i, pair) in TIME.chunks(2).enumerate() {
            message.extend([pair[0], pair[1], 10 + i as i32]);
        }
        message.extend([90, 6, 262_146, DESCRIBED_END]);
        message.extend([RECORD, 26 | EXIT, 11, 12, 13, 14, RECORD_END, COLLECTED_END]);
        let text = Traces::default().text(&mut EventForms::new(), &message);
        let expected = "\n#2053: \"mytid(1.1)\"\n{\n\tint \"TS\";\n\tint \"TU\";\n\tint \"TID\";\n\
                        \tint \"MT\";\n};;\n\n\"mytid(1.1)\" { 10, 11, 12, 262146 };;\n\
                        \"mytid(1.1)\" { 11, 12, 13, 14 };;\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn texts_and_lists_are_told_with_their_lengths() {
        let mut message = vec![DESCRIBED, 52 | ENTRY];
        message.extend(words(b"spawn\0"));
        message.extend([82, STRING]);
        message.extend(words(b"kid\0"));
        message.extend([87, 6 | ARRAY, 2, 5, 6, DESCRIBED_END]);
        let text = Traces::default().text(&mut EventForms::new(), &message);
        assert!(text.ends_with("\"spawn(0.0)\" { [4] { \"kid\" }, [2] { 5, 6 } };;\n"), "{text}");
    }

    #[test]
    fn what_makes_no_sense_ends_the_message() {
        let (mut traces, mut known) = (Traces::default(), EventForms::new());
        for message in [
            &[][..],
            &[DESCRIBED],
            &[DESCRIBED, 1, i32::MAX],
            &[DESCRIBED, 1, -1],
            &[DESCRIBED, 1, 1, 0, 999, 6, 1],
            &[DESCRIBED, 1, 1, 0, 5, 6 | ARRAY, i32::MAX],
            &[RECORD, 1, 2],
            &[77, 1],
        ] {
            assert_eq!(traces.text(&mut known, message), "");
        }
    }
}
