//! The division of a run: parts are groups of hosts, with their tasks and the links that begin at
//! them. A part runs alone for as long as no other part can affect it.

use crate::unit::Time;
use std::ops::{Index, IndexMut};

/// The most parts of a run.
pub(super) const PARTS_MAX: u32 = 8;
/// The fewest hosts of a part.
const HOSTS_MIN: u32 = 16;

/// The division of some hosts into parts. It depends on the input alone, never on the number of
/// threads, because the parts decide on the order of events at one time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::model) struct Division {
    hosts: u32,
    pub(in crate::model) parts: u32,
    /// The shortest time after which an action of one part affects another part.
    pub(in crate::model) ahead: Time,
}

impl Division {
    /// A division with a single part.
    pub(in crate::model) const fn whole(hosts: u32) -> Self {
        Self { hosts, parts: 1, ahead: Time::END }
    }

    /// A division with as many parts as this number of hosts justifies.
    pub(in crate::model) fn of(hosts: u32, ahead: Time) -> Self {
        let parts = (hosts / HOSTS_MIN).min(PARTS_MAX);
        if parts < 2 || ahead == Time::ZERO {
            return Self::whole(hosts);
        }
        Self { hosts, parts, ahead }
    }

    /// The part of a host.
    pub(in crate::model) fn of_host(&self, host: u32) -> u32 {
        (u64::from(host) * u64::from(self.parts) / u64::from(self.hosts.max(1))) as u32
    }
}

/// One of the parts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::model) struct Part {
    pub(in crate::model) number: u32,
    pub(in crate::model) division: Division,
}

impl Part {
    pub(in crate::model) fn has(&self, host: u32) -> bool {
        self.division.parts == 1 || self.division.of_host(host) == self.number
    }

    /// The number of a stream of random numbers that this part alone uses.
    pub(in crate::model) const fn stream(&self, stream: u64) -> u64 {
        stream + 16 * self.number as u64
    }
}

/// The items of a numbered list that belong to one part.
#[derive(Debug)]
pub(in crate::model) struct Owned<T> {
    /// By number: the index here. None if all items are here.
    places: Option<Box<[u32]>>,
    own: Vec<T>,
}

impl<T> Owned<T> {
    pub(in crate::model) fn new(
        count: u32,
        is_here: impl Fn(u32) -> bool,
        mut make: impl FnMut(u32) -> T,
    ) -> Self {
        let (mut places, mut own) = (vec![u32::MAX; count as usize], Vec::new());
        for number in (0..count).filter(|number| is_here(*number)) {
            places[number as usize] = own.len() as u32;
            own.push(make(number));
        }
        let places = (own.len() < count as usize).then(|| places.into());
        Self { places, own }
    }

    fn place(&self, number: usize) -> usize {
        self.places.as_ref().map_or(number, |places| places[number] as usize)
    }

    /// The number of all items, of this part or of others.
    pub(in crate::model) fn count(&self) -> u32 {
        self.places.as_ref().map_or(self.own.len(), |places| places.len()) as u32
    }

    /// The item of a number, if it belongs to this part.
    pub(in crate::model) fn get(&self, number: u32) -> Option<&T> {
        self.own.get(self.place(number as usize))
    }
}

impl<T> Index<usize> for Owned<T> {
    type Output = T;

    fn index(&self, number: usize) -> &T {
        &self.own[self.place(number)]
    }
}

impl<T> IndexMut<usize> for Owned<T> {
    fn index_mut(&mut self, number: usize) -> &mut T {
        let place = self.place(number);
        &mut self.own[place]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_host_has_one_part_and_parts_are_alike() {
        for hosts in [32, 33, 100, 127, 128, 256, 65_536] {
            let division = Division::of(hosts, Time(1));
            let mut counts = vec![0u32; division.parts as usize];
            (0..hosts).for_each(|host| counts[division.of_host(host) as usize] += 1);
            let (least, most) = (counts.iter().min(), counts.iter().max());
            assert!(least.zip(most).is_some_and(|(least, most)| most - least <= 1), "{counts:?}");
        }
        assert_eq!(Division::of(31, Time(1)), Division::whole(31));
        assert_eq!(Division::of(256, Time::ZERO), Division::whole(256));
    }

    #[test]
    fn things_that_are_elsewhere_have_no_place() {
        let mut odd = Owned::new(10, |number| number % 2 == 1, |number| number * 100);
        odd[7] += 1;
        assert_eq!((odd[3], odd[7], odd.get(9), odd.get(4)), (300, 701, Some(&900), None));
        assert_eq!(odd.count(), 10);
    }
}
