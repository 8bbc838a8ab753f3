//! A row for each task with what it did, and a line for each message.
//!
//! A row is made of columns of one point; each shows by its height how much of its time was
//! computing, calls and waiting. So a picture of a second is as large as one of a day.

use super::canvas::{Anchor, Axis, Canvas, colour, short, unit};
use super::subject::Subject;
use crate::failure::Failure;
use crate::trace::place::wrong;
use pvm_trace::matching::{Matched, Matcher, Span};
use pvm_trace::{Error, Record, TaskIndex, What, calls};

const COLUMNS: usize = 1000;
/// Tasks that are drawn, the first ones.
const ROWS_MAX: usize = 64;
/// Message lines that are drawn; of more, every second, fourth, eighth ... one.
const LINES_MAX: usize = 2000;

/// One column of a row, in nanoseconds.
#[derive(Clone, Copy, Default)]
struct Column {
    calls: u64,
    waiting: u64,
    alive: u64,
}

struct Picture {
    from: u64,
    length: u64,
    rows: Vec<Vec<Column>>,
    messages: Vec<Matched>,
    count: usize,
    /// One message in so many is drawn.
    stride: usize,
}

/// Draws it.
pub(super) fn draw(subject: &mut Subject<'_>) -> Result<Canvas, Failure> {
    let (from, to) = subject.window;
    let tasks = subject.trace.tables().tasks.len().min(ROWS_MAX);
    let rows = vec![vec![Column::default(); COLUMNS]; tasks];
    let length = to.saturating_sub(from).max(1);
    let mut picture = Picture { from, length, rows, messages: Vec::new(), count: 0, stride: 1 };
    let mut lives = vec![Span { begin: u64::MAX, end: 0 }; tasks];
    let clocks = subject.clocks;
    let mut matcher = Matcher::new(subject.trace.tables());
    for entry in subject.trace.merged_in((from, to), |task, raw| clocks.time(task, raw)) {
        let (task, record) = match entry {
            Ok(entry) => entry,
            Err(error @ Error::Io(_)) => return Err(wrong(subject.file, &error)),
            // A damaged block leaves a hole.
            Err(_) => continue,
        };
        let [begin, end] = [record.begin, record.end()].map(|raw| clocks.time(task, raw));
        let span = Span { begin, end };
        picture.record(task, &record, span);
        if let Some(life) = lives.get_mut(task as usize) {
            *life = Span { begin: life.begin.min(begin), end: life.end.max(end) };
        }
        if let Some(message) = matcher.record(task, &record, span, Vec::new) {
            picture.message(message);
        }
    }
    for (task, life) in lives.into_iter().enumerate() {
        picture.add(task, life, |column, time| column.alive += time);
    }
    Ok(picture.draw(subject))
}

impl Picture {
    fn record(&mut self, task: TaskIndex, record: &Record, span: Span) {
        let task = task as usize;
        if matches!(record.what, What::Wait { .. }) {
            self.add(task, span, |column, time| column.waiting += time);
        } else if record.depth == 0 && !record.part && record.call != calls::NONE {
            self.add(task, span, |column, time| column.calls += time);
        }
    }

    /// Spreads a span over the columns that it touches.
    fn add(&mut self, task: usize, span: Span, add: impl Fn(&mut Column, u64)) {
        let Some(row) = self.rows.get_mut(task) else { return };
        let begin = span.begin.max(self.from) - self.from;
        let end = span.end.min(self.from + self.length).saturating_sub(self.from);
        let place =
            |time: u64| (u128::from(time) * COLUMNS as u128 / u128::from(self.length)) as usize;
        let edge =
            |column: usize| (u128::from(self.length) * column as u128 / COLUMNS as u128) as u64;
        if begin >= end {
            return;
        }
        for (column, cell) in row.iter_mut().enumerate().take(place(end) + 1).skip(place(begin)) {
            let inside = end.min(edge(column + 1)).saturating_sub(begin.max(edge(column)));
            add(cell, inside);
        }
    }

    fn message(&mut self, message: Matched) {
        let drawn = self.rows.len() as TaskIndex;
        if message.from >= drawn || message.to >= drawn || message.from == message.to {
            return;
        }
        self.count += 1;
        if !self.count.is_multiple_of(self.stride) {
            return;
        }
        self.messages.push(message);
        if self.messages.len() > LINES_MAX {
            let mut number = 0usize;
            self.messages.retain(|_| {
                number += 1;
                number.is_multiple_of(2)
            });
            self.stride *= 2;
        }
    }

