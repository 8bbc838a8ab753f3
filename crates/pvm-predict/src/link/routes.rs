//! The routes of a network of links: the next link of a packet on its way between two hosts.
//!
//! Nodes are hosts (from 0 on) and, behind them, switches. A route depends only on the packet's
//! source and destination, not on the load, and no route has a circle.

use crate::planted::{self, Bug};

/// The most links that a network may have.
const LINKS_MAX: u64 = 1 << 22;

/// The shape of a network.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Topology {
    /// One switch in the middle, with a link to each host and one back.
    #[default]
    Star,
    /// One medium, which carries one frame at a time.
    Bus,
    /// Each host has links to the next one and to the one before; packets take the shorter
    /// direction.
    Ring,
    /// A host has a link to each host whose number differs in one bit; packets take the lowest bit
    /// first.
    Hypercube,
    /// A grid of up to three dimensions; packets take the first dimension first.
    Mesh(Shape),
    /// A grid whose lines are rings; packets take the shorter direction.
    Torus(Shape),
    /// A tree of switches with as many links upwards as downwards.
    FatTree(Tree),
}

/// The lengths of a grid's sides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape(pub [u32; 3]);

/// The switches of a fat tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tree {
    /// The number of children of each switch.
    pub children: u32,
    /// A switch has this many times fewer links upwards than downwards.
    pub taper: u32,
}

impl Topology {
    /// The lines of a platform file for this network; none for a switch.
    pub fn to_toml(self) -> String {
        let grid = |name: &str, Shape([x, y, z]): Shape| {
            format!("topology = \"{name}\"\nshape = \"{x}x{y}x{z}\"\n")
        };
        match self {
            Self::Star => String::new(),
            Self::Bus => "topology = \"bus\"\n".to_owned(),
            Self::Ring => "topology = \"ring\"\n".to_owned(),
            Self::Hypercube => "topology = \"hypercube\"\n".to_owned(),
            Self::Mesh(shape) => grid("mesh", shape),
            Self::Torus(shape) => grid("torus", shape),
            Self::FatTree(Tree { children, taper }) => {
                format!("topology = \"fat-tree\"\nchildren = {children}\ntaper = {taper}\n")
            }
        }
    }
}

/// A step of a route.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hop {
    /// The link.
    pub link: u32,
    /// The node at its end.
    pub node: u32,
}

/// The routes of a network.
#[derive(Clone, Debug)]
pub struct Routes {
    topology: Topology,
    hosts: u32,
    /// For a hypercube the number of dimensions; for a fat tree the levels.
    dimensions: u32,
    levels: Vec<Level>,
    links: u32,
}

/// The nodes of a fat tree at one distance from its hosts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Level {
    /// The number of the first of them.
    node: u32,
    /// The first link between them and the level above.
    link: u32,
    /// The links upwards of each of them; as many lead downwards.
    width: u32,
    /// The hosts below each of them.
    below: u32,
}

impl Routes {
    /// The routes between `hosts` hosts; an error if a grid has no room for them.
    pub fn new(topology: Topology, hosts: u32) -> Result<Self, String> {
        let dimensions = hosts.max(2).next_power_of_two().trailing_zeros();
        let mut routes = Self { topology, hosts, dimensions, levels: Vec::new(), links: 0 };
        let links = match topology {
            Topology::Star | Topology::Ring => 2 * u64::from(hosts),
            Topology::Bus if planted::is(Bug::BusOfMany) => u64::from(hosts),
            Topology::Bus => 1,
            Topology::Hypercube => u64::from(dimensions) << dimensions,
            Topology::Mesh(shape) | Topology::Torus(shape) => {
                let [x, y, z] = shape.0.map(u64::from);
                if x * y * z < u64::from(hosts) {
                    return Err(format!("{hosts} hosts are more than {x}x{y}x{z} nodes"));
                }
                6 * x * y * z
            }
            Topology::FatTree(tree) => routes.grow(tree),
        };
        if links > LINKS_MAX {
            return Err(format!("{hosts} hosts need {links} links, more than {LINKS_MAX}"));
        }
        routes.links = links as u32;
        Ok(routes)
    }

