"""Exceptions.

Each of them is an :class:`Error` with the machine's code, the call, the cause in one sentence, and
a hint about what to do. If it is about a message, it also has the task and the tag. Exceptions that
have a built-in counterpart derive from it: a ``Timeout`` is a ``TimeoutError``.
"""

from __future__ import annotations

import enum
from typing import Any, NamedTuple

from . import _core

_TEXTS = {number: text for number, _, text in _core.codes()}

Code = enum.IntEnum("Code", {name: number for number, name, _ in _core.codes()})  # type: ignore[misc]
Code.__doc__ = "PVM's negative results."


class Error(Exception):
    """A call has failed.

    ``code`` is PVM's number (a :class:`Code`), and ``call`` the name of the call. ``task`` and
    ``tag`` are those of the message that the exception is about, or None. ``cause`` is one
    sentence, and ``hint`` says what to do or is empty. If a message was received and refused, it is
    in ``message`` and can be read in another way.
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
        # The message cannot be pickled: it stays in this process.
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
    """No daemon answers, or it has ended."""


class Timeout(Error, TimeoutError):
    """The timeout has expired."""


class ShortError(Error, EOFError):
    """The message has fewer items than the call asked for."""


class BrokenError(ShortError):
    """The sender died before its message was complete."""


class TooLongError(Error, ValueError):
    """The message is larger than the buffer."""


class WrongTypeError(Error, TypeError):
    """The items have another type than the call asked for, or an object has none of PVM's types."""


class ForeignError(Error, ValueError):
    """The message contains no Python object, or one that cannot be unpickled here."""


class DeniedError(Error, PermissionError):
    """The operation is not allowed, for instance unpickling an object of another user."""


class UseError(Error, ValueError):
    """The call is not valid with these arguments or in this state."""


class ClosedError(UseError):
    """The message or the machine is closed."""


class ViewOpenError(Error, BufferError):
    """The message cannot be closed because a view of it is open."""


class NoTaskError(Error, LookupError):
    """The task does not exist, or it ended before it did its part."""


class SpawnError(Error):
    """Some tasks were not started. ``started`` has the ids of those that were."""

    started: tuple[int, ...] = ()


class HostError(Error):
    """A host could not be added or deleted, or has failed.

    ``results`` has the result for each host, see ``Machine.add_hosts``.
    """

    results: tuple[HostResult, ...] = ()


class GroupError(Error, LookupError):
    """The group or the instance does not exist, or this task is not in the group or is in it
    already."""


class NotFoundError(Error, LookupError):
    """There is no entry of this name."""


class FullError(Error, MemoryError):
    """There is no memory, or a limit is reached."""


class WorkerLostError(Error):
    """A worker of a pool died, and so did the other workers that got the same work after it."""


class SpaceLostError(Error):
    """The servers that held the tuple space have died, and its tuples are lost."""


class ClaimOverError(UseError):
    """The claim is over: it was done or given back, or its lease has ended."""


class HostResult(NamedTuple):
    """The result of adding or deleting one host."""

    name: str
    #: The host's id, or a negative code.
    outcome: int
    #: The first stage of joining that failed, or an empty string.
    stage: str
    detail: str
    #: The command to try next, or an empty string.
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
    Code["SysErr"]: "neopvm.connect() starts a machine if none runs; `pvm status` shows the machine that runs",
    Code["BadVersion"]: "the daemon has another version: `pvm upgrade`, or `pvm halt` and connect again",
    Code["NoFile"]: "give an absolute path, or a name that is in the spawn path of the host (pvmd(1), ep=)",
    Code["NoHost"]: "`pvm conf`, or Machine.hosts(), shows the hosts",
    Code["NoGroup"]: "a group exists once a task has joined it",
    Code["NotInGroup"]: "join the group first",
    Code["DSysErr"]: "this is a bug of NeoPVM: please report it, with the standard error and the daemon's log",
    Code["OutOfRes"]: "send or put less at a time, and receive unread messages; PVM_SPILL sets what a send does then",
}


def make(
    code: int,
    call: str,
    task: int | None,
    tag: int | None,
    cause: str | None,
    name: str | None,
) -> Error:
    """Makes the exception for a failure that the core reports."""
    kind = globals()[name] if name else _CLASSES.get(Code(code).name, Error)
    made: Error = kind(code, call, task, tag, cause)
    return made
