//! Random: cores that keep next to nothing for a member that lags behind, so that members get the
//! state all the time. In half of the runs the log goes along a tree while there are more than five
//! members, over links that are made on demand.
//!
//! Meanwhile messages are late, lost, or heard in one direction only; links break; daemons are
//! started again from their records; hosts stand still, some with their clocks; leaders give way;
//! hosts are let in and taken out. A term has one leader. All apply the same commands in the same
//! order, one by one or in a state that is never older than the member's own. A host that answers a
//! read has applied all that any host had applied when the read came. In the end, without faults,
//! one leads and all have everything.

mod net;

use net::{Counts, Host, JOIN_MAX, MS, Net, SMALL, TREE, members, place};
use pvm_core::quorum::{Member, Quorum as _, QuorumInput};
use pvm_quorum::Limits;
use pvm_wire::{Blob, HostIndex, Wire as _};

/// Members at a time at most, and hosts that there ever are.
const MEMBERS_MAX: usize = 11;
const HOSTS_MAX: u64 = 99;
/// The number of times that a leader checks whether a host can be taken out.
const PARTING_STEPS: u64 = 50;
/// Milliseconds after which one leads and all have everything, once nothing is wrong any more.
const REST_MS: u64 = 15_000;

/// The events of a run.
impl Net {
    /// Hosts that take themselves for the leader.
    fn leading(&self) -> Vec<HostIndex> {
        let leads =
            |(host, it): &(&HostIndex, &Host)| !it.gone && it.core.is_current(self.clock(**host));
        self.hosts.iter().filter(leads).map(|(host, _)| *host).collect()
    }

    fn propose(&mut self, command: u64, size: u64) {
        let leading = self.leading();
        if !leading.is_empty() {
            let leader = leading[self.draw(leading.len() as u64) as usize];
            let mut bytes = command.to_bytes();
            bytes.resize(bytes.len() + size as usize, 7);
            self.input(leader, QuorumInput::Propose { command: Blob(bytes), without: None });
        }
    }

    fn count(&mut self, size: u64) {
        self.command += 1;
        self.propose(self.command, size);
    }

    fn let_in(&mut self) {
        let host = self.hosts.len() as u64 + 1;
        let members = members(&self.all()).len();
        if host <= HOSTS_MAX && members < MEMBERS_MAX {
            self.host(place(host));
            self.propose(host, 0);
        }
    }

    /// A leader takes out another host.
    fn take_out(&mut self, host: HostIndex) {
        if let [leader] = self.leading()[..] {
            self.order_out(leader, host);
        }
    }

    /// Earlier entries must be committed, and the remaining members must be able to go on: a leader
    /// waits for that for a while.
    fn order_out(&mut self, leader: HostIndex, host: HostIndex) {
        let member = members(&self.all()).into_iter().find(|member| member.host() == host);
        let Some(member) = member.filter(|_| leader != host) else { return };
        for _ in 0..PARTING_STEPS {
            let core = &self.hosts[&leader].core;
            if core.is_at_rest() && core.may_part(member) == Some(true) {
                let command = Blob((JOIN_MAX + u64::from(host.0)).to_bytes());
                return self.input(leader, QuorumInput::Propose { command, without: None });
            }
            self.input(leader, QuorumInput::Part { member });
            self.go(20);
        }
    }

    fn give_way(&mut self, to: Option<HostIndex>) {
        if let Some(&leader) = self.leading().first() {
            self.input(leader, QuorumInput::Transfer { to });
        }
    }

    /// A host stands still; where clocks stop, its clock, too.
    fn stand(&mut self, host: HostIndex) {
        let time = self.draw(2500) * MS;
        let (now, stops) = (self.now, self.clocks_stop);
        let it = self.get(host);
        if it.stands_until <= now {
            it.stands_until = now + time;
            it.behind += if stops { time } else { 0 };
        }
    }

    fn cut_off(&mut self, host: HostIndex) {
        for &other in self.hosts.keys() {
            self.deaf.extend([(host, other), (other, host)]);
        }
    }

    /// Some of the hosts that do not hear one another do so again, over new links.
    fn heal(&mut self) {
        for way in std::mem::take(&mut self.deaf) {
            if way.0 != way.1 && self.draw(2) == 0 {
                self.relink(way);
            }
        }
    }

