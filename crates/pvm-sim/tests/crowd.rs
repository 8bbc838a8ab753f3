//! Many hosts, of which some die and others join. `PVM_SIM_HOSTS=200` makes it larger, `PVM_SIM_SEED=7` another one.
//! The large one is part of `make soak`.

use pvm_sim::crowd::{at_rest, run};

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().expect("a number"))
}

fn crowd(hosts: usize) {
    let seed = number("PVM_SIM_SEED").unwrap_or(0);
    match run(hosts, seed) {
        Ok(outcome) => {
            println!("{hosts} hosts, seed {seed}: {outcome:?}");
            assert!(outcome.confirmed > 100, "hardly anything was put");
        }
        Err(why) => panic!("{hosts} hosts, PVM_SIM_SEED={seed}: {why}"),
    }
}

#[test]
fn a_small_crowd_outlives_deaths_joins_and_cuts() {
    crowd(20);
}

#[test]
fn hosts_at_rest_have_links_to_few_others() {
    let rest = at_rest(40, number("PVM_SIM_SEED").unwrap_or(0)).expect("all come");
    println!("40 hosts at rest: {rest:?}");
    // Four neighbours in the ring, the leader, and eight others that vote.
    assert!(rest.links <= 13, "{rest:?}");
    assert!(rest.all_links < 40 * 13 / 2 + 39, "{rest:?}");
    assert_eq!(rest.leader_links, 39);
}

#[test]
#[ignore = "takes minutes: make soak"]
fn a_large_crowd_outlives_deaths_joins_and_cuts() {
    let hosts = number("PVM_SIM_HOSTS").unwrap_or(100);
    crowd(usize::try_from(hosts).expect("a small number"));
}
