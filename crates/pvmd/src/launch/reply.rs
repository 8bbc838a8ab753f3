//! The one line with which a new daemon answers whoever started it.
//!
//! `neopvm-host-1 PROTOCOL VERSION FACTS` if it is there, `neopvm-refused-1 CODE STAGE TEXT` if it
//! will not be; FACTS and TEXT in hexadecimal. Where that knows better than the other side what to do about it, REMEDY
//! stands behind it, in hexadecimal, too. Shells that say something before it are no harm.

use crate::hex::{from_hex, to_hex};
use pvm_wire::peer::HostFacts;
use pvm_wire::request::{Failure, STAGES};
use pvm_wire::{Code, PROTOCOL_VERSION, Wire as _};

const READY: &str = "neopvm-host-1 ";
const REFUSED: &str = "neopvm-refused-1 ";

/// What such a line says.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// A daemon is there.
    Ready(Box<HostFacts>),
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

/// The line of one that will not be.
pub(crate) fn refused_line(code: Code, stage: &str, text: &str) -> String {
    format!("{REFUSED}{} {stage} {}", code.number(), to_hex(text.as_bytes()))
}

/// The same with what to do about it.
pub(crate) fn refused_with(code: Code, failure: &Failure) -> String {
    let line = refused_line(code, &failure.stage, &failure.detail);
    format!("{line} {}", to_hex(failure.remedy.as_bytes()))
}

/// The answer in a line, wherever it begins: a shell may have said something without an end of
/// line. None if there is none.
pub(crate) fn answer_in(line: &str) -> Option<Answer> {
    if let Some((_, rest)) = line.split_once(READY) {
        return ready(rest);
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

fn ready(rest: &str) -> Option<Answer> {
    let mut words = rest.split_ascii_whitespace();
    let protocol = words.next()?.parse().ok()?;
    let version = words.next()?.to_owned();
    if protocol != PROTOCOL_VERSION {
        return Some(Answer::Foreign { protocol, version });
    }
    let facts = HostFacts::from_bytes(&from_hex(words.next()?)?).ok()?;
    Some(Answer::Ready(Box::new(facts)))
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
