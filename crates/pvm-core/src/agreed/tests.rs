//! Equal commands make equal states: on another host, after a restart, out of a snapshot.

use super::*;
use crate::io::GroupState;
use proptest::prelude::*;
use pvm_wire::peer::HostFacts;
use pvm_wire::{Address, Envelope, Message, Wire as _};
use std::collections::{BTreeMap, BTreeSet};

fn host() -> impl Strategy<Value = HostIndex> {
    (1..6u16).prop_map(HostIndex)
}

fn task() -> impl Strategy<Value = Tid> {
    (1..6u32, 1..4u32).prop_map(|(host, task)| Tid(host << 18 | task))
}

fn name() -> impl Strategy<Value = Blob> {
    prop::sample::select(vec!["", "a", "b", "c"]).prop_map(Blob::from)
}

fn host_command() -> impl Strategy<Value = Command> {
    let facts = (name(), name()).prop_map(|(name, computer)| HostFacts {
        name,
        computer,
        ..HostFacts::default()
    });
    let lines = prop::sample::select(vec!["", "a sp=7", "* ep=/x", "b ?", "&c dx=/y"]);
    let lines = prop::collection::vec(lines.prop_map(Blob::from), 0..3);
    let addresses = prop::collection::vec("[a-c]", 0..2);
    prop_oneof![
        4 => (facts, any::<bool>()).prop_map(|(facts, again)| Command::AddHost { facts, again }),
        2 => (host(), any::<bool>()).prop_map(|(host, dead)| Command::RemoveHost { host, dead }),
        2 => (host(), any::<bool>()).prop_map(|(host, on)| Command::DrainHost { host, on }),
        1 => host().prop_map(|host| Command::Retire { host }),
        1 => (host(), addresses)
            .prop_map(|(host, addresses)| Command::SetAddresses { host, addresses }),
        1 => lines.prop_map(|lines| Command::KnowHosts { lines }),
        1 => (prop::option::of(name()), prop::option::of(any::<bool>()))
            .prop_map(|(witness, survive)| Command::SetRules { witness, survive }),
    ]
}

fn name_command() -> impl Strategy<Value = Command> {
    let flags = || (0..64i32, 0..3i32).prop_map(|(flags, index)| flags | index << 10);
    let message = (task(), any::<i32>()).prop_map(|(of, value)| {
        Message::of_ints(Envelope::new(of, Address::untagged(of)), &[value])
    });
    let owner = || prop_oneof![4 => task(), 1 => Just(Tid::NONE)];
    prop_oneof![
        3 => (name(), flags(), owner(), message)
            .prop_map(|(name, flags, owner, message)| {
                Command::PutInfo { name, flags, owner, message }
            }),
        1 => (name(), 0..3i32, flags(), owner()).prop_map(|(name, index, flags, asker)| {
            Command::TakeInfo { name, index, flags, asker }
        }),
        1 => (name(), 0..3i32, flags(), owner()).prop_map(|(name, index, flags, asker)| {
            Command::DelInfo { name, index, flags, asker }
        }),
        1 => (name(), owner()).prop_map(|(name, owner)| Command::Withdraw { name, owner }),
        1 => Just(Command::ClearNames),
    ]
}

fn group_command() -> impl Strategy<Value = Command> {
    let asks = prop::collection::vec((host(), 0..9u64), 0..3);
    prop_oneof![
        4 => (name(), task()).prop_map(|(group, tid)| Command::JoinGroup { group, tid }),
        2 => (name(), task()).prop_map(|(group, tid)| Command::LeaveGroup { group, tid }),
        1 => (name(), asks).prop_map(|(group, asks)| Command::Freeze { group, asks }),
        1 => task().prop_map(|tid| Command::TaskLeft { tid }),
        1 => task().prop_map(|tid| Command::TaskGone { tid }),
    ]
}

fn commands() -> impl Strategy<Value = Vec<Command>> {
    let one = prop_oneof![host_command(), name_command(), group_command()];
    prop::collection::vec(one, 0..60)
}

fn begun() -> Agreed {
    let mut agreed = Agreed::new();
    let facts = HostFacts { name: "first".into(), ..HostFacts::default() };
    agreed.begin(HostIndex(1), facts, Rules::plain());
    agreed
}

fn snapshot(agreed: &Agreed) -> Vec<(Blob, Blob)> {
    let mut records = Vec::new();
    agreed.records(&mut records);
    records
}

/// Applies commands, and returns all that came of them.
fn told(agreed: &mut Agreed, commands: &[Command], from: u64) -> Vec<(Reply, Vec<Fact>)> {
    let numbered = (from..).zip(commands);
    numbered.map(|(number, command)| agreed.apply(number, command.clone())).collect()
}

