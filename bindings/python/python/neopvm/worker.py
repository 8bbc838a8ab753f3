"""What a spawned interpreter is told by who spawns it: where modules are looked for, the script or module that the
spawner runs, its arguments, and the pickled function. :mod:`neopvm.spawned` does what is told.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

#: Under which a spawned function is told what to call, and that nobody will tell it.
BOOT_TAG, ORPHAN_TAG = 1, 2
#: The context of these: one of those that PVM keeps for itself, where no program's messages are.
BOOT_CONTEXT = 0x7FFF7
#: What the spawner's script is called where it is run once more for its functions. It is the name that multiprocessing
#: gives it in its processes: what one of them hands to the other is found there.
MAIN = "__mp_main__"

# What a spawned function makes of the script's classes and raises of its exceptions names them by the script's second
# name; here they are the first one's. In a process of multiprocessing it has that name already.
sys.modules.setdefault(MAIN, sys.modules["__main__"])


def command(function: Callable[..., object]) -> list[str]:
    """The interpreter's arguments for a spawned function. Modules are found as here from the first import on; the
    folder that it stands in is asked for none."""
    name = getattr(function, "__qualname__", type(function).__name__)
    code = (
        f"import sys; sys.path[:] = {ascii(module_folders())}; sys.argv[:] = [{ascii(name)}]; "
        "from neopvm.spawned import main; sys.exit(main())"
    )
    return [*flags(), "-c", code]


def flags() -> list[str]:
    """The options of this interpreter: -O, -W, -X and so on."""
    return list(subprocess._args_from_interpreter_flags())  # type: ignore[attr-defined]


def module_folders() -> list[str]:
    """Where modules are looked for here, by names that hold in other folders."""
    return [os.path.abspath(folder) for folder in sys.path]


def module_path(env: Mapping[str, str] | None) -> str | None:
    """PYTHONPATH for a spawned interpreter, None if it needs none. The folder of this package is in it only where the
    interpreter would not find it otherwise, and last: what is installed there hides nothing."""
    given = (env or {}).get("PYTHONPATH") or os.environ.get("PYTHONPATH", "")
    folders = [os.path.abspath(folder) for folder in given.split(os.pathsep) if folder]
    here = str(Path(__file__).absolute().parent.parent)
    if here not in folders and not _is_site(here):
        folders.append(here)
    return os.pathsep.join(folders) if folders else None


def _is_site(folder: str) -> bool:
    """True for a folder that an interpreter started like this one looks into by itself."""
    site = sys.modules.get("site")
    if site is None:
        return False
    known = [*site.getsitepackages(), *([site.getusersitepackages()] if site.ENABLE_USER_SITE else [])]
    return os.path.realpath(folder) in map(os.path.realpath, known)


def _main() -> tuple[str | None, str | None]:
    """What runs as ``__main__`` here: a module (``python -m``), or a script; neither for an interactive one, for
    ``-c`` and for a package, whose ``__main__`` does what it does however it is called."""
    main = sys.modules["__main__"]
    spec = getattr(main, "__spec__", None)
    if spec is not None and spec.name:
        name = str(spec.name)
        return (None if name == "__main__" or name.endswith(".__main__") else name), None
    path = getattr(main, "__file__", None)
    return None, os.path.abspath(path) if path and os.path.isfile(path) else None


def is_homeless() -> bool:
    """True if what is defined in ``__main__`` here could be imported by no other process."""
    return _main() == (None, None)


def boot(function: Callable[..., object], args: tuple[Any, ...]) -> bytes:
    """What a worker is told, as bytes that need none of the spawner's modules to be read."""
    from . import objects

    module, script = _main()
    told = {
        "module": module,
        "script": script,
        "argv": list(sys.argv),
        "path": module_folders(),
        "multiprocessing": "multiprocessing" in sys.modules,
        "call": objects.dumps((function, args), None, "spawn"),
    }
    return pickle.dumps(told, 5)


#: True while the script of the spawner is run for its functions.
is_beginning = False


def check_began() -> None:
    """Refuses what would spawn the same script again and again."""
    if is_beginning:
        from .errors import Code, UseError

        cause = "the script spawns tasks although it is only run to find a function of it"
        hint = 'spawn under `if __name__ == "__main__":`'
        raise UseError(Code["BadParam"], "spawn", cause=cause, hint=hint)
