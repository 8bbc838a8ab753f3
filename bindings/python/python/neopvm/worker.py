"""What a spawned function is told by who spawns it: where modules are looked for, the script that the spawner runs, and
the pickled function with its arguments. :mod:`neopvm.spawned` does what is told.
"""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

#: Under which a spawned function is told what to call; tags of programs are seldom so large.
BOOT_TAG = 0x4E50_0001
#: The context of that message: whatever the spawner's is.
BOOT_CONTEXT = 0


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


#: True while the script of the spawner is run for its functions.
is_beginning = False


def check_began() -> None:
    """Refuses what would spawn the same script again and again."""
    if is_beginning:
        from .errors import Code, UseError

        cause = "the script spawns tasks although it is only run to find a function of it"
        hint = 'spawn under `if __name__ == "__main__":`'
        raise UseError(Code["BadParam"], "spawn", cause=cause, hint=hint)
