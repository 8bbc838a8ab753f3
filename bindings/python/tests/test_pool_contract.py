"""What an executor of concurrent.futures promises, where the pool did not keep it."""

from __future__ import annotations

import gc
import os
import signal
import time
import weakref
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import neopvm as pvm
import partners
import pytest
from conftest import PATIENCE
from neopvm import dealer
from programs import printed, program, run


def await_that(condition: Callable[[], bool]) -> None:
    limit = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < limit
        time.sleep(0.01)


def test_objects_and_exceptions_of_classes_of_the_script_did_not_come_back(tmp_path: Path) -> None:
    lines = printed(
        tmp_path,
        """
        import dataclasses
        @dataclasses.dataclass
        class Point:
            x: int
        class OwnError(Exception): pass
        def make(x): return Point(x)
        def fail(x): raise OwnError(f"no {x}")
        def say(): pvm.current().send(Point(7), pvm.current().parent, 5)
        if __name__ == "__main__":
            with pvm.connect() as vm, pvm.Pool(1) as pool:
                print(pool.submit(make, 3).result(120) == Point(3))
                try: pool.submit(fail, 4).result(120)
                except OwnError as error: print(error)
                vm.spawn(say)
                print(isinstance(vm.recv(tag=5, timeout=120).obj, Point))
        """,
    )
    assert lines == ["True", "no 4", "True"]


def test_functions_of_a_program_without_a_file_did_not_run_in_a_pool() -> None:
    pytest.importorskip("cloudpickle")
    text = """if 1:
        import functools
        import neopvm as pvm
        class Adder:
            def __init__(self, n): self.n = n
            def add(self, x): return self.n + x
        def twice(x): return 2 * x
        def task(tag): pvm.current().send("here", pvm.current().parent, tag)
        with pvm.connect() as vm, pvm.Pool(1) as pool:
            print(pool.submit(twice, 4).result(120))
            print(pool.submit(functools.partial(twice, 5)).result(120))
            print(pool.submit(Adder(1).add, 5).result(120))
            print(pool.submit(Adder, 7).result(120).n)
            vm.spawn(functools.partial(task, 6))
            print(vm.recv(tag=6, timeout=120).obj)
    """
    for done in (run("-", text=text), run("-c", text)):
        assert done.stdout.splitlines() == ["8", "10", "6", "7", "here"], done.stderr


def test_a_function_of_a_program_without_a_file_was_sent_by_name_where_cloudpickle_was_missing() -> None:
    text = """if 1:
        import sys
        sys.modules["cloudpickle"] = None
        import neopvm as pvm
        def twice(x): return 2 * x
        with pvm.connect(), pvm.Pool(1) as pool:
            try: pool.submit(twice, 4)
            except pvm.ForeignError as error: print("cloudpickle" in error.hint)
            print(pool.submit(len, ["__main__"]).result(120))
    """
    done = run("-c", text)
    assert done.stdout.splitlines() == ["True", "1"], done.stderr


def test_a_future_was_never_done_when_its_result_could_not_be_read(vm: pvm.Machine) -> None:
    with pvm.Pool(1) as pool:
        for what, expected in (("memory", MemoryError), ("interrupt", KeyboardInterrupt), ("other", RuntimeError)):
            future: Future[Any] = pool.submit(partners.unreadable, what)
            error = future.exception(PATIENCE)
            assert isinstance(error, expected) or isinstance(error, pvm.ForeignError), (what, error)
        assert pool.submit(partners.square, 3).result(PATIENCE) == 9


def test_an_exception_that_cannot_be_unpickled_lost_its_text(vm: pvm.Machine) -> None:
    with pvm.Pool(1) as pool:
        error = pool.submit(partners.two_words).exception(PATIENCE)
        assert isinstance(error, RuntimeError) and "disk full" in str(error)
        assert "in two_words" in str(error.__cause__)


def test_an_exception_without_a_text_killed_three_workers(vm: pvm.Machine) -> None:
    with pvm.Pool(1) as pool:
        error = pool.submit(partners.speechless).exception(PATIENCE)
        assert isinstance(error, RuntimeError) and "Speechless" in str(error)
        assert pool.lost == 0


