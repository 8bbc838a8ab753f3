"""The message that a spawned interpreter gets from the spawning process.

It contains the module path, the script or module that the spawner runs, its arguments, and the
pickled function. :mod:`neopvm.spawned` reads it.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

#: The tag of this message, and the tag of the notice that the spawner has died before it sent one.
BOOT_TAG, ORPHAN_TAG = 1, 2
#: The context of both: one that PVM reserves, so that it contains no messages of programs.
BOOT_CONTEXT = 0x7FFF7
#: The module name under which a spawned interpreter runs the spawner's script for its functions. multiprocessing uses
#: this name in its processes, too, so objects can be passed between both.
MAIN = "__mp_main__"

# Spawned functions pickle objects of the script's classes with this module name; here the module is
# `__main__`. In a process of multiprocessing the module has this name already.
sys.modules.setdefault(MAIN, sys.modules["__main__"])


def command(function: Callable[..., object]) -> list[str]:
    """Returns the interpreter's arguments for a spawned function.

    The module path is that of this process from the first import on, without the working folder of
    the new process.
    """
    name = getattr(function, "__qualname__", type(function).__name__)
    code = (
        f"import sys; sys.path[:] = {ascii(module_folders())}; sys.argv[:] = [{ascii(name)}]; "
        "from neopvm.spawned import main; sys.exit(main())"
    )
    return [*flags(), "-c", code]


def flags() -> list[str]:
    """Returns the options of this interpreter: -O, -W, -X and so on."""
    return list(subprocess._args_from_interpreter_flags())  # type: ignore[attr-defined]


def module_folders() -> list[str]:
    """Returns the module path of this process as absolute paths."""
    return [os.path.abspath(folder) for folder in sys.path]


def module_path(env: Mapping[str, str] | None) -> str | None:
    """Returns PYTHONPATH for a spawned interpreter, or None if it needs none.

    It contains the folder of this package only if the interpreter would not find the package
    otherwise. The folder is the last one, so that other modules in it hide nothing.
    """
    given = (env or {}).get("PYTHONPATH") or os.environ.get("PYTHONPATH", "")
    folders = [os.path.abspath(folder) for folder in given.split(os.pathsep) if folder]
    here = str(Path(__file__).absolute().parent.parent)
    if here not in folders and not _is_site(here):
        folders.append(here)
    return os.pathsep.join(folders) if folders else None


def _is_site(folder: str) -> bool:
    """Returns True for a folder that is in the default module path of an interpreter started like
    this one."""
    site = sys.modules.get("site")
    if site is None:
        return False
    known = [*site.getsitepackages(), *([site.getusersitepackages()] if site.ENABLE_USER_SITE else [])]
    return os.path.realpath(folder) in map(os.path.realpath, known)


def _main() -> tuple[str | None, str | None]:
    """Returns the module (``python -m``) or the script that runs as ``__main__`` here.

    Both are None for an interactive interpreter, for ``-c``, and for a package, whose ``__main__``
    module runs its program under any name.
    """
    main = sys.modules["__main__"]
    spec = getattr(main, "__spec__", None)
    if spec is not None and spec.name:
        name = str(spec.name)
        return (None if name == "__main__" or name.endswith(".__main__") else name), None
    path = getattr(main, "__file__", None)
    return None, os.path.abspath(path) if path and os.path.isfile(path) else None


def is_homeless() -> bool:
    """Returns True if no other process can import what is defined in ``__main__`` here."""
    return _main() == (None, None)


def boot(function: Callable[..., object], args: tuple[Any, ...]) -> bytes:
    """Returns the message for a spawned interpreter.

    Reading it needs none of the spawner's modules.
    """
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


#: True while this process runs the spawner's script to define its functions.
is_beginning = False


def check_began() -> None:
    """Refuses a spawn that would run the same script again and again."""
    if is_beginning:
        from .errors import Code, UseError

        cause = "the script spawns tasks while it is run only to define its functions"
        hint = 'spawn under `if __name__ == "__main__":`'
        raise UseError(Code["BadParam"], "spawn", cause=cause, hint=hint)
