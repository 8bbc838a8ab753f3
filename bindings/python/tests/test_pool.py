"""The pool as an executor."""

from __future__ import annotations

import concurrent.futures
import signal
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
        with pytest.raises(pvm.WorkerLostError):
            pool.submit(partners.die).result(PATIENCE)
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
            pool.submit(partners.square, open("/dev/null"))  # type: ignore[arg-type]  # noqa: SIM115
