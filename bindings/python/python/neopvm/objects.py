"""Encoding of Python objects as messages.

A message with an object consists of raw bytes (PvmDataRaw)::

    8 bytes   mark                       2 bytes   length of the user's name
    2 bytes   version of this layout     4 bytes   number of buffers
    8 bytes   length of the pickle
    then the user's name, 8 bytes for the length of each buffer, the pickle (protocol 5),
    and the buffers that it refers to, each at a multiple of 64 bytes

So large buffers (numpy's arrays, and bytes or a bytearray that is the object itself) are never copied into the pickle.
Within another object, pickle copies bytes and bytearrays.

Unpickling runs code that the sender chose. All tasks of a machine on one host belong to one user, which the daemons
check; but a host that another user has lent runs that user's tasks. The message contains the sender's user name, and an
object of another user is refused unless the name is in ``trusted``.
"""

from __future__ import annotations

import contextlib
import functools
import io
import operator
import os
import pickle
import pwd
import struct
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from . import _core, worker
from .errors import Code, DeniedError, Error, ForeignError, FullError

_HEAD = struct.Struct("=8sHHIQ")
_MARK = b"NeoPVMpy"
_VERSION = 1
_ALIGNMENT = 64
_ZEROS = bytes(_ALIGNMENT)
# Bytes objects of this size and more are sent beside the pickle.
_LARGE = 64 << 10
_NAME_OF_MAIN = b"__main__"

#: Users whose objects are unpickled besides this process's own.
trusted: set[str] = set()


@functools.cache
def user() -> str:
    """Returns the name of the user that this process runs as. LOGNAME and USER are not used."""
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())


class _Plain:
    """Bytes that are sent beside the pickle; pickle alone would copy them into it."""

    def __init__(self, value: bytes | bytearray) -> None:
        self._value = value

    def __reduce__(self) -> tuple[Callable[[Any], Any], tuple[pickle.PickleBuffer]]:
        make = _bytes if isinstance(self._value, bytes) else _bytearray
        return make, (pickle.PickleBuffer(self._value),)


def _bytes(buffer: bytearray | memoryview) -> bytes:
    return bytes(buffer)


def _bytearray(buffer: bytearray | memoryview) -> bytearray:
    # A bytearray was copied for the receiver already.
    return buffer if isinstance(buffer, bytearray) else bytearray(buffer)


def dumps(value: object, buffers: list[pickle.PickleBuffer] | None, call: str = "send") -> bytes:
    """Returns the pickle of an object; its large buffers are appended to ``buffers``.

    Functions and classes that only this process could import are pickled by value, with
    cloudpickle.
    """
    try:
        text = pickle.dumps(value, 5, buffer_callback=None if buffers is None else buffers.append)
    except (pickle.PicklingError, AttributeError, TypeError) as refused:
        return _by_value(value, buffers, call, refused)
    if _NAME_OF_MAIN in text and worker.is_homeless():
        # Pickle refers to such a function or class by a name that no other process can import.
        return _by_value(value, buffers, call, None) or text
    return text


def _by_value(
    value: object, buffers: list[pickle.PickleBuffer] | None, call: str, refused: Exception | None
) -> bytes:
    """Returns a pickle that contains the object's functions and classes.

    Without cloudpickle it returns nothing if pickle has succeeded.
    """
    try:
        import cloudpickle  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        if refused is None and not _is_of_main(value):
            return b""
        reason = refused or "another process cannot import what `__main__` defines"
        raise ForeignError(
            Code["BadParam"],
            call,
            cause=f"the object cannot be pickled: {reason}",
            hint="install cloudpickle to send lambdas and functions of a notebook, or move them into a module",
        ) from refused
    callback = None
    if buffers is not None:
        buffers.clear()
        callback = buffers.append
    try:
        text: bytes = cloudpickle.dumps(value, 5, buffer_callback=callback)
    except (pickle.PicklingError, AttributeError, TypeError) as again:
        cause = f"the object cannot be pickled: {refused or again}"
        raise ForeignError(Code["BadParam"], call, cause=cause, hint="") from again
    return text


def _is_of_main(value: object) -> bool:
    """Returns True for a function, method or partial of ``__main__``, and for a call of one."""
    if isinstance(value, tuple) and value:
        return _is_of_main(value[0])
    if isinstance(value, functools.partial):
        return _is_of_main(value.func)
    return getattr(value, "__module__", None) == "__main__"


