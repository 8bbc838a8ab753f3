//! A bar for each function: its own time, waiting, and calls within it.

use super::canvas::{Anchor, Axis, Canvas, colour, short, unit};
use pvm_trace::profile::Profile;
use pvm_trace::{Tables, export};

/// Functions that are drawn, the longest first.
const SHOWN: usize = 30;

/// Draws it.
pub(super) fn draw(tables: &Tables, profile: &Profile) -> Canvas {
    let mut all: Vec<_> = profile.functions.iter().collect();
    all.sort_by_key(|(_, function)| u64::MAX - function.time);
    all.truncate(SHOWN);
    let (left, wide, row) = (170.0, 700.0, 20.0);
    let height = 110.0 + row * all.len() as f64;
    let mut canvas = Canvas::new(left + wide + 90.0, height, "Time in each function, all tasks");
    let most = all.first().map_or(0, |(_, function)| function.time);
    let (name, scale) = unit(most);
    let axis = Axis::up_to(most as f64 / scale);
    let x = |time: u64| time as f64 / scale / axis.most * wide;
    let bottom = 50.0 + row * all.len() as f64;
    for mark in axis.marks() {
        let at = left + mark / axis.most * wide;
        canvas.line((at, 45.0), (at, bottom), (colour::FAINT, 1.0));
        canvas.text((at, bottom + 14.0), Anchor::Middle, 11, &short(mark));
    }
    canvas.text((left + wide / 2.0, bottom + 32.0), Anchor::Middle, 11, &format!("time, {name}"));
    for (place, (call, function)) in all.iter().enumerate() {
        let y = 50.0 + row * place as f64;
        let label = export::function(&tables.names, 0, **call);
        canvas.text((left - 8.0, y + 13.0), Anchor::End, 11, &label);
        let inner = function.time.saturating_sub(function.own).saturating_sub(function.waiting);
        let mut at = left;
        for (time, fill) in [
            (function.own, colour::CALLS),
            (function.waiting, colour::WAITING),
            (inner, colour::COMPUTING),
        ] {
            canvas.rect((at, y + 2.0), (x(time), row - 5.0), fill);
            at += x(time);
        }
        let calls = if function.calls == 1 { "call" } else { "calls" };
        let calls = format!("{} {calls}", function.calls);
        canvas.text((at + 5.0, y + 13.0), Anchor::Start, 10, &calls);
    }
    let names = [
        (colour::CALLS, "own"),
        (colour::WAITING, "waiting"),
        (colour::COMPUTING, "in calls within"),
    ];
    canvas.legend((left, height - 14.0), &names);
    canvas
}
