//! From what a person writes for a host, and from a host file, to the lines that the machine takes.

use crate::failure::{Failure, Status};
use pvm_wire::Blob;
use pvm_wire::hostfile::{HostLine, Hostfile, parse_file, parse_line};
use std::net::Ipv6Addr;
use std::path::Path;

/// One more daemon on this computer.
const LOCAL: &str = "local";

/// A host to be added.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct NewHost {
    /// As it was written.
    pub(crate) shown: String,
    /// The host that is asked for.
    pub(crate) line: HostLine,
}

impl NewHost {
    /// Whether it is one more daemon on this computer.
    pub(crate) fn is_local(&self) -> bool {
        self.line.name.0 == LOCAL.as_bytes()
    }
}

/// Reads a host file; what is wrong with its lines is in it.
pub(crate) fn read(path: &Path) -> Result<Hostfile, Failure> {
    let text = std::fs::read(path)
        .map_err(|error| wrong(&format!("host file {}: {error}", path.display())))?;
    Ok(parse_file(&text))
}

/// The faults in the lines of a host file, one text each.
pub(crate) fn faults(path: &Path, file: &Hostfile) -> Vec<String> {
    file.errors.iter().map(|error| format!("{}: {error}", path.display())).collect()
}

/// Options of a command (`-o KEY=VALUE`).
pub(crate) fn options(words: &[String]) -> Result<HostLine, Failure> {
    let line = format!("{LOCAL} {}", words.join(" "));
    let line = parse_line(line.as_bytes()).map_err(|error| wrong(&error.to_string()))?;
    Ok(HostLine { name: Blob::default(), ..line })
}

/// The host that `NAME`, `USER@NAME`, an address, or `'NAME option=value ...'` stands for. Of an
/// option that is given several times the nearest counts: the word's own, then the command's, then
/// the file's.
pub(crate) fn wanted(
    word: &str,
    options: &HostLine,
    file: Option<&Hostfile>,
) -> Result<NewHost, Failure> {
    let mut line =
        parse_line(word.as_bytes()).map_err(|error| wrong(&format!("{word}: {error}")))?;
    let place = line.name.to_text();
    let (user, name) = place.rsplit_once('@').map_or((None, &*place), |(u, n)| (Some(u), n));
    match user {
        Some("") => return Err(wrong(&format!("{word}: there is no user before the @"))),
        Some(user) => line.lo = Some(user.into()),
        None => {}
    }
    line.name = address(name)?.into();
    let mut line = line.or(options);
    if let Some(file) = file {
        let known = file.hosts.iter().find(|known| known.name == line.name);
        line = line.or(known.unwrap_or(&file.defaults));
    }
    Ok(NewHost { shown: word.to_owned(), line })
}

/// The hosts of a host file that are to be started, with a command's options in front of their own.
pub(crate) fn listed(file: &Hostfile, options: &HostLine) -> Vec<NewHost> {
    let named = |line: &HostLine| HostLine {
        name: line.name.clone(),
        again: line.again,
        witness: options.witness.clone().or_else(|| line.witness.clone()),
        survive: options.survive.or(line.survive),
        ..options.clone()
    };
    let started = file.hosts.iter().filter(|line| !line.later);
    started.map(|line| NewHost { shown: line.name.to_text(), line: named(line).or(line) }).collect()
}

/// The lines that the machine keeps for hosts that are not added now: the `&` lines, and under the
/// name `*` the options of hosts that no line names.
pub(crate) fn known_lines(file: &Hostfile) -> Vec<Blob> {
    let later = file.hosts.iter().filter(|line| line.later).map(HostLine::to_line);
    let any = (file.defaults != HostLine::default()).then(|| {
        let line = HostLine { name: "*".into(), ..file.defaults.clone() };
        line.to_line()
    });
    later.chain(any).collect()
}

/// The rules of a command for a machine of two hosts, as the options of a line.
pub(crate) fn rules(witness: Option<&str>, on_silence: Option<&str>) -> Result<HostLine, Failure> {
    let words = [("witness", witness), ("on_silence", on_silence)];
    let words = words.into_iter().filter_map(|(key, value)| Some(format!("{key}={}", value?)));
    options(&words.collect::<Vec<_>>())
}

