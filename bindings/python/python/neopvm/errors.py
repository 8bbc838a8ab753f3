"""What goes wrong, as exceptions.

Every one is an :class:`Error` with the machine's code, the call, the task and the tag that it is about (where it
is about a message), the cause in a sentence, and a hint what to do. Those that mean what a built-in exception
means are that as well: a ``Timeout`` is a ``TimeoutError``.
"""

from __future__ import annotations

import enum
from typing import Any, NamedTuple

from . import _core

_TEXTS = {number: text for number, _, text in _core.codes()}

Code = enum.IntEnum("Code", {name: number for number, name, _ in _core.codes()})  # type: ignore[misc]
Code.__doc__ = "PVM's results below zero."


class Error(Exception):
    """Something that a machine, a task or a message could not do.

    ``code`` is PVM's number (a :class:`Code`), ``call`` what was called, ``task`` and ``tag`` whose message it was
    (or None), ``cause`` one sentence, ``hint`` what to do, or an empty text. Where a message was received and refused,
    ``message`` is that: it can be read otherwise.
    """

    message: _core.Message | None = None

    def __init__(
        self,
        code: int,
        call: str = "",
        task: int | None = None,
        tag: int | None = None,
        cause: str | None = None,
        hint: str | None = None,
    ) -> None:
        self.code = Code(code)
        self.call = call
        self.task = task
        self.tag = tag
        self.cause = cause or _TEXTS[code]
        self.hint = _HINTS.get(code, "") if hint is None else hint
        super().__init__(self.code, call, task, tag, cause, hint)

    def __reduce__(self) -> tuple[Any, ...]:
        # The message stays where it was received.
        rest = {name: value for name, value in self.__dict__.items() if name != "message"}
        return type(self), self.args, rest

    def __str__(self) -> str:
        text = f"{self.call}: " if self.call else ""
        if self.task is not None or self.tag is not None:
            whose = "any task" if self.task in (None, -1) else f"t{self.task:x}"
            tag = "any tag" if self.tag in (None, -1) else f"tag {self.tag}"
            text += f"message of {whose}, {tag}: "
        text += f"{self.cause} ({self.code.name})"
        return f"{text}\n{self.hint}" if self.hint else text


class NoMachineError(Error, ConnectionError):
    """No daemon answers, or it went away."""


class Timeout(Error, TimeoutError):
    """What was waited for has not come in time."""


class ShortError(Error, EOFError):
    """A message holds less than was asked of it."""


class BrokenError(ShortError):
    """The sender died before its message was whole."""


class TooLongError(Error, ValueError):
    """A message holds more than the buffer has room for."""


class WrongTypeError(Error, TypeError):
    """Items of another type than was asked for, or an object that has none of PVM's types."""


class ForeignError(Error, ValueError):
    """A message that holds no Python object, or one that cannot be read here."""


class DeniedError(Error, PermissionError):
    """Not allowed, such as to unpickle the object of another user."""


class UseError(Error, ValueError):
    """A call that makes no sense now."""


class ClosedError(UseError):
    """The message or the machine is closed."""


class ViewOpenError(Error, BufferError):
    """A message cannot be closed while a view of it is open."""


class NoTaskError(Error, LookupError):
    """No such task, or it ended before it did its part."""


class SpawnError(Error):
    """Some tasks were not started. ``started`` are the ids of those that were."""

    started: tuple[int, ...] = ()


class HostError(Error):
    """A host could not be added or deleted, or failed. ``results`` tells of each host: see ``Machine.add_hosts``."""

    results: tuple[HostResult, ...] = ()


class GroupError(Error, LookupError):
    """No such group or instance, or this task is not (or already) in it."""


class NotFoundError(Error, LookupError):
    """Nothing has this name."""


class FullError(Error, MemoryError):
    """No memory, or a limit is reached."""


class WorkerLostError(Error):
    """A worker of a pool died, and so did those that were given the same work after it."""


class HostResult(NamedTuple):
    """What became of one host."""

    name: str
    #: The host's id, or a code below zero.
    outcome: int
    #: The first stage of joining that failed, or an empty text.
    stage: str
    detail: str
    #: The next command, or an empty text.
    remedy: str


_CLASSES: dict[str, type[Error]] = {
    "BadParam": UseError,
    "Mismatch": UseError,
    "NoData": ShortError,
    "NoHost": HostError,
    "NoFile": SpawnError,
    "Denied": DeniedError,
    "NoMem": FullError,
    "BadMsg": ForeignError,
    "SysErr": NoMachineError,
    "NoSuchBuf": ClosedError,
    "NullGroup": GroupError,
    "DupGroup": GroupError,
    "NoGroup": GroupError,
    "NotInGroup": GroupError,
    "NoInst": GroupError,
    "HostFail": HostError,
    "OutOfRes": FullError,
    "DupHost": HostError,
    "CantStart": HostError,
    "NoTask": NoTaskError,
    "NotFound": NotFoundError,
    "Exists": UseError,
}

_HINTS: dict[int, str] = {
    Code["SysErr"]: "neopvm.connect() starts a machine where none runs; `pvm status` shows one that does",
    Code["BadVersion"]: "the daemon is of another version: `pvm upgrade`, or `pvm halt` and connect again",
    Code["NoFile"]: "give an absolute path, or a name that is in the spawn path of the host (pvmd(1), ep=)",
    Code["NoHost"]: "`pvm conf`, or Machine.hosts(), shows the hosts",
    Code["NoGroup"]: "a group is there once a task has joined it",
    Code["NotInGroup"]: "join the group first",
    Code["DSysErr"]: "a fault of NeoPVM's own: please report it, with what stands in standard error and in the daemon's log",
    Code["OutOfRes"]: "send or put less at a time, and receive what waits unread; PVM_SPILL chooses what a send does then",
}


def make(
    code: int,
    call: str,
    task: int | None,
    tag: int | None,
    cause: str | None,
    name: str | None,
) -> Error:
    """The exception for a failure that the core tells."""
    kind = globals()[name] if name else _CLASSES.get(Code(code).name, Error)
    made: Error = kind(code, call, task, tag, cause)
    return made
