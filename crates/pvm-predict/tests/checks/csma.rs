//! The shared cable against closed forms and published efficiency.

use super::{Verdict, is, near};
use pvm_predict::link::csma::{Csma, Output, Rules};
use pvm_predict::{Rate, Time};

/// The result of stations that always have a frame.
struct Load {
    frames: u64,
    collisions: u64,
    dropped: u64,
    ended: Time,
}

/// Lets `stations` stations offer frames of one size, each the next as soon as one is through, for
/// a while.
fn saturate(rules: Rules, stations: usize, bytes: u64, end: Time, seed: u64) -> Load {
    let mut cable = Csma::new(rules, stations, seed);
    (0..stations).for_each(|port| cable.handle(Time::ZERO, port, 0, bytes));
    let mut load = Load { frames: 0, collisions: 0, dropped: 0, ended: Time::ZERO };
    let mut now = Time::ZERO;
    let mut wakes = std::collections::BTreeSet::new();
    while now < end {
        let mut again = Vec::new();
        while let Some(output) = cable.poll_output() {
            match output {
                Output::Wake(at) => {
                    wakes.insert(at);
                }
                Output::Carried(carried) => {
                    load.frames += 1;
                    load.ended = carried.ended;
                    again.push(carried.port);
                }
                Output::Dropped { port, .. } => {
                    load.dropped += 1;
                    again.push(port);
                }
            }
        }
        if again.is_empty() {
            now = wakes.pop_first().expect("somebody wants to send");
            cable.handle_timeout(now);
        }
        again.iter().for_each(|port| cable.handle(now, *port, 0, bytes));
    }
    load.collisions = cable.collisions();
    load
}

/// The share of time in which frames, without preamble, were on the cable.
fn efficiency(rules: Rules, stations: usize, bytes: u64, seed: u64) -> f64 {
    let load = saturate(rules, stations, bytes, Time::of_seconds(20.0), seed);
    let frame = rules.rate.time_of((bytes + rules.header).max(rules.shortest));
    frame.seconds() * load.frames as f64 / load.ended.seconds()
}

/// One station: a frame of 1518 bytes, its preamble and the gap take 1230.4 us.
pub(crate) fn one_station_has_the_cable() -> Verdict {
    let load = saturate(Rules::ethernet(Rate::megabits(10)), 1, 1500, Time::of_seconds(1.0), 1);
    let expected = Time(1_230_400_000).times(load.frames) - Time::nanoseconds(9_600);
    is("the last frame ends", load.ended - Time::microseconds(5), expected)
}

/// A frame of one byte is filled up to 64: 51.2 us, and 6.4 of preamble.
pub(crate) fn the_shortest_frame() -> Verdict {
    let load = saturate(Rules::ethernet(Rate::megabits(10)), 1, 1, Time::of_seconds(0.1), 1);
    let expected = Time(67_200_000).times(load.frames) - Time::nanoseconds(9_600);
    is("the last frame ends", load.ended - Time::microseconds(5), expected)
}

/// Two begin at once: how often they collide, and when the frame begins that comes through first.
fn first_of_two(rules: Rules, seed: u64) -> Result<(u64, Time), String> {
    let mut cable = Csma::new(rules, 2, seed);
    (0..2).for_each(|port| cable.handle(Time::ZERO, port, 0, 1500));
    loop {
        match cable.poll_output().ok_or("it sleeps with frames to send")? {
            Output::Wake(at) => cable.handle_timeout(at),
            Output::Carried(carried) => return Ok((cable.collisions(), carried.began)),
            Output::Dropped { .. } => return Err("a frame was given up".to_owned()),
        }
    }
}

/// A collision takes 9.6 us: 6.4 until the preambles are sent, 3.2 of jam. After it a frame begins
/// with the gap, or with a slot, or with two or three after the second collision.
pub(crate) fn two_collide_and_back_off() -> Verdict {
    let (jammed, gap, slot) = (9_600u64, 9_600u64, 51_200u64);
    let mut seen = std::collections::BTreeSet::new();
    for seed in 0..400 {
        let (collisions, began) = first_of_two(Rules::ethernet(Rate::megabits(10)), seed)?;
        if collisions <= 2 {
            seen.insert((collisions, began.to_nanoseconds()));
        }
    }
    let mut expected = std::collections::BTreeSet::from([(1, jammed + gap)]);
    for again in [gap, slot] {
        expected.extend([gap, slot, 2 * slot].map(|last| (2, 2 * jammed + again + last)));
    }
    is("frames begin", seen, expected)
}

/// If two stations begin at once, k collisions follow with a probability of 1/2 x 1/4 ... so there
/// are 1.6416 collisions in the mean.
pub(crate) fn collisions_of_two() -> Verdict {
    let rules = Rules::ethernet(Rate::megabits(10));
    let (mut collisions, runs) = (0, 20_000);
    for seed in 0..runs {
        collisions += first_of_two(rules, seed)?.0;
    }
    near("collisions of two", collisions as f64 / runs as f64, 1.641_6, 0.015)
}

/// Metcalfe and Boggs (1976): E = F / (F + W T), W = (1 - A) / A, A = (1 - 1/Q)^(Q-1), for Q
/// stations and slots of T. Their stations all begin in each slot with the best chance; a station
/// that draws few slots after its own frame goes on sooner, so real cables do better: Boggs, Mogul
/// and Kent (1988) measured it. Ours lies between the formula and what is left of a cable that one
/// station has for itself.
pub(crate) fn efficiency_as_published() -> Verdict {
    let mut rules = Rules::ethernet(Rate::megabits(10));
    rules.propagation = Time::microseconds(20);
    for (stations, bytes) in [(2, 1500), (5, 1500), (10, 1500), (24, 1500), (5, 494), (10, 494)] {
        let frame = rules.rate.time_of(bytes + rules.header).seconds();
        let q = stations as f64;
        let alone = (1.0 - 1.0 / q).powf(q - 1.0);
        let fixed = rules.rate.time_of_bits(rules.gap + rules.preamble).seconds();
        let slot = rules.rate.time_of_bits(rules.slot).seconds();
        let formula = frame / (frame + fixed + (1.0 - alone) / alone * slot);
        let best = frame / (frame + fixed);
        let ours = efficiency(rules, stations, bytes, 7);
        if ours < formula || ours > best {
            return Err(format!(
                "{stations}, {bytes} B: {ours:.4}, not in {formula:.4}..{best:.4}"
            ));
        }
    }
    Ok(())
}
