"""A pool of tasks as an executor of concurrent.futures.

Each worker has up to two items at a time, so that it need not wait for the next. When a worker dies, its items go
to others and a new worker is started; an item that has seen several workers die is given up. So a function may run
more than once for one item, and should have no effects that must happen once.
"""

from __future__ import annotations

import collections
import itertools
import os
import threading
import traceback
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any, ParamSpec, TypeVar

from . import _core, objects
from .errors import Code, Error, SpawnError, UseError, WorkerLostError
from .machine import TASK_EXIT, Machine, connect, current
from .team import Tid

_P = ParamSpec("_P")
_R = TypeVar("_R")

_DO, _DONE, _EXIT, _WAKE, _STOP = 1, 2, 3, 4, 5

# In front of work and result: which item it is.
_NUMBER_SIZE = 64

#: Items that a worker has at a time: one that it works on, and the next.
DEPTH = 2
#: Workers that may die over one item before it is given up.
LOSSES_MAX = 3
_LOST_HINT = """Machine.catch_output() before the pool shows what workers print;
a script makes a pool under `if __name__ == "__main__":`"""


class RemoteTraceback(Exception):
    """The cause of an exception that a worker raised: its traceback there, as a text."""

    def __str__(self) -> str:
        return str(self.args[0])


class _Item:
    """Work, and who waits for it."""

    __slots__ = ("future", "losses", "moved", "pieces")

    def __init__(self, future: Future[Any], pieces: list[bytes | memoryview]) -> None:
        self.future = future
        self.pieces = pieces
        # Workers that died over it, and whether it was another worker's before.
        self.losses = 0
        self.moved = False


class Pool(Executor):
    """``with Pool(8) as pool: pool.map(f, xs)``: an executor whose workers are tasks of the machine.

    Functions and arguments are pickled, as for processes of concurrent.futures. ``on`` are arguments of
    :meth:`Machine.spawn` that say where the workers are (``host=``, ``arch=``, ``least_loaded=``).
    """

    def __init__(self, max_workers: int | None = None, *, machine: Machine | None = None, **on: Any) -> None:
        self._machine = machine or connect()
        self._size = max_workers or sum(host.cores for host in self._machine.hosts())
        if self._size < 1:
            raise UseError(Code["BadParam"], "Pool", cause="a pool needs a worker at least")
        self._on: dict[str, Any] = {"least_loaded": True} if not on else on
        self._context = self._machine.new_context()
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._numbers = itertools.count()
        self._queue: collections.deque[tuple[int, _Item]] = collections.deque()
        self._given: dict[int, dict[int, _Item]] = {}
        self._closing = False
        self._broken: BaseException | None = None
        #: Workers that died.
        self.lost = 0
        self._start(self._size)
        self._thread = threading.Thread(target=self._run, name="neopvm-pool", daemon=True)
        self._thread.start()

    @property
    def workers(self) -> tuple[Tid, ...]:
        """The workers that live, as far as is known."""
        with self._lock:
            return tuple(map(Tid, self._given))

    # ---- For callers ----

    def submit(self, fn: Callable[_P, _R], /, *args: _P.args, **kwargs: _P.kwargs) -> Future[_R]:
        """Has a worker call a function; its result or exception comes in the future."""
        future: Future[_R] = Future()
        # Pickled here, so that what cannot be is the caller's exception.
        item = _Item(future, objects.encode((fn, args, kwargs), _NUMBER_SIZE))
        if self._pid != os.getpid():
            # The thread that would give it out is the parent's.
            cause = "the pool belongs to the process that forked this one"
            raise UseError(Code["BadParam"], "submit", cause=cause)
        with self._lock:
            if self._broken is not None:
                raise WorkerLostError(Code["SysErr"], "submit", cause="the pool is broken") from self._broken
            if self._closing:
                raise RuntimeError("cannot schedule new futures after shutdown")
            self._queue.append((next(self._numbers), item))
        self._wake()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Takes no more work; ends the workers when all is done. In the child of a fork it does nothing."""
        if self._pid != os.getpid():
            return
        with self._lock:
            self._closing = True
            cancelled = []
            if cancel_futures:
                cancelled = [item.future for _, item in self._queue if not item.moved]
                # What a dead worker had has begun in its caller's eyes: it is done, not dropped.
                self._queue = collections.deque(entry for entry in self._queue if entry[1].moved)
        # Without the lock, as with all that callbacks of futures hear of: they may submit.
        for future in cancelled:
            _call_back(future.cancel)
        self._wake()
        if wait and self._thread is not threading.current_thread():
            self._thread.join()

    # ---- The thread ----

    def _wake(self) -> None:
        try:
            with _core.Message() as message:
                message.send(self._machine.tid, _WAKE, context=self._context)
        except Error:
            pass  # The machine has gone, which the thread sees by itself.

    def _start(self, count: int) -> None:
        try:
            team = self._machine.spawn(_serve, self._context, n=count, **self._on)
            started = list(team)
        except SpawnError as error:
            started = [Tid(tid) for tid in error.started]
            if not started and not self._given:
                raise
        with self._lock:
            for tid in started:
                self._given[tid] = {}
        if started:
            # A worker that has died already is told of at once.
            self._machine.notify(TASK_EXIT, _EXIT, started, context=self._context)

    def _run(self) -> None:
        try:
            while self._deal():
                self._take(self._machine.receive(context=self._context))
            self._end_workers()
        except BaseException as error:
            self._fail(error)

    def _end_workers(self) -> None:
        with self._lock:
            workers = list(self._given)
        with _core.Message() as stop:
            if workers:
                stop.send(workers, _STOP, context=self._context)
        # All of them are waited for, so that nothing of the pool is left behind.
        for _ in range(len(workers)):
            self._machine.receive(tag=_EXIT, timeout=120, context=self._context)
        self._machine.free_context(self._context)

    def _deal(self) -> bool:
        """Gives out what there is. False when the pool has come to its end."""
        while True:
            with self._lock:
                free = min(self._given, key=lambda tid: len(self._given[tid]), default=None)
                if free is None or len(self._given[free]) >= DEPTH or not self._queue:
                    busy = any(self._given.values()) or bool(self._queue)
                    return busy or not self._closing
                number, item = self._queue.popleft()
                # Work that was lost once is running in its caller's eyes already.
                if not item.moved and not item.future.set_running_or_notify_cancel():
                    continue
                self._given[free][number] = item
            head = number.to_bytes(_NUMBER_SIZE, "little")
            self._machine.send_pieces([head, *item.pieces], free, _DO, context=self._context)

    def _take(self, message: _core.Message) -> None:
        if message.tag == _DONE:
            with message.view() as whole:
                number = int.from_bytes(whole[:_NUMBER_SIZE], "little")
            with self._lock:
                item = self._given.get(message.source, {}).pop(number, None)
            if item is not None:
                _call_back(_settle, item.future, message)
        elif message.tag == _EXIT:
            self._lose(message.unpack("i4"))

    def _lose(self, tid: int) -> None:
        """A worker died: what it had is others' now."""
        with self._lock:
            items = self._given.pop(tid, None)
            if items is None:
                return
            self.lost += 1
            again = []
            given_up = []
            for place, (number, item) in enumerate(items.items()):
                # It works on them in their order, so it died over the first.
                item.losses += place == 0
                item.moved = True
                if item.losses < LOSSES_MAX:
                    again.append((number, item))
                else:
                    given_up.append(item.future)
            self._queue.extendleft(reversed(again))
            wanted = bool(self._queue) or not self._closing
            missing = self._size - len(self._given) if wanted else 0
        for future in given_up:
            cause = f"{LOSSES_MAX} workers died while they had this work, the last one t{tid:x}"
            lost = WorkerLostError(Code["NoTask"], "Pool", tid, cause=cause, hint=_LOST_HINT)
            _call_back(future.set_exception, lost)
        # Workers that die before they have done anything are not started for ever.
        if missing > 0 and self.lost <= LOSSES_MAX * self._size * 10:
            self._start(missing)
        if not self.workers and wanted:
            raise WorkerLostError(Code["NoTask"], "Pool", tid, cause="all workers of the pool have died")

    def _fail(self, error: BaseException) -> None:
        with self._lock:
            self._broken = error
            items = [item for _, item in self._queue]
            items += [item for given in self._given.values() for item in given.values()]
            self._queue.clear()
            self._given.clear()
        for item in items:
            if not item.future.done():
                lost = WorkerLostError(Code["SysErr"], "Pool", cause=f"the pool is broken: {error}")
                lost.__cause__ = error
                _call_back(item.future.set_exception, lost)


