//! A host's knowledge of a leader. A host that knows none says so after a moment, and ends after a
//! minute.

const SECOND_NS: u64 = 1_000_000_000;
/// The time after which a host without a leader ends: the others have gone on without it, or cannot
/// go on.
pub(crate) const LOST_NS: u64 = 60 * SECOND_NS;
/// After this time without a leader a host says so: elections of hosts that hear one another take
/// less.
const LEADERLESS_NS: u64 = 3 * SECOND_NS;

/// This host's knowledge of a leader.
#[derive(Debug)]
pub(crate) enum Leadership {
    /// The daemon has had no input yet, so it does not know what time it is.
    Unasked,
    /// A leader is known.
    Led,
    /// No leader is known.
    Leaderless {
        /// When this host ends for that.
        ends_at: u64,
        /// The state of its report.
        report: Report,
    },
}

/// The report that there is no leader.
#[derive(Debug)]
pub(crate) enum Report {
    /// It is due then.
    At(u64),
    /// It was given.
    Given,
}

impl Leadership {
    /// A leader is known. Returns true if the opposite had been reported.
    pub(crate) fn found(&mut self) -> bool {
        let was_reported = self.is_reported();
        *self = Self::Led;
        was_reported
    }

    /// From now on no leader is known. A report that is due earlier stays, and so does one that was
    /// given.
    pub(crate) fn lost(&mut self, now: u64) {
        let due = now.saturating_add(LEADERLESS_NS);
        let report = match self {
            Self::Leaderless { report: Report::Given, .. } => Report::Given,
            Self::Leaderless { report: Report::At(at), .. } => Report::At(due.min(*at)),
            Self::Unasked | Self::Led => Report::At(due),
        };
        *self = Self::Leaderless { ends_at: now.saturating_add(LOST_NS), report };
    }

    /// The first input: from here on the host waits for a leader. True if it is the first.
    pub(crate) fn wake(&mut self, now: u64) -> bool {
        let is_first = matches!(self, Self::Unasked);
        if is_first {
            self.lost(now);
        }
        is_first
    }

    /// True if this host has reported that it knows no leader.
    pub(crate) const fn is_reported(&self) -> bool {
        matches!(self, Self::Leaderless { report: Report::Given, .. })
    }

    /// The report, if it is due.
    pub(crate) fn due_report(&mut self, now: u64) -> Option<&mut Report> {
        match self {
            Self::Leaderless { report: report @ Report::At(_), .. } => {
                let is_due = matches!(report, Report::At(at) if *at <= now);
                is_due.then_some(report)
            }
            _ => None,
        }
    }

    /// When the host ends because there is no leader.
    pub(crate) const fn ends_at(&self) -> Option<u64> {
        match self {
            Self::Leaderless { ends_at, .. } => Some(*ends_at),
            Self::Unasked | Self::Led => None,
        }
    }

    /// When the next of these is due.
    pub(crate) fn next_time(&self) -> Option<u64> {
        match self {
            Self::Leaderless { ends_at, report: Report::At(at) } => Some(*ends_at.min(at)),
            _ => self.ends_at(),
        }
    }
}

impl Report {
    /// Puts the report off: a host that has not joined yet has no leader.
    pub(crate) fn put_off(&mut self, now: u64) {
        *self = Self::At(now.saturating_add(LEADERLESS_NS));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: u64 = 1000;

    #[test]
    fn a_host_says_once_that_nobody_leads_and_ends_a_minute_later() {
        let mut leadership = Leadership::Unasked;
        assert_eq!((leadership.next_time(), leadership.ends_at()), (None, None));
        assert!(leadership.wake(START) && !leadership.wake(START + 1));
        assert_eq!(leadership.next_time(), Some(START + LEADERLESS_NS));
        assert!(leadership.due_report(START + LEADERLESS_NS - 1).is_none());
        *leadership.due_report(START + LEADERLESS_NS).expect("due") = Report::Given;
        assert!(leadership.due_report(START + LOST_NS).is_none() && leadership.is_reported());
        assert_eq!(leadership.next_time(), Some(START + LOST_NS));
        assert!(leadership.found() && !leadership.found());
        assert_eq!(leadership.next_time(), None);
    }

    #[test]
    fn elections_without_an_end_do_not_put_the_report_off() {
        let mut leadership = Leadership::Led;
        leadership.lost(START);
        leadership.lost(START + LEADERLESS_NS / 2);
        assert_eq!(leadership.next_time(), Some(START + LEADERLESS_NS));
        assert_eq!(leadership.ends_at(), Some(START + LEADERLESS_NS / 2 + LOST_NS));
    }
}
