//! Trace events of jobs as text, in the form of PVM's tracers: a description of each kind of event,
//! then its records.

use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Names of the data by their numbers in pvmtev.h.
#[rustfmt::skip]
const DATA: [&str; 123] = [
    "AN", "AC", "AS", "BF", "CC", "CN", "CI", "CF", "CD", "CR", "CL", "CDA", "CDT", "CDX", "CDC",
    "CGI", "CRF", "CXC", "CXF", "CXN", "CXS", "ERI", "ERR", "FDS", "FP", "GN", "GI", "GT", "GS",
    "GBC", "HN", "HNL", "HNA", "HPT", "HA", "HSP", "HIS", "HCS", "HCU", "HDS", "HDU", "HS",
    "INB", "IMC", "IST", "MC", "MCX", "MB", "MNB", "SRC", "DST", "MDL", "MTS", "MTU", "MRF",
    "MRB", "MSB", "ME", "MHI", "AST", "AMC", "AML", "NE", "NMC", "NCT", "NTL", "NH", "NA", "OPT",
    "OPV", "OS", "PDA", "PDT", "PC", "PSD", "PSG", "PF", "PRF", "RST", "RMC", "RCX", "SN", "SE",
    "SF", "SW", "SC", "STL", "SIB", "TID", "PT", "MT", "TF", "TN", "PID", "TT", "TW", "TIS",
    "TNT", "TST", "TUS", "TUU", "TSS", "TSU", "TES", "TA", "TR", "TS", "TU", "TGS", "TGU", "TMW",
    "TM", "TRC", "TRT", "TRX", "TRO", "TRM", "TRB", "TRL", "VER", "VCT", "VID", "WID",
];

const COLLECTED: i32 = -1;
const COLLECTED_END: i32 = -2;
const DESC: i32 = -5;
const DESC_END: i32 = -6;
const RECORD: i32 = -7;
const RECORD_END: i32 = -8;
const ENTRY: i32 = 0x4000;
const EXIT: i32 = 0x8000;
const STRING: i32 = 12;
const ARRAY: i32 = 0x80;

/// True for the first int of a message with trace events; output begins with a task.
pub(crate) const fn is_trace(first: i32) -> bool {
    matches!(first, COLLECTED | DESC | RECORD)
}

/// What the events of one job's tasks look like.
#[derive(Debug, Default)]
pub(crate) struct Traces {
    /// By task and code: the name, and the types of the data.
    known: BTreeMap<(i32, i32), (String, Vec<i32>)>,
    /// Codes that the text has described.
    described: Vec<i32>,
}

/// What a file begins with.
pub(crate) fn head() -> String {
    let version = env!("CARGO_PKG_VERSION");
    format!("/*\n * \"Machine\" \"Console (NeoPVM {version})\"\n */ ;;\n")
}

impl Traces {
    /// The text of a message from `task`; what makes no sense ends it.
    pub(crate) fn text(&mut self, task: i32, message: &[i32]) -> String {
        let mut words = Words(message);
        let mut text = String::new();
        while self.event(task, &mut words, &mut text).is_some() {}
        text
    }

    fn event(&mut self, task: i32, words: &mut Words<'_>, text: &mut String) -> Option<()> {
        let mark = words.int()?;
        if matches!(mark, COLLECTED | COLLECTED_END) {
            return Some(());
        }
        let code = words.int()?;
        let mut values = Vec::new();
        let mut description = String::new();
        match mark {
            DESC => {
                let name = words.string()?;
                let mut types = Vec::new();
                loop {
                    let datum = words.int()?;
                    if datum == DESC_END {
                        break;
                    }
                    let name = usize::try_from(datum).ok().and_then(|datum| DATA.get(datum))?;
                    let kind = words.int()?;
                    let c = if kind & !ARRAY == STRING { "char" } else { "int" };
                    let many = if kind == STRING || kind & ARRAY != 0 { "[]" } else { "" };
                    writeln!(description, "\t{c} \"{name}\"{many};").ok()?;
                    values.push(words.value(kind)?);
                    types.push(kind);
                }
                self.known.insert((task, code), (name, types));
            }
            RECORD => {
                for kind in &self.known.get(&(task, code))?.1 {
                    values.push(words.value(*kind)?);
                }
                if words.int()? != RECORD_END {
                    return None;
                }
            }
            _ => return None,
        }
        let name = &self.known.get(&(task, code))?.0;
        let kind = code & 0xfff;
        let (number, name) = match code & (ENTRY | EXIT) {
            ENTRY => (1000 + 2 * kind, format!("{name}(0.0)")),
            EXIT => (2001 + 2 * kind, format!("{name}(1.1)")),
            _ => (1000 + 2 * kind, format!("{name}(0)")),
        };
        if !self.described.contains(&code) && mark == DESC {
            self.described.push(code);
            write!(text, "\n#{number}: \"{name}\"\n{{\n{description}}};;\n\n").ok()?;
        }
        writeln!(text, "\"{name}\" {{ {} }};;", values.join(", ")).ok()
    }
}

/// The words of a message that are not taken yet.
struct Words<'a>(&'a [i32]);

impl Words<'_> {
    fn int(&mut self) -> Option<i32> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
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
        let mut message = vec![COLLECTED, DESC, 26 | EXIT];
        message.extend(words(b"mytid\0"));
        for (i, pair) in TIME.chunks(2).enumerate() {
            message.extend([pair[0], pair[1], 10 + i as i32]);
        }
        message.extend([90, 6, 262_146, DESC_END]);
        message.extend([RECORD, 26 | EXIT, 11, 12, 13, 14, RECORD_END, COLLECTED_END]);
        let text = Traces::default().text(1, &message);
        let expected = "\n#2053: \"mytid(1.1)\"\n{\n\tint \"TS\";\n\tint \"TU\";\n\tint \"TID\";\n\
                        \tint \"MT\";\n};;\n\n\"mytid(1.1)\" { 10, 11, 12, 262146 };;\n\
                        \"mytid(1.1)\" { 11, 12, 13, 14 };;\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn texts_and_lists_are_told_with_their_lengths() {
        let mut message = vec![DESC, 52 | ENTRY];
        message.extend(words(b"spawn\0"));
        message.extend([82, STRING]);
        message.extend(words(b"kid\0"));
        message.extend([87, 6 | ARRAY, 2, 5, 6, DESC_END]);
        let text = Traces::default().text(1, &message);
        assert!(text.ends_with("\"spawn(0.0)\" { [4] { \"kid\" }, [2] { 5, 6 } };;\n"), "{text}");
    }

    #[test]
    fn what_makes_no_sense_ends_the_message() {
        let mut traces = Traces::default();
        for message in [
            &[][..],
            &[DESC],
            &[DESC, 1, i32::MAX],
            &[DESC, 1, -1],
            &[DESC, 1, 1, 0, 999, 6, 1],
            &[DESC, 1, 1, 0, 5, 6 | ARRAY, i32::MAX],
            &[RECORD, 1, 2],
            &[77, 1],
        ] {
            assert_eq!(traces.text(1, message), "");
        }
    }
}
