"""Messages for coroutines of asyncio: the task's descriptor in the event loop."""

from __future__ import annotations

import asyncio
import time
import weakref
from collections.abc import Awaitable, Callable
from typing import ParamSpec, TypeVar

from . import _core
from .errors import Code, Timeout

_P = ParamSpec("_P")
_R = TypeVar("_R")

__all__ = ["Awaitable", "Limit", "in_thread", "receive"]


class Limit:
    """A moment that is some seconds away; None is never."""

    def __init__(self, seconds: float | None) -> None:
        self._end = None if seconds is None else time.monotonic() + seconds

    def left(self) -> float | None:
        """Seconds until then, 0 if it is over."""
        return None if self._end is None else max(0.0, self._end - time.monotonic())


class _Arrivals:
    """Wakes the coroutines of one event loop when something has come."""

    def __init__(self, task: _core.Task, loop: asyncio.AbstractEventLoop) -> None:
        self.task = task
        self._loop = loop
        self._waiting: list[asyncio.Future[None]] = []
        self._descriptor = -1

    async def next(self) -> None:
        """Returns when something has come since the caller has looked, or may have."""
        future: asyncio.Future[None] = self._loop.create_future()
        if not self._waiting:
            self._descriptor = self.task.fileno()
            self._loop.add_reader(self._descriptor, self.wake)
        self._waiting.append(future)
        try:
            await future
        finally:
            if future in self._waiting:
                self._waiting.remove(future)
                self._rest()

    def wake(self) -> None:
        """All of them look again, in the order in which they came."""
        waiting, self._waiting = self._waiting, []
        self._rest()
        for future in waiting:
            if not future.done():
                future.set_result(None)

    def wake_soon(self) -> None:
        """The same from another thread, or from the middle of a call."""
        try:
            self._loop.call_soon_threadsafe(self.wake)
        except RuntimeError:
            pass  # The loop is closed, and nobody waits in it.

    def _rest(self) -> None:
        if not self._waiting and self._descriptor >= 0:
            self._loop.remove_reader(self._descriptor)
            self._descriptor = -1


_arrivals: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, _Arrivals] = weakref.WeakKeyDictionary()


def poke() -> None:
    """Called by the core when another call has looked at what came: the descriptor does not tell of that again."""
    for arrivals in list(_arrivals.values()):
        arrivals.wake_soon()


async def receive(
    task: _core.Task, source: int, tag: int, timeout: float | None, context: int | None
) -> _core.Message:
    """As ``Task.receive``. Cancelled, it takes no message."""
    loop = asyncio.get_running_loop()
    arrivals = _arrivals.get(loop)
    if arrivals is None or arrivals.task is not task:
        arrivals = _arrivals[loop] = _Arrivals(task, loop)
        _core.watch()
    where = task.context if context is None else context
    try:
        async with asyncio.timeout(timeout):
            # Between the look and the return nothing is awaited: who is cancelled has taken nothing.
            while (message := task._look(source, tag, where)) is None:
                await arrivals.next()
            return message
    except TimeoutError:
        cause = "nothing that fits has come in time"
        raise Timeout(Code["NoData"], "receive", source, tag, cause) from None


async def in_thread(function: Callable[_P, _R], *args: _P.args, **kwargs: _P.kwargs) -> _R:
    """A call that waits, in a thread."""
    return await asyncio.to_thread(function, *args, **kwargs)
