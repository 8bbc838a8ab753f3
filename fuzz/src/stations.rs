//! Bytes as the files of three stations of the thesis, which are run by both models.

use pvm_predict::platform::{Host, Line};
use pvm_predict::report::{Event, Report, Watcher};
use pvm_predict::source::Stations;
use pvm_predict::{Error, Rate, Time, model};

/// Ends a run that would take too long: a short line may ask for a million packets.
pub(crate) struct Bounded(pub(crate) u32);

impl Watcher for Bounded {
    fn event(&mut self, event: Event<'_>) -> Result<(), Error> {
        let bytes = if let Event::Sent { bytes, .. } = event { bytes } else { 0 };
        let packets = u32::try_from(bytes >> 10).unwrap_or(u32::MAX);
        self.0 = self.0.saturating_sub(1).saturating_sub(packets);
        if self.0 == 0 { Err(Error::Stopped(0)) } else { Ok(()) }
    }

    fn goes_on(&mut self, actions: u64) -> bool {
        actions < 1 << 16
    }
}

pub(crate) fn run(bytes: &[u8]) {
    let files = || bytes.split(|byte| *byte == b'|').take(3);
    let line = Line::new(Time::nanoseconds(7), 3.0);
    let host = Host::default();
    check(model::line::run(&mut Stations::new(files()), line, host, &mut Bounded(4096)));
    let rate = Rate::megabits(10);
    check(model::thesis::run(&mut Stations::new(files()), rate, 1, &mut Bounded(4096)));
}

fn check(run: Result<Report, Error>) {
    let Ok(report) = run else { return };
    assert!(report.stations.iter().all(|station| station.total() == station.execution));
    assert_eq!(report.path.total(), report.time);
}
