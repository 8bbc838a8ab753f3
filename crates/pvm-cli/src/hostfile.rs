//! Host files: one host per line with its options, `#` comments, `*` lines with defaults for the
//! lines after them, `&` lines for hosts that are known but not started.

use crate::failure::{Failure, Status};
use std::path::Path;

/// Options that PVM 3 knows. Their values are the daemon's business.
const OPTIONS: [&str; 9] = ["ep", "wd", "sp", "lo", "so", "dx", "bx", "ip", "id"];

/// The hosts to start, each with all its options, and what is wrong with other lines.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct HostFile {
    /// `NAME option=value ...`
    pub(crate) hosts: Vec<String>,
    /// One text for each line that was left out.
    pub(crate) errors: Vec<String>,
}

impl HostFile {
    /// Reads a file.
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        let text = std::fs::read(path).map_err(|error| {
            Failure::new(Status::Usage, format!("host file {}: {error}", path.display()))
        })?;
        Ok(Self::parse(&String::from_utf8_lossy(&text), &path.display().to_string()))
    }

    fn parse(text: &str, name: &str) -> Self {
        let mut file = Self::default();
        let mut defaults = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default();
            let mut words = line.split_whitespace();
            let Some(host) = words.next() else { continue };
            let options: Vec<&str> = words.collect();
            if let Some(wrong) = options.iter().find(|option| !is_option(option)) {
                file.errors.push(format!("{name}:{}: unknown option {wrong}", number + 1));
            } else if host == "*" {
                defaults = options;
            } else if !host.starts_with('&') {
                // The first option of a name counts, so the host's own stand in front.
                let own = options.iter().map(|option| key(option)).collect::<Vec<_>>();
                let inherited = defaults.iter().filter(|option| !own.contains(&key(option)));
                let words = std::iter::once(&host).chain(&options).chain(inherited);
                file.hosts.push(words.copied().collect::<Vec<_>>().join(" "));
            }
        }
        file
    }
}

fn key(option: &str) -> &str {
    option.split_once('=').map_or(option, |(key, _)| key)
}

fn is_option(word: &str) -> bool {
    word.contains('=') && OPTIONS.contains(&key(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_hold_for_later_lines_only() {
        let text = "# all\na\n* ep=/x sp=5\nb sp=7 # own\n&c\n\nd what=1\ne so\n";
        let file = HostFile::parse(text, "f");
        assert_eq!(file.hosts, ["a", "b sp=7 ep=/x"]);
        assert_eq!(file.errors, ["f:7: unknown option what=1", "f:8: unknown option so"]);
    }
}
