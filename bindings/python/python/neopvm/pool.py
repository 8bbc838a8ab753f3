"""A pool of tasks as an executor of concurrent.futures.

When a worker dies, its items go to other workers, and a new worker is started. An item with which
several workers have died fails. So a function may run more than once for one item, and should have
no effects that must happen only once.
"""

from __future__ import annotations

import atexit
import os
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any, ParamSpec, TypeVar

from . import objects
from .dealer import LOSSES_MAX, Dealer, Item
from .errors import Code, UseError
from .machine import Machine, connected
from .serving import HEAD_SIZE, RemoteTraceback
from .team import Tid

_P = ParamSpec("_P")
_R = TypeVar("_R")

__all__ = ["LOSSES_MAX", "Pool", "RemoteTraceback"]


class Pool(Executor):
    """An executor whose workers are tasks of the machine: ``with Pool(8) as pool: pool.map(f,
    xs)``.

    Functions and arguments are pickled, as for processes of concurrent.futures. ``on`` has
    arguments of :meth:`Machine.spawn` that say where the workers run (``host=``, ``arch=``,
    ``least_loaded=``).
    """

    def __init__(self, max_workers: int | None = None, *, machine: Machine | None = None, **on: Any) -> None:
        if max_workers is not None and max_workers < 1:
            raise UseError(Code["BadParam"], "Pool", cause="max_workers must be greater than 0", hint="")
        if _is_ending:
            raise RuntimeError("cannot make a pool after interpreter shutdown")
        where = machine or connected()
        size = max_workers or max(1, sum(host.cores for host in where.hosts()))
        self._pid = os.getpid()
        self._dealer = dealer = Dealer(where, size, {"least_loaded": True} if not on else on)
        # A pool that is garbage-collected completes its work and ends.
        weakref.finalize(self, dealer.forget, os.getpid()).atexit = False
        _dealers.add(dealer)
        dealer.start()

    @property
    def workers(self) -> tuple[Tid, ...]:
        """The workers that are known to run."""
        return self._dealer.workers

    @property
    def lost(self) -> int:
        """The number of workers that have died."""
        return self._dealer.lost

    def submit(self, fn: Callable[_P, _R], /, *args: _P.args, **kwargs: _P.kwargs) -> Future[_R]:
        """Has a worker call a function. The future gets the result or the exception."""
        future: Future[_R] = Future()
        # Pickled here, so that the caller gets the exception if pickling fails.
        item = Item(future, objects.encode((fn, args, kwargs), HEAD_SIZE))
        if self._pid != os.getpid():
            # Only the parent has the thread that distributes the work.
            cause = "the pool belongs to the process that forked this one"
            raise UseError(Code["BadParam"], "submit", cause=cause)
        if _is_ending:
            raise RuntimeError("cannot schedule new futures after interpreter shutdown")
        self._dealer.put(item)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Accepts no more work, and ends the workers when all work is done.

        In the child of a fork the call does nothing.
        """
        if self._pid != os.getpid():
            return
        self._dealer.close(cancel_futures)
        if wait:
            self._dealer.join()


_dealers: weakref.WeakSet[Dealer] = weakref.WeakSet()
_is_ending = False


def _at_exit() -> None:
    """Completes the work of all pools before the program ends and before it leaves the machine."""
    global _is_ending
    _is_ending = True
    dealers = list(_dealers)
    for dealer in dealers:
        dealer.close(cancel=False)
    for dealer in dealers:
        dealer.join()


def _in_forked_child() -> None:
    _dealers.clear()


# As in concurrent.futures: this runs before the interpreter waits for threads and before atexit
# handlers.
getattr(threading, "_register_atexit", atexit.register)(_at_exit)
os.register_at_fork(after_in_child=_in_forked_child)
