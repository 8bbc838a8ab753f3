//! PVM's host files, and the host lines of `pvm_addhosts`: the one place that reads them.
//!
//! A line is a name and options, in words apart from white space. There is no quoting, and no
//! line goes on in the next. The rules are the original's, found by asking it
//! (`conformance/facts.md`), but for these: a word that begins with `#` ends a line, `sp=` wants
//! a number, and there are options of our own (`tunnel`,
//! `push`, `witness=`, `on_silence=`).

use crate::{Blob, HostIndex};
use std::collections::BTreeMap;
use std::fmt;

/// Longer lines are refused: what a file takes in memory stays near its own size.
pub const LINE_BYTES_MAX: usize = 8192;
/// Most errors of one file that are told.
const ERRORS_MAX: usize = 100;

/// One host with its options, or the defaults of a `*` line (without a name).
///
/// Values are as they were written: `$NAME` in them is expanded on the host that they are for,
/// see [`expand`]. None is what was not said. No value holds white space.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct HostLine {
    /// The name that the host goes by.
    pub name: Blob,
    /// `&`: the options are known, but the host is added only on request.
    pub later: bool,
    /// `$`: one more daemon on that computer, even if there is one already.
    pub again: bool,
    /// `lo=`: the login name there.
    pub lo: Option<Blob>,
    /// `so=`: `pw` asks for a password, `ms` lets a person start the daemon.
    pub so: Option<Blob>,
    /// `dx=`: the program to start there as its daemon.
    pub dx: Option<Blob>,
    /// `ep=`: where it looks for programs, apart by colons.
    pub ep: Option<Blob>,
    /// `wd=`: where its tasks start.
    pub wd: Option<Blob>,
    /// `sp=`: its speed beside the others', measured where nothing is said.
    pub sp: Option<i32>,
    /// `bx=`: what runs tasks under a debugger there.
    pub bx: Option<Blob>,
    /// `ip=`: the name or address to reach it at, in the place of its name.
    pub ip: Option<Blob>,
    /// `id=`: which of several machines of one user.
    pub id: Option<Blob>,
    /// `tunnel`: its link runs through ssh (ours).
    pub tunnel: bool,
    /// `push`: our program is copied there first (ours).
    pub push: bool,
    /// `witness=`: of the whole machine, while it has two hosts: an account on a third computer
    /// where one of the two gets a lock (ours).
    pub witness: Option<Blob>,
    /// `on_silence=`: of the whole machine, while it has two hosts: whether the second one goes on
    /// (`survive`) or waits (`pause`) when it hears nothing of the first (ours).
    pub survive: Option<bool>,
}

/// The fault of a line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HostfileError {
    /// The line of the file from 1, 0 for a line by itself.
    pub line: usize,
    /// The fault.
    pub fault: Fault,
}

/// The fault.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Fault {
    /// There is no host name.
    NoName,
    /// A word that is no option.
    UnknownOption(Blob),
    /// `sp=` without a number.
    NoNumber(Blob),
    /// More than [`LINE_BYTES_MAX`].
    TooLong,
    /// More hosts than a machine can have.
    TooMany,
}

/// The content of a host file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Hostfile {
    /// Each host once, where it was named first. The options of a later line of the same name
    /// count more, and it is to be added if one of its lines says so.
    pub hosts: Vec<HostLine>,
    /// The last `*` line: for hosts that no line names.
    pub defaults: HostLine,
    /// The lines that were left out, and why. The rest counts.
    pub errors: Vec<HostfileError>,
}

/// Reads one line: a host line of `pvm_addhosts`, or of a host file (`*` is a name like others).
///
/// # Errors
///
/// The first fault from the left; nothing of the line counts then.
pub fn parse_line(line: &[u8]) -> Result<HostLine, HostfileError> {
    words_to_line(line).map_err(|fault| HostfileError { line: 0, fault })
}

/// Reads a whole file. A line that is wrong is left out and told; the others count.
pub fn parse_file(text: &[u8]) -> Hostfile {
    let mut file = Hostfile::default();
    let mut places: BTreeMap<Blob, usize> = BTreeMap::new();
    for (number, bytes) in (1..).zip(text.split(|&byte| byte == b'\n')) {
        if words(bytes).next().is_none() {
            continue;
        }
        let fault = match words_to_line(bytes) {
            Err(fault) => fault,
            Ok(line) if line.name.0 == b"*" => {
                file.defaults = HostLine { name: Blob::default(), ..line };
                continue;
            }
            Ok(line) => {
                let line = line.or(&file.defaults);
                if let Some(known) = places.get(&line.name).and_then(|&at| file.hosts.get_mut(at)) {
                    let later = known.later && line.later;
                    let again = known.again || line.again;
                    *known = HostLine { later, again, ..line.or(known) };
                    continue;
                }
                if file.hosts.len() < usize::from(HostIndex::MAX.0) {
                    places.insert(line.name.clone(), file.hosts.len());
                    file.hosts.push(line);
                    continue;
                }
                Fault::TooMany
            }
        };
        if file.errors.len() < ERRORS_MAX {
            file.errors.push(HostfileError { line: number, fault });
        }
    }
    file
}

