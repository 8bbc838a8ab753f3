//! The applications: speed-ups, and the ratios between systems as in figures 14 to 16 of 1997.

use super::html::element;
use super::plot::{Axis, Series, colour, curves};
use crate::ranking::Contest;
use crate::system::Kind;
use std::collections::BTreeMap;

/// The plots.
pub(super) fn content(contests: &[Contest]) -> String {
    let mut tests: BTreeMap<&str, Vec<&Contest>> = BTreeMap::new();
    for contest in contests {
        tests.entry(&contest.test).or_default().push(contest);
    }
    let text: String =
        tests.iter().map(|(test, all)| speed_ups(test, all) + &ratios(test, all)).collect();
    element("div", "plots", &text)
}

/// For the largest size that was solved by one task and by several.
fn speed_ups(test: &str, all: &[&Contest]) -> String {
    let alone = |size: u64| all.iter().find(|contest| contest.size == size && contest.tasks == 1);
    let most = all.iter().filter(|contest| alone(contest.size).is_some());
    let counts = |size: u64| all.iter().filter(|contest| contest.size == size).count();
    let Some(size) = most.map(|contest| contest.size).max_by_key(|&size| (counts(size), size))
    else {
        return String::new();
    };
    let series: Vec<Series> = Kind::ALL
        .into_iter()
        .map(|kind| {
            let own = alone(size).and_then(|contest| contest.entry(kind.name()));
            let points = all.iter().filter(|contest| contest.size == size).filter_map(|contest| {
                let time = contest.entry(kind.name())?.typical;
                Some((f64::from(contest.tasks), own?.typical / time))
            });
            let points = points.collect();
            Series { name: kind.name().to_owned(), points, colour: colour(kind.name()), way: 0 }
        })
        .filter(|series| !series.points.is_empty())
        .collect();
    let x = Axis { label: "tasks", log: true };
    let y = Axis { label: "times faster than one task", log: true };
    curves(&format!("{test} of {size}: speed-up"), x, y, &series)
}

/// NeoPVM's time to that of each peer, for each number of tasks: below 1 it is faster.
fn ratios(test: &str, all: &[&Contest]) -> String {
    let mut series: Vec<Series> = Vec::new();
    for contest in all {
        for peer in [Kind::Original, Kind::OpenMpi, Kind::Mpich] {
            let Some(factor) = contest.factor_to(Kind::Ours.name(), peer.name()) else { continue };
            let name = format!("to {} on {} tasks", peer.name(), contest.tasks);
            let point = (contest.size as f64, 1.0 / factor);
            match series.iter_mut().find(|one| one.name == name) {
                Some(one) => one.points.push(point),
                None => {
                    let way = contest.tasks.ilog2() as usize;
                    series.push(Series {
                        name,
                        points: vec![point],
                        colour: colour(peer.name()),
                        way,
                    });
                }
            }
        }
    }
    let x = Axis { label: "size", log: true };
    let y = Axis { label: "time of NeoPVM / time of the other", log: true };
    curves(&format!("{test}: ratio of times"), x, y, &series)
}

#[cfg(test)]
mod tests {
    use super::super::super::figures::{Computer, Figures, Key};
    use super::super::super::ranking::contests;
    use super::*;

    #[test]
    fn speed_ups_and_ratios_are_drawn() {
        let mut figures = Figures::new(true, Computer::default(), Vec::new());
        for (system, tasks, time) in [
            ("NeoPVM", 1, 100.0),
            ("NeoPVM", 2, 60.0),
            ("PVM 3.4.6", 1, 110.0),
            ("PVM 3.4.6", 2, 90.0),
        ] {
            let (suite, test) = ("applications".to_owned(), "rows".to_owned());
            let (system, variant) = (system.to_owned(), String::new());
            figures.add(Key { suite, test, tasks, size: 256, system, variant }, "us", vec![time]);
        }
        let html = content(&contests(&figures));
        assert_eq!(html.matches("<svg").count(), 2);
        assert!(html.contains("rows of 256: speed-up") && html.contains("to PVM 3.4.6 on 2 tasks"));
        assert_eq!(content(&[]).matches("<svg").count(), 0);
    }
}
