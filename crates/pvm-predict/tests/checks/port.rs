//! One way of a cable, and Linux' token bucket, against times that can be added up by hand.

use super::{Verdict, is};
use pvm_predict::link::port::{Output, Port, Rules};
use pvm_predict::{Rate, Time};

const MICRO: u64 = 1_000;

/// When each frame leaves and arrives, in nanoseconds; nothing for one that was thrown away.
fn run(rules: Rules, frames: &[(u64, u64)]) -> Vec<Option<(u64, u64)>> {
    let mut port = Port::new(rules, 1, 0);
    let mut wakes = std::collections::BTreeSet::new();
    let mut done = vec![None; frames.len()];
    let mut note = |port: &mut Port, wakes: &mut std::collections::BTreeSet<Time>| {
        while let Some(output) = port.poll_output() {
            match output {
                Output::Wake(at) => drop(wakes.insert(at)),
                Output::Dropped { .. } => (),
                Output::Sent { token, began, arrives } => {
                    let times = (began.to_nanoseconds(), arrives.to_nanoseconds());
                    done[token as usize] = Some(times);
                }
            }
        }
    };
    for (number, (at, bytes)) in frames.iter().enumerate() {
        let at = Time::nanoseconds(*at);
        while let Some(wake) = wakes.first().copied().filter(|wake| *wake <= at) {
            wakes.remove(&wake);
            port.handle_timeout(wake);
            note(&mut port, &mut wakes);
        }
        port.handle(at, number as u32, *bytes);
        note(&mut port, &mut wakes);
    }
    while let Some(wake) = wakes.pop_first() {
        port.handle_timeout(wake);
        note(&mut port, &mut wakes);
    }
    done
}

const fn rules(burst: Option<u64>) -> Rules {
    let (rate, latency) = (Rate::megabits(10), Time::microseconds(3));
    Rules { rate, latency, queue: 3_000, burst, late: Time::ZERO }
}

/// The time at which the last of 100 frames of 1500 bytes leaves, in nanoseconds, if the timer is
/// late by 100 us in the mean.
fn last_behind_a_late_timer(burst: u64) -> u64 {
    let rules = Rules { queue: u64::MAX, late: Time::microseconds(100), ..rules(Some(burst)) };
    let done = run(rules, &[(0, 1500); 100]);
    done.last().copied().flatten().map_or(0, |(began, _)| began)
}

/// The bucket is full 1200 us after each frame, and the timer 50 to 150 us later, 100 us in the
/// mean: the tokens of these are lost.
pub(crate) fn a_late_timer_costs_tokens() -> Verdict {
    let late = last_behind_a_late_timer(1500);
    let mean = 99 * 1300 * MICRO;
    is("late each time", (mean / 100 * 99..=mean / 100 * 101).contains(&late), true)
}

/// A bucket with room for 150 us more loses nothing: only the last frame is late.
pub(crate) fn a_bucket_makes_up_for_a_late_timer() -> Verdict {
    let last = last_behind_a_late_timer(1700);
    // The first frame leaves 200 bytes' worth of tokens, 160 us.
    let due = (99 * 1200 - 160) * MICRO;
    is("late once", (due + 50 * MICRO..=due + 150 * MICRO).contains(&last), true)
}

/// Without a bucket a frame of 1500 bytes takes 1200 us, and then its latency; behind it waits the
/// next one.
pub(crate) fn frames_follow_one_another() -> Verdict {
    let done = run(rules(None), &[(0, 1500), (0, 1500), (5_000 * MICRO, 1500)]);
    let micro = |began: u64, arrives: u64| Some((began * MICRO, arrives * MICRO));
    is("frames", done, vec![micro(0, 1203), micro(1200, 2403), micro(5000, 6203)])
}

/// A full bucket of 1600 bytes lets 1500 pass at once. The next 1500 wait until 1400 more have
/// come: 1120 us.
pub(crate) fn a_burst_passes_free() -> Verdict {
    let frames = [(0, 1500), (0, 1500), (0, 64), (9_000 * MICRO, 1600), (9_000 * MICRO, 100)];
    let done = run(rules(Some(1600)), &frames);
    let micro = |began: u64| Some((began * MICRO, began * MICRO + 3 * MICRO));
    let small = Some((1_171_200, 1_174_200));
    is("frames", done, vec![micro(0), micro(1120), small, micro(9000), micro(9080)])
}

/// Tokens do not grow beyond the burst, whatever the pause; what is longer never passes.
pub(crate) fn a_bucket_has_a_bottom() -> Verdict {
    let pause = 1_000_000 * MICRO;
    let done = run(rules(Some(1600)), &[(0, 1600), (pause, 1600), (pause, 800), (pause, 1601)]);
    let at = |began: u64| Some((began, began + 3 * MICRO));
    is("frames", done, vec![at(0), at(pause), at(pause + 640 * MICRO), None])
}

/// A queue of 3000 bytes holds two frames of 1500 beside the one that is sent.
pub(crate) fn a_queue_has_a_bound() -> Verdict {
    let done = run(rules(None), &[(0, 1500), (0, 1500), (0, 1500), (0, 1), (1_201 * MICRO, 1)]);
    is("frames that went", done.iter().flatten().count(), 4)?;
    is("the one that did not", done[3], None)
}
