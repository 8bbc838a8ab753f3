"""The thread of a pool: gives out work, takes results, replaces workers that died.

An idle worker gets work at once. A worker of this host whose work is short gets the next piece
ahead of time, so that it need not wait for it: on lease. It may begin that until some moment on the
clock that all processes of the host share, and gives it back if that has passed. A worker that has
not finished what is in front by then can be left with that alone, and another one that is idle gets
the piece: nothing stands behind long work, and nothing is done twice.
"""

from __future__ import annotations

import collections
import itertools
import os
import signal
import threading
import time
import traceback
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from typing import Any

from . import _core, serving
from .errors import Code, Error, SpawnError, Timeout, WorkerLostError
from .machine import TASK_EXIT, Machine
from .serving import BACK, DO, DONE, EXIT, STOP, WAKE
from .team import Tid

#: Workers that may die over one item before it is given up.
LOSSES_MAX = 3
#: So long a worker may begin what it was given ahead of time.
LEASE_SECONDS = 0.02
#: Work that takes less is short.
SHORT_SECONDS = 0.005
#: Larger work is not given ahead of time: it might be sent twice.
AHEAD_BYTES_MAX = 64 << 10
#: So long the end waits for workers before it kills them.
END_SECONDS_MAX = 30.0
_LOST_HINT = """Machine.catch_output() before the pool shows what workers print;
a script makes a pool under `if __name__ == "__main__":`"""


class Item:
    """Work, and who waits for it."""

    __slots__ = ("future", "losses", "moved", "pieces", "size")

    def __init__(self, future: Future[Any], pieces: list[bytes | memoryview]) -> None:
        self.future = future
        self.pieces = pieces
        self.size = sum(len(piece) for piece in pieces)
        # Workers that died over it, and whether it was another worker's before.
        self.losses = 0
        self.moved = False


class _Worker:
    """The pieces of a worker, in the order in which they were sent, and since when it works at the first."""

    __slots__ = ("began", "is_near", "is_quick", "items")

    def __init__(self, is_near: bool) -> None:
        self.items: dict[int, Item] = {}
        self.began = 0.0
        # On this host; and its last work was short.
        self.is_near = is_near
        self.is_quick = False


