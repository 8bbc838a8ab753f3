"""The pool as an executor."""

from __future__ import annotations

import concurrent.futures
import os
import signal
import sys
import threading
import time
from pathlib import Path

import neopvm as pvm
import partners
import pytest
from conftest import PATIENCE


def test_a_pool_maps(vm: pvm.Machine) -> None:
    with pvm.Pool(3) as pool:
        assert len(pool.workers) == 3
        assert list(pool.map(partners.square, range(50), timeout=PATIENCE)) == [x * x for x in range(50)]
        futures = [pool.submit(partners.square, x) for x in range(10)]
        done = concurrent.futures.as_completed(futures, timeout=PATIENCE)
        assert sorted(future.result() for future in done) == [x * x for x in range(10)]
    assert pool.lost == 0
    with pytest.raises(RuntimeError):
        pool.submit(partners.square, 1)
    assert len(vm.tasks()) == 1  # Nothing is left behind.


def test_what_a_worker_raises_comes_with_its_traceback(vm: pvm.Machine) -> None:
    with pvm.Pool(1) as pool:
        with pytest.raises(ValueError, match="no good") as raised:
            pool.submit(partners.fail, "no good").result(PATIENCE)
        assert "in fail" in str(raised.value.__cause__)
        assert pool.submit(partners.square, 3).result(PATIENCE) == 9


def test_the_work_of_a_worker_that_died_is_done_by_another(vm: pvm.Machine, tmp_path: Path) -> None:
    with pvm.Pool(2) as pool:
        fatal = pool.submit(partners.die_once, str(tmp_path / "mark"))
        others = list(pool.map(partners.square, range(20), timeout=PATIENCE))
        assert fatal.result(PATIENCE) == "done"
        assert others == [x * x for x in range(20)]
        assert pool.lost == 1


def test_workers_that_are_killed_are_replaced(vm: pvm.Machine) -> None:
    with pvm.Pool(3) as pool:
        results = pool.map(partners.square, range(300), timeout=PATIENCE)
        for worker in pool.workers[:2]:
            vm.signal(worker, signal.SIGKILL)
        assert list(results) == [x * x for x in range(300)]


def test_work_that_kills_every_worker_is_given_up(vm: pvm.Machine) -> None:
    with pvm.Pool(1) as pool:
        with pytest.raises(pvm.WorkerLostError) as lost:
            pool.submit(partners.die).result(PATIENCE)
        assert "catch_output" in lost.value.hint
        assert pool.submit(partners.square, 4).result(PATIENCE) == 16


def test_work_that_was_not_begun_can_be_cancelled(vm: pvm.Machine) -> None:
    pool = pvm.Pool(1)
    futures = [pool.submit(partners.square, x) for x in range(200)]
    pool.shutdown(wait=True, cancel_futures=True)
    assert all(future.done() for future in futures)
    assert all(future.cancelled() or future.result() == i * i for i, future in enumerate(futures))


def test_what_cannot_be_pickled_is_the_callers_error(vm: pvm.Machine) -> None:
    with pvm.Pool(1) as pool:
        with pytest.raises(pvm.Error):
            pool.submit(partners.square, threading.Lock())  # type: ignore[arg-type]


def test_sys_exit_in_a_worker_killed_three_of_them_and_was_not_told(vm: pvm.Machine) -> None:
    with pvm.Pool(1) as pool:
        with pytest.raises(SystemExit) as left:
            pool.submit(partners.leave, 4).result(PATIENCE)
        assert left.value.code == 4
        with pytest.raises(KeyboardInterrupt):
            pool.submit(partners.interrupt).result(PATIENCE)
        assert pool.lost == 0 and pool.submit(partners.square, 2).result(PATIENCE) == 4


def test_a_callback_that_raised_system_exit_broke_the_pool(
    vm: pvm.Machine, capfd: pytest.CaptureFixture[str]
) -> None:
    with pvm.Pool(1) as pool:
        future = pool.submit(partners.square, 2)
        future.add_done_callback(lambda _: sys.exit(3))
        assert future.result(PATIENCE) == 4
        assert pool.submit(partners.square, 3).result(PATIENCE) == 9
    assert "SystemExit: 3" in capfd.readouterr().err


def test_a_callback_that_submits_hung_where_its_work_was_given_up(vm: pvm.Machine) -> None:
    with pvm.Pool(1) as pool:
        more: list[concurrent.futures.Future[int]] = []
        done = threading.Event()

        def again(_: object) -> None:
            more.append(pool.submit(partners.square, 5))
            done.set()

        pool.submit(partners.die).add_done_callback(again)
        assert done.wait(PATIENCE)
        assert more[0].result(PATIENCE) == 25


def test_a_callback_that_looks_at_the_pool_hung_where_its_work_was_cancelled(vm: pvm.Machine, tmp_path: Path) -> None:
    pool = pvm.Pool(1)
    mark = tmp_path / "mark"
    futures = [pool.submit(partners.wait, str(mark)) for _ in range(10)]
    seen: list[int] = []
    for future in futures:
        future.add_done_callback(lambda _: seen.append(len(pool.workers)))
    pool.shutdown(wait=False, cancel_futures=True)
    mark.touch()
    pool.shutdown()
    assert len(seen) == 10 and any(future.cancelled() for future in futures)


def test_work_of_a_dead_worker_was_dropped_by_a_shutdown_that_cancels(vm: pvm.Machine, tmp_path: Path) -> None:
    pool = pvm.Pool(1)
    mark = tmp_path / "mark"
    futures = [pool.submit(partners.wait, str(mark))]
    while not futures[0].running():
        time.sleep(0.01)
    # As it is between a worker's death and the start of the next one.
    dealer = pool._dealer
    (worker,) = dealer._workers.values()
    dealer._put_back([worker.items.popitem()[1]])
    pool.shutdown(wait=False, cancel_futures=True)
    mark.touch()
    assert futures[0].result(PATIENCE) is None
    pool.shutdown()


def test_work_that_the_child_of_a_fork_gave_a_pool_was_never_done(vm: pvm.Machine) -> None:
    with pvm.Pool(1) as pool:
        child = os.fork()
        if child == 0:
            status = 1
            try:
                pool.submit(partners.square, 2)
            except pvm.UseError:
                pool.shutdown()
                status = 0
            finally:
                os._exit(status)
        assert os.waitpid(child, 0)[1] == 0
        assert pool.submit(partners.square, 2).result(PATIENCE) == 4
