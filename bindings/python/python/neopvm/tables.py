"""Hosts and tasks of a machine as tables, which notebooks show as tables."""

from __future__ import annotations

import html
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar


@dataclass(frozen=True)
class Host:
    """A host of the machine."""

    #: The id of the host's daemon.
    tid: int
    name: str
    #: The name of the architecture, such as LINUX64.
    arch: str
    #: The relative speed: 1000 for the first host, unless `sp=` sets it.
    speed: int
    cores: int
    #: True while the host gets no new tasks and will leave when its last task ends.
    draining: bool
    #: The addresses at which other daemons reach the host.
    addresses: tuple[str, ...]
    #: The version of NeoPVM on the host.
    version: str


@dataclass(frozen=True)
class TaskInfo:
    """A task of the machine."""

    tid: int
    #: The task that spawned this one, 0 for none.
    parent: int
    #: The id of the host.
    host: int
    #: PVM's flags.
    flags: int
    pid: int
    #: The program as it was passed to spawn; empty for a task that was not spawned.
    name: str


_Row = TypeVar("_Row")


class Table(tuple[_Row, ...], Generic[_Row]):
    """Rows that are printed as a table, in a notebook as an HTML table."""

    _columns: tuple[str, ...] = ()

    def _cells(self, row: _Row) -> tuple[str, ...]:
        return tuple(_text(name, getattr(row, name)) for name in self._columns)

    def __repr__(self) -> str:
        lines = [self._columns, *(self._cells(row) for row in self)]
        widths = [max(len(line[i]) for line in lines) for i in range(len(self._columns))]
        padded = ("  ".join(cell.ljust(width) for cell, width in zip(line, widths)) for line in lines)
        return "\n".join(line.rstrip() for line in padded)

    def _repr_html_(self) -> str:
        def line(tag: str, cells: Iterable[str]) -> str:
            return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"

        head = line("th", self._columns)
        body = "".join(line("td", self._cells(row)) for row in self)
        return f"<table><thead>{head}</thead><tbody>{body}</tbody></table>"


def _text(column: str, value: object) -> str:
    if column in ("tid", "parent", "host") and isinstance(value, int):
        return f"t{value:x}" if value else ""
    if isinstance(value, bool):
        return "yes" if value else ""
    return str(value)


class HostTable(Table[Host]):
    """The hosts of the machine."""

    _columns = ("tid", "name", "arch", "cores", "speed", "draining", "version")


class TaskTable(Table[TaskInfo]):
    """The tasks of the machine, or of a host."""

    _columns = ("tid", "parent", "host", "pid", "name")
