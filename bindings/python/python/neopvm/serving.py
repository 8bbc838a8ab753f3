"""A worker of a pool: what it is sent, and what it answers.

Work and answers are objects behind a head of :data:`HEAD_SIZE` bytes: the number under which the work was given, and until
when it may be begun (on the clock of the host; 0 is for ever).
"""

from __future__ import annotations

import pickle
import struct
import time
import traceback

from . import _core, objects
from .errors import Error
from .machine import TASK_EXIT, Machine, current

#: Tags in a pool's context.
DO, DONE, EXIT, WAKE, STOP, BACK = 1, 2, 3, 4, 5, 6

_HEAD = struct.Struct("=Qd")
#: A multiple of what objects are aligned to.
HEAD_SIZE = 64


def head(number: int, until: float = 0.0) -> bytes:
    """What stands in front of work."""
    return _HEAD.pack(number, until).ljust(HEAD_SIZE, b"\0")


def head_of(message: _core.Message) -> tuple[int, float]:
    """Number and limit of what was sent."""
    with message.view() as whole:
        number, until = _HEAD.unpack(whole[: _HEAD.size])
    return number, until


def serve(context: int) -> None:
    """Does what the owner of a pool sends until it says that it is enough, or dies."""
    machine = current()
    owner = machine.parent
    assert owner is not None  # A worker was spawned.
    # When the owner dies there is nobody to work for.
    machine.notify(TASK_EXIT, EXIT, [owner], context=context)
    while True:
        message = machine.receive(context=context)
        if message.tag != DO:
            return
        number, until = head_of(message)
        if until and time.monotonic() > until:
            # The owner may have given it to another meanwhile.
            machine.send_pieces([head(number)], owner, BACK, context=context)
        else:
            _answer(machine, owner, number, message)
        # The result's references end here, not with the next piece of work.
        del message


def _answer(machine: Machine, owner: int, number: int, message: _core.Message) -> None:
    context = message.context
    reply = _do(message)
    try:
        machine.send_pieces([head(number), *reply], owner, DONE, context=context)
    except Error as error:
        # No room for it, mostly: its owner is told why there is none.
        if not machine.is_connected:
            raise
        machine.send_pieces([head(number), *_failed(error)], owner, DONE, context=context)


def _do(message: _core.Message) -> list[bytes | memoryview]:
    try:
        function, args, kwargs = objects.decode(message, skip=HEAD_SIZE)
        return objects.encode(("result", function(*args, **kwargs)), HEAD_SIZE)
    except BaseException as error:
        # SystemExit and KeyboardInterrupt, too: they are for who has asked, and the worker goes on.
        return _failed(error)


def _failed(error: BaseException) -> list[bytes | memoryview]:
    """An exception for who asked: pickled by itself, as not all that are pickled are unpickled, and as a text."""
    text = "".join(traceback.format_exception(error))
    try:
        plain = f"{type(error).__name__}: {error}"
    except BaseException:
        plain = f"{type(error).__name__}, whose text cannot be made"
    try:
        pickled = objects.dumps(error, None)
    except BaseException:
        pickled = b""
    return objects.encode(("error", (pickled, plain, text)), HEAD_SIZE)


class RemoteTraceback(Exception):
    """The cause of an exception that a worker raised: its traceback there, as a text."""

    def __str__(self) -> str:
        return str(self.args[0])


def outcome(message: _core.Message) -> tuple[BaseException | None, object]:
    """What a worker answered: what it raised, or the result. Whatever reading it raises is what it raised."""
    try:
        kind, value = objects.decode(message, skip=HEAD_SIZE)
        return (None, value) if kind == "result" else (_raised(*value), None)
    except BaseException as error:
        return error, None


def _raised(pickled: bytes, plain: str, text: str) -> BaseException:
    error: object = None
    try:
        error = pickle.loads(pickled) if pickled else None
    except BaseException:
        pass  # It is told by its text.
    raised = error if isinstance(error, BaseException) else RuntimeError(plain)
    raised.__cause__ = RemoteTraceback(f"\n{text}")
    return raised
