"""CPython's own tests of executors, with the pool in the place of theirs: `python cpython_suite.py NAME`, one of `PARTS`.

What they ask of any executor is run: `ExecutorTest`, `ExecutorShutdownTest`, `WaitTests`, `AsCompletedTests`. Left out is
what only their two can have:

* `test_init`: `initializer=`, which a pool does not take: workers are started anew when one dies, on any host;
* `test_thread_pool`, `ThreadPool...`: names and numbers of threads;
* `test_process_pool`, `test_deadlock`, `ProcessPool...`: `mp_context`, `max_tasks_per_child`, `BrokenProcessPool` and the
  processes themselves. That a pool goes on where theirs is broken is tested in `test_pool.py`;
* `test_future`: tests `Future` without an executor.
"""

from __future__ import annotations

import importlib
import os
import sys
import tempfile
import time
import unittest
from types import ModuleType
from typing import Any

import neopvm

PACKAGE = "test.test_concurrent_futures"


def theirs(part: str) -> ModuleType:
    """The module of their package; before 3.12 it is one module."""
    whole = importlib.import_module(PACKAGE)
    return importlib.import_module(f"{PACKAGE}.{part}") if hasattr(whole, "__path__") else whole


class FileEvent:
    """An event that all processes of this computer see."""

    def __init__(self) -> None:
        self._path = tempfile.mktemp()

    def set(self) -> None:
        open(self._path, "w").close()

    def is_set(self) -> bool:
        return os.path.exists(self._path)

    def wait(self, timeout: float | None = None) -> bool:
        end = None if timeout is None else time.monotonic() + timeout
        while not self.is_set():
            if end is not None and time.monotonic() > end:
                return False
            time.sleep(0.005)
        return True


class PoolMixin(theirs("util").ExecutorMixin):  # type: ignore[misc]
    """Each test has a pool."""

    executor_type = neopvm.Pool
    worker_count = 2

    def create_event(self) -> FileEvent:
        return FileEvent()


# Their programs import the executor from concurrent.futures, and see on their own output what workers print.
PROLOGUE = """if 1:
    import sys
    sys.path[:0] = {path!r}
    import neopvm
    class Plain:
        def write(self, line): sys.stdout.write(line.split("] ", 1)[1])
        def flush(self): sys.stdout.flush()
    neopvm.connect().catch_output(Plain())
"""


def adapted(run: Any) -> Any:
    """Runs their programs with the pool for their executor."""

    def assert_python_ok(option: str, text: str, **more: str) -> Any:
        name = neopvm.Pool.__name__
        text = text.replace(f"from concurrent.futures import {name}", f"from neopvm import {name}")
        # It is run without PYTHONPATH.
        return run(option, PROLOGUE.format(path=sys.path[:2]) + text, __isolated=False, **more)

    return assert_python_ok


#: The tests of any executor, and in which of their modules these are.
PARTS = {
    "ExecutorTest": "executor",
    "ExecutorShutdownTest": "test_shutdown",
    "WaitTests": "test_wait",
    "AsCompletedTests": "test_as_completed",
}


def tests(name: str) -> unittest.TestSuite:
    module = theirs(PARTS[name])
    if name == "ExecutorShutdownTest":
        vars(module)["assert_python_ok"] = adapted(vars(module)["assert_python_ok"])
    case = type(f"Pool{name}", (getattr(module, name), PoolMixin, theirs("util").BaseTestCase), {})
    return unittest.defaultTestLoader.loadTestsFromTestCase(case)


def main() -> int:
    with neopvm.connect():
        result = unittest.TextTestRunner(verbosity=2).run(tests(sys.argv[1]))
    print(f"{result.testsRun} tests of Python {sys.version.split()[0]}, {len(result.skipped)} skipped")
    return 0 if result.wasSuccessful() and result.testsRun >= 5 else 1


if __name__ == "__main__":
    sys.exit(main())
