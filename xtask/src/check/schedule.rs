//! The order of parts, which run side by side. A part begins when the results of other parts that
//! it uses are there, nothing that it must have for itself is in use, and there is room for its
//! kind of work.

use super::part::{Part, Work};

/// The number of parts of each kind that run at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Room {
    computing: usize,
    waiting: usize,
}

impl Room {
    /// One part for each core computes. Those that wait use a sixth to a half of a core each, and
    /// one more of them than there are cores keeps their waits from adding up. Where fewer parts
    /// compute than may, further ones that wait take their places: in the last quarter of a check
    /// hardly any part computes, and half of the cores stood idle.
    pub(crate) fn on(cores: usize) -> Self {
        Self { computing: cores.max(1), waiting: cores.max(1) + 1 }
    }
}

/// The state of a part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stage {
    Ahead,
    Running,
    /// It ended, and whether others can take what it made.
    Ended(bool),
}

/// The next step of the scheduler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Move {
    Begin(usize),
    /// The part uses the one with this name, which did not pass.
    GiveUp(usize, &'static str),
}

/// The parts of one run of the check, in the order in which they are wanted.
pub(crate) struct Schedule<'a> {
    parts: Vec<(&'a Part, Stage)>,
    room: Option<Room>,
}

impl<'a> Schedule<'a> {
    /// Without room the parts run one after the other.
    pub(crate) fn new(parts: Vec<&'a Part>, room: Option<Room>) -> Self {
        Self { parts: parts.into_iter().map(|part| (part, Stage::Ahead)).collect(), room }
    }

