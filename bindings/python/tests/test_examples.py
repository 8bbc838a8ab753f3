"""The examples that are installed with it do what they say."""

from __future__ import annotations

import ast
import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import neopvm as pvm
import pytest
from conftest import PATIENCE

EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "python"


def run(name: str, *args: str) -> list[str]:
    environment = {name: value for name, value in os.environ.items() if name != "PVM_VMID"}
    done = subprocess.run(
        [sys.executable, EXAMPLES / name, *args],
        env=environment,
        capture_output=True,
        text=True,
        timeout=2 * PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_hello() -> None:
    lines = run("hello.py")
    assert len(lines) == 3 and all(line.startswith("hello world, this is t") for line in lines)


def test_the_farm_is_right_although_workers_die() -> None:
    (line,) = run("farm.py", "3", "20000")
    assert line.startswith("2262 primes below 20000;")


def test_the_picture_of_the_worker() -> None:
    rows = run("mandelbrot_worker.py")
    assert len(rows) == 32
    # The set is symmetric and black in its middle.
    assert rows[16][50:55].strip() == "" and any("@" in row or "#" in row or "+" in row for row in rows)


def test_the_notebook_runs_from_its_first_cell_to_its_last() -> None:
    """As a kernel does: each cell in one namespace, with `await` at the top, its last expression shown."""
    cells = json.loads((EXAMPLES / "notebook.ipynb").read_text())["cells"]
    namespace: dict[str, object] = {}

    async def all_cells() -> list[object]:
        shown = []
        for cell in cells:
            if cell["cell_type"] != "code":
                continue
            tree = ast.parse("".join(cell["source"]))
            last = tree.body[-1]
            parts: list[tuple[ast.Module | ast.Expression, str]] = [(tree, "exec")]
            if isinstance(last, ast.Expr):
                tree.body.pop()
                parts.append((ast.Expression(last.value), "eval"))
            for part, mode in parts:
                code = compile(part, "cell", mode, ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
                value = eval(code, namespace)
                if asyncio.iscoroutine(value):
                    value = await value
                if mode == "eval":
                    shown.append(value)
        return shown

    vmid = os.environ.pop("PVM_VMID", None)
    try:
        shown = asyncio.run(all_cells())
    finally:
        if vmid is not None:
            os.environ["PVM_VMID"] = vmid
    hosts = shown[0]
    assert isinstance(hosts, pvm.HostTable) and len(hosts) == 2
    assert shown[1] == [i**0.5 for i in range(10)]
    assert {"to": "myself"} in shown
    assert ("square", 0, 0) in shown and [1, 4] in shown, "the cells about a tuple space"
    with pytest.raises(pvm.ClosedError):
        pvm.current()
