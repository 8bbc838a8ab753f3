"""The request of a spawn."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import _core, worker
from .errors import Code, Error, SpawnError, UseError

_ON_HOST, _ON_ARCH, _ON_OTHERS = 1, 2, 32

_Program = str | os.PathLike[str] | Callable[..., object]


@dataclass(frozen=True)
class Command:
    """A program with its arguments and environment, and the message that it gets when it runs."""

    file: str
    wish: dict[str, object]
    boot: bytes | None


def command(
    program: _Program, args: Sequence[Any], env: Mapping[str, str] | None, cwd: str | os.PathLike[str] | None
) -> Command:
    """Returns the command that starts a function, a Python script or any other program."""
    boot = worker.boot(program, tuple(args)) if callable(program) else None
    file, arguments = _line(program, args)
    additions = dict(env or {})
    if file == sys.executable:
        if (path := worker.module_path(env)) is not None:
            additions["PYTHONPATH"] = path
        if cwd is None:
            cwd = os.getcwd()
    lines = [f"{name}={value}" for name, value in {**_exported(), **additions}.items()]
    wish: dict[str, object] = {
        "args": [os.fsencode(argument) for argument in arguments],
        "environment": [os.fsencode(line) for line in lines],
        "directory": os.fsencode(cwd) if cwd is not None else b"",
    }
    return Command(file, wish, boot)


def _line(program: _Program, args: Sequence[Any]) -> tuple[str, list[str]]:
    if callable(program):
        return sys.executable, worker.command(program)
    file, words = os.fspath(program), [str(arg) for arg in args]
    if file.endswith(".py"):
        if not Path(file).is_file():
            raise SpawnError(Code["NoFile"], "spawn", cause=f"there is no script {file}", hint="")
        return sys.executable, [*worker.flags(), os.path.abspath(file), *words]
    return os.path.abspath(file) if os.sep in file else file, words


def place(host: str | None, arch: str | None, others: bool, least_loaded: bool) -> tuple[str, int]:
    """Returns the name of the host or architecture, and the flags of the spawn."""
    if host is not None and arch is not None:
        raise UseError(Code["BadParam"], "spawn", cause="host and arch cannot be used together")
    flags = (_ON_OTHERS if others else 0) | (_core.LEAST_LOADED if least_loaded else 0)
    if host is not None:
        return host, flags | _ON_HOST
    if arch is not None:
        return arch, flags | _ON_ARCH
    return "", flags


def _exported() -> dict[str, str]:
    """Returns the variables that PVM_EXPORT names."""
    names = os.environ.get("PVM_EXPORT", "")
    exported = {name: os.environ[name] for name in names.split(":") if name in os.environ}
    return {**exported, "PVM_EXPORT": names} if names else exported


def not_started(file: str, outcomes: list[int], tried: list[str], started: Sequence[int]) -> SpawnError:
    """Makes the exception for tasks that were not started."""
    code = next(outcome for outcome in outcomes if outcome <= 0)
    cause = f"{len(outcomes) - len(started)} of {len(outcomes)} tasks of {file} were not started: "
    cause += Error(code or Code["DSysErr"]).cause
    if tried:
        cause += f" (looked in {', '.join(tried)})"
    error = SpawnError(code or Code["DSysErr"], "spawn", cause=cause)
    error.started = tuple(started)
    return error
