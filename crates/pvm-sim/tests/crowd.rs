//! Many hosts, of which some die and others join. `PVM_SIM_HOSTS=200` makes it larger,
//! `PVM_SIM_SEED=7` another one. The large one is part of `make soak`.

use pvm_sim::crowd::{Counts, Rest, at_rest, run};

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().expect("a number"))
}

fn assert_is_calm(rest: &Rest) {
    assert!(rest.leader_links <= 40 && rest.links <= 40, "{rest:?}");
    assert!(rest.said.0 <= 100 && rest.said.1 <= 100, "{rest:?}");
}

fn crowd(hosts: usize, counts: Counts) {
    let seed = number("PVM_SIM_SEED").unwrap_or(0);
    match run(hosts, seed, counts) {
        Ok(outcome) => {
            println!("{hosts} hosts, seed {seed}: {outcome:?}");
            assert!(outcome.confirmed > 100, "hardly anything was put");
            assert_is_calm(&outcome.rest);
        }
        Err(why) => panic!("{hosts} hosts, PVM_SIM_SEED={seed}: {why}"),
    }
}

#[test]
fn a_small_crowd_outlives_deaths_joins_and_cuts() {
    crowd(20, Counts::usual(20));
}

#[test]
fn hosts_at_rest_have_links_to_few_others() {
    let rest = at_rest(30, number("PVM_SIM_SEED").unwrap_or(0)).expect("all come");
    println!("30 hosts at rest: {rest:?}");
    // Four neighbours in the ring, the leader, and eight others that vote.
    assert!(rest.links <= 13, "{rest:?}");
    assert!(rest.all_links < 30 * 13 / 2 + 29, "{rest:?}");
    assert_eq!(rest.leader_links, 29);
}

/// A leader that sent to each host itself had a link to each.
#[test]
fn a_leader_of_many_hosts_had_a_link_to_each() {
    let hosts = number("PVM_SIM_HOSTS").unwrap_or(64);
    let hosts = usize::try_from(hosts).expect("a small number");
    let rest = at_rest(hosts, number("PVM_SIM_SEED").unwrap_or(0)).expect("all come");
    println!("{hosts} hosts at rest: {rest:?}");
    assert_is_calm(&rest);
}

#[test]
#[ignore = "takes minutes: make soak"]
fn a_large_crowd_outlives_deaths_joins_and_cuts() {
    let hosts = number("PVM_SIM_HOSTS").unwrap_or(100);
    let hosts = usize::try_from(hosts).expect("a small number");
    crowd(hosts, Counts::usual(hosts));
}

#[test]
#[ignore = "takes half an hour: make soak"]
fn the_largest_machine_outlives_deaths_and_cuts() {
    crowd(4095, Counts::FULL);
}