    fn trouble(&mut self) {
        let count = self.hosts.len() as u64;
        let (host, other) = (place(1 + self.draw(count)), place(1 + self.draw(count)));
        match self.draw(16) {
            0 | 1 => self.restart(host),
            2 => drop(self.deaf.insert((host, other))),
            3 => self.deaf.extend([(host, other), (other, host)]),
            4 => self.cut_off(host),
            5 | 6 => self.heal(),
            7 => self.stand(host),
            8 => self.give_way(None),
            9 => self.give_way(Some(other)),
            10 => self.slow.clear(),
            11 => {
                let ms = self.draw(600);
                self.slow.insert((host, other), ms);
            }
            12 if host != other => self.relink((host, other)),
            13 => self.let_in(),
            14 => self.take_out(host),
            _ => {}
        }
    }

    /// Commands and questions, and then nothing for a while.
    fn work(&mut self) {
        for _ in 0..self.draw(8) {
            let (size, pause) = (self.draw(300), self.draw(60));
            self.count(size);
            self.ask();
            self.go(pause);
            self.ask();
        }
        let pause = self.draw(900);
        self.go(pause);
    }

    /// Ends all faults, and gives each host a new link to every other one.
    fn mend(&mut self) {
        self.loss = 0;
        self.slow.clear();
        self.deaf.clear();
        let hosts: Vec<_> = self.hosts.keys().copied().collect();
        for way in hosts.iter().flat_map(|a| hosts.iter().map(move |b| (*a, *b))) {
            if way.0 < way.1 {
                self.relink(way);
            }
        }
        self.go(REST_MS);
    }

    /// A member that does not know the leader, and the hosts that it knows.
    fn stranger(&self, leader: HostIndex) -> Option<(HostIndex, Vec<HostIndex>)> {
        members(&self.all()).into_iter().map(Member::host).find_map(|host| {
            let it = &self.hosts[&host];
            let known = members(&it.applied).into_iter().chain(it.core.voters());
            let known: Vec<_> = known.map(Member::host).collect();
            (!known.contains(&leader)).then_some((host, known))
        })
    }

    /// A machine that leads asks others about hosts that it does not hear, and a host that does not
    /// know it is among those: one that votes and that it knows leads then. Where it knows none, it
    /// ends, and is taken out.
    fn meet(&mut self) {
        for _ in 0..2 * MEMBERS_MAX {
            let [leader] = self.leading()[..] else { return };
            let Some((host, known)) = self.stranger(leader) else { return };
            let voters = self.hosts[&leader].core.voters().into_iter().map(Member::host);
            match voters.into_iter().find(|voter| known.contains(voter)) {
                Some(heir) => self.give_way(Some(heir)),
                None => {
                    self.get(host).gone = true;
                    self.order_out(leader, host);
                }
            }
            self.go(8000);
        }
    }

    fn assert_whole(&mut self) {
        assert_eq!(self.leading().len(), 1, "{:?} lead", self.leading());
        self.count(0);
        self.go(5000);
        let all = self.all();
        assert_eq!(all.last().map(|last| last.1), Some(self.command), "it is not ordered");
        for member in members(&all) {
            assert_eq!(self.hosts[&member.host()].applied, all, "host {}", member.host());
        }
    }
}

/// Three voters, of which the last one leads: the second one hears no other one.
fn three() -> Net {
    let mut net = Net::new(1, SMALL, false);
    for _ in 0..2 {
        net.let_in();
        net.go(3000);
    }
    net.give_way(Some(place(3)));
    net.go(3000);
    assert_eq!(net.leading(), [place(3)], "another leads");
    net.cut_off(place(2));
    net
}

#[test]
fn of_three_one_was_taken_out_while_another_heard_nothing() {
    let mut net = three();
    net.go(50);
    net.take_out(place(1));
    net.go(3000);
    assert_eq!(members(&net.all()).len(), 3, "the one that is left hears nothing");
    assert_eq!(net.leading(), [place(3)], "nobody leads");
    net.mend();
    net.take_out(place(1));
    net.go(3000);
    assert_eq!(members(&net.all()).len(), 2);
    net.assert_whole();
}