    /// Makes the levels of a fat tree, up to the one switch above all hosts. Returns the number of
    /// links.
    fn grow(&mut self, tree: Tree) -> u64 {
        let (mut count, mut width, mut below) = (u64::from(self.hosts), 1, 1);
        let (mut node, mut link) = (0, 0);
        loop {
            let (first, low) = (node as u32, link as u32);
            self.levels.push(Level { node: first, link: low, width: width as u32, below });
            if count <= 1 && self.levels.len() > 1 {
                return link;
            }
            node += count;
            link += 2 * count * width;
            let taper = if planted::is(Bug::TaperForgotten) { 1 } else { tree.taper };
            width = (width * u64::from(tree.children) / u64::from(taper)).max(1);
            below = below.saturating_mul(tree.children);
            count = count.div_ceil(u64::from(tree.children));
        }
    }

    /// The number of links.
    pub const fn links(&self) -> u32 {
        self.links
    }

    /// The next step of the route between two hosts, from a node on it; none at its end.
    pub fn next(&self, (from, to): (u32, u32), at: u32) -> Option<Hop> {
        if at == to {
            return None;
        }
        Some(match self.topology {
            Topology::Star if at < self.hosts => Hop { link: at, node: self.hosts },
            Topology::Star => Hop { link: self.hosts + to, node: to },
            Topology::Bus if planted::is(Bug::BusOfMany) => Hop { link: at, node: to },
            Topology::Bus => Hop { link: 0, node: to },
            Topology::Ring => self.around(to, at),
            Topology::Hypercube => {
                let apart = at ^ to;
                let bit = if planted::is(Bug::HighestBitFirst) {
                    31 - apart.leading_zeros()
                } else {
                    apart.trailing_zeros()
                };
                Hop { link: at * self.dimensions + bit, node: at ^ (1 << bit) }
            }
            Topology::Mesh(shape) => shape.step(to, at, false),
            Topology::Torus(shape) => shape.step(to, at, !planted::is(Bug::TorusWithoutWrap)),
            Topology::FatTree(_) => self.climb((from, to), at),
        })
    }

    /// A host with which a link belongs together: the one at its begin, or one below.
    pub(crate) fn host_of(&self, link: u32) -> u32 {
        let host = match self.topology {
            Topology::Star => link % self.hosts.max(1),
            Topology::Bus => 0,
            Topology::Ring => link / 2,
            Topology::Hypercube => link / self.dimensions,
            Topology::Mesh(_) | Topology::Torus(_) => link / 6,
            Topology::FatTree(_) => {
                let place = self.levels.partition_point(|level| level.link <= link) - 1;
                let level = self.levels[place];
                (link - level.link) / (2 * level.width) * level.below
            }
        };
        host.min(self.hosts.saturating_sub(1))
    }

    /// All links of the route between two hosts.
    pub fn route(&self, from: u32, to: u32) -> impl Iterator<Item = u32> + '_ {
        let mut at = from;
        std::iter::from_fn(move || {
            let hop = self.next((from, to), at)?;
            at = hop.node;
            Some(hop.link)
        })
    }

    fn around(&self, to: u32, at: u32) -> Hop {
        let ahead = (to + self.hosts - at) % self.hosts;
        if ahead <= self.hosts / 2 || planted::is(Bug::RingOneWay) {
            Hop { link: 2 * at, node: (at + 1) % self.hosts }
        } else {
            Hop { link: 2 * at + 1, node: (at + self.hosts - 1) % self.hosts }
        }
    }

    /// A step in a fat tree: upwards until both hosts are below, then downwards. The destination
    /// chooses among several links, so packets to different hosts seldom meet.
    fn climb(&self, (_, to): (u32, u32), at: u32) -> Hop {
        let place = self.levels.partition_point(|level| level.node <= at) - 1;
        let level = self.levels[place];
        let number = at - level.node;
        let lane = |width: u32| if planted::is(Bug::OneUplink) { 0 } else { to % width };
        if to / level.below != number {
            let above = self.levels[place + 1];
            let children = above.below / level.below;
            let link = level.link + 2 * level.width * number + lane(level.width);
            return Hop { link, node: above.node + number / children };
        }
        let below = self.levels[place - 1];
        let child = to / below.below;
        let link = below.link + 2 * below.width * child + below.width + lane(below.width);
        Hop { link, node: below.node + child }
    }
}

