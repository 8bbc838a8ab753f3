"""A spawned function: the interpreter that :func:`neopvm.worker.command` starts becomes a task, is told what to call,
and calls it.

The script or module that the spawner runs is run once more under another name, so that functions of it are found; what
it does only under ``if __name__ == "__main__"`` it does not do again.
"""

from __future__ import annotations

import pickle
import runpy
import sys
import types
from typing import Any

from . import objects, worker
from .machine import TASK_EXIT, Machine, connect


def _prepare(told: dict[str, Any]) -> None:
    """Arguments are the spawner's, modules are found as there, and its script is ``__main__``."""
    sys.path[:] = told["path"]
    sys.argv[:] = told["argv"]
    name, script = told["module"], told["script"]
    if name is None and script is None:
        return
    if told["multiprocessing"]:
        # Its first import gives that name to what is `__main__` then, which must not come in the middle of the script.
        import multiprocessing  # noqa: F401
    main = types.ModuleType(worker.MAIN)
    worker.is_beginning = True
    try:
        if name is not None:
            content = runpy.run_module(name, run_name=worker.MAIN, alter_sys=True)
        else:
            content = runpy.run_path(script, run_name=worker.MAIN)
    finally:
        worker.is_beginning = False
    main.__dict__.update(content)
    sys.modules["__main__"] = sys.modules[worker.MAIN] = main


def _told(machine: Machine, parent: int) -> dict[str, Any] | None:
    """What the spawner says; None if it has died before it said anything."""
    watched = (TASK_EXIT, worker.ORPHAN_TAG, [parent])
    machine.notify(*watched, context=worker.BOOT_CONTEXT)
    message = machine.receive(context=worker.BOOT_CONTEXT)
    if message.tag != worker.BOOT_TAG:
        return None
    machine.notify(*watched, cancel=True, context=worker.BOOT_CONTEXT)
    told: dict[str, Any] = pickle.loads(objects.decode(message))
    return told


def main() -> int:
    """Becomes a task and does what its spawner says."""
    with connect(start=False) as machine:
        parent = machine.parent
        if parent is None:
            print("neopvm.spawned: started by hand; neopvm.Machine.spawn() starts it", file=sys.stderr)
            return 2
        told = _told(machine, parent)
        if told is None:
            return 0
        _prepare(told)
        function, args = pickle.loads(told["call"])
        function(*args)
    return 0
