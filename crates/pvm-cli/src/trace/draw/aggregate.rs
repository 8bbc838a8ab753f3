//! The messages of each task to each one, itself included: bars for few tasks, a table of shades
//! for many.

use super::canvas::{Anchor, Axis, Canvas, colour, short};
use pvm_trace::profile::{Profile, Traffic};
use pvm_trace::{Tables, TaskIndex};

/// With more tasks there would be too many bars.
const BARS_MAX: usize = 8;
/// Rows of shades; of more tasks several share one.
const ROWS_MAX: usize = 128;

/// Draws it.
pub(super) fn draw(tables: &Tables, profile: &Profile) -> Canvas {
    if tables.tasks.len() <= BARS_MAX { bars(tables, profile) } else { shades(tables, profile) }
}

fn sent(profile: &Profile, from: TaskIndex, to: TaskIndex) -> Traffic {
    if from == to {
        return to_itself(profile, from);
    }
    profile.pairs.get(&(from, Some(to))).copied().unwrap_or_default()
}

/// The messages of a task to itself: all that it sent but those to others.
fn to_itself(profile: &Profile, task: TaskIndex) -> Traffic {
    let all = profile.tasks.get(task as usize).map(|row| row.sent).unwrap_or_default();
    let of_task = (task, None)..=(task, Some(TaskIndex::MAX));
    profile.pairs.range(of_task).fold(all, |left, (_, traffic)| Traffic {
        messages: left.messages.saturating_sub(traffic.messages),
        bytes: left.bytes.saturating_sub(traffic.bytes),
    })
}

fn bars(tables: &Tables, profile: &Profile) -> Canvas {
    let mut canvas = Canvas::new(900.0, 420.0, "Bytes and messages sent from each task to each");
    panel(&mut canvas, tables, (60.0, "bytes"), |from, to| sent(profile, from, to).bytes);
    panel(&mut canvas, tables, (500.0, "messages"), |from, to| sent(profile, from, to).messages);
    let labels: Vec<String> =
        (0..tables.tasks.len()).map(|to| format!("to {}", tables.label(to as TaskIndex))).collect();
    let names: Vec<_> =
        labels.iter().zip(colour::ROW).map(|(name, fill)| (fill, name.as_str())).collect();
    for (line, names) in names.chunks(5).enumerate() {
        canvas.legend((60.0, 390.0 + 16.0 * line as f64), names);
    }
    canvas
}

fn panel(
    canvas: &mut Canvas,
    tables: &Tables,
    (left, label): (f64, &str),
    value: impl Fn(TaskIndex, TaskIndex) -> u64,
) {
    let (top, high, wide) = (50.0, 270.0, 370.0);
    let tasks = tables.tasks.len() as TaskIndex;
    let pairs = (0..tasks).flat_map(|from| (0..tasks).map(move |to| (from, to)));
    let most = pairs.map(|(from, to)| value(from, to)).max().unwrap_or(0);
    let axis = Axis::up_to(most as f64);
    let y = |value: f64| top + high * (1.0 - value / axis.most);
    for mark in axis.marks() {
        canvas.line((left, y(mark)), (left + wide, y(mark)), (colour::FAINT, 1.0));
        canvas.text((left - 5.0, y(mark) + 4.0), Anchor::End, 10, &short(mark));
    }
    canvas.text((left + wide / 2.0, top - 8.0), Anchor::Middle, 11, label);
    let group = wide / f64::from(tasks.max(1));
    for from in 0..tasks {
        let x = left + group * f64::from(from);
        let tid = tables.tasks[from as usize].facts.tid.to_string();
        canvas.text((x + group / 2.0, top + high + 14.0), Anchor::Middle, 10, &tid);
        let bar = group * 0.9 / f64::from(tasks);
        for to in 0..tasks {
            let value = value(from, to);
            let at = (x + group * 0.05 + bar * f64::from(to), y(value as f64));
            let fill = colour::ROW[to as usize % colour::ROW.len()];
            let tell = format!("{} to {}: {value} {label}", tables.label(from), tables.label(to));
            canvas.told(at, (bar, top + high - at.1), (fill, 1.0), tell);
        }
    }
    canvas.text((left + wide / 2.0, top + high + 32.0), Anchor::Middle, 11, "sender");
}

fn shades(tables: &Tables, profile: &Profile) -> Canvas {
    let tasks = tables.tasks.len();
    let rows = tasks.min(ROWS_MAX);
    let row = |task: TaskIndex| task as usize * rows / tasks;
    let mut sums = vec![Traffic::default(); rows * rows];
    for ((from, to), traffic) in &profile.pairs {
        let Some(to) = to else { continue };
        let sum = &mut sums[row(*from) * rows + row(*to)];
        sum.messages += traffic.messages;
        sum.bytes = sum.bytes.saturating_add(traffic.bytes);
    }
    let side = 640.0 / rows as f64;
    let mut canvas =
        Canvas::new(760.0, 740.0, "Bytes sent from each task (rows) to each other (columns)");
    let most = sums.iter().map(|sum| sum.bytes).max().unwrap_or(0).max(2) as f64;
    for (place, sum) in sums.iter().enumerate().filter(|(_, sum)| sum.messages > 0) {
        let (from, to) = (place / rows, place % rows);
        let shade = 0.1 + 0.9 * (sum.bytes.max(1) as f64).ln() / most.ln();
        let at = (80.0 + side * to as f64, 40.0 + side * from as f64);
        let tell = format!("row {from} to {to}: {} messages, {} bytes", sum.messages, sum.bytes);
        canvas.told(at, (side, side), (colour::CALLS, shade), tell);
    }
    canvas.line((80.0, 40.0), (80.0, 680.0), (colour::INK, 1.0));
    canvas.line((80.0, 40.0), (720.0, 40.0), (colour::INK, 1.0));
    let each = tasks.div_ceil(rows);
    let told = format!(
        "{tasks} tasks{}; darker is more, by the logarithm, up to {} bytes",
        if each > 1 { format!(", up to {each} in a row") } else { String::new() },
        short(most)
    );
    canvas.text((80.0, 710.0), Anchor::Start, 11, &told);
    canvas
}

#[cfg(test)]
mod tests {
    use super::*;
    use pvm_trace::profile::TaskProfile;

    #[test]
    fn what_a_task_sent_to_itself_had_no_bar() {
        let traffic = |messages, bytes| Traffic { messages, bytes };
        let mut profile = Profile::default();
        let sender = TaskProfile { sent: traffic(9, 900), ..TaskProfile::default() };
        profile.tasks = vec![TaskProfile::default(), sender];
        for (pair, sent) in [((1, Some(0)), (2, 300)), ((1, None), (1, 5)), ((0, Some(1)), (7, 7))]
        {
            profile.pairs.insert(pair, traffic(sent.0, sent.1));
        }
        assert_eq!(sent(&profile, 1, 1), traffic(6, 595));
        assert_eq!(sent(&profile, 1, 0), traffic(2, 300));
        assert_eq!(sent(&profile, 2, 2), traffic(0, 0));
    }
}
