//! The witness of two hosts: an account on a third computer, reached by ssh, where a link with the
//! name of both hosts is made once and says whose it is. Making a link of this kind either
//! happens or not, also when both hosts try at the same moment; nothing else runs there.

use super::Shell;
use crate::hex::to_hex;
use crate::launch::invitation::quoted;
use crate::launch::ssh::Target;
use pvm_wire::Blob;
use pvm_wire::hostfile::HostLine;
use std::process::Stdio;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// The time that the witness may take to answer, beside ssh's own timeout.
const ANSWER_TIME: Duration = Duration::from_secs(10);
/// Between two attempts, and how many there are: a host that waits ends after a minute.
const PAUSE: Duration = Duration::from_secs(1);
const ATTEMPTS: u32 = 30;
/// In front of what the witness says.
const MARK: &str = "neopvm-witness-1 ";
/// Bytes of a key that a name holds.
const KEY_BYTES: usize = 16;
/// Locks of machines that are long gone are taken away.
const DAYS: u32 = 30;

/// The name of the lock for both hosts, and the words of the asking one.
#[derive(Debug)]
struct Lock {
    name: String,
    owner: String,
}

impl Lock {
    fn new(own: &[u8], other: &[u8], pair: u64) -> Self {
        let short = |key: &[u8]| to_hex(key.get(..KEY_BYTES).unwrap_or(key));
        let (own, other) = (short(own), short(other));
        let (a, b) = if own < other { (&own, &other) } else { (&other, &own) };
        Self { name: format!(".neopvm-witness-{a}-{b}-{pair}"), owner: own }
    }

    fn script(&self) -> String {
        let (name, owner) = (quoted(&self.name), quoted(&self.owner));
        format!(
            "cd || exit; find . -maxdepth 1 -type l -name '.neopvm-witness-*' -mtime +{DAYS} \
             -exec rm -f {{}} + 2>/dev/null; ln -s {owner} {name} 2>/dev/null; \
             case $(readlink {name}) in {owner}) echo {MARK}yes;; '') ;; *) echo {MARK}no;; esac"
        )
    }
}

/// The witness's answer, if there is one.
fn answer_in(said: &[String]) -> Option<bool> {
    said.iter().find_map(|line| match line.split_once(MARK)?.1.trim() {
        "yes" => Some(true),
        "no" => Some(false),
        _ => None,
    })
}

impl Shell {
    /// Asks the witness, and again while it does not answer.
    pub(super) fn ask_witness(&self, witness: Blob, pair: u64) {
        let Some(other) = self.links.other_key() else { return };
        let lock = Lock::new(&self.facts.key.0, other, pair);
        let target = Target::new(&HostLine::named(witness.clone()));
        let witnessed = self.witnessed.0.clone();
        tokio::spawn(async move {
            for _ in 0..ATTEMPTS {
                let until = Instant::now() + ANSWER_TIME;
                let heard = target.run(&lock.script(), Stdio::null(), until).await;
                if let Some(granted) = answer_in(&heard.said) {
                    let _ = witnessed.send((witness, pair, granted)).await;
                    return;
                }
                sleep(PAUSE).await;
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    fn ask(home: &std::path::Path, lock: &Lock) -> Option<bool> {
        let output = Command::new("/bin/sh")
            .args(["-c", &lock.script()])
            .env("HOME", home)
            .output()
            .expect("a shell");
        let said: Vec<String> =
            String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect();
        answer_in(&said)
    }

    #[test]
    fn of_two_hosts_the_first_that_asks_has_the_lock_and_gets_it_again() {
        let home = std::env::temp_dir().join(format!("witness-{}", std::process::id()));
        std::fs::create_dir(&home).expect("a folder");
        let (a, b) = (Lock::new(&[1; 32], &[2; 32], 7), Lock::new(&[2; 32], &[1; 32], 7));
        assert_eq!(a.name, b.name);
        assert_eq!(ask(&home, &a), Some(true));
        assert_eq!(ask(&home, &b), Some(false));
        assert_eq!(ask(&home, &a), Some(true));
        // Two other hosts in these places, or these again: another lock.
        assert_eq!(ask(&home, &Lock::new(&[2; 32], &[1; 32], 8)), Some(true));
        std::fs::remove_dir_all(&home).expect("our folder");
        assert_eq!(ask(&home, &a), None);
    }
}
