"""A spawned function: ``python -m neopvm.spawned`` becomes a task, is told what to call, and calls it.

The script that the spawner runs is run once more under another name, so that functions of it are found; what it does
only under ``if __name__ == "__main__"`` it does not do again.
"""

from __future__ import annotations

import pickle
import runpy
import sys
import types
from typing import Any

from . import worker

_MAIN = "__neopvm_main__"


def _prepare(told: dict[str, Any]) -> None:
    """Modules are found as in the spawner, and its script is ``__main__``."""
    known = set(sys.path)
    sys.path += [folder for folder in told["path"] if folder not in known]
    if (script := told["script"]) is None:
        return
    module = types.ModuleType(_MAIN)
    worker.is_beginning = True
    try:
        module.__dict__.update(runpy.run_path(script, run_name=_MAIN))
    finally:
        worker.is_beginning = False
    sys.modules["__main__"] = sys.modules[_MAIN] = module


def main() -> int:
    """Becomes a task and does what its spawner says."""
    from .machine import connect

    machine = connect(start=False)
    parent = machine.parent
    if parent is None:
        print("neopvm.spawned: started by hand; neopvm.Machine.spawn() starts it", file=sys.stderr)
        return 2
    told = pickle.loads(machine.recv(parent, worker.BOOT_TAG, context=worker.BOOT_CONTEXT).obj)
    _prepare(told)
    function, args = pickle.loads(told["call"])
    function(*args)
    machine.close()
    return 0


if __name__ == "__main__":
    # As a module that others import, not as __main__, which is the spawner's script.
    from neopvm.spawned import main as run

    sys.exit(run())
