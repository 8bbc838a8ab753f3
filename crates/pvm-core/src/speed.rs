//! The speed of a host without a given one (`sp=`), found out by ourselves.
//!
//! PVM's speeds are relative, and 1000 where nothing is said. Each daemon measures its computer and
//! tells what it found ([`HostFacts::measured`]); what that is as a speed, the machine says once,
//! in the order of commands, by the first of its hosts that has measured. Measurements differ from
//! one to the next, so a difference below a quarter is none, and larger ones are told with two
//! digits.

use pvm_wire::peer::HostFacts;

/// The speed of a host of which nothing is known.
pub(crate) const USUAL: i32 = 1000;
/// PVM's largest.
const MAX: u64 = 1_000_000;

/// Fills in what `facts` leave open, beside the hosts of the machine, the lowest first.
pub(crate) fn settle<'a>(facts: &mut HostFacts, others: impl Iterator<Item = &'a HostFacts>) {
    let mut first = None;
    if facts.measured > 0 {
        for other in others.filter(|other| other.measured > 0) {
            // Computers are measured once: what else runs there makes a second measurement another
            // one.
            if is_one_computer(facts, other) {
                facts.measured = other.measured;
            }
            first = first.or(Some(other));
        }
    }
    if facts.speed == 0 {
        facts.speed = first.map_or(USUAL, |first| relative(facts.measured, first));
    }
}

fn relative(measured: u32, first: &HostFacts) -> i32 {
    let (mine, its) = (u64::from(measured), u64::from(first.measured));
    let its_speed = u64::from(first.speed.max(1).unsigned_abs());
    if mine * 4 < its * 5 && its * 4 < mine * 5 {
        return first.speed;
    }
    let exact = mine * its_speed / its;
    let digits = exact.max(1).ilog10();
    let unit = 10_u64.pow(digits.saturating_sub(1));
    let speed = ((exact + unit / 2) / unit * unit).clamp(1, MAX);
    i32::try_from(speed).unwrap_or(i32::MAX)
}

/// Containers on one computer differ in their names, not in when it was started.
fn is_one_computer<'a>(one: &'a HostFacts, other: &'a HostFacts) -> bool {
    let started = |facts: &'a HostFacts| facts.computer.0.split(|byte| *byte == b' ').next();
    !one.computer.0.is_empty() && started(one) == started(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(computer: &str, measured: u32, speed: i32) -> HostFacts {
        HostFacts { computer: computer.into(), measured, speed, ..HostFacts::default() }
    }

    fn settled(mut new: HostFacts, others: &[HostFacts]) -> (i32, u32) {
        settle(&mut new, others.iter());
        (new.speed, new.measured)
    }

    #[test]
    fn a_host_has_the_speed_that_was_found_out_beside_the_first() {
        let first = [host("a x", 4000, 1000)];
        assert_eq!(settled(host("b y", 8000, 0), &first).0, 2000);
        assert_eq!(settled(host("b y", 6930, 0), &first).0, 1700);
        assert_eq!(settled(host("b y", 132, 0), &first).0, 33);
        assert_eq!(settled(host("b y", 4900, 0), &first).0, 1000, "no difference");
        assert_eq!(settled(host("b y", 3300, 0), &first).0, 1000, "no difference");
        let named = [host("a x", 4000, 500), host("c z", 1, 1000)];
        assert_eq!(settled(host("b y", 8000, 0), &named).0, 1000, "the first one's is 500");
    }

    #[test]
    fn what_was_said_counts_more_than_what_was_found() {
        assert_eq!(settled(host("b y", 8000, 77), &[host("a x", 4000, 1000)]).0, 77);
    }

    #[test]
    fn hosts_of_one_computer_have_one_measurement() {
        let first = [host("a x", 4000, 1000)];
        assert_eq!(settled(host("a y", 1000, 0), &first), (1000, 4000));
        assert_eq!(settled(host("a x", 9000, 5), &first), (5, 4000));
    }

    #[test]
    fn what_is_not_known_is_the_usual() {
        assert_eq!(settled(host("", 0, 0), &[]).0, USUAL);
        assert_eq!(settled(host("b y", 7, 0), &[host("", 0, 9)]).0, USUAL);
        assert_eq!(settled(host("b y", 0, 0), &[host("a x", 7, 9)]).0, USUAL);
        assert_eq!(settled(host("b y", u32::MAX, 0), &[host("a x", 1, 1_000_000)]).0, 1_000_000);
    }
}