/// The words up to one that begins a comment.
fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    let words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    words.take_while(|word| !word.starts_with(b"#"))
}

fn words_to_line(bytes: &[u8]) -> Result<HostLine, Fault> {
    if bytes.len() > LINE_BYTES_MAX {
        return Err(Fault::TooLong);
    }
    let mut words = words(bytes);
    let mut line = HostLine::default();
    let mut name = words.next().unwrap_or_default();
    while let Some((mark @ (b'&' | b'$'), rest)) = name.split_first() {
        if *mark == b'&' {
            line.later = true
        } else {
            line.again = true
        }
        // A mark may stand by itself.
        name = if rest.is_empty() { words.next().unwrap_or_default() } else { rest };
    }
    if name.is_empty() {
        return Err(Fault::NoName);
    }
    line.name = Blob(name.to_vec());
    words.try_for_each(|word| line.set(word))?;
    Ok(line)
}

impl HostLine {
    /// A line without options.
    pub fn named(name: impl Into<Blob>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    /// The name of the host, without the login name of `USER@NAME`.
    pub fn host_name(&self) -> Blob {
        let name = self.name.0.rsplit(|&byte| byte == b'@').next().unwrap_or_default();
        Blob(name.to_vec())
    }

    /// Takes an option; what was said before counts more.
    fn set(&mut self, word: &[u8]) -> Result<(), Fault> {
        let unknown = || Fault::UnknownOption(Blob(word.to_vec()));
        match word {
            b"tunnel" => self.tunnel = true,
            b"push" => self.push = true,
            b"on_silence=survive" => drop(self.survive.get_or_insert(true)),
            b"on_silence=pause" => drop(self.survive.get_or_insert(false)),
            [b'w', b'i', b't', b'n', b'e', b's', b's', b'=', account @ ..] => {
                if self.witness.is_none() && is_account(account) {
                    self.witness = Some(Blob(account.to_vec()));
                } else if self.witness.is_none() {
                    return Err(unknown());
                }
            }
            [key @ .., b'='] if key.len() == 2 => self.set_value(key, &[], unknown)?,
            [a, b, b'=', value @ ..] => self.set_value(&[*a, *b], value, unknown)?,
            _ => return Err(unknown()),
        }
        Ok(())
    }

    fn set_value(
        &mut self,
        key: &[u8],
        value: &[u8],
        unknown: impl Fn() -> Fault,
    ) -> Result<(), Fault> {
        if key == b"sp" {
            let number =
                leading_number(value).ok_or_else(|| Fault::NoNumber(value.to_vec().into()))?;
            self.sp.get_or_insert(number);
            return Ok(());
        }
        let slot = match key {
            b"lo" => &mut self.lo,
            b"so" => &mut self.so,
            b"dx" => &mut self.dx,
            b"ep" => &mut self.ep,
            b"wd" => &mut self.wd,
            b"bx" => &mut self.bx,
            b"ip" => &mut self.ip,
            b"id" => &mut self.id,
            _ => return Err(unknown()),
        };
        // An empty value says nothing.
        if slot.is_none() && !value.is_empty() {
            *slot = Some(Blob(value.to_vec()));
        }
        Ok(())
    }

    /// This line, with the options of `other` where it says nothing itself.
    #[must_use]
    pub fn or(&self, other: &Self) -> Self {
        let first =
            |own: &Option<Blob>, other: &Option<Blob>| own.clone().or_else(|| other.clone());
        Self {
            name: self.name.clone(),
            later: self.later,
            again: self.again,
            lo: first(&self.lo, &other.lo),
            so: first(&self.so, &other.so),
            dx: first(&self.dx, &other.dx),
            ep: first(&self.ep, &other.ep),
            wd: first(&self.wd, &other.wd),
            sp: self.sp.or(other.sp),
            bx: first(&self.bx, &other.bx),
            ip: first(&self.ip, &other.ip),
            id: first(&self.id, &other.id),
            tunnel: self.tunnel || other.tunnel,
            push: self.push || other.push,
            // These belong to the machine, not to a host.
            witness: self.witness.clone(),
            survive: self.survive,
        }
    }

    /// The line as it stands in a host file. Read again it is the same, if no value is empty or
    /// holds white space.
    pub fn to_line(&self) -> Blob {
        let mut line = Vec::new();
        line.extend(self.later.then_some(b'&'));
        line.extend(self.again.then_some(b'$'));
        line.extend_from_slice(&self.name.0);
        self.options(&mut line);
        Blob(line)
    }

    fn options(&self, out: &mut Vec<u8>) {
        let values = [
            ("lo", &self.lo),
            ("so", &self.so),
            ("dx", &self.dx),
            ("ep", &self.ep),
            ("wd", &self.wd),
            ("bx", &self.bx),
            ("ip", &self.ip),
            ("id", &self.id),
        ];
        for (key, value) in values.into_iter().filter_map(|(key, v)| Some((key, v.as_ref()?))) {
            out.extend_from_slice(format!(" {key}=").as_bytes());
            out.extend_from_slice(&value.0);
        }
        if let Some(witness) = &self.witness {
            out.extend_from_slice(b" witness=");
            out.extend_from_slice(&witness.0);
        }
        if let Some(survive) = self.survive {
            let rule: &[u8] = if survive { b" on_silence=survive" } else { b" on_silence=pause" };
            out.extend_from_slice(rule);
        }
        if let Some(speed) = self.sp {
            out.extend_from_slice(format!(" sp={speed}").as_bytes());
        }
        for flag in [self.tunnel.then_some(" tunnel"), self.push.then_some(" push")] {
            out.extend_from_slice(flag.unwrap_or_default().as_bytes());
        }
    }
}

/// True for what ssh may be given as a place: no option, and not empty.
fn is_account(text: &[u8]) -> bool {
    let name = text.rsplit(|&byte| byte == b'@').next().unwrap_or_default();
    !text.starts_with(b"-") && !name.is_empty() && !name.starts_with(b"-")
}

/// The whole number that a text begins with, as C reads it; what does not fit is cut off.
fn leading_number(text: &[u8]) -> Option<i32> {
    let (sign, digits) = match text {
        [b'-', digits @ ..] => (-1, digits),
        [b'+', digits @ ..] | digits => (1, digits),
    };
    let mut digits = digits.iter().take_while(|byte| byte.is_ascii_digit()).peekable();
    digits.peek()?;
    let number = digits.fold(0_i64, |n, digit| (n * 10 + i64::from(digit - b'0')).min(1 << 40));
    i32::try_from(sign * number).ok().or(Some(if sign < 0 { i32::MIN } else { i32::MAX }))
}

/// A value with `$NAME` and `${NAME}` replaced by what `lookup` gives for NAME. A name that
/// `lookup` does not know stays as it is written.
pub fn expand(value: &[u8], lookup: impl Fn(&str) -> Option<Vec<u8>>) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = value;
    while let Some(at) = rest.iter().position(|&byte| byte == b'$') {
        let (before, from) = rest.split_at_checked(at).unwrap_or_default();
        out.extend_from_slice(before);
        let (length, name) = variable(from);
        let (written, after) = from.split_at_checked(length).unwrap_or_default();
        match name.and_then(&lookup) {
            Some(text) => out.extend_from_slice(&text),
            None => out.extend_from_slice(written),
        }
        rest = after;
    }
    out.extend_from_slice(rest);
    out
}

