"""Machines for tests: each test of this process is in one of its own, which ends with it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import neopvm as pvm
import pytest

# Long enough for a computer that does many other things; nothing is measured by it.
PATIENCE = 120.0


@pytest.fixture(scope="session", autouse=True)
def runtime() -> Path:
    """The folder for the files of machines, in the place that check.sh has of `testbed`."""
    if "TESTBED" not in os.environ:
        pytest.exit("these tests need a place of their own: run bindings/python/check.sh STAGE")
    return Path(os.environ["PVM_TMP"])


@pytest.fixture(scope="module")
def vm(runtime: Path) -> Iterator[pvm.Machine]:
    """This process in a machine of one host."""
    with pvm.connect() as machine:
        yield machine


@pytest.fixture
def script(tmp_path: Path) -> Callable[[str], str]:
    """Writes a Python program, and gives its path."""

    def write(text: str) -> str:
        path = tmp_path / "program.py"
        path.write_text("import neopvm as pvm\n" + text)
        return str(path)

    return write
