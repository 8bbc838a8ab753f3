//! The deeds of a task as a sequence of tokens, which holds for any number of tasks.

use super::law::Samples;
use super::relation::{Over, Relations};
use super::sketch::{Deed, Kind};
use crate::action::TaskNumber;
use std::ops::RangeInclusive;

/// The most deeds in a step of a row.
const PARTS_MAX: usize = 4;

/// A deed within a token.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) kind: Kind,
    pub(super) tag: i32,
    /// True if the row goes against the ring.
    back: bool,
    pub(super) samples: Samples,
}

/// One deed, or a row of deeds with other tasks.
#[derive(Clone, Debug)]
pub(super) struct Token {
    pub(super) over: Option<Over>,
    pub(super) parts: Vec<Part>,
    /// The other task, if the token is one deed.
    relations: Relations,
    /// The index of its first deed in the task from which it was taken.
    pub(super) place: usize,
}

/// The place of a deed within a token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct TokenPlace {
    pub(super) part: usize,
    pub(super) step: u32,
}

impl Token {
    /// The deeds for a task, in their order.
    pub(super) fn wanted(
        &self,
        task: TaskNumber,
        tasks: TaskNumber,
    ) -> impl Iterator<Item = TokenPlace> {
        let (over, parts) = (self.over, self.parts.len());
        let steps = (0..).take_while(move |step| match over {
            Some(over) => over.item(*step, task, tasks).is_some(),
            None => *step == 0,
        });
        steps.flat_map(move |step| (0..parts).map(move |part| TokenPlace { part, step }))
    }

    /// The other task of a deed; none if it does not exist.
    pub(super) fn peer(
        &self,
        wanted: TokenPlace,
        (task, tasks): (TaskNumber, TaskNumber),
    ) -> Option<TaskNumber> {
        match self.over {
            Some(over) => {
                let item = over.item(wanted.step, task, tasks)?;
                Some(over.peer((task, tasks), item, self.parts[wanted.part].back))
            }
            None => self.relations.peer(task, tasks),
        }
    }

    /// True for a single message whose other task does not exist.
    pub(super) fn is_alone(&self, task: TaskNumber, tasks: TaskNumber) -> bool {
        let is_message = self.parts.iter().any(|part| part.kind.has_peer());
        self.over.is_none() && is_message && self.relations.peer(task, tasks).is_none()
    }

    /// Compares the token with a deed. Of the rules of a single deed only those stay that fit this
    /// deed, too.
    pub(super) fn take(
        &mut self,
        wanted: TokenPlace,
        deed: &Deed,
        of: (TaskNumber, TaskNumber),
    ) -> bool {
        let part = &self.parts[wanted.part];
        if !part.kind.is_like(deed.kind) || part.tag != deed.tag {
            return false;
        }
        if !deed.kind.has_peer() {
            return true;
        }
        if self.over.is_some() {
            return self.peer(wanted, of) == Some(deed.peer);
        }
        let fit = self.relations.and(Relations::of(deed.peer, of.0, of.1));
        if !fit.is_empty() {
            self.relations = fit;
        }
        !fit.is_empty()
    }

    fn single(deed: &Deed, place: usize, (task, tasks): (TaskNumber, TaskNumber)) -> Self {
        let relations = Relations::of(deed.peer, task, tasks);
        let parts = vec![Part::of(deed, false)];
        Self { over: None, parts, relations, place }
    }

    /// The row that begins with the first deed, if there is one, and the number of its deeds.
    fn row(
        deeds: &[Deed],
        over: Over,
        count: usize,
        of: (TaskNumber, TaskNumber),
    ) -> Option<(Vec<Part>, usize)> {
        let (task, tasks) = of;
        let first = over.item(0, task, tasks)?;
        let parts: Option<Vec<Part>> = deeds
            .get(..count)?
            .iter()
            .map(|deed| {
                let fits = |back| deed.kind.has_peer() && over.peer(of, first, back) == deed.peer;
                let back = !fits(false);
                (fits(false) || fits(true)).then(|| Part::of(deed, back))
            })
            .collect();
        let parts = parts?;
        let mut length = count;
        for step in 1.. {
            let Some(item) = over.item(step, task, tasks) else { break };
            for part in &parts {
                let deed = deeds.get(length)?;
                let peer = over.peer(of, item, part.back);
                if (deed.kind, deed.tag, deed.peer) != (part.kind, part.tag, peer) {
                    return None;
                }
                length += 1;
            }
        }
        (length > count).then_some((parts, length))
    }
}

impl Part {
    fn of(deed: &Deed, back: bool) -> Self {
        Self { kind: deed.kind, tag: deed.tag, back, samples: Samples::default() }
    }
}

/// The tokens of a task within the sections that it names; all tokens if it names none. The others
/// start and end the task.
pub(super) fn within<'a>(tokens: impl Iterator<Item = &'a Token>) -> RangeInclusive<usize> {
    let enters = |token: &Token| matches!(token.parts[0].kind, Kind::Enter(_));
    let places = tokens.enumerate().filter(|(_, token)| enters(token)).map(|(place, _)| place);
    let (mut first, mut last) = (None, usize::MAX);
    for place in places {
        // The computing before a section belongs to its first deed.
        first = first.or(Some(place + 1));
        last = place;
    }
    first.unwrap_or(0)..=last
}

/// The tokens of a task: the longest rows, one after the other.
pub(super) fn tokens(deeds: &[Deed], of: (TaskNumber, TaskNumber)) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut place = 0;
    while place < deeds.len() {
        let mut best: Option<(Over, Vec<Part>, usize)> = None;
        for over in Over::ALL.into_iter().filter(|over| over.knows(of.1)) {
            for count in 1..=PARTS_MAX {
                let found = Token::row(&deeds[place..], over, count, of);
                let longest = best.as_ref().map_or(0, |(_, _, length)| *length);
                if let Some((parts, length)) = found.filter(|(_, length)| *length > longest) {
                    best = Some((over, parts, length));
                }
            }
        }
        let Some((over, parts, length)) = best else {
            tokens.push(Token::single(&deeds[place], place, of));
            place += 1;
            continue;
        };
        let relations = Relations::of(deeds[place].peer, of.0, of.1);
        tokens.push(Token { over: Some(over), parts, relations, place });
        place += length;
    }
    tokens
}
