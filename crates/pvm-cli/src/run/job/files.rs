//! The files in which the old systems say where ranks run.
//!
//! | of | lines |
//! |---|---|
//! | p4 | `local N [path [login]]` first, then `host N path [login]` |
//! | TCGMSG | `user host N path folder` |
//! | the others | `host [N]` |
//!
//! `#` begins a comment. Logins are read and mean nothing: ranks run as the machine's user.

use super::cluster::{Cluster, RANKS_MAX};
use crate::failure::{Failure, Status};
use crate::options::tasks::Interface;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// A longer file is none of ours.
const FILE_BYTES_MAX: u64 = 4 << 20;
/// The number of letters of a bad line that an error shows.
const TOLD_LETTERS_MAX: usize = 200;

/// Reads a file; an error names the line and what was expected there.
pub(super) fn read(file: &Path, interface: Interface) -> Result<Vec<Cluster>, Failure> {
    let usage = |text: String| Failure::new(Status::Usage, text);
    let cannot = |error: std::io::Error| usage(format!("{}: {error}", file.display()));
    let mut bytes = Vec::new();
    // A device tells no size, and may never end.
    let mut start = open(file).map_err(cannot)?.take(FILE_BYTES_MAX + 1);
    start.read_to_end(&mut bytes).map_err(cannot)?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        let most = FILE_BYTES_MAX >> 20;
        return Err(usage(format!("{}: more than {most} MiB, so not such a file", file.display())));
    }
    let text = String::from_utf8_lossy(&bytes);
    clusters(&text, interface, &file.to_string_lossy()).map_err(usage)
}

/// Opens a file. Opening a named pipe without a writer would wait for ever, so that counts as
/// empty. Reading waits again, because the writer of a pipe (`--hosts <(...)`) may be slow.
fn open(file: &Path) -> std::io::Result<std::fs::File> {
    use rustix::fs::{Mode, OFlags, fcntl_getfl, fcntl_setfl, open};
    let opened = open(file, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty())?;
    fcntl_setfl(&opened, fcntl_getfl(&opened)? - OFlags::NONBLOCK)?;
    Ok(opened.into())
}

/// The words of a line, or its first words.
fn told(words: &[&str]) -> String {
    let line = words.join(" ");
    match line.char_indices().nth(TOLD_LETTERS_MAX) {
        Some((at, _)) => format!("{} ...", line.get(..at).unwrap_or_default()),
        None => line,
    }
}

fn clusters(text: &str, interface: Interface, name: &str) -> Result<Vec<Cluster>, String> {
    let mut clusters: Vec<Cluster> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default();
        let words: Vec<&str> = line.split_whitespace().collect();
        if words.is_empty() {
            continue;
        }
        let cluster = match interface {
            Interface::P4 => of_procgroup(&words, clusters.is_empty()),
            Interface::Tcgmsg => of_tcgmsg(&words),
            _ => of_hosts(&words),
        };
        let line = format!("{name}:{}", number + 1);
        let cluster = cluster.map_err(|wanted| {
            format!("{line}: `{}`\n  expected {wanted}; nothing is started", told(&words))
        })?;
        clusters.push(Cluster { line, ..cluster });
    }
    if clusters.is_empty() {
        return Err(format!("{name}: no line says where a rank runs"));
    }
    Ok(clusters)
}

fn count(word: &str, least: u32) -> Option<u32> {
    let most = u32::try_from(RANKS_MAX).unwrap_or(u32::MAX);
    word.parse().ok().filter(|count| (least..=most).contains(count))
}

fn of_procgroup(words: &[&str], is_first: bool) -> Result<Cluster, &'static str> {
    const FIRST: &str =
        "`local N` as the first line, N being the number of processes beside the first one";
    const OTHER: &str = "`host N path [login]`, N being 1 to 16384";
    let local = words.first() == Some(&"local");
    match (is_first, words) {
        (true, [_, number, rest @ ..]) if local && rest.len() <= 2 => {
            let beside = count(number, 0).ok_or(FIRST)?;
            let host = Some("local".to_owned());
            Ok(Cluster { ranks: beside + 1, shares: true, host, ..Cluster::default() })
        }
        (false, [host, number, path, rest @ ..]) if !local && rest.len() <= 1 => Ok(Cluster {
            ranks: count(number, 1).ok_or(OTHER)?,
            shares: true,
            host: Some((*host).to_owned()),
            program: Some(PathBuf::from(path)),
            ..Cluster::default()
        }),
        _ => Err(if is_first { FIRST } else { OTHER }),
    }
}

