//! Rules that find the other task of a message, for any number of tasks.

use crate::action::TaskNumber;

/// One rule. Rules without wrap-around come first, and are preferred where several fit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Relation {
    /// Task 0.
    First,
    /// The next task in a ring.
    Next,
    /// The task before this one in a ring.
    Last,
    /// The task with the highest number.
    Final,
    /// The partner: 0 and 1, 2 and 3.
    Partner,
    /// The neighbours in a square that is closed at its edges.
    East,
    West,
    South,
    North,
    /// The neighbours in a binary tree with its root at 0.
    Parent,
    LeftChild,
    RightChild,
    /// The task that is half of all tasks further on.
    Opposite,
    /// The task with the same distance from the other end.
    Mirror,
    /// The task with row and column exchanged, in a square.
    Transposed,
    Itself,
}

impl Relation {
    const ALL: [Self; 16] = [
        Self::First,
        Self::Next,
        Self::Last,
        Self::Final,
        Self::Partner,
        Self::East,
        Self::West,
        Self::South,
        Self::North,
        Self::Parent,
        Self::LeftChild,
        Self::RightChild,
        Self::Opposite,
        Self::Mirror,
        Self::Transposed,
        Self::Itself,
    ];

    /// The other task of `task`, one of `tasks` tasks; none if the rule has none for it.
    pub(super) fn peer(self, task: TaskNumber, tasks: TaskNumber) -> Option<TaskNumber> {
        let (r, n) = (u64::from(task), u64::from(tasks));
        let edge = n.isqrt();
        let (row, column) = (r / edge, r % edge);
        let square = |row: u64, column: u64| {
            (edge * edge == n).then_some((row % edge) * edge + column % edge)
        };
        let peer = match self {
            Self::First => Some(0),
            Self::Next => Some((r + 1) % n),
            Self::Last => Some((r + n - 1) % n),
            Self::Final => Some(n - 1),
            Self::Partner => Some(r ^ 1),
            Self::East => square(row, column + 1),
            Self::West => square(row, column + edge - 1),
            Self::South => square(row + 1, column),
            Self::North => square(row + edge - 1, column),
            Self::Parent => r.checked_sub(1).map(|below| below / 2),
            Self::LeftChild => Some(2 * r + 1),
            Self::RightChild => Some(2 * r + 2),
            Self::Opposite => n.is_multiple_of(2).then_some((r + n / 2) % n),
            Self::Mirror => Some(n - 1 - r),
            Self::Transposed => square(column, row),
            Self::Itself => Some(r),
        };
        peer.filter(|peer| *peer < n).map(|peer| peer as TaskNumber)
    }
}

/// The rules that fit all measured messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Relations(u16);

impl Relations {
    /// The rules by which a task finds this other task.
    pub(super) fn of(peer: TaskNumber, task: TaskNumber, tasks: TaskNumber) -> Self {
        let fit = Relation::ALL.iter().zip(0..);
        let fit = fit.filter(|(relation, _)| relation.peer(task, tasks) == Some(peer));
        Self(fit.fold(0, |all, (_, place)| all | 1 << place))
    }

    pub(super) const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(super) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The other task by the first of these rules that has one.
    pub(super) fn peer(self, task: TaskNumber, tasks: TaskNumber) -> Option<TaskNumber> {
        let all = Relation::ALL.iter().zip(0..).filter(|(_, place)| self.0 & 1 << place != 0);
        all.map(|(relation, _)| *relation).find_map(|relation| relation.peer(task, tasks))
    }
}

/// A row: messages to other tasks, one after the other, whose number grows with the number of
/// tasks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Over {
    /// All others by distance in the ring: 1, 2, 3 ...
    Distances,
    /// All others by the bits in which their numbers differ: 1, 2, 3 ...
    Masks,
    /// The partners of a hypercube, from the lowest bit on.
    Bits,
    /// The partners of a hypercube, from the highest bit on.
    BitsDown,
    /// Distances in the ring that double: 1, 2, 4 ...
    Doublings,
    /// All others by their numbers.
    Numbers,
}

impl Over {
    pub(super) const ALL: [Self; 6] =
        [Self::Distances, Self::Masks, Self::Bits, Self::BitsDown, Self::Doublings, Self::Numbers];

    /// The distance, mask or number of a step of the row; none behind its end.
    pub(super) fn item(self, step: u32, task: TaskNumber, tasks: TaskNumber) -> Option<u32> {
        let bit = || 1u32.checked_shl(step);
        let item = match self {
            Self::Distances | Self::Masks => step.checked_add(1),
            Self::Bits | Self::Doublings => bit(),
            Self::BitsDown => bit().and_then(|bit| tasks.checked_div(2)?.checked_div(bit)),
            Self::Numbers => step.checked_add(u32::from(step >= task)),
        };
        item.filter(|item| *item < tasks && (*item > 0 || self == Self::Numbers))
    }

    /// The other task; `back` goes against the ring.
    pub(super) fn peer(
        self,
        (task, tasks): (TaskNumber, TaskNumber),
        item: u32,
        back: bool,
    ) -> TaskNumber {
        let (r, n, item) = (u64::from(task), u64::from(tasks), u64::from(item));
        let peer = match self {
            Self::Distances | Self::Doublings if back => (r + n - item) % n,
            Self::Distances | Self::Doublings => (r + item) % n,
            Self::Masks | Self::Bits | Self::BitsDown => r ^ item,
            Self::Numbers => item,
        };
        peer as TaskNumber
    }

    /// False for numbers of tasks for which this row does not exist.
    pub(super) const fn knows(self, tasks: TaskNumber) -> bool {
        match self {
            Self::Masks | Self::Bits | Self::BitsDown => tasks.is_power_of_two(),
            Self::Distances | Self::Doublings | Self::Numbers => true,
        }
    }

    /// True if the row has few steps, each with sizes of its own.
    pub(super) const fn is_short(self) -> bool {
        matches!(self, Self::Bits | Self::BitsDown | Self::Doublings)
    }
}