def test_work_stood_behind_a_busy_worker_while_another_was_idle(vm: pvm.Machine, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    with pvm.Pool(2) as pool:
        # Short work first, as only its workers get some ahead of time.
        list(pool.map(partners.square, range(200), timeout=PATIENCE))
        waiting = pool.submit(partners.wait, str(mark))
        pool.submit(time.sleep, 0.01)
        pool.submit(partners.touch, str(mark))
        assert waiting.result(PATIENCE) is None


def test_all_that_was_given_ahead_of_a_long_piece_is_done_by_others(vm: pvm.Machine, tmp_path: Path) -> None:
    for turn in range(10):
        mark, count = tmp_path / f"mark{turn}", 40
        with pvm.Pool(2) as pool:
            list(pool.map(partners.square, range(50), timeout=PATIENCE))
            pool.submit(partners.square, 1)
            waiting = pool.submit(partners.wait, str(mark))
            others: list[Future[None]] = [pool.submit(partners.append_to, str(tmp_path / f"log{turn}"), i) for i in range(count)]
            for other in others:
                other.result(PATIENCE)
            mark.touch()
            assert waiting.result(PATIENCE) is None
        # Each once: what was taken back was not done as well by who had it first.
        assert sorted(map(int, (tmp_path / f"log{turn}").read_text().split())) == list(range(count))


@pytest.mark.parametrize("ending", ["", "pool.shutdown(wait=False)", "del pool"])
def test_work_was_dropped_when_the_script_ended_without_a_shutdown(tmp_path: Path, ending: str) -> None:
    text = f"""
        import pathlib, time
        def work(path): time.sleep(0.1); pathlib.Path(path).touch()
        if __name__ == "__main__":
            pool = pvm.Pool(1)
            for i in range(3): pool.submit(work, {str(tmp_path)!r} + f"/done{{i}}")
            {ending}
        """
    printed(tmp_path, text)
    assert len(list(tmp_path.glob("done*"))) == 3


def test_a_pool_takes_no_work_when_the_interpreter_ends(tmp_path: Path) -> None:
    lines = printed(
        tmp_path,
        """
        import atexit
        def late():
            try: pool.submit(abs, -1)
            except RuntimeError as error: print(error)
        if __name__ == "__main__":
            atexit.register(late)
            pool = pvm.Pool(1)
        """,
    )
    assert lines == ["cannot schedule new futures after interpreter shutdown"]


def test_a_pool_broke_after_so_many_deaths_in_its_whole_life(
    vm: pvm.Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dealer, "LOSSES_MAX", 2)
    with pvm.Pool(1) as pool:
        for i in range(2 * 10 + 2):
            assert pool.submit(partners.die_once, str(tmp_path / f"mark{i}")).result(PATIENCE) == "done"
        assert pool.lost == 22


def test_a_function_that_connects_in_a_with_ended_its_worker(vm: pvm.Machine) -> None:
    with pvm.Pool(1) as pool:
        (worker,) = pool.workers
        assert pool.submit(partners.connects_in_a_with).result(PATIENCE) == worker
        assert pool.submit(partners.connects_and_closes).result(PATIENCE) == worker
        assert pool.lost == 0


def test_a_pool_of_no_workers_had_one_for_each_core(vm: pvm.Machine) -> None:
    for size in (0, -1):
        with pytest.raises(ValueError, match="max_workers must be greater than 0"):
            pvm.Pool(size)


def test_a_worker_that_was_stopped_kept_the_pool_from_ending(
    vm: pvm.Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dealer, "END_SECONDS_MAX", 0.5)
    pool = pvm.Pool(2)
    stopped = pool.workers[0]
    vm.signal(stopped, signal.SIGSTOP)
    pool.shutdown()
    await_that(lambda: not vm.is_running(stopped))


def test_a_pool_that_nobody_has_kept_its_workers(vm: pvm.Machine) -> None:
    pool = pvm.Pool(1)
    (worker,) = pool.workers
    future = pool.submit(partners.square, 3)
    gone = weakref.ref(pool)
    del pool
    gc.collect()
    assert gone() is None and future.result(PATIENCE) == 9
    await_that(lambda: not vm.is_running(worker))


def test_work_that_finds_no_room_fails_alone(vm: pvm.Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    with pvm.Pool(1) as pool:
        send = vm.send_pieces

        def full(pieces: Any, dest: Any, tag: int, *, context: int | None = None) -> None:
            if sum(map(len, pieces)) > 100_000:
                raise pvm.FullError(pvm.Code["NoMem"], "send")
            send(pieces, dest, tag, context=context)

        monkeypatch.setattr(vm, "send_pieces", full)
        with pytest.raises(pvm.FullError):
            pool.submit(len, b"x" * 200_000).result(PATIENCE)
        assert pool.submit(partners.square, 2).result(PATIENCE) == 4


def test_an_interrupt_at_the_start_left_workers(tmp_path: Path) -> None:
    path = program(
        tmp_path,
        """
        import signal, threading, time
        if __name__ == "__main__":
            with pvm.connect() as vm:
                for turn in range(12):
                    timer = threading.Timer(0.004 * turn, signal.raise_signal, [signal.SIGINT])
                    try:
                        timer.start()
                        pool = pvm.Pool(2)
                        timer.join(); time.sleep(0.01)
                        pool.shutdown()
                    except KeyboardInterrupt:
                        pass
                    while timer.is_alive():
                        try: timer.join()
                        except KeyboardInterrupt: pass
                    pool = None
                end = time.monotonic() + 100
                while len(vm.tasks()) > 1 and time.monotonic() < end: time.sleep(0.05)
                print(len(vm.tasks()))
        """,
    )
    done = run(path)
    assert done.stdout == "1\n", done.stderr


def test_the_child_of_a_fork_has_no_pool_to_wait_for(vm: pvm.Machine) -> None:
    with pvm.Pool(1) as pool:
        child = os.fork()
        if child == 0:
            try:
                pvm.pool._at_exit()
                pool.shutdown()
            finally:
                os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        assert pool.submit(partners.square, 2).result(PATIENCE) == 4