def _call_back(end: Callable[..., object], *args: Any) -> None:
    """Ends a future. A callback of it that raises what no executor expects, such as SystemExit, ends nothing else."""
    try:
        end(*args)
    except BaseException:
        traceback.print_exc()


def _settle(future: Future[Any], message: _core.Message) -> None:
    try:
        kind, value = objects.decode(message, skip=_NUMBER_SIZE)
    except Error as error:
        future.set_exception(error)
        return
    if kind == "result":
        future.set_result(value)
        return
    raised, text = value
    raised.__cause__ = RemoteTraceback(f"\n{text}")
    future.set_exception(raised)


# ---- In the worker ----


def _serve(context: int) -> None:
    machine = current()
    owner = machine.parent
    assert owner is not None  # A worker was spawned.
    # When the owner dies there is nobody to work for.
    machine.notify(TASK_EXIT, _EXIT, [owner], context=context)
    while True:
        message = machine.receive(context=context)
        if message.tag != _DO:
            return
        number, reply = bytes(message.view()[:_NUMBER_SIZE]), _do(message)
        machine.send_pieces([number, *reply], owner, _DONE, context=context)


def _do(message: _core.Message) -> list[bytes | memoryview]:
    try:
        function, args, kwargs = objects.decode(message, skip=_NUMBER_SIZE)
        return objects.encode(("result", function(*args, **kwargs)), _NUMBER_SIZE)
    except BaseException as error:
        # SystemExit and KeyboardInterrupt, too: they are for who has asked, and the worker goes on.
        text = traceback.format_exc()
        try:
            return objects.encode(("error", (error, text)), _NUMBER_SIZE)
        except Exception:
            # An exception that cannot be sent: what it says can.
            plain = RuntimeError(f"{type(error).__name__}: {error}")
            return objects.encode(("error", (plain, text)), _NUMBER_SIZE)
