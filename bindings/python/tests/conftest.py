"""Machines for tests: each test of this process is in one of its own, which ends with it."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import neopvm as pvm
import pytest

# Long enough for a computer that does many other things; nothing is measured by it.
PATIENCE = 120.0


@pytest.fixture(scope="session", autouse=True)
def runtime() -> Iterator[Path]:
    """A folder of our own for the files of machines, with a short name: sockets lie in it."""
    folder = Path(tempfile.mkdtemp(prefix="npy-"))
    os.environ["PVM_TMP"] = str(folder)
    os.environ["PVM_ALLOW_ROOT"] = "1"
    os.environ.pop("PVM_VMID", None)
    os.environ.pop("PVMSOCK", None)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


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
