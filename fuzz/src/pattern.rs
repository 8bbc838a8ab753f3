//! Bytes as the numbers of a generated pattern, which is run on a line.

use crate::stations::Bounded;
use pvm_predict::platform::{Host, Line};
use pvm_predict::source::{Pattern, Shape};
use pvm_predict::{Source as _, Time, model};

/// More tasks are no other case, but much memory.
const TASKS_MAX: u32 = 1 << 12;

pub(crate) fn run(bytes: &[u8]) {
    let Some((head, rest)) = bytes.split_first_chunk::<9>() else { return };
    let (numbers, _) = rest.as_chunks::<8>();
    let [size, computing, ..] = numbers else { return };
    let [kind, a, b, c, d, rounds @ ..] = *head;
    let shape = Shape::ALL[usize::from(kind) % Shape::ALL.len()].1;
    let tasks = u32::from_le_bytes([a, b, c, d]);
    let is_square = tasks.isqrt().pow(2) == tasks;
    if tasks > TASKS_MAX && (shape != Shape::Stencil || is_square) {
        return;
    }
    let (rounds, bytes) = (u32::from_le_bytes(rounds), u64::from_le_bytes(*size));
    let computing = Time(u64::from_le_bytes(*computing));
    let Ok(mut source) = Pattern::new(shape, tasks, rounds, bytes, computing) else { return };
    assert_eq!(source.tasks(), tasks);
    let (line, host) = (Line::new(Time::nanoseconds(7), 3.0), Host::default());
    let Ok(report) = model::line::run(&mut source, line, host, &mut Bounded(1 << 14)) else {
        return;
    };
    assert!(report.stations.iter().all(|station| station.total() == station.execution));
}
