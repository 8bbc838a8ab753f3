//! Links that flows share by max-min fairness: no flow can get more without taking from a flow that
//! has no more than it.
//!
//! All flows grow equally until a link is full; the flows of that link keep their rates, and the
//! others grow on (progressive filling, Bertsekas and Gallager, *Data Networks*, 6.5.2). Rates
//! change only when a flow begins or ends.

use crate::planted::{self, Bug};
use crate::unit::Time;
use std::collections::VecDeque;
use std::rc::Rc;

/// An output.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Output {
    /// Call `handle_timeout` at this time with this number.
    Wake(Time, u64),
    /// The remaining bytes of a flow have reached its mark.
    Marked(u32),
    /// A flow has ended.
    Done(u32),
}

/// A flow that is under way.
#[derive(Clone, Debug)]
struct Flow {
    name: u32,
    /// The links that it crosses, each once.
    links: Rc<[u32]>,
    /// The bytes that remain.
    left: f64,
    /// The number of remaining bytes at which the owner gets [`Output::Marked`].
    mark: Option<f64>,
    /// The rate in bytes per picosecond.
    rate: f64,
}

impl Flow {
    fn crosses(&self) -> impl Iterator<Item = usize> {
        let all = if planted::is(Bug::ReceiverNotShared) { 1 } else { self.links.len() };
        self.links.iter().take(all).map(|link| *link as usize)
    }
}

/// The machine.
#[derive(Debug)]
pub struct Share {
    /// The capacity of each link in bytes per picosecond.
    links: Vec<f64>,
    flows: Vec<Flow>,
    /// The time up to which the remaining bytes are right.
    at: Time,
    /// The number of the last wake-up that was asked for; earlier ones are outdated.
    wish: u64,
    /// True if rates are outdated, and a wake-up for this moment was asked for.
    is_stale: bool,
    out: VecDeque<Output>,
    filling: Filling,
}

/// Memory that is used again for each new computation of rates.
#[derive(Debug, Default)]
struct Filling {
    /// By link: the free capacity, and the number of its flows without a rate.
    room: Vec<(f64, u32)>,
    open: Vec<u32>,
}

impl Share {
    /// Makes links, each with the picoseconds that it takes for a byte.
    pub fn new(links: impl IntoIterator<Item = f64>) -> Self {
        let links = links.into_iter().map(f64::recip).collect();
        let (flows, out, filling) = (Vec::new(), VecDeque::new(), Filling::default());
        Self { links, flows, at: Time::ZERO, wish: 0, is_stale: false, out, filling }
    }

    /// Adds a link with the picoseconds that it takes for a byte; returns its number.
    pub fn link(&mut self, byte: f64) -> u32 {
        self.links.push(byte.recip());
        self.links.len() as u32 - 1
    }

    /// A flow of `bytes` bytes begins on some links, each once.
    pub fn handle(&mut self, now: Time, name: u32, links: Rc<[u32]>, bytes: u64) {
        self.advance(now);
        let (left, mark) = (bytes as f64, None);
        self.flows.push(Flow { name, links, left, mark, rate: 0.0 });
        self.ask(now);
    }

    /// Sets the mark of a flow: [`Output::Marked`] follows once `mark` bytes or fewer remain.
    pub fn mark(&mut self, now: Time, name: u32, mark: u64) {
        self.advance(now);
        if let Some(flow) = self.flows.iter_mut().find(|flow| flow.name == name) {
            flow.mark = Some(mark as f64);
            self.ask(now);
        }
    }

    /// Handles a wake-up: flows may have reached their ends or marks.
    pub fn handle_timeout(&mut self, now: Time, wish: u64) {
        if wish != self.wish {
            return;
        }
        self.advance(now);
        let out = &mut self.out;
        for flow in &mut self.flows {
            // Times are whole picoseconds, so the bytes of one picosecond are a rounding error.
            if flow.mark.is_some_and(|mark| flow.left <= mark + flow.rate) {
                flow.mark = None;
                out.push_back(Output::Marked(flow.name));
            }
        }
        self.flows.retain(|flow| {
            let is_done = flow.left <= flow.rate;
            if is_done {
                out.push_back(Output::Done(flow.name));
            }
            !is_done
        });
        self.fill();
        self.plan();
    }

