"""Runs Python programs in processes of their own, as users do."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

from conftest import PATIENCE


def environment(**more: str) -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items() if name != "PVM_VMID"}
    return {**inherited, **more}


def run(
    *arguments: str | Path, text: str | None = None, cwd: Path | None = None, **more: str
) -> subprocess.CompletedProcess[str]:
    """An interpreter with these arguments and this standard input; it must end by itself."""
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        input=text,
        cwd=cwd,
        env=environment(**more),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def program(folder: Path, text: str, name: str = "program.py") -> Path:
    """A program in a file, behind `import neopvm as pvm`."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("import neopvm as pvm\n" + textwrap.dedent(text))
    return path


def printed(folder: Path, text: str, **more: str) -> list[str]:
    """What a program prints that ends well."""
    done = run(program(folder, text), cwd=None, text=None, **more)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()