/// Keeps the records that have changed, as a parent does.
fn keep(agreed: &mut Agreed, kept: &mut BTreeMap<Blob, Blob>) {
    let mut changes = Vec::new();
    agreed.take_changes(&mut changes);
    for (key, value) in changes {
        match value {
            Some(value) => drop(kept.insert(key, value)),
            None => drop(kept.remove(&key)),
        }
    }
}

/// The knowledge of a reader that has only heard the facts.
#[derive(PartialEq, Debug, Default)]
struct Heard {
    hosts: BTreeSet<HostIndex>,
    groups: BTreeMap<Blob, GroupState>,
}

impl Heard {
    fn hear(&mut self, facts: Vec<Fact>) {
        for fact in facts {
            match fact {
                Fact::HostIn { host } => drop(self.hosts.insert(host)),
                Fact::HostOut { host, .. } => drop(self.hosts.remove(&host)),
                Fact::Group { name, group: Some(group), .. } => {
                    self.groups.insert(name, group);
                }
                Fact::Group { name, group: None, .. } => drop(self.groups.remove(&name)),
                _ => {}
            }
        }
    }

    fn all(agreed: &mut Agreed) -> Self {
        let hosts = agreed.hosts().indices().into_iter().collect();
        let mut heard = Self { hosts, groups: BTreeMap::new() };
        heard.hear(agreed.groups_as_they_are());
        heard
    }
}

proptest! {
    #[test]
    fn two_that_were_given_the_same_commands_are_equal(commands in commands()) {
        let (mut here, mut there) = (begun(), begun());
        prop_assert_eq!(told(&mut here, &commands, 2), told(&mut there, &commands, 2));
        prop_assert_eq!(snapshot(&here), snapshot(&there));
    }

    #[test]
    fn whoever_takes_the_state_goes_on_like_whoever_made_it(
        before in commands(), other in commands(), behind in commands(),
    ) {
        let (mut here, mut new, mut behindhand) = (begun(), Agreed::new(), begun());
        told(&mut here, &before, 2);
        told(&mut behindhand, &other, 2);
        let state = Vec::<(Blob, Blob)>::from_bytes(&snapshot(&here).to_bytes()).expect("records");
        for taker in [&mut new, &mut behindhand] {
            taker.load(&state);
            prop_assert_eq!(snapshot(taker), snapshot(&here));
        }
        let came = told(&mut here, &behind, 100);
        for taker in [&mut new, &mut behindhand] {
            prop_assert_eq!(told(taker, &behind, 100), came.clone());
            prop_assert_eq!(snapshot(taker), snapshot(&here));
        }
    }

    #[test]
    fn the_records_of_each_command_bring_all_back(
        before in commands(), behind in commands(), cut in 0..60usize,
    ) {
        let mut here = begun();
        let mut kept = BTreeMap::new();
        keep(&mut here, &mut kept);
        for (number, command) in (2..).zip(&before) {
            here.apply(number, command.clone());
            if number as usize == cut {
                // Others have gone on meanwhile, and this host gets what they made.
                let mut there = begun();
                told(&mut there, &behind, 2);
                here.load(&snapshot(&there));
            }
            keep(&mut here, &mut kept);
        }
        let mut again = Agreed::new();
        for (Blob(key), Blob(value)) in &kept {
            prop_assert!(again.restore(key, value));
        }
        prop_assert_eq!(snapshot(&again), snapshot(&here));
        prop_assert_eq!(told(&mut again, &behind, 100), told(&mut here, &behind, 100));
    }

    #[test]
    fn whoever_hears_only_the_facts_knows_who_is_in_and_all_groups(commands in commands()) {
        let mut agreed = begun();
        let mut heard = Heard::all(&mut agreed);
        for (_, facts) in told(&mut agreed, &commands, 2) {
            heard.hear(facts);
        }
        prop_assert_eq!(heard, Heard::all(&mut agreed));
    }
}

#[test]
fn the_last_host_is_not_taken_out_and_one_that_was_taken_back_stays() {
    let (mut agreed, second) = (begun(), HostIndex(2));
    let facts = HostFacts { name: "second".into(), ..HostFacts::default() };
    agreed.apply(2, Command::AddHost { facts, again: false });
    agreed.apply(3, Command::DrainHost { host: second, on: true });
    agreed.apply(4, Command::DrainHost { host: second, on: false });
    assert_eq!(agreed.apply(5, Command::Retire { host: second }), (Reply::Done, vec![]));
    agreed.apply(6, Command::DrainHost { host: second, on: true });
    let out = Fact::HostOut { host: second, name: "second".to_owned(), exit: Exit::Left };
    assert_eq!(agreed.apply(7, Command::Retire { host: second }), (Reply::Done, vec![out]));
    let last = agreed.apply(8, Command::RemoveHost { host: HostIndex(1), dead: false });
    assert_eq!(last, (Reply::Failed { code: Code::BadParam }, vec![]));
    let retired = agreed.apply(9, Command::Retire { host: HostIndex(1) });
    assert_eq!(retired, (Reply::Done, vec![Fact::LastStays]));
}