    /// The next output; none if there is none left.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.out.pop_front()
    }

    /// Asks for a wake-up at this moment. Often several flows begin at one moment, so rates are
    /// computed once all of them have begun.
    fn ask(&mut self, now: Time) {
        if !self.is_stale {
            self.is_stale = true;
            self.wish += 1;
            self.out.push_back(Output::Wake(now, self.wish));
        }
    }

    fn advance(&mut self, now: Time) {
        let span = now.since(self.at).0 as f64;
        if span > 0.0 {
            debug_assert!(!self.is_stale, "rates are found before time goes on");
            self.flows.iter_mut().for_each(|flow| flow.left -= flow.rate * span);
            self.at = now;
        }
    }

    /// Computes all rates: the link with the least capacity for each of its flows fills first.
    fn fill(&mut self) {
        self.is_stale = false;
        let Filling { room, open } = &mut self.filling;
        room.clear();
        room.extend(self.links.iter().map(|link| (*link, 0)));
        open.clear();
        open.extend(0..self.flows.len() as u32);
        for flow in &self.flows {
            flow.crosses().for_each(|link| room[link].1 += 1);
        }
        while !open.is_empty() {
            let each = |(room, count): &(f64, u32)| room.max(0.0) / f64::from(*count);
            let narrow = (0..room.len())
                .filter(|link| room[*link].1 > 0)
                .min_by(|one, other| each(&room[*one]).total_cmp(&each(&room[*other])));
            let Some(narrow) = narrow else { break };
            let rate = each(&room[narrow]);
            open.retain(|number| {
                let flow = &mut self.flows[*number as usize];
                let is_full = flow.crosses().any(|link| link == narrow);
                if is_full {
                    flow.rate = rate;
                    let taken = if planted::is(Bug::LinkOverbooked) { 0.0 } else { rate };
                    for link in flow.crosses() {
                        room[link].0 -= taken;
                        room[link].1 -= 1;
                    }
                }
                !is_full
            });
        }
    }

    /// Asks for a wake-up at the next end or mark.
    fn plan(&mut self) {
        let span = |flow: &Flow| (flow.left - flow.mark.unwrap_or(0.0)).max(0.0) / flow.rate;
        let next = self.flows.iter().map(span).min_by(f64::total_cmp);
        let Some(span) = next else { return };
        self.wish += 1;
        self.out.push_back(Output::Wake(self.at + Time(span.ceil() as u64), self.wish));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Runs until all flows have ended. Returns their ends.
    fn ends(share: &mut Share) -> Vec<(u32, u64)> {
        let (mut ended, mut now, mut next) = (Vec::new(), Time::ZERO, None);
        loop {
            while let Some(output) = share.poll_output() {
                match output {
                    Output::Wake(at, wish) => next = Some((at, wish)),
                    Output::Done(name) => ended.push((name, now.0)),
                    Output::Marked(_) => (),
                }
            }
            let Some((at, wish)) = next.take() else { return ended };
            now = at;
            share.handle_timeout(now, wish);
        }
    }

    #[test]
    fn what_a_flow_cannot_use_goes_to_others() {
        // A byte takes a picosecond everywhere. Three flows leave link 0. The last of them meets a
        // fourth flow on link 3, which gets the two thirds that are left there.
        let mut share = Share::new([1.0; 5]);
        for (name, links) in [(0, [0, 1]), (1, [0, 2]), (2, [0, 3]), (3, [4, 3])] {
            share.handle(Time::ZERO, name, Rc::new(links), 3_000);
        }
        assert_eq!(ends(&mut share), [(3, 4_500), (0, 9_000), (1, 9_000), (2, 9_000)]);
    }

    #[test]
    fn who_stays_gets_what_others_leave() {
        let mut share = Share::new([2.0]);
        share.handle(Time::ZERO, 0, Rc::new([0]), 100);
        assert_eq!(share.poll_output(), Some(Output::Wake(Time::ZERO, 1)));
        share.handle_timeout(Time::ZERO, 1);
        assert_eq!(share.poll_output(), Some(Output::Wake(Time(200), 2)));
        share.handle(Time(100), 1, Rc::new([0]), 100);
        // Until 100 the first flow has sent 50; then each sends a byte in 4 ps.
        assert_eq!(ends(&mut share), [(0, 300), (1, 400)]);
    }

    fn once([first, second]: [u32; 2]) -> Rc<[u32]> {
        if first == second { Rc::new([first]) } else { Rc::new([first, second]) }
    }

    fn flows() -> impl Strategy<Value = (Vec<f64>, Vec<([u32; 2], u64)>)> {
        let links = prop::collection::vec(0.5f64..50.0, 1..8);
        links.prop_flat_map(|links| {
            let link = 0..links.len() as u32;
            let flow = ([link.clone(), link], 1u64..1_000_000);
            (Just(links), prop::collection::vec(flow, 1..24))
        })
    }

    proptest! {
        /// Bertsekas and Gallager: a division is max-min fair exactly if each flow crosses a full
        /// link in which no flow has more than it.
        #[test]
        fn each_flow_has_a_full_link_in_which_nobody_has_more((links, flows) in flows()) {
            let mut share = Share::new(links);
            for ((links, bytes), name) in flows.iter().zip(0..) {
                share.handle(Time::ZERO, name, once(*links), *bytes);
            }
            share.fill();
            let used = |link: usize| -> f64 {
                let here = share.flows.iter().filter(|flow| flow.crosses().any(|one| one == link));
                here.map(|flow| flow.rate).sum()
            };
            let most = |link: usize| {
                let here = share.flows.iter().filter(|flow| flow.crosses().any(|one| one == link));
                here.map(|flow| flow.rate).fold(0.0, f64::max)
            };
            for flow in &share.flows {
                let narrow = flow.crosses().find(|link| {
                    used(*link) >= share.links[*link] * (1.0 - 1e-9)
                        && flow.rate >= most(*link) * (1.0 - 1e-9)
                });
                prop_assert!(narrow.is_some(), "{flow:?} could have more");
            }
            for link in 0..share.links.len() {
                prop_assert!(used(link) <= share.links[link] * (1.0 + 1e-9), "link {link}");
            }
        }

        /// Every flow that begins ends once, and no link carries it in less time than it needs.
        #[test]
        fn all_flows_end_and_no_link_is_too_fast((links, flows) in flows()) {
            let mut share = Share::new(links.clone());
            for ((links, bytes), name) in flows.iter().zip(0..) {
                share.handle(Time::ZERO, name, once(*links), *bytes);
            }
            let mut ended = ends(&mut share);
            let last = ended.iter().map(|(_, at)| *at).max().unwrap_or(0) as f64;
            for (link, byte) in links.iter().enumerate() {
                let crosses = |links: &[u32; 2]| links.contains(&(link as u32));
                let bytes: u64 =
                    flows.iter().filter(|(links, _)| crosses(links)).map(|(_, bytes)| *bytes).sum();
                prop_assert!(last >= bytes as f64 * byte * (1.0 - 1e-9));
            }
            ended.sort_unstable();
            let names: Vec<u32> = ended.iter().map(|(name, _)| *name).collect();
            prop_assert_eq!(names, (0..flows.len() as u32).collect::<Vec<_>>());
        }
    }
}
