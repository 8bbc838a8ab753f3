"""A pool of tasks as an executor of concurrent.futures.

When a worker dies, its items go to others and a new worker is started; an item that has seen several workers die is
given up. So a function may run more than once for one item, and should have no effects that must happen once.
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
    """``with Pool(8) as pool: pool.map(f, xs)``: an executor whose workers are tasks of the machine.

    Functions and arguments are pickled, as for processes of concurrent.futures. ``on`` are arguments of
    :meth:`Machine.spawn` that say where the workers are (``host=``, ``arch=``, ``least_loaded=``).
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
        # A pool that is forgotten does what it has, and ends.
        weakref.finalize(self, dealer.forget, os.getpid()).atexit = False
        _dealers.add(dealer)
        dealer.start()

    @property
    def workers(self) -> tuple[Tid, ...]:
        """The workers that live, as far as is known."""
        return self._dealer.workers

    @property
    def lost(self) -> int:
        """How many workers have died."""
        return self._dealer.lost

    def submit(self, fn: Callable[_P, _R], /, *args: _P.args, **kwargs: _P.kwargs) -> Future[_R]:
        """Has a worker call a function; its result or exception comes in the future."""
        future: Future[_R] = Future()
        # Pickled here, so that what cannot be is the caller's exception.
        item = Item(future, objects.encode((fn, args, kwargs), HEAD_SIZE))
        if self._pid != os.getpid():
            # The thread that would give it out is the parent's.
            cause = "the pool belongs to the process that forked this one"
            raise UseError(Code["BadParam"], "submit", cause=cause)
        if _is_ending:
            raise RuntimeError("cannot schedule new futures after interpreter shutdown")
        self._dealer.put(item)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Takes no more work; ends the workers when all is done. In the child of a fork it does nothing."""
        if self._pid != os.getpid():
            return
        self._dealer.close(cancel_futures)
        if wait:
            self._dealer.join()


_dealers: weakref.WeakSet[Dealer] = weakref.WeakSet()
_is_ending = False


def _at_exit() -> None:
    """The program ends when the work of its pools is done, and before the machine is left."""
    global _is_ending
    _is_ending = True
    dealers = list(_dealers)
    for dealer in dealers:
        dealer.close(cancel=False)
    for dealer in dealers:
        dealer.join()


def _in_forked_child() -> None:
    _dealers.clear()


# As concurrent.futures does: before the interpreter waits for threads, and before what atexit has.
getattr(threading, "_register_atexit", atexit.register)(_at_exit)
os.register_at_fork(after_in_child=_in_forked_child)