fn of_tcgmsg(words: &[&str]) -> Result<Cluster, &'static str> {
    const LINE: &str = "`user host N path folder`, N being 1 to 16384";
    let [_, host, number, path, folder] = words else { return Err(LINE) };
    Ok(Cluster {
        ranks: count(number, 1).ok_or(LINE)?,
        shares: false,
        host: Some((*host).to_owned()),
        program: Some(Path::new(folder).join(path)),
        folder: Some(PathBuf::from(folder)),
        line: String::new(),
    })
}

fn of_hosts(words: &[&str]) -> Result<Cluster, &'static str> {
    const LINE: &str = "`host [N]`, N being 1 to 16384";
    let ranks = match words {
        [_] => 1,
        [_, number] => count(number, 1).ok_or(LINE)?,
        _ => return Err(LINE),
    };
    let host = words.first().map(|&host| host.to_owned());
    Ok(Cluster { ranks, host, ..Cluster::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_procgroup_is_read() {
        let text = "# first\nlocal 2\n\nada 3 /bin/worker  # three\nbob 1 worker otto\n";
        let found = clusters(text, Interface::P4, "procgroup").unwrap();
        let ranks: Vec<u32> = found.iter().map(|cluster| cluster.ranks).collect();
        assert_eq!(ranks, [3, 3, 1]);
        assert!(found.iter().all(|cluster| cluster.shares));
        assert_eq!(found[1].program.as_deref(), Some(Path::new("/bin/worker")));
        assert_eq!(found[0].host.as_deref(), Some("local"), "where the first process was started");
        assert_eq!(found[2].line, "procgroup:5");
    }

    #[test]
    fn a_bad_line_is_told_with_its_number_and_what_was_expected() {
        for (text, interface, line) in [
            ("ada 1 /bin/x", Interface::P4, "f:1:"),
            ("local 0\nlocal 1", Interface::P4, "f:2:"),
            ("local -1", Interface::P4, "f:1:"),
            ("local 1\nada 0 x", Interface::P4, "f:2:"),
            ("local 1\nada 99999 x", Interface::P4, "f:2:"),
            ("otto ada 1 /bin/x", Interface::Tcgmsg, "f:1:"),
            ("\notto ada one /bin/x /tmp", Interface::Tcgmsg, "f:2:"),
            ("ada 1 2", Interface::Nx, "f:1:"),
        ] {
            let error = clusters(text, interface, "f").unwrap_err();
            assert!(error.starts_with(line) && error.contains("expected"), "{error}");
        }
        assert!(clusters("# nothing\n", Interface::Nx, "f").is_err());
    }

    #[test]
    fn a_file_that_never_ends_is_none() {
        let failure = read(Path::new("/dev/zero"), Interface::P4).unwrap_err();
        assert!(failure.text().contains("/dev/zero: more than 4 MiB"), "{}", failure.text());
    }

    #[test]
    fn a_pipe_to_which_nobody_writes_was_waited_for() {
        let pipe = std::env::temp_dir().join(format!("neopvm-pipe-{}", std::process::id()));
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        let failure = read(&pipe, Interface::P4).unwrap_err();
        std::fs::remove_file(&pipe).unwrap();
        assert!(failure.text().contains("no line says where a rank runs"), "{}", failure.text());
    }

    #[test]
    fn a_bad_line_of_a_megabyte_was_told_whole() {
        let error = clusters(&"x".repeat(1 << 20), Interface::P4, "f").unwrap_err();
        assert!(error.len() < 500 && error.contains("x ..."), "{}", error.len());
    }

    #[test]
    fn a_file_of_tcgmsg_is_read() {
        let found = clusters("otto ada 4 run.x /scratch\n", Interface::Tcgmsg, "a.p").unwrap();
        assert_eq!(found[0].program.as_deref(), Some(Path::new("/scratch/run.x")));
        assert_eq!((found[0].ranks, found[0].host.as_deref()), (4, Some("ada")));
    }
}
