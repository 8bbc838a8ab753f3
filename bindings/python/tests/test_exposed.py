"""Memory that tasks expose, on one host and between two, in Python, C and Java."""

from __future__ import annotations

import array
import os
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import neopvm as pvm
import partners
import pytest
from conftest import PATIENCE
from test_native import SOURCES, STAGE, build

NUMBER = 7
SIZE = 3_000_000


@pytest.fixture(scope="module")
def vm(runtime: Path) -> Iterator[pvm.Machine]:
    """This process in a machine of two hosts of this computer."""
    with pvm.connect(hosts=2) as machine:
        yield machine


@pytest.fixture(params=["here", "there"])
def host(vm: pvm.Machine, request: pytest.FixtureRequest) -> str:
    """The name of this task's host, and of the other one."""
    own = pvm.Tid(vm.tid).host
    (name,) = [row.name for row in vm.hosts() if (row.tid == own) == (request.param == "here")]
    return name


@pytest.fixture
def owner(vm: pvm.Machine, host: str) -> Iterator[pvm.Tid]:
    """A task there that exposes `NUMBER`, to be written, and the next one, to be read, and does nothing else."""
    (task,) = vm.spawn(partners.expose_and_wait, NUMBER, SIZE, host=host)
    assert vm.recv(task, 1, PATIENCE).obj == "exposed"
    yield task
    vm.kill(task)
    vm.wait([task], PATIENCE)


def until_it_fails(call: Callable[[], object]) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        call()
        time.sleep(0.01)
    raise AssertionError("it never failed")


def test_memory_of_another_task_is_read_and_written_without_it(vm: pvm.Machine, owner: pvm.Tid) -> None:
    assert vm.exposed(owner, NUMBER) == (SIZE, True)
    assert vm.exposed(owner, NUMBER + 1) == (8, False)
    # Longer than a step between hosts, and not a multiple of one.
    sent = bytes(i % 251 for i in range(SIZE - 5))
    vm.put_memory(owner, NUMBER, 5, sent)
    assert vm.get_memory(owner, NUMBER, 5, SIZE - 5) == sent
    into = bytearray(SIZE)
    assert vm.get_memory(owner, NUMBER, 0, into) is None
    assert into[5:] == sent and into[:5] == bytes(5)
    vm.put_memory(owner, NUMBER, 16, array.array("d", [1.5, -2.0]))
    got = array.array("d", [0.0, 0.0])
    vm.get_memory(owner, NUMBER, 16, got)
    assert list(got) == [1.5, -2.0]
    assert vm.get_memory(owner, NUMBER, SIZE, 0) == b""
    assert vm.get_memory(owner, NUMBER + 1, 0, 8) == b"readable"


def test_arrays_of_numpy_of_any_type_come_and_go_as_bytes(vm: pvm.Machine, owner: pvm.Tid) -> None:
    numpy = pytest.importorskip("numpy")
    table = numpy.array([(1, 2.5), (3, -4.5)], dtype=[("n", "i4"), ("x", "f8")])
    vm.put_memory(owner, NUMBER, 0, table)
    again = numpy.zeros_like(table)
    vm.get_memory(owner, NUMBER, 0, again)
    assert (again == table).all()
    with pytest.raises(pvm.WrongTypeError, match="one behind the other"):
        vm.get_memory(owner, NUMBER, 0, numpy.zeros((4, 4))[:, 1])


def test_words_are_changed_in_one_step_and_tell_their_value_before(vm: pvm.Machine, owner: pvm.Tid) -> None:
    assert vm.add_memory(owner, NUMBER, 8, 5) == 0
    assert vm.add_memory(owner, NUMBER, 8, -7) == 5
    assert vm.exchange_memory(owner, NUMBER, 8, -2, 2**64 - 1) == -2
    assert vm.exchange_memory(owner, NUMBER, 8, 9, 1) == -1
    assert vm.add_memory(owner, NUMBER, 8, 1) == -1 and vm.get_memory(owner, NUMBER, 8, 8) == bytes(8)
    assert vm.add_memory(owner, NUMBER, 20, 2**32 - 1, size=4) == 0
    assert vm.exchange_memory(owner, NUMBER, 20, -1, -(2**31), size=4) == -1
    assert vm.add_memory(owner, NUMBER, 20, 0, size=4) == -(2**31)
    assert vm.get_memory(owner, NUMBER, 16, 4) == vm.get_memory(owner, NUMBER, 24, 4) == bytes(4)