    fn draw(self, subject: &Subject<'_>) -> Canvas {
        let tables = subject.trace.tables();
        let (left, top) = (150.0, 40.0);
        let row = (600.0 / self.rows.len().max(1) as f64).clamp(14.0, 60.0);
        let bottom = top + row * self.rows.len() as f64;
        let mut canvas = Canvas::new(
            left + COLUMNS as f64 + 30.0,
            bottom + 75.0,
            "What each task did over time",
        );
        for (task, columns) in self.rows.iter().enumerate() {
            let y = top + row * task as f64;
            let label = tables.label(task as TaskIndex);
            canvas.text((left - 6.0, y + row / 2.0 + 4.0), Anchor::End, 11, &label);
            draw_row(&mut canvas, columns, (left, y + row * 0.2), row * 0.6);
        }
        let y = |task: TaskIndex| top + row * (f64::from(task) + 0.5);
        for message in &self.messages {
            let ends = [message.sent.begin, message.received.end].map(|time| self.part(time));
            let Some([from, to]) = visible(ends) else { continue };
            let (begin, end) = (y(message.from), y(message.to));
            let at = |part: f64, along: f64| {
                (left + part * COLUMNS as f64, begin + (end - begin) * along)
            };
            canvas.line(at(from.0, from.1), at(to.0, to.1), (colour::MESSAGES, 0.7));
        }
        self.axis(&mut canvas, left, bottom);
        let lines = match self.stride {
            1 => "messages".to_owned(),
            stride => format!("messages (one in {stride})"),
        };
        let names = [
            (colour::COMPUTING, "computing"),
            (colour::CALLS, "calls"),
            (colour::WAITING, "waiting"),
            (colour::MESSAGES, lines.as_str()),
        ];
        canvas.legend((left, bottom + 60.0), &names);
        if tables.tasks.len() > self.rows.len() {
            let told = format!("the first {} of {} tasks", self.rows.len(), tables.tasks.len());
            canvas.text((left + COLUMNS as f64, bottom + 60.0), Anchor::End, 11, &told);
        }
        canvas
    }

    /// The position of a time in the window, of which 0 is the begin and 1 the end.
    fn part(&self, time: u64) -> f64 {
        (i128::from(time) - i128::from(self.from)) as f64 / self.length as f64
    }

    fn axis(&self, canvas: &mut Canvas, left: f64, bottom: f64) {
        let (name, scale) = unit(self.length);
        let axis = Axis::up_to(self.length as f64 / scale);
        for mark in axis.marks().filter(|mark| mark * scale <= self.length as f64 * 1.0001) {
            let at = left + mark * scale / self.length as f64 * COLUMNS as f64;
            canvas.line((at, bottom), (at, bottom + 5.0), (colour::INK, 1.0));
            canvas.text((at, bottom + 18.0), Anchor::Middle, 11, &short(mark));
        }
        let middle = left + COLUMNS as f64 / 2.0;
        canvas.text((middle, bottom + 36.0), Anchor::Middle, 11, &format!("time, {name}"));
    }
}

/// The part of a line within a window from one time to another: both ends, each with how far it is
/// along the line.
fn visible([begin, end]: [f64; 2]) -> Option<[(f64, f64); 2]> {
    if begin.max(end) < 0.0 || begin.min(end) > 1.0 {
        return None;
    }
    let cut = |part: f64| {
        let inside = part.clamp(0.0, 1.0);
        (inside, if begin == end { 0.0 } else { (inside - begin) / (end - begin) })
    };
    let [from, to] = [cut(begin), cut(end)];
    Some([from, if begin == end { (to.0, 1.0) } else { to }])
}

/// Runs of columns that look alike are one box.
fn draw_row(canvas: &mut Canvas, columns: &[Column], (left, top): (f64, f64), high: f64) {
    let shares = |column: &Column| {
        let all = column.alive.max(column.calls).max(1) as f64;
        let waiting = column.waiting.min(column.calls) as f64 / all;
        let calls = column.calls as f64 / all - waiting;
        let steps = |share: f64| (share * 20.0).round() / 20.0;
        (column.alive > 0).then(|| (steps(calls), steps(waiting)))
    };
    let mut begin = 0;
    while begin < columns.len() {
        let look = shares(&columns[begin]);
        let alike = columns[begin..].iter().take_while(|column| shares(column) == look).count();
        if let Some((calls, waiting)) = look {
            let (x, wide) = (left + begin as f64, alike as f64);
            let computing = (1.0 - calls - waiting).max(0.0);
            canvas.rect((x, top), (wide, high * computing), colour::COMPUTING);
            canvas.rect((x, top + high * computing), (wide, high * calls), colour::CALLS);
            let rest = high * (computing + calls);
            canvas.rect((x, top + rest), (wide, high * waiting), colour::WAITING);
        }
        begin += alike.max(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_that_a_window_cuts_were_drawn_as_if_they_ended_at_its_edge() {
        assert_eq!(visible([-3.0, -0.1]), None);
        assert_eq!(visible([1.2, 7.0]), None);
        assert_eq!(visible([0.25, 0.75]), Some([(0.25, 0.0), (0.75, 1.0)]));
        assert_eq!(visible([-1.0, 1.0]), Some([(0.0, 0.5), (1.0, 1.0)]));
        assert_eq!(visible([0.5, 1.5]), Some([(0.5, 0.0), (1.0, 0.5)]));
        // Clocks may say that it came before it was sent.
        assert_eq!(visible([1.5, 0.5]), Some([(1.0, 0.5), (0.5, 1.0)]));
        assert_eq!(visible([0.5, 0.5]), Some([(0.5, 0.0), (0.5, 1.0)]));
    }
}
