//! Sections of a program: its tasks name the section in which they are from a moment on.

use crate::action::TaskNumber;
use crate::kernel::Map;
use crate::unit::Time;

/// The most sections; later ones are counted as the last one.
pub(crate) const SECTIONS_MAX: u32 = 1 << 12;

/// A section, summed over all tasks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Section {
    /// Its number in the source.
    pub number: u32,
    /// The time at which the first task entered it.
    pub begin: Time,
    /// The time at which the last task left it.
    pub end: Time,
    /// The longest time that one task spent in it.
    pub longest: Time,
}

/// The section in which each task is.
#[derive(Debug, Default)]
pub(crate) struct Sections {
    inside: Map<TaskNumber, (u32, Time)>,
    spent: Map<(TaskNumber, u32), Time>,
    all: Vec<Section>,
}

impl Sections {
    /// A task enters a section, and leaves the one before. 0 is no section.
    pub(crate) fn enter(&mut self, task: TaskNumber, number: u32, now: Time) {
        self.leave(task, now);
        if number == 0 {
            return;
        }
        let number = number.min(SECTIONS_MAX);
        self.inside.insert(task, (number, now));
        if !self.all.iter().any(|section| section.number == number) {
            let (begin, end, longest) = (Time::END, Time::ZERO, Time::ZERO);
            self.all.push(Section { number, begin, end, longest });
        }
        if let Some(section) = self.all.iter_mut().find(|section| section.number == number) {
            section.begin = section.begin.min(now);
        }
    }

    /// A task leaves its section, or ends.
    pub(crate) fn leave(&mut self, task: TaskNumber, now: Time) {
        let Some((number, since)) = self.inside.remove(&task) else { return };
        let spent = self.spent.entry((task, number)).or_default();
        *spent += now.since(since);
        if let Some(section) = self.all.iter_mut().find(|section| section.number == number) {
            section.end = section.end.max(now);
            section.longest = section.longest.max(*spent);
        }
    }

    /// The sections of several parts of a program, in the order in which they were entered first.
    pub(crate) fn of_all(parts: impl Iterator<Item = Self>) -> Vec<Section> {
        let mut all: Vec<Section> = Vec::new();
        for section in parts.flat_map(Self::finish) {
            match all.iter_mut().find(|known| known.number == section.number) {
                Some(known) => {
                    known.begin = known.begin.min(section.begin);
                    known.end = known.end.max(section.end);
                    known.longest = known.longest.max(section.longest);
                }
                None => all.push(section),
            }
        }
        all.sort_by_key(|section| section.begin);
        all
    }

    /// All of them, in the order in which they were entered first.
    pub(crate) fn finish(self) -> Vec<Section> {
        self.all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_lasts_from_the_first_to_the_last_and_has_its_longest_task() {
        let mut sections = Sections::default();
        sections.enter(0, 1, Time(10));
        sections.enter(1, 1, Time(30));
        sections.enter(0, 2, Time(40));
        sections.enter(0, 1, Time(50));
        sections.leave(0, Time(55));
        sections.leave(1, Time(60));
        sections.leave(1, Time(99));
        let all = sections.finish();
        let told =
            |section: &Section| (section.number, section.begin, section.end, section.longest);
        assert_eq!(told(&all[0]), (1, Time(10), Time(60), Time(35)));
        assert_eq!(told(&all[1]), (2, Time(40), Time(50), Time(10)));
    }
}
