//! A text that a person or a program carries to a computer that ssh does not reach: where the
//! machine is, which key answers there, and a secret that lets one host in, once.
//!
//! It is text without blanks: `npvm1-` and the record in hexadecimal. The key is checked before the
//! secret is sent.

use crate::hex::{from_hex, to_hex};
use anyhow::{Context as _, Result, bail};
use pvm_wire::route::Secret;
use pvm_wire::{Blob, Wire as _, record};
use rustix::fs::{Mode, OFlags};
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

const HEAD: &str = "npvm1-";
/// Longer than any token.
const TEXT_BYTES_MAX: usize = 16 << 10;
/// The number of bytes of a secret: too many to guess.
pub(crate) const SECRET_BYTES: usize = 32;

record! {
    /// A token.
    pub struct Token {
        /// The machine's name.
        pub vmid: String,
        /// The addresses at which the daemon listens that made it.
        pub addresses: Vec<String>,
        /// The fingerprint of its key.
        pub fingerprint: Blob,
        /// The number of this token among those of the daemon.
        pub id: u64,
        /// The secret that only its bearer knows.
        pub secret: Secret,
    }
}

/// In the number of a token: no secret goes with it. A hoster brings back the fingerprint of the
/// new host's key, and that key alone lets it in; the rest of the number is that of the host in the
/// making.
pub(crate) const HOSTED: u64 = 1 << 63;

impl Token {
    /// The token of a host that a hoster starts, before its key is known.
    pub(crate) fn hosted(ticket: u64, addresses: Vec<String>, fingerprint: Vec<u8>) -> Self {
        let (vmid, secret) = (String::new(), Secret(Vec::new()));
        Self { vmid, addresses, fingerprint: Blob(fingerprint), id: HOSTED | ticket, secret }
    }

    /// True for such a one.
    pub(crate) const fn is_hosted(&self) -> bool {
        self.id & HOSTED != 0
    }

    /// As text.
    pub(crate) fn to_text(&self) -> Secret {
        Secret(format!("{HEAD}{}", to_hex(&self.to_bytes())).into_bytes())
    }

    /// From text; what is wrong with it is not told with the text.
    pub(crate) fn from_text(text: &str) -> Result<Self> {
        let rest = text.trim().strip_prefix(HEAD).context("not a token of `pvm token`")?;
        let bytes = from_hex(rest).context("the token is damaged")?;
        let token = Self::from_bytes(&bytes).ok().context("the token is damaged")?;
        let sound = token.fingerprint.0.len() == 32 && token.secret.0.len() == SECRET_BYTES;
        if !sound || token.addresses.iter().any(|at| at.parse::<std::net::SocketAddr>().is_err()) {
            bail!("the token is damaged");
        }
        Ok(token)
    }

    /// Reads a token from a file that no other user may read.
    pub(crate) fn read(mut file: File) -> Result<Self> {
        let mut text = String::new();
        let limit = TEXT_BYTES_MAX as u64;
        (&mut file).take(limit).read_to_string(&mut text).context("the token")?;
        Self::from_text(&text)
    }
}

/// Opens the file of a token; `-` is standard input. A file that others may read is refused.
pub(crate) fn open(path: &Path) -> Result<File> {
    if path == Path::new("-") {
        return Ok(rustix::stdio::stdin().try_clone_to_owned()?.into());
    }
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOCTTY;
    let file = rustix::fs::open(path, flags, Mode::empty());
    let file = file.with_context(|| path.display().to_string())?;
    let stat = rustix::fs::fstat(&file)?;
    let is_file = rustix::fs::FileType::from_raw_mode(stat.st_mode).is_file();
    if is_file && (stat.st_uid != rustix::process::getuid().as_raw() || stat.st_mode & 0o077 != 0) {
        bail!("{}: others can read it; chmod 600, and make a new token", path.display());
    }
    Ok(file.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn token() -> Token {
        Token {
            vmid: "default".into(),
            addresses: vec!["10.0.0.1:7".into(), "[2001:db8::1]:7".into()],
            fingerprint: Blob(vec![1; 32]),
            id: 7,
            secret: Secret(vec![2; SECRET_BYTES]),
        }
    }

    #[test]
    fn a_token_comes_back_from_its_text_and_a_damaged_one_does_not() {
        let text = String::from_utf8(token().to_text().0.clone()).unwrap();
        assert!(text.starts_with("npvm1-") && !text.contains(' '));
        assert_eq!(Token::from_text(&format!(" {text}\n")).unwrap(), token());
        for end in 0..text.len() {
            assert!(Token::from_text(&text[..end]).is_err());
        }
        let elsewhere = Token { addresses: vec!["nowhere".into()], ..token() };
        let text = String::from_utf8(elsewhere.to_text().0.clone()).unwrap();
        assert!(Token::from_text(&text).is_err());
    }

    #[test]
    fn no_log_shows_its_secret() {
        assert!(!format!("{:?} {:?}", token(), token().to_text()).contains("0202"));
        assert!(!format!("{:?}", token()).contains("2, 2"));
    }

    #[test]
    fn a_file_that_others_can_read_is_refused() {
        let path = std::env::temp_dir().join(format!("pvmd-token-{}", std::process::id()));
        std::fs::write(&path, &token().to_text().0).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o644)).unwrap();
        assert!(open(&path).is_err());
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
        assert_eq!(Token::read(open(&path).unwrap()).unwrap(), token());
        std::fs::remove_file(&path).unwrap();
    }
}
