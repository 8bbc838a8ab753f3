//! Links that flap and lose.

use super::observation::now_s;
use super::row::Row;
use super::watchers::{stalls, start};
use crate::Hosts;
use std::time::Duration;

/// The time within which messages on their way have arrived.
const ARRIVED: Duration = Duration::from_secs(60);
/// Between two flaps.
const REST: Duration = Duration::from_millis(1500);

/// The cable of `h2` is out for each of these times, `rounds` times: until messages go on after it
/// is back, under numbered messages of all sizes by all routes, none of which may be lost, repeated
/// or reordered.
pub fn flaps(hosts: &Hosts, times: &[Duration], rounds: usize) -> Row {
    let mut row = Row::new("cable out and back: until messages go on");
    hosts.machine("h1", &["h2"]);
    let streams = ["daemon", "direct", "mixed"]
        .map(|route| start(hosts, "h1", &["stream", "h2", route, "3600"]));
    let pair = start(hosts, "h1", &["pair", "h2", "daemon", "3600"]);
    let mut healed = Vec::new();
    for _ in 0..rounds {
        for &time in times {
            hosts.tool(&["cut", "h2"]);
            std::thread::sleep(time);
            hosts.tool(&["heal", "h2"]);
            healed.push(now_s());
            std::thread::sleep(REST);
        }
    }
    let said = pair.finish(ARRIVED);
    let outputs = streams.map(|stream| stream.finish(ARRIVED));
    let sound = said.code() == 0 && outputs.iter().all(|output| output.code() == 0);
    let paused = stalls(&said.out);
    for heal in healed {
        // The pause that the flap began ends after the cable is back; a short one may not be
        // noticed at all.
        let of_this = |(at, spent): &&(f64, f64)| *at < heal && at + spent > heal;
        let after = paused.iter().find(of_this).map_or(0.0, |(at, spent)| at + spent - heal);
        row.add(sound, [after * 1e3]);
    }
    if sound {
        let counts = outputs.map(|output| output.number("messages "));
        let [daemon, direct, mixed] = counts;
        row.note =
            format!("{daemon} messages by daemons, {direct} direct, {mixed} with changes of route");
    } else {
        row.note = said.err + &outputs.map(|output| output.err).concat();
    }
    hosts.halt("h1");
    row
}

/// `percent` of the packets to `h2` are lost for `seconds`: numbered messages of all sizes by all
/// routes.
pub fn lossy(hosts: &Hosts, percent: u32, seconds: u32) -> Row {
    let mut row = Row::new(format!("{percent} % of packets lost: one small message to and fro"));
    hosts.machine("h1", &["h2"]);
    hosts.tool(&["lossy", "h2", &percent.to_string()]);
    let length = seconds.to_string();
    let streams = ["daemon", "direct", "mixed"]
        .map(|route| start(hosts, "h1", &["stream", "h2", route, &length]));
    let pair = start(hosts, "h1", &["pair", "h2", "direct", &length]);
    // They end earlier when nobody listens to them any more.
    std::thread::sleep(Duration::from_secs(seconds.into()));
    let outputs = streams.map(|stream| stream.finish(ARRIVED));
    let said = pair.finish(ARRIVED);
    let sound = said.code() == 0 && outputs.iter().all(|output| output.code() == 0);
    hosts.tool(&["lossy", "h2", "0"]);
    if sound {
        let times = ["p50 ", "p99 ", "max "].map(|label| said.number(label) / 1e3);
        row.add(true, times);
        row.note = format!(
            "p50 {:.2}, p99 {:.2}, max {:.1} of {} trips; {} numbered messages",
            times[0],
            times[1],
            times[2],
            said.number("trips "),
            outputs.map(|output| output.number("messages ")).iter().sum::<f64>()
        );
    } else {
        row.add(false, []);
        row.note = said.err + &outputs.map(|output| output.err).concat();
    }
    hosts.halt("h1");
    row
}
