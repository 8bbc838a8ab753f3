//! The heartbeats of daemons: each daemon sends one to its neighbours at regular intervals.

use crate::kernel::Dice;
use crate::planted::{self, Bug};
use crate::unit::Time;

/// The number of hosts on either side of a host to which it has a link.
const NEAR: u32 = 2;

/// The heartbeats between all daemons.
#[derive(Debug)]
pub(crate) struct Beats {
    every: Time,
    pairs: Vec<(u32, u32)>,
}

impl Beats {
    /// Heartbeats between hosts that are near to one another in a ring, and between the first host,
    /// which leads, and all others; none if the interval is 0.
    pub(crate) fn new(every: Time, hosts: u32) -> Self {
        let mut pairs = Vec::new();
        if every > Time::ZERO && !planted::is(Bug::BeatsForgotten) {
            pairs.extend((1..hosts).map(|other| (0, other)));
            for one in 1..hosts {
                let mut near: Vec<u32> = (1..=NEAR.min(hosts - 1))
                    .flat_map(|steps| [(one + steps) % hosts, (one + hosts - steps) % hosts])
                    .chain([0])
                    .filter(|other| *other != one)
                    .collect();
                near.sort_unstable();
                near.dedup();
                pairs.extend(near.into_iter().map(|other| (one, other)));
            }
        }
        Self { every, pairs }
    }

    /// The first heartbeat of each pair, at a random time.
    pub(crate) fn first(&self, dice: &mut Dice) -> Vec<(Time, u32)> {
        let all = 0..self.pairs.len() as u32;
        all.map(|number| (Time(dice.below(self.every.0.max(1))), number)).collect()
    }

    /// Handles a due heartbeat: returns its sender, its receiver, and the time of the next one.
    pub(crate) fn handle_timeout(&self, now: Time, number: u32) -> ((u32, u32), Time) {
        (self.pairs[number as usize], now + self.every)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_beats_to_its_neighbours_and_the_first_one() {
        let beats = Beats::new(Time(5), 9);
        let to = |host| {
            let own = beats.pairs.iter().filter(|(one, _)| *one == host);
            own.map(|(_, other)| *other).collect::<Vec<_>>()
        };
        assert_eq!(to(0), [1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(to(4), [0, 2, 3, 5, 6]);
        assert_eq!(Beats::new(Time(5), 2).pairs, [(0, 1), (1, 0)]);
        assert_eq!(Beats::new(Time::ZERO, 9).pairs, []);
        assert_eq!(beats.handle_timeout(Time(7), 0), ((0, 1), Time(12)));
    }
}
