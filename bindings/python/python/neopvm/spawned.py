"""The main program of a spawned function.

The interpreter that :func:`neopvm.worker.command` starts becomes a task, receives the function, and
calls it. Before that, it runs the spawner's script or module under another name, so that its
functions are defined. Code under ``if __name__ == "__main__"`` does not run again.
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
    """Sets the spawner's arguments and module path, and makes its script ``__main__``."""
    sys.path[:] = told["path"]
    sys.argv[:] = told["argv"]
    name, script = told["module"], told["script"]
    if name is None and script is None:
        return
    if told["multiprocessing"]:
        # The first import of multiprocessing binds that name to the present `__main__`; do that
        # before the script runs.
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
    """Receives the spawner's message. Returns None if the spawner has died before it sent one."""
    watched = (TASK_EXIT, worker.ORPHAN_TAG, [parent])
    machine.notify(*watched, context=worker.BOOT_CONTEXT)
    message = machine.receive(context=worker.BOOT_CONTEXT)
    if message.tag != worker.BOOT_TAG:
        return None
    machine.notify(*watched, cancel=True, context=worker.BOOT_CONTEXT)
    told: dict[str, Any] = pickle.loads(objects.decode(message))
    return told


def main() -> int:
    """Becomes a task and calls the function that the spawner has sent."""
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