def test_what_is_refused_says_what_and_where(vm: pvm.Machine, owner: pvm.Tid) -> None:
    calls: list[tuple[type[pvm.Error], str, Callable[[], object]]] = [
        (pvm.UseError, "no multiple of the word's 8", lambda: vm.add_memory(owner, NUMBER, 4, 1)),
        (pvm.UseError, "no multiple of the word's 4", lambda: vm.exchange_memory(owner, NUMBER, 2, 0, 1, size=4)),
        (pvm.UseError, "4 or 8 bytes, not 2", lambda: vm.add_memory(owner, NUMBER, 0, 1, size=2)),
        (pvm.UseError, "does not fit in 4 bytes", lambda: vm.add_memory(owner, NUMBER, 0, 2**32, size=4)),
        (pvm.UseError, "does not fit in 8 bytes", lambda: vm.exchange_memory(owner, NUMBER, 0, 0, 2**64)),
        (pvm.UseError, "'one' does not fit", lambda: vm.add_memory(owner, NUMBER, 0, "one")),  # type: ignore[arg-type]
        (pvm.UseError, f"8 bytes from {SIZE} on .*memory 7 of {owner!r}, which has {SIZE}",
         lambda: vm.add_memory(owner, NUMBER, SIZE, 1)),
        (pvm.UseError, f"4 bytes from {SIZE - 3} on", lambda: vm.get_memory(owner, NUMBER, SIZE - 3, 4)),
        (pvm.UseError, "not all inside", lambda: vm.put_memory(owner, NUMBER, 2**64 - 1, b"ab")),
        (pvm.UseError, "not all inside", lambda: vm.get_memory(owner, NUMBER, 1, 2**62)),
        (pvm.UseError, "0 bytes from .* not all inside", lambda: vm.get_memory(owner, NUMBER, SIZE + 1, 0)),
        (pvm.NotFoundError, "is not exposed", lambda: vm.get_memory(owner, 99, 0, 0)),
        (pvm.DeniedError, "may only be read", lambda: vm.put_memory(owner, NUMBER + 1, 0, b"")),
        (pvm.UseError, "offset -1", lambda: vm.get_memory(owner, NUMBER, -1, 1)),
        (pvm.UseError, "the size -1", lambda: vm.get_memory(owner, NUMBER, 0, -1)),
        (pvm.UseError, "no number of memory", lambda: vm.exposed(owner, 2**32)),
        (pvm.UseError, "no number of memory", lambda: vm.expose(-1, 8)),
        (pvm.UseError, "is no task", lambda: vm.exposed(owner.host, NUMBER)),
        (pvm.UseError, "is no task", lambda: vm.get_memory(-1, NUMBER, 0, 1)),
        (pvm.UseError, "no bytes", lambda: vm.expose(99, 0)),
        (pvm.FullError, "no memory for", lambda: vm.expose(99, 2**62)),
        (pvm.DeniedError, "memory 8 of .* may only be read", lambda: vm.put_memory(owner, NUMBER + 1, 0, b"x")),
        (pvm.DeniedError, "may only be read", lambda: vm.add_memory(owner, NUMBER + 1, 0, 1)),
        (pvm.NotFoundError, f"memory 99 of {owner!r} is not exposed", lambda: vm.get_memory(owner, 99, 0, 1)),
        (pvm.NotFoundError, "is not exposed", lambda: vm.exposed(owner, 99)),
        (pvm.NotFoundError, "is not exposed", lambda: vm.add_memory(owner, 99, 0, 1)),
        (pvm.NotFoundError, "memory 99", lambda: vm.withdraw(99)),
        (pvm.WrongTypeError, "read-only", lambda: vm.get_memory(owner, NUMBER, 0, bytes(4))),
        (pvm.WrongTypeError, "put_memory", lambda: vm.put_memory(owner, NUMBER, 0, 7)),
    ]  # fmt: skip
    for kind, text, call in calls:
        with pytest.raises(kind, match=text):
            call()
    assert vm.get_memory(owner, NUMBER, 0, 8) == bytes(8)