/// It knows of no tree, and it does not know the member that is above it now.
#[test]
fn a_member_that_missed_how_the_tree_began_was_left_behind_for_ever() {
    for last in 3..5 {
        let mut net = Net::new(last, TREE, true);
        let let_in = |net: &mut Net, count| {
            for _ in 0..count {
                net.let_in();
                net.go(3000);
            }
        };
        let_in(&mut net, last - 1);
        let missing = place(last);
        net.cut_off(missing);
        let_in(&mut net, 9 - last);
        for _ in 0..40 {
            net.count(100);
            net.go(100);
        }
        assert_eq!(members(&net.hosts[&missing].applied).len() as u64, last, "it missed it");
        net.mend();
        net.assert_whole();
    }
}

/// Tells the seed where something was wrong.
struct Seed(u64);

impl Drop for Seed {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("PVM_LAG_SEED={}", self.0);
        }
    }
}

fn run(seed: u64, limits: Limits) -> Counts {
    let _seed = Seed(seed);
    let mut net = Net::new(seed, limits, limits.star_count < SMALL.star_count);
    for _ in 0..1 + net.draw(6) {
        net.let_in();
        net.go(1000);
    }
    net.loss = if net.draw(2) == 0 { 0 } else { net.draw(300) };
    net.latency = 1 + net.draw(60);
    net.clocks_stop = net.draw(2) == 0;
    for _ in 0..60 {
        net.trouble();
        net.work();
    }
    net.mend();
    net.meet();
    net.assert_whole();
    net.counts
}

fn from_environment(name: &str, usual: u64) -> u64 {
    std::env::var(name).map_or(usual, |text| text.parse().expect("a number"))
}

fn runs(limits: impl Fn(u64) -> Limits) {
    let first = from_environment("PVM_LAG_SEED", 0);
    let count = from_environment("PVM_LAG_RUNS", 200);
    let mut all = Counts::default();
    for seed in first..first + count {
        let Counts { adopted, answered } = run(seed, limits(seed));
        all.adopted += adopted;
        all.answered += answered;
    }
    println!("{all:?}");
    assert!(all.adopted >= count && all.answered >= count, "too little has happened: {all:?}");
}

#[test]
fn whoever_lags_and_whatever_fails_all_apply_the_same_and_nobody_answers_from_old_state() {
    runs(|_| SMALL);
}

/// One is below each, or two.
fn tree(seed: u64) -> Limits {
    Limits { tree_width: 1 + usize::from(seed % 2 == 1), ..TREE }
}

/// Machines grow over the number from which the log goes along a tree, and shrink below it.
#[test]
fn along_a_tree_that_comes_and_goes_all_apply_the_same_too() {
    runs(tree);
}

/// The test of the test: bugs that are planted on purpose are found.
#[cfg(feature = "planted")]
#[test]
fn planted_bugs_are_found_by_the_random_runs() {
    use pvm_core::planted::{Bug, plant};
    let star =
        [Bug::LaggardWithoutState, Bug::SnapshotTooOld, Bug::StaleRead, Bug::CommitByMinority];
    let along_a_tree = [Bug::LackUnheard, Bug::RelayedUncommitted];
    for bug in star.into_iter().chain(along_a_tree) {
        let limits = |seed| if star.contains(&bug) { SMALL } else { tree(seed) };
        plant(Some(bug));
        let fails = |seed: &u64| std::panic::catch_unwind(|| run(*seed, limits(*seed))).is_err();
        let found = (0..1000).find(fails);
        plant(None);
        println!("{bug:?}: seed {:?}", found.unwrap_or_else(|| panic!("{bug:?} is not found")));
    }
    // The random runs do not meet these, or seldom; scenes do.
    let scenes: [(Bug, fn()); 2] = [
        (Bug::PartsUnasked, of_three_one_was_taken_out_while_another_heard_nothing),
        (Bug::LostOutsideTheTree, a_member_that_missed_how_the_tree_began_was_left_behind_for_ever),
    ];
    for (bug, scene) in scenes {
        plant(Some(bug));
        let alone = std::panic::catch_unwind(scene);
        plant(None);
        assert!(alone.is_err(), "the scene for {bug:?} finds nothing");
    }
}
