"""The tasks of one spawn."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .machine import Machine


class Tid(int):
    """The id of a task: the number that C programs use, printed as PVM prints it."""

    __slots__ = ()

    @property
    def host(self) -> int:
        """The id of the task's host."""
        return self & 0x3FFC0000

    def __repr__(self) -> str:
        return f"t{int(self):x}"

    __str__ = __repr__


class Team(tuple[Tid, ...]):
    """The ids of the tasks of one spawn, with operations on all of them."""

    # A task that has received a team uses its own machine.
    _of: Machine | None = None

    @property
    def _machine(self) -> Machine:
        from .machine import current

        return self._of if self._of is not None else current()

    def __reduce__(self) -> tuple[type[Team], tuple[tuple[Tid, ...]]]:
        return Team, (tuple(self),)

    @classmethod
    def of(cls, machine: Machine, tids: Iterable[int]) -> Team:
        """Makes a team of tasks that run already."""
        team = cls(Tid(tid) for tid in tids)
        team._of = machine
        return team

    def send(self, value: object, tag: int = 0) -> None:
        """Sends an object to all of them."""
        self._machine.send(value, self, tag)

    def Send(self, items: Any, tag: int = 0) -> None:
        """Sends the items of a buffer to all of them."""
        self._machine.Send(items, self, tag)

    def kill(self) -> None:
        """Ends all of them."""
        for tid in self:
            self._machine.kill(tid)

    def wait(self, timeout: float | None = None) -> None:
        """Waits until all of them have ended."""
        self._machine.wait(self, timeout)

    def __repr__(self) -> str:
        return f"<Team {' '.join(map(repr, self))}>"
