//! Servers and clients of one space under killed tasks, pauses, cut hosts, hosts that are left and
//! come back, full disks, and a network that delays, and in some runs loses and reorders, what is
//! said. At the end the space is deleted.
//!
//! A run is drawn from its seed. `TUPLES_SEED=7` repeats one run, `TUPLES_SEEDS=20000` tries more.
//! What must hold is checked at the end: see `judge`. Servers are killed at any moment, but never
//! the last living one that the last entry names: then the tuples would be lost, as promised.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "simulation/history.rs"]
mod history;
#[path = "simulation/power.rs"]
mod power;
#[path = "simulation/shelves.rs"]
mod shelves;
#[path = "simulation/world.rs"]
mod world;

use power::Power;
use world::World;

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

fn run(seed: u64) -> Result<world::Tally, String> {
    let mut world = World::new(seed);
    world.run();
    world.judge().map_err(|what| format!("TUPLES_SEED={seed}: {what}")).map(|()| world.tally)
}

/// An heir had looked at the names, and became a copy of the next primary before the answer came:
/// it left the space that it had confirmed.
#[test]
fn a_late_look_at_the_names_does_not_end_a_copy_that_has_begun_anew() {
    run(3222).unwrap();
}

/// The primary died while the entry that named a new copy was on its way. The copy found itself
/// unnamed and left, and then the entry came.
#[test]
fn a_copy_whose_entry_comes_behind_its_primarys_death_takes_over() {
    run(5735).unwrap();
}

/// It had been sent twice, as its server was slow: the first one was refused, then there was room.
#[test]
fn a_request_that_a_full_disk_had_refused_was_done_when_it_came_again() {
    run(4148).unwrap();
}

/// The late beginning of a primary that had become a copy made a server a copy again, of nobody.
#[test]
fn a_late_beginning_of_a_former_primary_left_a_copy_that_nobody_knew() {
    run(385).unwrap();
}

/// An heir had looked several times, and a late answer showed it the entry before its own.
#[test]
fn an_old_entry_that_was_seen_late_ended_the_new_primary() {
    run(1397).unwrap();
}

/// It held the space for ever, with its file, though the next primary did not know of it.
#[test]
fn a_server_that_was_to_become_a_copy_stayed_one_when_its_primary_gave_way() {
    run(1593).unwrap();
}

/// A full disk had refused a put, and the next primary carried it out before the refusal came.
#[test]
fn a_late_refusal_of_a_former_primary_was_believed() {
    run(1025).unwrap();
}

/// The disk of the next primary failed before its first state went out.
#[test]
fn a_former_primary_followed_one_whose_disk_had_failed_at_once() {
    run(2073).unwrap();
}

#[test]
fn each_tuple_is_in_one_place_and_what_was_answered_stays() {
    if let Ok(seed) = std::env::var("TUPLES_SEED") {
        run(seed.parse().unwrap()).unwrap();
        return;
    }
    let seeds = number("TUPLES_SEEDS", 2000);
    let mut all = world::Tally::default();
    for seed in 0..seeds {
        all.add(run(seed).unwrap());
    }
    eprintln!("{seeds} seeds: {all:?}");
    // A simulation in which nothing happens finds nothing.
    assert!(
        all.taken > seeds && all.takeovers > seeds / 10 && all.returned > seeds / 10,
        "{all:?}"
    );
    assert!(
        all.left > seeds
            && all.refused > seeds
            && all.deleted == seeds
            && all.spilled > seeds / 10
            && all.moves > seeds
            && all.failed > seeds / 2,
        "{all:?}"
    );
}

#[test]
fn what_was_answered_outlives_the_power_of_a_durable_spaces_server() {
    let seeds = number("TUPLES_SEEDS", 2000);
    let (mut failures, mut damaged) = (0, 0);
    for seed in 0..seeds {
        let mut power = Power::new(seed);
        power.run().map_err(|what| format!("seed {seed}: {what}")).unwrap();
        failures += power.failures;
        damaged += power.damaged;
    }
    assert!(failures > 3 * seeds && damaged > seeds / 10, "{failures} {damaged}");
}
