"""CPython's own tests of executors, run against the pool: see `cpython_suite.py`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

import neopvm
import pytest
from conftest import PATIENCE
from programs import environment

ASKED = "import sys, test.test_concurrent_futures; sys.exit(sys.version_info < (3, 11))"


def interpreters() -> list[str]:
    """Pythons that can load this package: the one that is named, this one, those on the path, those beside this one."""
    named = [os.environ.get("NEOPVM_CPYTHON", ""), sys.executable, os.path.join(sys.base_prefix, "bin/python3")]
    versions = [f"python3.{minor}" for minor in range(11, 20)]
    found = [shutil.which(name) for name in versions]
    system = [str(path) for name in versions for path in [Path("/usr/bin") / name] if path.exists()]
    beside = [str(path) for path in Path(sys.base_prefix).parent.glob("3.*/bin/python3")]
    return [path for path in [*named, *found, *system, *beside] if path]


def with_tests() -> str | None:
    for path in interpreters():
        asked = subprocess.run([path, "-c", ASKED], capture_output=True, check=False)
        if asked.returncode == 0:
            return path
    return None


def no_tests() -> NoReturn:
    reason = (
        "no Python here has the module test.test_concurrent_futures: install libpython3.11-testsuite (Debian), "
        "or name one that has it by NEOPVM_CPYTHON"
    )
    # Where all must be tested this is a failure.
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


def test_the_tests_of_cpython_for_executors(tmp_path: Path) -> None:
    python = with_tests()
    if python is None:
        no_tests()
    # The package alone, as that Python may be another than the one that its neighbours are for.
    (tmp_path / "neopvm").symlink_to(Path(neopvm.__file__).parent)
    # At the same time, as they sleep most of theirs.
    parts = {
        name: subprocess.Popen(
            [python, Path(__file__).with_name("cpython_suite.py"), name],
            env=environment(PYTHONPATH=str(tmp_path)),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for name in ("ExecutorTest", "ExecutorShutdownTest", "WaitTests", "AsCompletedTests")
    }
    told = {name: part.communicate(timeout=5 * PATIENCE)[0] for name, part in parts.items()}
    failed = [told[name] for name, part in parts.items() if part.returncode != 0]
    assert not failed, "\n".join(failed)
