"""A spawned function: ``python -m neopvm.worker`` becomes a task, is told what to call, and calls it.

What is told: where modules are looked for, the script that the spawner runs, and the pickled function with its
arguments. The script is run once more under another name, so that functions of it are found; what it does only
under ``if __name__ == "__main__"`` it does not do again.
"""

from __future__ import annotations

import os
import pickle
import runpy
import sys
import types
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

#: Under which a spawned function is told what to call; tags of programs are seldom so large.
BOOT_TAG = 0x4E50_0001
#: The context of that message: whatever the spawner's is.
BOOT_CONTEXT = 0

_MAIN = "__neopvm_main__"


def module_path(env: Mapping[str, str] | None) -> str:
    """PYTHONPATH for a spawned interpreter: it finds this package as this one did."""
    here = str(Path(__file__).resolve().parent.parent)
    given = (env or {}).get("PYTHONPATH") or os.environ.get("PYTHONPATH", "")
    folders = [folder for folder in given.split(os.pathsep) if folder]
    return os.pathsep.join(folders if here in folders else [here, *folders])


def _main_script() -> str | None:
    """The script that runs as ``__main__``; None for an interactive one and for ``-c``."""
    main = sys.modules.get("__main__")
    path = getattr(main, "__file__", None)
    return os.path.abspath(path) if path and os.path.isfile(path) else None


def boot(function: Callable[..., object], args: tuple[Any, ...]) -> bytes:
    """What a worker is told, as bytes that need none of the spawner's modules to be read."""
    script = _main_script()
    call = _by_value((function, args)) if _is_homeless(function, script) else _by_name((function, args))
    return pickle.dumps({"script": script, "path": list(sys.path), "call": call}, 5)


def _is_homeless(function: Callable[..., object], script: str | None) -> bool:
    """True for a function that no other process could import."""
    name = getattr(function, "__qualname__", "")
    in_main = getattr(function, "__module__", None) == "__main__" and script is None
    return in_main or "<lambda>" in name or "<locals>" in name


def _by_name(call: object) -> bytes:
    from .errors import Code, ForeignError

    try:
        return pickle.dumps(call, 5)
    except (pickle.PicklingError, AttributeError, TypeError) as refused:
        cause = f"the function or its arguments cannot be pickled: {refused}"
        raise ForeignError(Code["BadParam"], "spawn", cause=cause, hint="") from refused


def _by_value(call: object) -> bytes:
    from .errors import Code, ForeignError

    try:
        import cloudpickle  # type: ignore[import-not-found, unused-ignore]
    except ImportError as missing:
        raise ForeignError(
            Code["BadParam"],
            "spawn",
            cause="the function cannot be imported by another process",
            hint="write it into a module or script, or install cloudpickle",
        ) from missing
    text: bytes = cloudpickle.dumps(call, 5)
    return text


def _prepare(told: dict[str, Any]) -> None:
    """Modules are found as in the spawner, and its script is ``__main__``."""
    known = set(sys.path)
    sys.path += [folder for folder in told["path"] if folder not in known]
    if (script := told["script"]) is None:
        return
    module = types.ModuleType(_MAIN)
    module.__dict__.update(runpy.run_path(script, run_name=_MAIN))
    sys.modules["__main__"] = sys.modules[_MAIN] = module


def main() -> int:
    """Becomes a task and does what its spawner says."""
    from .machine import connect

    machine = connect(start=False)
    parent = machine.parent
    if parent is None:
        print("neopvm.worker: started by hand; neopvm.Machine.spawn() starts it", file=sys.stderr)
        return 2
    told = pickle.loads(machine.recv(parent, BOOT_TAG, context=BOOT_CONTEXT).obj)
    _prepare(told)
    function, args = pickle.loads(told["call"])
    function(*args)
    machine.close()
    return 0


if __name__ == "__main__":
    # As a module that others import, not as __main__, which is the spawner's script.
    from neopvm.worker import main as run

    sys.exit(run())