def test_the_end_of_the_owner_is_told(vm: pvm.Machine, owner: pvm.Tid) -> None:
    assert vm.get_memory(owner, NUMBER, 0, 1) == b"\0"
    vm.signal(owner, signal.SIGKILL)
    with pytest.raises(pvm.NoTaskError, match=f"memory 7 of {owner!r}: its owner is gone"):
        until_it_fails(lambda: vm.get_memory(owner, NUMBER, 0, 1))
    for call in (
        lambda: vm.add_memory(owner, NUMBER, 0, 1),
        lambda: vm.put_memory(owner, NUMBER, 0, b"x"),
        lambda: vm.exposed(owner, NUMBER),
    ):
        with pytest.raises(pvm.NoTaskError):
            call()


def test_the_owner_has_the_memory_itself(vm: pvm.Machine, host: str) -> None:
    with vm.expose(40, 24, writable=True) as memory:
        assert (memory.number, memory.nbytes, len(memory), memory.writable) == (40, 24, 24, True)
        assert repr(memory) == "<Exposed 40 24 bytes writable>" and bytes(memory.view) == bytes(24)
        with pytest.raises(pvm.UseError, match="exposes memory 40 already"):
            vm.expose(40, 8)
        words = memory.view.cast("q")
        words[0] = 41
        (task,) = vm.spawn(partners.use_memory, vm.tid, 40, host=host)
        assert vm.recv(task, 2, PATIENCE).obj == (24, True, 41)
        assert list(words) == [42, 0, int.from_bytes(b"far away", "little")]
        assert vm.exposed(vm.tid, 40) == (24, True)
        vm.put_memory(vm.tid, 40, 8, b"own word")
        assert bytes(memory.view[8:16]) == b"own word"
    # What it was is seen by nobody else any more, and is there as long as this process looks at it.
    words[0] = 3
    assert memory.view.cast("q")[0] == words[0] == 3
    with pytest.raises(pvm.NotFoundError):
        vm.exposed(vm.tid, 40)
    with vm.expose(40, 8) as again:
        memory.withdraw()
        assert vm.exposed(vm.tid, 40) == (8, False)
        vm.withdraw(40)
        again.withdraw()


def test_an_array_outlives_the_memory_that_was_exposed(vm: pvm.Machine) -> None:
    numpy = pytest.importorskip("numpy")
    with vm.expose(41, 80) as memory:
        row = numpy.frombuffer(memory.view, dtype="f8")
        row[:] = range(10)
    del memory
    assert row.sum() == 45


def test_the_child_of_a_fork_has_no_exposed_memory(vm: pvm.Machine) -> None:
    with vm.expose(42, 8) as memory:
        child = os.fork()
        if child == 0:
            try:
                memory.view
            except pvm.ClosedError:
                memory.withdraw()
                os._exit(7)
            os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        assert vm.exposed(vm.tid, 42) == (8, False)


def counters(vm: pvm.Machine, folder: Path) -> Iterator[Callable[[str], pvm.Team]]:
    """What starts a task that counts, on a host, for each language that is here."""
    yield lambda host: vm.spawn(partners.count, host=host)
    if not STAGE or shutil.which("cc") is None:
        return
    program = build("cc", "count.c", [], ["-lpvm3"], folder)
    yield lambda host: vm.spawn(program, host=host)
    jar = Path(STAGE) / "share/java/neopvm.jar"
    java = shutil.which("java")
    if java is not None and jar.exists() and shutil.which("javac") is not None:
        words = ["-cp", f"{jar}", "-d", str(folder), str(SOURCES / "Count.java")]
        assert os.spawnvp(os.P_WAIT, "javac", ["javac", *words]) == 0
        yield lambda host: vm.spawn(java, "-cp", f"{jar}:{folder}", "Count", host=host, env={"PVM_ROOT": STAGE})


def test_no_number_is_lost_of_a_counter_for_tasks_of_all_languages(vm: pvm.Machine, tmp_path: Path) -> None:
    rounds = 300
    with vm.expose(50, 16, writable=True) as memory:
        team = [start(row.name)[0] for start in counters(vm, tmp_path) for row in vm.hosts()]
        for task in team:
            vm.receive(task, 2, PATIENCE)
        for task in team:
            vm.message().i32([vm.tid, 50, rounds]).send(task, 1)
        had = [number for task in team for number in vm.receive(task, 3, PATIENCE).unpack("i8", rounds)]
        assert sorted(had) == list(range(rounds * len(team)))
        assert memory.view.cast("q")[0] == rounds * len(team)
        assert memory.view.cast("q")[1] == rounds * len(team)
        vm.wait(team, PATIENCE)
