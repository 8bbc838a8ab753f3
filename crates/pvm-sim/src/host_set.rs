//! A set of hosts as a row of bits: a world has one or two for each host.

use pvm_wire::HostIndex;

/// Some hosts.
#[derive(Clone, Debug, Default)]
pub(crate) struct HostSet {
    words: Vec<u64>,
}

const fn split(host: HostIndex) -> (usize, u64) {
    (host.0 as usize / 64, 1 << (host.0 % 64))
}

impl HostSet {
    pub(crate) fn contains(&self, host: HostIndex) -> bool {
        let (word, bit) = split(host);
        self.words.get(word).is_some_and(|bits| bits & bit != 0)
    }

    /// Puts a host in; false if it is in.
    pub(crate) fn insert(&mut self, host: HostIndex) -> bool {
        let (word, bit) = split(host);
        if self.words.len() <= word {
            self.words.resize(word + 1, 0);
        }
        let is_new = self.words[word] & bit == 0;
        self.words[word] |= bit;
        is_new
    }

    /// Takes a host out; false if it is not in.
    pub(crate) fn remove(&mut self, host: HostIndex) -> bool {
        let was_in = self.contains(host);
        if was_in {
            let (word, bit) = split(host);
            self.words[word] &= !bit;
        }
        was_in
    }

    /// The hosts, sorted.
    pub(crate) fn iter(&self) -> impl Iterator<Item = HostIndex> {
        let hosts = (0..self.words.len() * 64).filter_map(|host| u16::try_from(host).ok());
        hosts.map(HostIndex).filter(|host| self.contains(*host))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_in_once_and_come_out_sorted() {
        let mut set = HostSet::default();
        for host in [4095, 1, 64, 63, 1] {
            assert_eq!(set.insert(HostIndex(host)), host != 1 || !set.contains(HostIndex(63)));
        }
        assert!(set.remove(HostIndex(64)) && !set.remove(HostIndex(64)));
        assert!(!set.remove(HostIndex(2)) && !set.contains(HostIndex(64)));
        assert_eq!(set.iter().map(|host| host.0).collect::<Vec<_>>(), [1, 63, 4095]);
    }
}