/// The options that a host file gives the computer that reads it, as `key=value ...`: those of the
/// line of its name, else the last defaults.
pub(crate) fn own_options(file: &Hostfile, own_name: Option<&str>) -> Option<String> {
    let known = file.hosts.iter().find(|line| is_own(&line.name.to_text(), own_name));
    let line = known.unwrap_or(&file.defaults);
    let plain = HostLine { name: LOCAL.into(), later: false, again: false, ..line.clone() };
    let text = plain.to_line().to_text();
    text.strip_prefix(LOCAL).map(|rest| rest.trim().to_owned()).filter(|rest| !rest.is_empty())
}

/// Whether a host file means the computer that reads it by `name`.
pub(crate) fn is_own(name: &str, own_name: Option<&str>) -> bool {
    let computer = rustix::system::uname();
    let computer = computer.nodename().to_string_lossy().into_owned();
    let short = computer.split('.').next().unwrap_or_default();
    own_name == Some(name) || name == computer || name == short
}

/// A name or address without the brackets that an IPv6 address may have.
fn address(name: &str) -> Result<&str, Failure> {
    let bare = name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    if let Some(bare) = bare {
        return Ok(bare);
    }
    let without_zone = name.split_once('%').map_or(name, |(address, _)| address);
    if !name.contains(':') || without_zone.parse::<Ipv6Addr>().is_ok() {
        return Ok(name);
    }
    let (host, port) = name.rsplit_once(':').unwrap_or((name, ""));
    let host = host.trim_matches(['[', ']']);
    Err(wrong(&format!(
        "{name}: the name of a host cannot contain a port\n  set the port in ~/.ssh/config: \
         `printf 'Host {host}\\n  Port {port}\\n' >>~/.ssh/config`, then `pvm add {host}`"
    )))
}

fn wrong(text: &str) -> Failure {
    Failure::new(Status::Usage, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(word: &str) -> String {
        wanted(word, &HostLine::default(), None).unwrap().line.to_line().to_text()
    }

    #[test]
    fn hosts_are_written_as_for_ssh() {
        assert_eq!(line("lab2"), "lab2");
        assert_eq!(line("me@lab2"), "lab2 lo=me");
        assert_eq!(line("me@lab2 lo=you sp=5"), "lab2 lo=me sp=5");
        assert_eq!(line("10.0.0.7"), "10.0.0.7");
        assert_eq!(line("fe80::1%eth0"), "fe80::1%eth0");
        assert_eq!(line("me@[2001:db8::7]"), "2001:db8::7 lo=me");
        assert_eq!(line("local"), "local");
    }

    #[test]
    fn a_port_is_sent_to_the_configuration_of_ssh() {
        let refused = |word| wanted(word, &HostLine::default(), None).unwrap_err().to_string();
        for word in ["lab2:2222", "me@lab2:2222", "[fe80::1]:2222"] {
            let text = refused(word);
            assert!(text.contains("Port 2222") && text.contains("~/.ssh/config"), "{text}");
        }
        assert!(refused("").contains("no host name") && refused("@lab2").contains("no user"));
        assert_eq!(
            refused("lab2 nonsense=1"),
            "pvm: lab2 nonsense=1: unknown option \"nonsense=1\""
        );
    }

    #[test]
    fn the_nearest_option_counts() {
        let file = parse_file(b"* wd=/all\nlab2 sp=1 ep=/file\n&lab3 sp=3\n");
        let options = options(&["sp=2".to_owned(), "push".to_owned()]).unwrap();
        let of = |word| wanted(word, &options, Some(&file)).unwrap().line.to_line().to_text();
        assert_eq!(of("lab2"), "lab2 ep=/file wd=/all sp=2 push");
        assert_eq!(of("lab3 sp=9"), "lab3 wd=/all sp=9 push");
        assert_eq!(of("lab4"), "lab4 wd=/all sp=2 push");
        let known: Vec<String> = known_lines(&file).iter().map(Blob::to_text).collect();
        assert_eq!(known, ["&lab3 wd=/all sp=3", "* wd=/all"]);
        let listed = listed(&file, &options);
        assert_eq!(listed.len(), 1);
        assert_eq!(listed[0].line.to_line().to_text(), "lab2 ep=/file wd=/all sp=2 push");
    }

    #[test]
    fn the_line_of_the_own_name_is_for_this_computer() {
        let file = parse_file(b"other sp=7\nhere wd=/usr sp=500\n");
        assert_eq!(own_options(&file, Some("here")).as_deref(), Some("wd=/usr sp=500"));
        assert_eq!(own_options(&file, Some("nobody")), None);
        let file = parse_file(b"* wd=/usr\n");
        assert_eq!(own_options(&file, None).as_deref(), Some("wd=/usr"));
    }
}