    pub(crate) fn part(&self, at: usize) -> &'a Part {
        self.parts[at].0
    }

    pub(crate) fn is_over(&self) -> bool {
        self.parts.iter().all(|(_, stage)| matches!(stage, Stage::Ended(_)))
    }

    pub(crate) fn ended(&mut self, at: usize, well: bool) {
        self.parts[at].1 = Stage::Ended(well);
    }

    /// The next part to begin or to give up, if any can be now. One that begins is running from
    /// then on.
    pub(crate) fn next(&mut self) -> Option<Move> {
        let found = (0..self.parts.len()).find_map(|at| self.judge(at))?;
        match found {
            Move::Begin(at) => self.parts[at].1 = Stage::Running,
            Move::GiveUp(at, _) => self.ended(at, false),
        }
        Some(found)
    }

    fn judge(&self, at: usize) -> Option<Move> {
        let (part, Stage::Ahead) = self.parts[at] else { return None };
        let stage =
            |name: &str| self.parts.iter().find(|(one, _)| one.name == name).map(|one| one.1);
        let lacks = |name: &&&'static str| stage(name) == Some(Stage::Ended(false));
        if let Some(lacking) = part.uses.iter().find(lacks) {
            return Some(Move::GiveUp(at, lacking));
        }
        let first = part.uses.iter().chain(part.after);
        let is_its_turn =
            first.filter_map(|name| stage(name)).all(|stage| matches!(stage, Stage::Ended(_)));
        (is_its_turn && self.has_room_for(part)).then_some(Move::Begin(at))
    }

    fn has_room_for(&self, part: &Part) -> bool {
        let running: Vec<&Part> = self
            .parts
            .iter()
            .filter(|(_, stage)| *stage == Stage::Running)
            .map(|(part, _)| *part)
            .collect();
        let Some(room) = self.room else { return running.is_empty() };
        let measures = |one: &Part| one.work == Work::Measures;
        if measures(part) || running.iter().any(|one| measures(one)) {
            return running.is_empty();
        }
        let waits = |one: &Part| one.work == Work::Waits;
        let waiting = running.iter().filter(|one| waits(one)).count();
        let computing = running.len() - waiting;
        let fits = if waits(part) {
            waiting < room.waiting + room.computing.saturating_sub(computing)
        } else {
            computing < room.computing
        };
        let in_use = |thing| running.iter().any(|one| one.alone.contains(thing));
        fits && !part.alone.iter().any(in_use)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn part(name: &'static str, work: Work) -> Part {
        Part { name, work, ..Part::DEFAULT }
    }

    /// The parts that begin now.
    fn begun(schedule: &mut Schedule<'_>) -> Vec<&'static str> {
        let mut names = Vec::new();
        while let Some(Move::Begin(at)) = schedule.next() {
            names.push(schedule.part(at).name);
        }
        names
    }

    #[test]
    fn as_many_compute_as_there_are_cores_and_waiting_ones_run_beside_them() {
        let parts = [
            part("a", Work::Computes),
            part("b", Work::Builds),
            part("c", Work::Computes),
            part("d", Work::Waits),
            part("e", Work::Waits),
            part("f", Work::Waits),
            part("g", Work::Waits),
        ];
        let mut schedule = Schedule::new(parts.iter().collect(), Some(Room::on(2)));
        assert_eq!(begun(&mut schedule), ["a", "b", "d", "e", "f"]);
        schedule.ended(0, true);
        assert_eq!(begun(&mut schedule), ["c"]);
        schedule.ended(3, false);
        assert_eq!(begun(&mut schedule), ["g"]);
        assert!(!schedule.is_over());
    }

    #[test]
    fn parts_that_wait_take_the_places_of_parts_that_do_not_compute() {
        let mut parts = vec![part("one", Work::Computes), part("two", Work::Computes)];
        parts.extend(["a", "b", "c", "d", "e", "f"].map(|name| part(name, Work::Waits)));
        let mut schedule = Schedule::new(parts.iter().collect(), Some(Room::on(2)));
        assert_eq!(begun(&mut schedule), ["one", "two", "a", "b", "c"]);
        schedule.ended(0, true);
        assert_eq!(begun(&mut schedule), ["d"]);
        schedule.ended(1, true);
        assert_eq!(begun(&mut schedule), ["e"]);
        schedule.ended(2, true);
        assert_eq!(begun(&mut schedule), ["f"]);
    }

    #[test]
    fn a_part_begins_when_what_it_takes_is_there_and_gives_up_when_it_failed() {
        let parts = [
            Part { uses: &["made"], ..part("user", Work::Waits) },
            Part { after: &["made"], ..part("later", Work::Waits) },
            part("made", Work::Builds),
        ];
        let mut schedule = Schedule::new(parts.iter().collect(), Some(Room::on(2)));
        assert_eq!(begun(&mut schedule), ["made"]);
        schedule.ended(2, true);
        assert_eq!(begun(&mut schedule), ["user", "later"]);

        let mut schedule = Schedule::new(parts.iter().collect(), Some(Room::on(2)));
        assert_eq!(begun(&mut schedule), ["made"]);
        schedule.ended(2, false);
        assert_eq!(schedule.next(), Some(Move::GiveUp(0, "made")));
        assert_eq!(begun(&mut schedule), ["later"], "it only wanted to be second");
        schedule.ended(1, true);
        assert!(schedule.is_over());
    }

    #[test]
    fn what_one_part_must_have_for_itself_no_other_uses_meanwhile() {
        let parts = [
            Part { alone: &["folder"], ..part("a", Work::Waits) },
            Part { alone: &["other", "folder"], ..part("b", Work::Computes) },
            Part { alone: &["other"], ..part("c", Work::Waits) },
        ];
        let mut schedule = Schedule::new(parts.iter().collect(), Some(Room::on(4)));
        assert_eq!(begun(&mut schedule), ["a", "c"]);
        schedule.ended(2, true);
        assert_eq!(begun(&mut schedule), [""; 0]);
        schedule.ended(0, true);
        assert_eq!(begun(&mut schedule), ["b"]);
    }

    #[test]
    fn what_measures_runs_when_nothing_else_does() {
        let parts = [
            part("a", Work::Waits),
            part("m", Work::Measures),
            part("n", Work::Measures),
            part("b", Work::Computes),
        ];
        let mut schedule = Schedule::new(parts.iter().collect(), Some(Room::on(8)));
        assert_eq!(begun(&mut schedule), ["a", "b"]);
        schedule.ended(0, true);
        assert_eq!(begun(&mut schedule), [""; 0]);
        schedule.ended(3, true);
        assert_eq!(begun(&mut schedule), ["m"]);
        schedule.ended(1, true);
        assert_eq!(begun(&mut schedule), ["n"]);
    }

    #[test]
    fn what_is_not_chosen_keeps_nobody_waiting() {
        let parts = [Part { after: &["absent"], ..part("a", Work::Waits) }];
        let mut schedule = Schedule::new(parts.iter().collect(), Some(Room::on(1)));
        assert_eq!(begun(&mut schedule), ["a"]);
    }

    #[test]
    fn without_room_the_parts_run_one_after_the_other() {
        let parts = [part("a", Work::Waits), part("b", Work::Computes)];
        let mut schedule = Schedule::new(parts.iter().collect(), None);
        assert_eq!(begun(&mut schedule), ["a"]);
        schedule.ended(0, true);
        assert_eq!(begun(&mut schedule), ["b"]);
    }
}
