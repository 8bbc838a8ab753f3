"""Programs that use multiprocessing beside this, in their tasks and around them."""

from __future__ import annotations

from pathlib import Path

import pytest
from programs import printed, run

# The way of starting that the parent's modules do not come along in, which is Python's own from 3.14 on.
METHODS = ["spawn", "forkserver"]


@pytest.mark.parametrize("method", METHODS)
def test_a_pool_in_a_process_of_multiprocessing_found_no_function_of_the_script(tmp_path: Path, method: str) -> None:
    lines = printed(
        tmp_path,
        f"""
        import multiprocessing
        class Box:
            def __init__(self, value): self.value = value
        def box(value): return Box(value)
        def child(queue):
            with pvm.connect(), pvm.Pool(1) as pool:
                got = pool.submit(box, Box(3)).result(100)
                queue.put((type(got) is Box, got.value.value))
        if __name__ == "__main__":
            context = multiprocessing.get_context({method!r})
            queue = context.Queue()
            process = context.Process(target=child, args=(queue,))
            process.start()
            print(*queue.get(timeout=100))
            process.join()
        """,
    )
    assert lines == ["True 3"]


@pytest.mark.parametrize("method", METHODS)
def test_processes_of_a_worker_died_because_they_knew_nothing_of_its_script(tmp_path: Path, method: str) -> None:
    lines = printed(
        tmp_path,
        f"""
        import concurrent.futures, multiprocessing
        from dataclasses import dataclass, fields
        from typing import ClassVar
        @dataclass
        class Box:
            value: int
            # Looked up in the module by its name while that is run.
            made_of: "ClassVar[str]" = "tin"
        def square(box): return Box(box.value ** 2)
        def work(values):
            context = multiprocessing.get_context({method!r})
            with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as processes:
                return len(fields(Box)), list(processes.map(square, map(Box, values), timeout=100))
        if __name__ == "__main__":
            with pvm.connect(), pvm.Pool(1) as pool:
                print(pool.submit(work, [1, 2, 3]).result(100) == (1, [Box(1), Box(4), Box(9)]))
        """,
    )
    assert lines == ["True"]


def test_a_subinterpreter_raised_what_no_except_of_it_knew() -> None:
    done = run(
        "-c",
        """
import neopvm
try: import _interpreters as interpreters
except ImportError: import _xxsubinterpreters as interpreters
other = interpreters.create()
interpreters.run_string(other, '''
try: import neopvm
except ImportError as error: print("main interpreter" in str(error))
''')
""",
    )
    assert done.stdout == "True\n", done.stderr
