"""Collective calls with objects, and functions for reductions of buffers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from . import _core, objects
from .errors import Code, GroupError, UseError

# The context of collective messages, PVM's SYSCTX_SG.
CONTEXT = 0x7FFFD


def fold(function: Callable[[Any, Any], Any], like: Any, x: bytearray, y: bytearray) -> bytes:
    """Calls ``function`` with two arguments of the shape of ``like`` and returns the bytes of its
    result.

    The arguments are numpy arrays if ``like`` is one, else memoryviews. A function that returns
    None has changed its first argument, which is the result then.
    """
    shape = memoryview(like)
    if hasattr(like, "__array_interface__"):
        import numpy

        def make(data: bytearray) -> Any:
            return numpy.frombuffer(data, dtype=like.dtype).reshape(like.shape)
    else:

        def make(data: bytearray) -> Any:
            return memoryview(data).cast(cast(Any, shape.format))

    first = make(x)
    result = function(first, make(y))
    if result is None:
        result = first
    elif hasattr(like, "__array_interface__"):
        import numpy

        result = numpy.ascontiguousarray(result, dtype=like.dtype)
    return bytes(memoryview(result).cast("B"))


def _members(task: _core.Task, group: str, root: int) -> tuple[list[int], int]:
    """Returns the ids of the members, and the root's id."""
    tids = task.members(group)
    if not 0 <= root < len(tids) or not tids[root]:
        raise GroupError(Code["NoInst"], "collective", cause=f"group {group!r} has no instance {root}")
    if task.tid not in tids:
        raise GroupError(Code["NotInGroup"], "collective", cause=f"this task is not in group {group!r}")
    return [tid for tid in tids if tid], tids[root]


def _send(task: _core.Task, value: object, to: int | Sequence[int], tag: int) -> None:
    objects.send(task, value, to, tag, CONTEXT)


def gather(task: _core.Task, value: Any, group: str, root: int, tag: int) -> list[Any] | None:
    """Returns the objects of all members, in the order of instance numbers, at the root, and None
    elsewhere."""
    tids, root_tid = _members(task, group, root)
    if task.tid != root_tid:
        _send(task, value, root_tid, tag)
        return None
    return [
        value if tid == task.tid else objects.decode(task._from_member(group, tid, root, tag))
        for tid in tids
    ]


def scatter(task: _core.Task, values: Sequence[Any] | None, group: str, root: int, tag: int) -> Any:
    """Returns this member's part of the root's sequence, which has one object for each member."""
    tids, root_tid = _members(task, group, root)
    if task.tid != root_tid:
        return objects.decode(task._from_member(group, root_tid, root, tag))
    if values is None or len(values) != len(tids):
        raise UseError(
            Code["BadParam"], "scatter", cause=f"the root needs one object for each of {len(tids)} members"
        )
    for tid, value in zip(tids, values):
        if tid != task.tid:
            _send(task, value, tid, tag)
    return values[tids.index(task.tid)]


def bcast(task: _core.Task, value: Any, group: str, root: int, tag: int) -> Any:
    """Returns the root's object at every member."""
    tids, root_tid = _members(task, group, root)
    if task.tid != root_tid:
        return objects.decode(task._from_member(group, root_tid, root, tag))
    _send(task, value, [tid for tid in tids if tid != task.tid], tag)
    return value


def reduce(
    task: _core.Task, function: Callable[[Any, Any], Any], value: Any, group: str, root: int, tag: int
) -> Any:
    """Combines the objects of all members with a function, in the order of instance numbers, at the
    root."""
    parts = gather(task, value, group, root, tag)
    if parts is None:
        return None
    result = parts[0]
    for part in parts[1:]:
        result = function(result, part)
    return result
