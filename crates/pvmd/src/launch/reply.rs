//! The one line with which a new daemon answers its starter.
//!
//! `neopvm-host-1 PROTOCOL VERSION FACTS` if it is there, `neopvm-refused-1 CODE STAGE TEXT` if it
//! will not be; FACTS and TEXT in hexadecimal. Where that knows better than the other side what to
//! do about it, REMEDY stands behind it, in hexadecimal, too.
//! `neopvm-key-1 PROTOCOL VERSION FINGERPRINT` is what a hoster brings back, which may have little
//! room: the rest comes over the network. Shells that say something before it are no harm.

use crate::hex::{from_hex, to_hex};
use pvm_wire::peer::HostFacts;
use pvm_wire::request::{Failure, STAGES};
use pvm_wire::{Code, PROTOCOL_VERSION, Wire as _};

const READY: &str = "neopvm-host-1 ";
const KEY: &str = "neopvm-key-1 ";
const REFUSED: &str = "neopvm-refused-1 ";

/// The bytes of a fingerprint.
const KEY_BYTES: usize = 32;

/// The content of such a line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// A daemon is there.
    Ready(Box<HostFacts>),
    /// A daemon is there, and will tell the rest to a host that lets this key in.
    Key(Vec<u8>),
    /// There is none, and it says why.
    Refused(Code, Failure),
    /// A daemon of another protocol.
    Foreign {
        /// Its protocol's version.
        protocol: u16,
        /// Its product's version.
        version: String,
    },
}

/// The line of a daemon that is there.
pub(crate) fn ready_line(facts: &HostFacts) -> String {
    format!("{READY}{PROTOCOL_VERSION} {} {}", facts.version, to_hex(&facts.to_bytes()))
}

/// The line of a daemon that is there and has a hoster between: short, and told in one piece.
pub(crate) fn key_line(facts: &HostFacts) -> String {
    format!("{KEY}{PROTOCOL_VERSION} {} {}", facts.version, to_hex(&facts.key.0))
}

/// The line of one that will not be.
pub(crate) fn refused_line(code: Code, stage: &str, text: &str) -> String {
    format!("{REFUSED}{} {stage} {}", code.number(), to_hex(text.as_bytes()))
}

/// Like `refused_line`, with what to do about it.
pub(crate) fn refused_with(code: Code, failure: &Failure) -> String {
    let line = refused_line(code, &failure.stage, &failure.detail);
    format!("{line} {}", to_hex(failure.remedy.as_bytes()))
}

/// The answer in a line, wherever it begins: a shell may have said something without an end of
/// line. None if there is none.
pub(crate) fn answer_in(line: &str) -> Option<Answer> {
    if let Some((_, rest)) = line.split_once(READY) {
        return ready(rest, |bytes| {
            Some(Answer::Ready(Box::new(HostFacts::from_bytes(&bytes).ok()?)))
        });
    }
    if let Some((_, rest)) = line.split_once(KEY) {
        return ready(rest, |key| (key.len() == KEY_BYTES).then_some(Answer::Key(key)));
    }
    let (_, rest) = line.split_once(REFUSED)?;
    let mut words = rest.split_ascii_whitespace();
    let code = words.next()?.parse().ok().and_then(Code::from_number)?;
    let stage = words.next().filter(|stage| STAGES.contains(stage))?.to_owned();
    let mut text = || {
        let bytes = words.next().map_or_else(|| Some(Vec::new()), from_hex)?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    };
    let (detail, remedy) = (text()?, text()?);
    Some(Answer::Refused(code, Failure { stage, detail, remedy }))
}

fn ready(rest: &str, told: impl FnOnce(Vec<u8>) -> Option<Answer>) -> Option<Answer> {
    let mut words = rest.split_ascii_whitespace();
    let protocol = words.next()?.parse().ok()?;
    let version = words.next()?.to_owned();
    if protocol != PROTOCOL_VERSION {
        return Some(Answer::Foreign { protocol, version });
    }
    told(from_hex(words.next()?)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts() -> HostFacts {
        HostFacts {
            name: "a".into(),
            arch: "LINUX64".into(),
            addresses: vec!["127.0.0.1:1".into()],
            key: vec![1, 2, 3].into(),
            version: "1.2.3".into(),
            ..HostFacts::default()
        }
    }

    #[test]
    fn facts_come_back_from_the_line_also_behind_noise() {
        let line = ready_line(&facts());
        let expected = Some(Answer::Ready(Box::new(facts())));
        assert_eq!(answer_in(&line), expected);
        assert_eq!(answer_in(&format!("Welcome to a! {line}\r\n")), expected);
        assert_eq!(answer_in(&format!("neopvm-host-1 {PROTOCOL_VERSION} 0.1.0 00")), None);
        assert_eq!(answer_in("neopvm-host-1 "), None);
        assert_eq!(answer_in("ssh: no such host"), None);
    }

    #[test]
    fn another_protocol_is_told_by_both_its_numbers() {
        let line = format!("{READY}{} 9.9 00", PROTOCOL_VERSION + 1);
        let protocol = PROTOCOL_VERSION + 1;
        assert_eq!(answer_in(&line), Some(Answer::Foreign { protocol, version: "9.9".into() }));
    }

    #[test]
    fn a_hoster_with_room_for_256_bytes_brings_the_whole_answer() {
        let facts = HostFacts { key: vec![0xab; KEY_BYTES].into(), ..facts() };
        let line = key_line(&facts);
        assert!(line.len() <= 199, "{}", line.len());
        assert_eq!(answer_in(&line), Some(Answer::Key(vec![0xab; KEY_BYTES])));
        assert_eq!(answer_in(&line[..line.len() - 2]), None, "not all of it");
    }

    #[test]
    fn a_refusal_keeps_its_code_stage_and_words() {
        let line = refused_line(Code::DupHost, "join", "it is there\nalready");
        let Some(Answer::Refused(code, failure)) = answer_in(&line) else { panic!("{line}") };
        assert_eq!((code, failure.stage.as_str()), (Code::DupHost, "join"));
        assert_eq!(failure.detail, "it is there\nalready");
        assert_eq!(answer_in(&refused_line(Code::DupHost, "nonsense", "")), None);
        let known = Failure { remedy: "pvm conf".into(), ..failure };
        let line = refused_with(code, &known);
        assert_eq!(answer_in(&line), Some(Answer::Refused(code, known)));
    }
}
