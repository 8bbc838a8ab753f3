//! The options that a new daemon gets on its command line. None of them is secret: addresses, and
//! the fingerprint of the key that it will find there.

use crate::hex::to_hex;
use crate::tls::Fingerprint;
use pvm_wire::PROTOCOL_VERSION;

/// An invitation into a machine.
#[derive(Clone, Debug)]
pub(crate) struct Invitation {
    /// The addresses at which the inviter listens.
    pub(crate) addresses: Vec<String>,
    /// The fingerprint of its key.
    pub(crate) fingerprint: Fingerprint,
    /// The new host's name; empty for the computer's own.
    pub(crate) name: String,
    /// The name of this machine among those of the user (`PVM_VMID`).
    pub(crate) vmid: String,
    /// Words of the host file that concern the new host.
    pub(crate) options: String,
    /// There may be a daemon of the machine there already.
    pub(crate) again: bool,
    /// The port there at which it reaches the machine's hosts; 0 without a tunnel.
    pub(crate) via: u16,
    /// Seconds until a daemon that is not let in ends, where a person or a program carries its
    /// answer; 0 for the usual time.
    pub(crate) patience: u32,
    /// The number of the host in the making, where a hoster carries its answer; else 0.
    pub(crate) hosted: u64,
}

impl Invitation {
    /// The arguments of `pvmd`.
    pub(crate) fn arguments(&self) -> Vec<String> {
        let mut arguments = vec![
            format!("--join={}", self.addresses.join(",")),
            format!("--fingerprint={}", to_hex(&self.fingerprint)),
            format!("--protocol={PROTOCOL_VERSION}"),
            format!("--vmid={}", self.vmid),
        ];
        if !self.name.is_empty() {
            arguments.push(format!("--name={}", self.name));
        }
        if !self.options.is_empty() {
            arguments.push(format!("--options={}", self.options));
        }
        if self.via > 0 {
            arguments.push(format!("--via=127.0.0.1:{}", self.via));
        }
        if self.patience > 0 {
            arguments.push(format!("--patience={}", self.patience));
        }
        if self.hosted > 0 {
            arguments.push(format!("--hosted={}", self.hosted));
        }
        arguments.extend(self.again.then(|| "--again".to_owned()));
        arguments
    }
}

/// A word as the shells take it literally.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_=./:,@%+[]".contains(&byte);
    if !word.is_empty() && word.bytes().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// A word in which `$NAME` is the value there, and everything else is literal.
pub(crate) fn expanding(word: &str) -> String {
    let mut out = String::from("\"");
    let mut rest = word.chars().peekable();
    while let Some(char) = rest.next() {
        let names = |next: &char| next.is_ascii_alphabetic() || *next == '_' || *next == '{';
        match char {
            '$' if rest.peek().is_some_and(names) => out.push('$'),
            '$' | '`' | '"' | '\\' => out.extend(['\\', char]),
            other => out.push(other),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> String {
        let mut sh = std::process::Command::new("/bin/sh");
        sh.args(["-c", script]).env("A", "value");
        String::from_utf8(sh.output().unwrap().stdout).unwrap()
    }

    #[test]
    fn words_survive_a_shell() {
        for word in ["plain", "", "a b", "it's", "$A", "`id`", "\\", "\"", "--join=[::1]:5"] {
            assert_eq!(shell(&format!("printf %s {}", quoted(word))), word);
            // Through the login shell and the one that it starts.
            let inner = format!("printf %s {}", quoted(word));
            assert_eq!(shell(&format!("exec /bin/sh -c {}", quoted(&inner))), word);
        }
    }

    #[test]
    fn names_are_expanded_there_and_nothing_else_is_done() {
        let there = |word| shell(&format!("printf %s {}", expanding(word)));
        assert_eq!(there("$A/bin:${A}x"), "value/bin:valuex");
        assert_eq!(there("$(id)`id`\"\\$"), "$(id)`id`\"\\$");
    }

    #[test]
    fn an_invitation_tells_what_is_public() {
        let invitation = Invitation {
            addresses: vec!["10.0.0.1:7".into(), "[2001:db8::1]:7".into()],
            fingerprint: vec![0xab, 1],
            name: "h2".into(),
            vmid: "default".into(),
            options: "sp=2000".into(),
            again: false,
            via: 0,
            patience: 0,
            hosted: 0,
        };
        let arguments = invitation.arguments().join(" ");
        assert!(arguments.starts_with("--join=10.0.0.1:7,[2001:db8::1]:7 --fingerprint=ab01 "));
        assert!(arguments.ends_with(" --vmid=default --name=h2 --options=sp=2000"), "{arguments}");
    }
}
