"""The worker of a pool, and the messages between it and the pool.

Work and answers are objects after a head of :data:`HEAD_SIZE` bytes. The head contains the number
of the work, and the time until which the worker may begin it (on the clock of the host; 0 means no
limit).
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
#: A multiple of the alignment of objects.
HEAD_SIZE = 64


def head(number: int, until: float = 0.0) -> bytes:
    """Returns the head of a piece of work."""
    return _HEAD.pack(number, until).ljust(HEAD_SIZE, b"\0")


def head_of(message: _core.Message) -> tuple[int, float]:
    """Returns the number and the time limit of a piece of work."""
    with message.view() as whole:
        number, until = _HEAD.unpack(whole[: _HEAD.size])
    return number, until


def serve(context: int) -> None:
    """Does the work that the owner of a pool sends, until the owner ends it or dies."""
    machine = current()
    owner = machine.parent
    assert owner is not None  # A worker was spawned.
    # The worker ends when the owner dies.
    machine.notify(TASK_EXIT, EXIT, [owner], context=context)
    while True:
        message = machine.receive(context=context)
        if message.tag != DO:
            return
        number, until = head_of(message)
        if until and time.monotonic() > until:
            # The lease is over: the owner may have given the work to another worker.
            machine.send_pieces([head(number)], owner, BACK, context=context)
        else:
            _answer(machine, owner, number, message)
        # Drop the references of the result now, not with the next piece of work.
        del message


def _answer(machine: Machine, owner: int, number: int, message: _core.Message) -> None:
    context = message.context
    reply = _do(message)
    try:
        machine.send_pieces([head(number), *reply], owner, DONE, context=context)
    except Error as error:
        # Mostly there is no memory for the result; the owner gets the reason.
        if not machine.is_connected:
            raise
        machine.send_pieces([head(number), *_failed(error)], owner, DONE, context=context)


def _do(message: _core.Message) -> list[bytes | memoryview]:
    try:
        function, args, kwargs = objects.decode(message, skip=HEAD_SIZE)
        return objects.encode(("result", function(*args, **kwargs)), HEAD_SIZE)
    except BaseException as error:
        # Also SystemExit and KeyboardInterrupt: the caller gets them, and the worker goes on.
        return _failed(error)


def _failed(error: BaseException) -> list[bytes | memoryview]:
    """Encodes an exception for the caller: pickled separately, because unpickling may fail, and as
    a text."""
    text = "".join(traceback.format_exception(error))
    try:
        plain = f"{type(error).__name__}: {error}"
    except BaseException:
        plain = f"{type(error).__name__} (its str() failed)"
    try:
        pickled = objects.dumps(error, None)
    except BaseException:
        pickled = b""
    return objects.encode(("error", (pickled, plain, text)), HEAD_SIZE)


class RemoteTraceback(Exception):
    """The cause of an exception that a worker raised: the worker's traceback as a text."""

    def __str__(self) -> str:
        return str(self.args[0])


def outcome(message: _core.Message) -> tuple[BaseException | None, object]:
    """Returns the exception or the result of a worker.

    An exception while it is decoded counts as the worker's.
    """
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
        pass  # Its text is used instead.
    raised = error if isinstance(error, BaseException) else RuntimeError(plain)
    raised.__cause__ = RemoteTraceback(f"\n{text}")
    return raised