class Dealer:
    """Gives the work of a pool to its workers."""

    def __init__(self, machine: Machine, size: int, on: dict[str, Any]) -> None:
        self._machine, self._size, self._on = machine, size, on
        self._context = 0
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        # Behind the lock: what waits, the workers, how it ends, and whether the thread will look at
        # these.
        self._queue: collections.deque[Item] = collections.deque()
        self._workers: dict[int, _Worker] = {}
        self._closing = self._woken = False
        self._broken: BaseException | None = None
        # The thread's own: workers with nothing; with one piece, if that is short; what was given
        # ahead.
        self._idle: collections.deque[int] = collections.deque()
        self._nearly: collections.deque[int] = collections.deque()
        self._leases: collections.deque[tuple[float, int, int]] = collections.deque()
        #: Workers that died, and those of them since one has done anything.
        self.lost = self._barren = 0
        self._ready: Future[None] = Future()
        self._thread = threading.Thread(target=self._run, name="neopvm-pool", daemon=True)

    # ---- For the pool ----

    def start(self) -> None:
        """Starts the workers. The thread does that: no interrupt loses them there."""
        self._thread.start()
        try:
            self._ready.result()
        except BaseException:
            self.close(cancel=True)
            raise

    @property
    def workers(self) -> tuple[Tid, ...]:
        """The workers that live, as far as is known."""
        with self._lock:
            return tuple(map(Tid, self._workers))

    def put(self, item: Item) -> None:
        """Has it done."""
        with self._lock:
            if self._broken is not None:
                raise WorkerLostError(Code["SysErr"], "submit", cause="the pool is broken") from self._broken
            if self._closing:
                raise RuntimeError("cannot schedule new futures after shutdown")
            self._queue.append(item)
            if not self._woken:
                self._wake()
                self._woken = True

    def close(self, cancel: bool) -> None:
        """Takes no more work; the thread ends when all is done."""
        cancelled: list[Item] = []
        with self._lock:
            self._closing = True
            if cancel:
                # What a dead worker had has begun in its caller's eyes, and what an idle one is
                # about to get: that is done, not dropped.
                idle = sum(not worker.items for worker in self._workers.values())
                begun = collections.deque[Item]()
                for place, item in enumerate(self._queue):
                    (begun if item.moved or place < idle else cancelled).append(item)
                self._queue = begun
        # Without the lock, as with all that callbacks of futures hear of: they may submit.
        for item in cancelled:
            _call_back(item.future.cancel)
        self._wake()

    def forget(self, pid: int) -> None:
        """The same for a pool that nobody has any more.

        It is called in the middle of anything, so it takes no lock.
        """
        if pid == os.getpid():
            self._closing = True
            self._wake()

    def join(self) -> None:
        """Waits until the thread has ended."""
        if self._thread is not threading.current_thread():
            self._thread.join()

    def _wake(self) -> None:
        if not self._context:
            return
        try:
            with _core.Message() as message:
                message.send(self._machine.tid, WAKE, context=self._context)
        except Error:
            pass  # The machine has gone, which the thread sees by itself.

    # ---- The thread ----

    def _run(self) -> None:
        try:
            self._context = self._machine.new_context()
            self._start(self._size)
        except BaseException as error:
            self._fail(error)
            self._ready.set_exception(error)
            return
        self._ready.set_result(None)
        try:
            while self._deal():
                self._take(self._next())
            self._end_workers()
        except BaseException as error:
            self._fail(error)

    def _start(self, count: int) -> None:
        try:
            team = self._machine.spawn(serving.serve, self._context, n=count, **self._on)
            started = list(team)
        except SpawnError as error:
            started = [Tid(tid) for tid in error.started]
            if not started and not self._workers:
                raise
        here = Tid(self._machine.tid).host
        with self._lock:
            for tid in started:
                self._workers[tid] = _Worker(tid.host == here)
                self._idle.append(tid)
        if started:
            # A worker that has died already is told of at once.
            self._machine.notify(TASK_EXIT, EXIT, started, context=self._context)

    def _next(self) -> _core.Message:
        """The next message.

        Where a worker is idle what others were given ahead is asked for when that is over.
        """
        while self._idle and self._leases:
            left = self._leases[0][0] - time.monotonic()
            try:
                return self._machine.receive(timeout=max(left, 0.0), context=self._context)
            except Timeout:
                self._take_back()
                self._give_out()
        return self._machine.receive(context=self._context)

    def _deal(self) -> bool:
        """Gives out what there is. False when the pool has come to its end."""
        if self._leases:
            self._take_back()
        self._give_out()
        with self._lock:
            if not self._closing or self._queue:
                return True
            return any(worker.items for worker in self._workers.values())

    def _give_out(self) -> None:
        while (tid := self._free()) is not None:
            ahead = bool(self._workers[tid].items)
            item = self._first(ahead)
            if item is None:
                return
            (self._nearly if ahead else self._idle).popleft()
            self._give(tid, item, ahead)

    def _first(self, ahead: bool) -> Item | None:
        """The first that waits and was not cancelled."""
        with self._lock:
            while self._queue:
                if ahead and self._queue[0].size > AHEAD_BYTES_MAX:
                    return None
                item = self._queue.popleft()
                # Work that was given before is running in its caller's eyes already.
                if item.moved or item.future.set_running_or_notify_cancel():
                    return item
        return None

    def _free(self) -> int | None:
        """A worker that may get something: an idle one, else one whose work is short."""
        while self._idle:
            worker = self._workers.get(self._idle[0])
            if worker is not None and not worker.items:
                return self._idle[0]
            self._idle.popleft()
        while self._nearly:
            worker = self._workers.get(self._nearly[0])
            if worker is not None and len(worker.items) == 1 and self._is_short(worker):
                return self._nearly[0]
            self._nearly.popleft()
        return None

    def _is_short(self, worker: _Worker) -> bool:
        return worker.is_quick and time.monotonic() - worker.began < SHORT_SECONDS

    def _give(self, tid: int, item: Item, ahead: bool) -> None:
        worker = self._workers[tid]
        number, until, now = next(self._numbers), 0.0, time.monotonic()
        if ahead:
            until = now + LEASE_SECONDS
            self._leases.append((until, tid, number))
        else:
            worker.began = now
        worker.items[number] = item
        try:
            pieces = [serving.head(number, until), *item.pieces]
            self._machine.send_pieces(pieces, tid, DO, context=self._context)
        except Error as error:
            if not self._machine.is_connected:
                raise
            # No room for it, mostly: the caller of this one is told.
            del worker.items[number]
            _call_back(item.future.set_exception, error)
        self._offer(tid, worker)

    def _offer(self, tid: int, worker: _Worker) -> None:
        """Notes a worker that may get more."""
        if not worker.items:
            self._idle.append(tid)
        elif len(worker.items) == 1 and worker.is_near and worker.is_quick:
            self._nearly.append(tid)

    def _take(self, message: _core.Message) -> None:
        if message.tag == DONE:
            self._finish(message)
        elif message.tag == WAKE:
            with self._lock:
                self._woken = False
        elif message.tag == BACK:
            self._return(message)
        elif message.tag == EXIT:
            self._lose(message.unpack("i4"))

    def _finish(self, message: _core.Message) -> None:
        number, _ = serving.head_of(message)
        tid = message.source
        worker = self._workers.get(tid)
        item = worker.items.pop(number, None) if worker is not None else None
        if worker is None:
            return
        self._barren = 0
        now = time.monotonic()
        worker.is_quick = now - worker.began < SHORT_SECONDS
        worker.began = now
        self._offer(tid, worker)
        # What is next goes out before the caller hears of this one.
        self._give_out()
        if item is not None:
            _settle(item.future, message)

    def _return(self, message: _core.Message) -> None:
        """A worker came too late to what it was given ahead."""
        number, _ = serving.head_of(message)
        worker = self._workers.get(message.source)
        item = worker.items.pop(number, None) if worker is not None else None
        if worker is not None and item is not None:
            self._put_back([item])
            self._offer(message.source, worker)

    def _take_back(self) -> None:
        """Takes from workers what they were given ahead and can begin no more."""
        while self._leases and not self._holds(self._leases[0]):
            self._leases.popleft()
        now = time.monotonic()
        if not self._leases or self._leases[0][0] >= now:
            return
        # A worker says that it has finished the piece in front before it looks at the clock. So who
        # has not said that now, behind the moment, finds it passed.
        while (message := self._machine.try_receive(context=self._context)) is not None:
            self._take(message)
        again = []
        while self._leases and self._leases[0][0] < now:
            lease = self._leases.popleft()
            if self._holds(lease):
                _, tid, number = lease
                again.append(self._workers[tid].items.pop(number))
        self._put_back(again)

    def _holds(self, lease: tuple[float, int, int]) -> bool:
        """True while what was given ahead stands behind something else."""
        _, tid, number = lease
        worker = self._workers.get(tid)
        return worker is not None and number in worker.items and next(iter(worker.items)) != number

    def _put_back(self, items: Iterable[Item]) -> None:
        """To the front, in their order: they have waited longest."""
        again = list(items)
        for item in again:
            item.moved = True
        with self._lock:
            self._queue.extendleft(reversed(again))

    # ---- Ends ----

    def _lose(self, tid: int) -> None:
        """A worker died: what it had is others' now."""
        with self._lock:
            worker = self._workers.pop(tid, None)
        if worker is None:
            return
        self.lost += 1
        self._barren += 1
        again: list[Item] = []
        given_up: list[Item] = []
        for place, item in enumerate(worker.items.values()):
            # It works on them in their order, so it died over the first.
            item.losses += place == 0
            (again if item.losses < LOSSES_MAX else given_up).append(item)
        self._put_back(again)
        for item in given_up:
            cause = f"{LOSSES_MAX} workers died while they had this work, the last one t{tid:x}"
            lost = WorkerLostError(Code["NoTask"], "Pool", tid, cause=cause, hint=_LOST_HINT)
            _call_back(item.future.set_exception, lost)
        self._replace(tid)

    def _replace(self, tid: int) -> None:
        with self._lock:
            wanted = bool(self._queue) or not self._closing
            missing = self._size - len(self._workers) if wanted else 0
        # Workers that die before they have done anything are not started for ever.
        if missing > 0 and self._barren <= LOSSES_MAX * self._size * 10:
            self._start(missing)
        if wanted and not self._workers:
            raise WorkerLostError(Code["NoTask"], "Pool", tid, cause="all workers of the pool have died")

    def _end_workers(self) -> None:
        """All of them are waited for, so that nothing of the pool is left behind."""
        left = set(self._workers)
        if left:
            with _core.Message() as stop:
                stop.send(list(left), STOP, context=self._context)
        if not self._have_ended(left):
            # One that was stopped, or has threads that do not end.
            self._kill(left)
            self._have_ended(left)
        # What was said too late to matter.
        while self._machine.try_receive(context=self._context) is not None:
            pass
        self._machine.free_context(self._context)

    def _have_ended(self, left: set[int]) -> bool:
        limit = time.monotonic() + END_SECONDS_MAX
        try:
            while left:
                wait = max(0.0, limit - time.monotonic())
                left.discard(self._machine.receive(tag=EXIT, timeout=wait, context=self._context).unpack("i4"))
        except Timeout:
            return False
        return True

    def _kill(self, tids: Iterable[int]) -> None:
        for tid in tids:
            self._machine.signal(tid, signal.SIGKILL)

    def _fail(self, error: BaseException) -> None:
        """Every future ends, and every worker."""
        with self._lock:
            self._broken = error
            items = [*self._queue]
            items += [item for worker in self._workers.values() for item in worker.items.values()]
            workers = list(self._workers)
            self._queue.clear()
            self._workers.clear()
        for item in items:
            if not item.future.done():
                lost = WorkerLostError(Code["SysErr"], "Pool", cause=f"the pool is broken: {error}")
                lost.__cause__ = error
                _call_back(item.future.set_exception, lost)
        try:
            self._kill(workers)
            if self._context:
                self._machine.free_context(self._context)
        except Error:
            pass  # The machine has gone, and they with it.


def _call_back(end: Callable[..., object], *args: Any) -> None:
    """Ends a future.

    A callback of it that raises what no executor expects, such as SystemExit, ends nothing else.
    """
    try:
        end(*args)
    except BaseException:
        traceback.print_exc()


def _settle(future: Future[Any], message: _core.Message) -> None:
    raised, result = serving.outcome(message)
    if raised is not None:
        _call_back(future.set_exception, raised)
    else:
        _call_back(future.set_result, result)
