//! Messages and bytes that all tasks sent, over time.

use super::canvas::{Anchor, Axis, Canvas, colour, short, unit};
use super::subject::Subject;
use crate::failure::Failure;
use crate::trace::place::wrong;
use pvm_trace::{Error, What};

/// Steps of the curves.
const STEPS: usize = 300;

/// Draws it.
pub(super) fn draw(subject: &mut Subject<'_>) -> Result<Canvas, Failure> {
    let (from, to) = subject.window;
    let length = to.saturating_sub(from).max(1);
    let mut messages = [0u64; STEPS];
    let mut bytes = [0u64; STEPS];
    let clocks = subject.clocks;
    for entry in subject.trace.merged_in((from, to), |task, raw| clocks.time(task, raw)) {
        let (task, record) = match entry {
            Ok(entry) => entry,
            Err(error @ Error::Io(_)) => return Err(wrong(subject.file, &error)),
            // A damaged block leaves a hole.
            Err(_) => continue,
        };
        let What::Send { message, .. } = &record.what else { continue };
        let at = clocks.time(task, record.begin);
        if (from..=to).contains(&at) {
            let share = u128::from(at - from) * STEPS as u128 / u128::from(length);
            let step = (share as usize).min(STEPS - 1);
            messages[step] += 1;
            bytes[step] = bytes[step].saturating_add(message.bytes);
        }
    }
    let mut canvas = Canvas::new(900.0, 460.0, "Messages and bytes sent by all tasks over time");
    let (name, scale) = unit(length);
    let each = format!("in {} {name}", short(length as f64 / scale / STEPS as f64));
    panel(&mut canvas, (50.0, &format!("messages {each}")), &messages, colour::CALLS);
    panel(&mut canvas, (245.0, &format!("bytes {each}")), &bytes, colour::MESSAGES);
    let axis = Axis::up_to(length as f64 / scale);
    for mark in axis.marks().filter(|mark| *mark <= length as f64 / scale * 1.0001) {
        let x = 80.0 + 780.0 * mark * scale / length as f64;
        canvas.line((x, 405.0), (x, 410.0), (colour::INK, 1.0));
        canvas.text((x, 424.0), Anchor::Middle, 11, &short(mark));
    }
    canvas.text((470.0, 444.0), Anchor::Middle, 11, &format!("time, {name}"));
    Ok(canvas)
}

fn panel(
    canvas: &mut Canvas,
    (top, label): (f64, &str),
    values: &[u64; STEPS],
    stroke: &'static str,
) {
    let high = 160.0;
    let axis = Axis::up_to(values.iter().copied().max().unwrap_or(0) as f64);
    let y = |value: f64| top + high * (1.0 - value / axis.most);
    for mark in axis.marks() {
        canvas.line((80.0, y(mark)), (860.0, y(mark)), (colour::FAINT, 1.0));
        canvas.text((74.0, y(mark) + 4.0), Anchor::End, 10, &short(mark));
    }
    canvas.text((80.0, top - 6.0), Anchor::Start, 11, label);
    let mut points = Vec::with_capacity(2 * STEPS);
    for (step, value) in values.iter().enumerate() {
        let x = |step: usize| 80.0 + 780.0 * step as f64 / STEPS as f64;
        points.push((x(step), y(*value as f64)));
        points.push((x(step + 1), y(*value as f64)));
    }
    canvas.curve(points, stroke);
}
