"""A Python task watches the ranks of a job of another interface, and hears how each of them ends."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import neopvm as pvm
import pytest
from conftest import PATIENCE
from test_native import STAGE, build

RANKS = 3
ENDED = 71

pytestmark = pytest.mark.skipif(
    not STAGE or not Path(STAGE, "lib/neopvm/tcgmsg/libtcgmsg.so").exists(),
    reason="NEOPVM_PREFIX names no installation with TCGMSG's library",
)


@pytest.fixture
def member(tmp_path: Path) -> Path:
    """A program of TCGMSG whose rank 0 waits for a file; the others wait for rank 0."""
    library = f"{STAGE}/lib/neopvm/tcgmsg"
    return build(
        "cc",
        "watched.c",
        [f"-I{STAGE}/include/neopvm/tcgmsg"],
        [f"-L{library}", "-ltcgmsg", "-lpvm3", f"-Wl,-rpath,{library}"],
        tmp_path,
    )


@contextmanager
def job(program: Path, word: Path) -> Iterator[subprocess.Popen[str]]:
    command = [f"{STAGE}/bin/pvm", "run", "--quiet", "--as", "tcgmsg", "-n", str(RANKS), str(program), str(word)]
    keeper = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield keeper
    finally:
        keeper.kill()
        keeper.communicate()


def soon(condition: Callable[[], bool]) -> None:
    limit = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < limit
        time.sleep(0.01)


def ranks(vm: pvm.Machine, program: Path) -> list[pvm.TaskInfo]:
    return [task for task in vm.tasks() if task.name == str(program)]


def watch(vm: pvm.Machine, program: Path) -> list[pvm.TaskInfo]:
    soon(lambda: len(ranks(vm, program)) == RANKS)
    found = ranks(vm, program)
    vm.notify(pvm.TASK_EXIT, ENDED, [task.tid for task in found])
    return found


def heard(vm: pvm.Machine) -> set[int]:
    return {vm.receive(tag=ENDED, timeout=PATIENCE).unpack("i4") for _ in range(RANKS)}


def test_the_ends_of_a_job_that_ends_well_are_heard(vm: pvm.Machine, member: Path, tmp_path: Path) -> None:
    word = tmp_path / "word"
    with job(member, word) as keeper:
        watched = watch(vm, member)
        word.touch()
        assert heard(vm) == {task.tid for task in watched}
        out, err = keeper.communicate(timeout=PATIENCE)
        assert (keeper.returncode, out, err) == (0, "ok\n", "")
    assert ranks(vm, member) == []


def test_the_ends_of_all_ranks_are_heard_when_one_is_killed(vm: pvm.Machine, member: Path, tmp_path: Path) -> None:
    with job(member, tmp_path / "never") as keeper:
        watched = watch(vm, member)
        os.kill(watched[-1].pid, 9)
        assert heard(vm) == {task.tid for task in watched}
        _, err = keeper.communicate(timeout=PATIENCE)
        assert keeper.returncode == 128 + 9
        assert "was ended by SIGKILL; the job is ended" in err
    assert ranks(vm, member) == []
