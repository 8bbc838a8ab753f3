//! The host of each task.

use crate::action::TaskNumber;

/// The most hosts.
const HOSTS_MAX: u32 = 1 << 16;

/// A placement.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Placement {
    /// Each task has a host of its own.
    #[default]
    Each,
    /// This many tasks on the first host, as many on the next one, and so on.
    Blocks(u32),
    /// Tasks go to this many hosts in turn.
    Round(u32),
    /// The host of each task.
    List(Vec<u32>),
}

impl Placement {
    /// Reads `each`, `block:N` (N tasks a host), `round:N` (N hosts), or the host of each task:
    /// `0,0,1,1`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let number = |text: &str| match text.parse() {
            Ok(0) => Err("there are no hosts without tasks, and no tasks without hosts".to_owned()),
            Ok(number) if number < HOSTS_MAX => Ok(number),
            _ => Err(format!("{text:?} is not a number below {HOSTS_MAX}")),
        };
        match text.split_once(':') {
            Some(("block", count)) => number(count).map(Self::Blocks),
            Some(("round", count)) => number(count).map(Self::Round),
            None if text == "each" => Ok(Self::Each),
            None => {
                let host = |word: &str| match word.trim().parse() {
                    Ok(host) if host < HOSTS_MAX => Ok(host),
                    _ => {
                        Err(format!("{word:?} is no host: each, block:N, round:N, or 0,0,1,1 ..."))
                    }
                };
                text.split(',').map(host).collect::<Result<_, _>>().map(Self::List)
            }
            Some((word, _)) => Err(format!("{word:?} is unknown: block:N or round:N")),
        }
    }

    /// The host of each of `tasks` tasks.
    pub fn hosts(&self, tasks: TaskNumber) -> Result<Vec<u32>, String> {
        match self {
            Self::Each => Ok((0..tasks).collect()),
            Self::Blocks(count) => Ok((0..tasks).map(|task| task / count).collect()),
            Self::Round(count) => Ok((0..tasks).map(|task| task % count).collect()),
            Self::List(hosts) if hosts.len() == tasks as usize => Ok(hosts.clone()),
            Self::List(hosts) => {
                Err(format!("there are {tasks} tasks, and {} have a host", hosts.len()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_dealt_out_as_asked() {
        let hosts = |text: &str| Placement::parse(text).and_then(|place| place.hosts(4));
        assert_eq!(hosts("each"), Ok(vec![0, 1, 2, 3]));
        assert_eq!(hosts("block:2"), Ok(vec![0, 0, 1, 1]));
        assert_eq!(hosts("round:2"), Ok(vec![0, 1, 0, 1]));
        assert_eq!(hosts("3, 3,3,0"), Ok(vec![3, 3, 3, 0]));
        for wrong in ["", "block:0", "round:", "heap:2", "0,1", "0,1,2,x", "0,1,2,65536", "-1"] {
            assert!(hosts(wrong).is_err(), "{wrong}");
        }
    }
}