impl Shape {
    /// One step in a grid towards a node; `wraps` if its lines are rings.
    fn step(self, to: u32, at: u32, wraps: bool) -> Hop {
        let (mut stride, mut direction) = (1, 0);
        let is_last = |stride| planted::is(Bug::LastDimensionFirst) && at / stride != to / stride;
        for side in self.0 {
            let (own, other) = (at / stride % side, to / stride % side);
            if own != other && !is_last(stride * side) {
                let ahead = (other + side - own) % side;
                let is_up = if wraps { ahead <= side / 2 } else { other > own };
                let next = if is_up { (own + 1) % side } else { (own + side - 1) % side };
                let node = at - own * stride + next * stride;
                return Hop { link: 6 * at + direction + u32::from(!is_up), node };
            }
            stride *= side;
            direction += 2;
        }
        unreachable!("a step is asked for between different nodes")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TREE: Topology = Topology::FatTree(Tree { children: 4, taper: 1 });

    fn length(topology: Topology, hosts: u32, from: u32, to: u32) -> usize {
        let routes = Routes::new(topology, hosts).expect("it has room");
        routes.route(from, to).count()
    }

    #[test]
    fn routes_have_the_lengths_of_the_textbook() {
        assert_eq!(length(Topology::Star, 5, 0, 4), 2);
        assert_eq!(length(Topology::Bus, 5, 0, 4), 1);
        for (to, links) in [(1, 1), (4, 4), (5, 3), (7, 1)] {
            assert_eq!(length(Topology::Ring, 8, 0, to), links, "to {to}");
        }
        assert_eq!(length(Topology::Hypercube, 64, 0b10_1101, 0b01_1001), 3);
        let shape = Shape([4, 4, 2]);
        assert_eq!(length(Topology::Mesh(shape), 32, 0, 31), 3 + 3 + 1);
        assert_eq!(length(Topology::Torus(shape), 32, 0, 31), 1 + 1 + 1);
        for (to, links) in [(1, 2), (3, 2), (4, 4), (15, 4), (16, 6), (63, 6)] {
            assert_eq!(length(TREE, 64, 0, to), links, "to {to}");
        }
    }

    #[test]
    fn hosts_that_find_no_room_are_refused() {
        assert!(Routes::new(Topology::Mesh(Shape([4, 4, 1])), 17).is_err());
        assert!(Routes::new(TREE, u32::from(u16::MAX)).is_ok());
        assert!(Routes::new(Topology::Hypercube, 1 << 20).is_err(), "20 million links");
    }

    #[test]
    fn what_goes_to_different_hosts_does_not_meet_in_a_whole_fat_tree() {
        let routes = Routes::new(TREE, 64).expect("it has room");
        for shift in 1..64 {
            let mut used = std::collections::BTreeSet::new();
            for from in 0..64 {
                let links = routes.route(from, (from + shift) % 64);
                assert!(links.into_iter().all(|link| used.insert(link)), "shift {shift}");
            }
        }
        let Ok(thin) = Routes::new(Topology::FatTree(Tree { children: 4, taper: 2 }), 64) else {
            panic!("it has room")
        };
        assert!(thin.links() < routes.links());
    }

    fn topology() -> impl Strategy<Value = Topology> {
        let shape = (1u32..6, 1u32..6, 1u32..4).prop_map(|(x, y, z)| Shape([x, y, z]));
        let tree = (2u32..6, 1u32..4).prop_map(|(children, taper)| Tree { children, taper });
        prop_oneof![
            Just(Topology::Star),
            Just(Topology::Bus),
            Just(Topology::Ring),
            Just(Topology::Hypercube),
            shape.clone().prop_map(Topology::Mesh),
            shape.prop_map(Topology::Torus),
            tree.prop_map(Topology::FatTree),
        ]
    }

    proptest! {
        /// Each route ends, crosses no link twice, and uses links that exist.
        #[test]
        fn routes_end(topology in topology(), hosts in 1u32..70) {
            let Ok(routes) = Routes::new(topology, hosts) else { return Ok(()) };
            for from in 0..hosts {
                for to in 0..hosts {
                    let links: Vec<u32> = routes.route(from, to).take(1000).collect();
                    let mut once = links.clone();
                    once.sort_unstable();
                    once.dedup();
                    prop_assert_eq!(once.len(), links.len(), "{} to {}", from, to);
                    prop_assert!(links.iter().all(|link| *link < routes.links()));
                    prop_assert_eq!(links.is_empty(), from == to);
                }
            }
        }
    }
}
