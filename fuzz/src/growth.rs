//! Bytes as up to five time-independent traces of one program, of which a program of more tasks
//! grows that is run on a line.

use crate::stations::Bounded;
use pvm_predict::platform::{Host, Line};
use pvm_predict::source::Ranks;
use pvm_predict::{Growth, Source, Time, model};
use std::io::Cursor;

/// Actions of a recording: a call of all ranks is very many messages.
const ACTIONS_MAX: usize = 1 << 12;

pub(crate) fn run(bytes: &[u8]) {
    let Some((tasks, bytes)) = bytes.split_first() else { return };
    let mut sources: Vec<Box<dyn Source>> = Vec::new();
    for file in bytes.split(|byte| *byte == b'|').take(5) {
        let open = || Ranks::new(vec![Cursor::new(file.to_vec())], 1e9);
        let (Ok(mut counted), Ok(source)) = (open(), open()) else { return };
        if counted.tasks() > 64 || !is_short(&mut counted) {
            return;
        }
        sources.push(Box::new(source));
    }
    let Ok(growth) = Growth::of(sources, u32::from(*tasks)) else { return };
    let (low, high) = growth.factors();
    assert!(low.is_finite() && high.is_finite() && low <= high);
    let (line, host) = (Line::new(Time::nanoseconds(7), 3.0), Host::default());
    let mut source = growth.source(high);
    let Ok(report) = model::line::run(&mut source, line, host, &mut Bounded(1 << 14)) else {
        return;
    };
    assert!(report.stations.iter().all(|station| station.total() == station.execution));
}

fn is_short(source: &mut dyn Source) -> bool {
    let mut left = ACTIONS_MAX;
    for task in 0..source.tasks() {
        while let Ok(Some(_)) = source.next(task) {
            left -= 1;
            if left == 0 {
                return false;
            }
        }
    }
    true
}