def encode(value: object, skip: int = 0) -> list[bytes | memoryview]:
    """Returns the pieces of the message for an object.

    They will be sent in this order, after ``skip`` bytes.
    """
    buffers: list[pickle.PickleBuffer] = []
    if type(value) in (bytes, bytearray) and len(value) >= _LARGE:  # type: ignore[arg-type]
        value = _Plain(value)  # type: ignore[arg-type]
    text = dumps(value, buffers)
    views = [buffer.raw() for buffer in buffers]
    name = user().encode()
    head = _HEAD.pack(_MARK, _VERSION, len(name), len(views), len(text)) + name
    if not views:
        return [head + text] if len(text) < _LARGE else [head, text]
    head += struct.pack(f"={len(views)}Q", *(view.nbytes for view in views))
    pieces: list[bytes | memoryview] = [head, text]
    end = skip + len(head) + len(text)
    for view in views:
        gap = -end % _ALIGNMENT
        pieces += [_ZEROS[:gap], view]
        end += gap + view.nbytes
    return pieces


def _refuse(message: _core.Message, cause: str) -> ForeignError:
    refused = ForeignError(Code["BadMsg"], "recv", message.source, message.tag, cause, "")
    refused.message = message
    return refused


def decode(message: _core.Message, copy: bool = True, skip: int = 0) -> Any:
    """Returns the object of a message, which begins after ``skip`` bytes.

    Without ``copy`` its large buffers are read-only views of the message. Every exception has the
    message as its ``message``.
    """
    try:
        return _decode(message, copy, skip)
    except Error:
        raise  # The exception has the message already.
    except MemoryError as error:
        cause = "there is no memory for a copy of its object; decode() of this error's .message can read it later"
        full = FullError(Code["NoMem"], "recv", message.source, message.tag, cause)
        full.message = message
        raise full from error
    except BaseException as interrupt:
        # The message was taken, and only this exception has it.
        with contextlib.suppress(AttributeError):
            interrupt.message = message  # type: ignore[attr-defined]
        raise


def _decode(message: _core.Message, copy: bool, skip: int) -> Any:
    source, tag = message.source, message.tag
    if message.encoding != _core.RAW:
        raise _refuse(message, "it contains typed items, not a Python object; unpack() of this error's .message reads it")
    whole = message.view()[skip:]
    if whole.nbytes < _HEAD.size or bytes(whole[:8]) != _MARK:
        raise _refuse(message, "it contains bytes, not a Python object; view() of this error's .message shows them")
    # The head is read only once, because the sender can change its memory between two reads.
    _, version, name_size, count, size = _HEAD.unpack(whole[: _HEAD.size])
    if version != _VERSION:
        raise _refuse(message, f"its object has layout {version}, but this version reads layout {_VERSION}")
    start = _HEAD.size + name_size
    if start + 8 * count + size > whole.nbytes:
        raise _refuse(message, "its object is truncated")
    name = bytes(whole[_HEAD.size : start]).decode(errors="replace")
    if name != user() and name not in trusted:
        denied = DeniedError(
            Code["Denied"],
            "recv",
            source,
            tag,
            f"its object was pickled by user {name!r}, and unpickling can run any code of that user",
            f"neopvm.objects.trusted.add({name!r}) allows it; decode() of this error's .message reads it then",
        )
        denied.message = message
        raise denied
    sizes = struct.unpack(f"={count}Q", whole[start : start + 8 * count])
    end = start + 8 * count
    text = whole[end : end + size]
    end += size
    buffers: list[memoryview | bytearray] = []
    for nbytes in sizes:
        end += -(skip + end) % _ALIGNMENT
        if end + nbytes > whole.nbytes:
            raise _refuse(message, "its object is truncated")
        part = whole[end : end + nbytes]
        buffers.append(bytearray(part) if copy else part)
        end += nbytes
    return _loads(text, buffers, message)


def _loads(text: memoryview, buffers: Sequence[memoryview | bytearray], message: _core.Message) -> Any:
    # The pickle is copied first, because unpickling reads it several times.
    copied = io.BytesIO(text)
    try:
        return pickle.Unpickler(copied, buffers=buffers).load()
    except (KeyboardInterrupt, MemoryError):
        raise
    except BaseException as error:
        # Unpickling can raise anything, even SystemExit. It becomes one exception that has the
        # message.
        failure = _refuse(message, f"its object cannot be unpickled: {type(error).__name__}: {error}")
        raise failure from error


def send(task: _core.Task, value: object, dest: int | Iterable[int], tag: int, context: int | None) -> None:
    """Sends an object to a task, or to several."""
    task.send_pieces(encode(value), _target(dest), tag, context=context)


def _target(dest: int | Iterable[int]) -> int | list[int]:
    try:
        # This accepts every kind of integer, also those of numpy.
        return operator.index(dest)  # type: ignore[arg-type]
    except TypeError:
        return list(dest)  # type: ignore[arg-type]
