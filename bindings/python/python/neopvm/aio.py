"""Receiving in coroutines of asyncio, with the task's descriptor in the event loop."""

from __future__ import annotations

import asyncio
import math
import os
import threading
import time
import weakref
from collections.abc import Callable
from . import _core
from .errors import Code, Timeout, UseError

__all__ = ["Limit", "in_thread", "receive"]


class Limit:
    """A deadline that is some seconds away; None means never."""

    def __init__(self, seconds: float | None) -> None:
        self._end = None if seconds is None else time.monotonic() + seconds

    def left(self) -> float | None:
        """Returns the seconds until the deadline, 0 if it has passed, or None."""
        return None if self._end is None else max(0.0, self._end - time.monotonic())


#: Source, tag and context.
_Wanted = tuple[int, int, int]


class _Arrivals:
    """Wakes the coroutines of one event loop when a message that they wait for has arrived."""

    def __init__(self, task: _core.Task, loop: asyncio.AbstractEventLoop) -> None:
        self.task = task
        # A weak reference does not keep a loop that has ended.
        self.loop = weakref.ref(loop)
        self._watch = _core.Watch()
        # A copy: a loop has one reader for each descriptor, and the program may read the task's
        # own.
        self._descriptor = os.dup(task.fileno())
        weakref.finalize(self, os.close, self._descriptor)
        self._waiting: dict[asyncio.Future[None], _Wanted] = {}
        self._users = 0

    async def receive(self, wanted: _Wanted) -> _core.Message:
        """Takes the first message that matches.

        Nothing is awaited between the look and the return, so a cancelled coroutine has taken
        nothing.
        """
        # Before the first look: from now on this loop is told when another call passes over a
        # message.
        self._enter()
        try:
            while (message := self._look(wanted)) is None:
                await self._come(wanted)
            return message
        finally:
            self._exit()

    def _look(self, wanted: _Wanted) -> _core.Message | None:
        passed_by = self.task._passed_by
        message = self.task._look(wanted, self._watch)
        if self._waiting and self.task._passed_by != passed_by:
            # The call has passed over messages that others wait for.
            asyncio.get_running_loop().call_soon(self._wake)
        return message

    async def _come(self, wanted: _Wanted) -> None:
        """Returns when such a message has, or may have, arrived since the caller's last look."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[None] = loop.create_future()
        if not self._waiting:
            loop.add_reader(self._descriptor, self._wake)
        self._waiting[future] = wanted
        try:
            await future
        except asyncio.CancelledError:
            if future.done() and not future.cancelled() and self._waiting:
                # The message that woke this coroutine may be wanted by another one.
                loop.call_soon(self._wake)
            raise
        finally:
            self._waiting.pop(future, None)
            self._rest(loop)

    def _wake(self) -> None:
        """Wakes the coroutines whose messages have arrived, in the order in which they began to
        wait."""
        self._watch.drain()
        while True:
            passed_by = self.task._passed_by
            for future, wanted in list(self._waiting.items()):
                if not future.done() and self._is_there(wanted):
                    future.set_result(None)
            # A message that arrived during the loop may be for a coroutine that was checked before.
            if self.task._passed_by == passed_by:
                return

    def _is_there(self, wanted: _Wanted) -> bool:
        try:
            return self.task._peek(wanted, self._watch)
        except Exception:
            return True  # The coroutine gets the exception when it looks.

    def _enter(self) -> None:
        self._users += 1
        if self._users == 1:
            self._watch.arm()
            asyncio.get_running_loop().add_reader(self._watch.fileno(), self._wake)

    def _exit(self) -> None:
        self._users -= 1
        if self._users == 0:
            self._watch.disarm()
            # A coroutine that is garbage-collected ends where no loop runs, or another one.
            loop = self.loop()
            if loop is not None:
                self._leave(loop, self._watch.fileno())

    def end(self) -> None:
        """Ends this object when its loop or its machine has ended."""
        self._watch.disarm()

    def _rest(self, loop: asyncio.AbstractEventLoop) -> None:
        if not self._waiting:
            self._leave(loop, self._descriptor)

    @staticmethod
    def _leave(loop: asyncio.AbstractEventLoop, descriptor: int) -> None:
        if not loop.is_closed():
            loop.remove_reader(descriptor)


# This tuple is replaced and never changed, so that other threads may read it.
_arrivals: tuple[_Arrivals, ...] = ()
_changing = threading.Lock()


def _arrivals_of(task: _core.Task) -> _Arrivals:
    """Returns the object that wakes the coroutines of the running loop."""
    global _arrivals
    loop = asyncio.get_running_loop()
    for known in _arrivals:
        if known.loop() is loop and known.task is task:
            return known
    with _changing:
        alive = [known for known in _arrivals if _is_alive(known, task)]
        for known in set(_arrivals).difference(alive):
            known.end()
        new = _Arrivals(task, loop)
        _arrivals = (*alive, new)
    return new


def _is_alive(known: _Arrivals, task: _core.Task) -> bool:
    loop = known.loop()
    return loop is not None and not loop.is_closed() and known.task is task


async def receive(
    task: _core.Task, source: int, tag: int, timeout: float | None, context: int | None
) -> _core.Message:
    """Does what ``Task.receive`` does. A cancelled call takes no message."""
    if timeout is not None and math.isnan(timeout):
        raise UseError(Code["BadParam"], "receive", cause="the timeout is not a number")
    wanted = (source, tag, task.context if context is None else context)
    arrivals = _arrivals_of(task)
    if timeout is None:
        return await arrivals.receive(wanted)
    try:
        async with asyncio.timeout(timeout):
            return await arrivals.receive(wanted)
    except TimeoutError:
        cause = "no matching message has arrived in time"
        raise Timeout(Code["NoData"], "receive", source, tag, cause) from None


async def in_thread(call: Callable[[Callable[[], bool]], bool]) -> bool:
    """Runs a call that waits in a thread of its own, and awaits it.

    ``call`` gets a function that returns True when the coroutine has been cancelled. Then the call
    should end; it returns False if it has had no effect, and the coroutine is cancelled after it.
    If the call has had its effect already, the coroutine returns, and the cancellation takes effect
    at its next ``await``.
    """
    loop = asyncio.get_running_loop()
    task = asyncio.current_task()
    before = 0 if task is None else task.cancelling()
    stop = threading.Event()
    done = _in_a_thread(loop, lambda: call(stop.is_set))
    try:
        return await asyncio.shield(done)
    except asyncio.CancelledError as cancelled:
        stop.set()
        await _end_of(done)
        if done.cancelled() or done.exception() is not None or not done.result():
            raise
        if task is not None:
            loop.call_soon(_cancel_again, task, before, cancelled.args)
        return done.result()
    finally:
        # A coroutine that is garbage-collected does not wait any longer, either.
        stop.set()


def _in_a_thread(loop: asyncio.AbstractEventLoop, call: Callable[[], bool]) -> asyncio.Future[bool]:
    done: asyncio.Future[bool] = loop.create_future()

    def end(result: bool, error: BaseException | None) -> None:
        if done.cancelled():
            return
        if error is not None:
            done.set_exception(error)
        else:
            done.set_result(result)

    def run() -> None:
        result, error = False, None
        try:
            result = call()
        except BaseException as raised:
            error = raised
        try:
            loop.call_soon_threadsafe(end, result, error)
        except RuntimeError:
            pass  # The loop is closed, so no coroutine waits.

    threading.Thread(target=run, name="neopvm-wait", daemon=True).start()
    return done


async def _end_of(done: asyncio.Future[bool]) -> None:
    """Waits until the outcome is known, however often this wait is cancelled."""
    while not done.done():
        try:
            await asyncio.wait([done])
        except asyncio.CancelledError:
            pass  # The cancellation is in progress already, and the task counts each request.


def _cancel_again(task: asyncio.Task[object], before: int, message: tuple[object, ...]) -> None:
    """Repeats a cancellation, unless it came from a timeout that has ended with the call."""
    if not task.done() and task.cancelling() > before:
        task.uncancel()
        task.cancel(*message)
