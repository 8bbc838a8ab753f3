"""Messages for coroutines of asyncio: the task's descriptor in the event loop."""

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
    """A moment that is some seconds away; None is never."""

    def __init__(self, seconds: float | None) -> None:
        self._end = None if seconds is None else time.monotonic() + seconds

    def left(self) -> float | None:
        """Seconds until then, 0 if it is over."""
        return None if self._end is None else max(0.0, self._end - time.monotonic())


#: Source, tag and context.
_Wanted = tuple[int, int, int]


class _Arrivals:
    """Wakes the coroutines of one event loop when what they wait for has come."""

    def __init__(self, task: _core.Task, loop: asyncio.AbstractEventLoop) -> None:
        self.task = task
        # A loop that is over is not kept.
        self.loop = weakref.ref(loop)
        self._watch = _core.Watch()
        # Of our own: a loop has one reader for each, and that of the task's may be the program's.
        self._descriptor = os.dup(task.fileno())
        weakref.finalize(self, os.close, self._descriptor)
        self._waiting: dict[asyncio.Future[None], _Wanted] = {}
        self._users = 0

    async def receive(self, wanted: _Wanted) -> _core.Message:
        """The first message that fits. Between the look and the return nothing is awaited: who is cancelled has taken
        nothing."""
        # Before the first look: who looks past a message from now on tells this loop.
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
            # It has looked past what others wait for.
            asyncio.get_running_loop().call_soon(self._wake)
        return message

    async def _come(self, wanted: _Wanted) -> None:
        """Returns when such a message has come since the caller has looked, or may have."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[None] = loop.create_future()
        if not self._waiting:
            loop.add_reader(self._descriptor, self._wake)
        self._waiting[future] = wanted
        try:
            await future
        except asyncio.CancelledError:
            if future.done() and not future.cancelled() and self._waiting:
                # Woken for a message that it does not take: it may be another's.
                loop.call_soon(self._wake)
            raise
        finally:
            self._waiting.pop(future, None)
            self._rest(loop)

    def _wake(self) -> None:
        """Wakes those for whom there is something, in the order in which they came."""
        self._watch.drain()
        while True:
            passed_by = self.task._passed_by
            for future, wanted in list(self._waiting.items()):
                if not future.done() and self._is_there(wanted):
                    future.set_result(None)
            # What has come in the middle is seen by those who were asked before.
            if self.task._passed_by == passed_by:
                return

    def _is_there(self, wanted: _Wanted) -> bool:
        try:
            return self.task._peek(wanted, self._watch)
        except Exception:
            return True  # Who waits is told of it when he looks.

    def _enter(self) -> None:
        self._users += 1
        if self._users == 1:
            self._watch.arm()
            asyncio.get_running_loop().add_reader(self._watch.fileno(), self._wake)

    def _exit(self) -> None:
        self._users -= 1
        if self._users == 0:
            self._watch.disarm()
            # A coroutine that is thrown away ends where no loop runs, or another one.
            loop = self.loop()
            if loop is not None:
                self._leave(loop, self._watch.fileno())

    def end(self) -> None:
        """Its loop is over, or its machine."""
        self._watch.disarm()

    def _rest(self, loop: asyncio.AbstractEventLoop) -> None:
        if not self._waiting:
            self._leave(loop, self._descriptor)

    @staticmethod
    def _leave(loop: asyncio.AbstractEventLoop, descriptor: int) -> None:
        if not loop.is_closed():
            loop.remove_reader(descriptor)


# Replaced and never changed, so that other threads may read it.
_arrivals: tuple[_Arrivals, ...] = ()
_changing = threading.Lock()


def _arrivals_of(task: _core.Task) -> _Arrivals:
    """What wakes the coroutines of the loop that runs here."""
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
    """As ``Task.receive``. Cancelled, it takes no message."""
    if timeout is not None and math.isnan(timeout):
        raise UseError(Code["BadParam"], "receive", cause="a time limit that is no number")
    wanted = (source, tag, task.context if context is None else context)
    arrivals = _arrivals_of(task)
    if timeout is None:
        return await arrivals.receive(wanted)
    try:
        async with asyncio.timeout(timeout):
            return await arrivals.receive(wanted)
    except TimeoutError:
        cause = "nothing that fits has come in time"
        raise Timeout(Code["NoData"], "receive", source, tag, cause) from None


async def in_thread(call: Callable[[Callable[[], bool]], bool]) -> bool:
    """A call that waits, in a thread of its own. It is given what tells it that nobody waits for it any more: then it ends,
    False if it has had no effect, and the coroutine ends behind it. If it had one all the same its coroutine is told, and
    what came too late to cancel it cancels what is awaited next."""
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
        # A coroutine that is thrown away waits no longer either.
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
            pass  # The loop is closed, and nobody waits in it.

    threading.Thread(target=run, name="neopvm-wait", daemon=True).start()
    return done


async def _end_of(done: asyncio.Future[bool]) -> None:
    """Until it is known what has come of it, however often that is cancelled."""
    while not done.done():
        try:
            await asyncio.wait([done])
        except asyncio.CancelledError:
            pass  # It is being cancelled already, and the task counts these.


def _cancel_again(task: asyncio.Task[object], before: int, message: tuple[object, ...]) -> None:
    """Unless the cancelling was a limit of time that is over with the call, which has taken it back."""
    if not task.done() and task.cancelling() > before:
        task.uncancel()
        task.cancel(*message)