/// The variable at the `$` in front: how many bytes it takes, and its name.
fn variable(from: &[u8]) -> (usize, Option<&str>) {
    let open = 1 + usize::from(from.get(1) == Some(&b'{'));
    let name = from.get(open..).unwrap_or_default();
    let length = name.iter().take_while(|&&b| b.is_ascii_alphanumeric() || b == b'_').count();
    let name = name.get(..length).unwrap_or_default();
    let close = usize::from(open == 2 && from.get(open + length) == Some(&b'}'));
    match std::str::from_utf8(name) {
        Ok(text) if text.starts_with(|c: char| !c.is_ascii_digit()) => {
            (open + length + close, Some(text))
        }
        _ => (1, None),
    }
}

impl fmt::Display for HostfileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line != 0 {
            write!(f, "line {}: ", self.line)?;
        }
        match &self.fault {
            Fault::NoName => f.write_str("no host name"),
            Fault::UnknownOption(word) => write!(f, "unknown option \"{}\"", shown(word)),
            Fault::NoNumber(word) => write!(f, "sp= needs a number, not \"{}\"", shown(word)),
            Fault::TooLong => write!(f, "longer than {LINE_BYTES_MAX} bytes"),
            Fault::TooMany => write!(f, "more than {} hosts", HostIndex::MAX.0),
        }
    }
}

/// A word of a file as a person may see it: no control characters, not too long.
fn shown(word: &Blob) -> String {
    let text = word.to_text();
    let mut shown: String = text.chars().take(60).flat_map(char::escape_debug).collect();
    if text.chars().nth(60).is_some() {
        shown.push_str("...");
    }
    shown
}

impl std::error::Error for HostfileError {}

/// More than any name of a computer has.
const NAME_BYTES_MAX: usize = 255;

/// True where a host may be called so: something without blanks and controls, and not longer than
/// computers' names are.
pub fn is_host_name(name: &str) -> bool {
    let odd = |letter: char| letter.is_control() || letter.is_whitespace();
    (1..=NAME_BYTES_MAX).contains(&name.len()) && !name.contains(odd)
}

/// True where the longer name is the shorter one with a domain. NAME.2 is another daemon on NAME,
/// and numbers apart by dots are an address: neither has a domain.
pub fn is_with_domain(long: &Blob, short: &Blob) -> bool {
    let begins =
        long.0.len() > short.0.len() && long.0[..short.0.len()].eq_ignore_ascii_case(&short.0);
    let rest = begins.then(|| &long.0[short.0.len()..]).and_then(|rest| rest.strip_prefix(b"."));
    rest.is_some_and(|rest| !rest.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.'))
}

#[cfg(test)]
mod tests;
