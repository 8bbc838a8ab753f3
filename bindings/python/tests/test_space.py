"""Tuple spaces from Python: values and types, waits, claims, and partners in C and in the shell."""

from __future__ import annotations

import array
import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import neopvm as pvm
import pytest
from conftest import PATIENCE
from neopvm import Formal, Typed


@pytest.fixture
def space(vm: pvm.Machine, request: pytest.FixtureRequest) -> Iterator[pvm.Space]:
    """A space of its own for each test."""
    name = request.node.name[:100]
    with vm.space(name, new=True) as space:
        yield space
        vm.delete_space(name)


@dataclass
class Task:
    number: int
    weight: float
    data: Annotated[Any, "long[]"]
    name: str = "none"


def test_values_come_back_with_their_types(space: pvm.Space) -> None:
    values = ("text", 7, -2.5, True, b"bytes", 1 + 2j, "")
    space.out(*values)
    row = space.take(str, int, float, bool, bytes, complex, str, timeout=PATIENCE)
    assert row == values
    assert row.types == ("text", "int", "double", "bool", "bytes", "double complex", "text")


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("signed char", -128),
        ("unsigned char", 255),
        ("short", -32768),
        ("unsigned short", 65535),
        ("unsigned int", 4294967295),
        ("long", -(1 << 63)),
        ("unsigned long", (1 << 64) - 1),
        ("long long", -(1 << 63)),
        ("unsigned long long", (1 << 64) - 1),
        ("float", 0.5),
        ("float complex", 0.5 - 2j),
        ("char", b"x"),
        ("struct", b"12345"),
    ],
)
def test_types_that_python_does_not_have_are_named(space: pvm.Space, kind: str, value: Any) -> None:
    space.out("typed", Typed(kind, value))
    formal = Formal(kind, len(value) if kind == "struct" else 0)
    row = space.read("typed", formal, timeout=PATIENCE)
    assert row == ("typed", value)
    assert row.types[1] == kind
    space.out(*row.typed())
    assert space.count("typed", formal) == 2


def test_types_are_not_promoted(space: pvm.Space) -> None:
    space.out("n", Typed("long", 7))
    with pytest.raises(pvm.Timeout):
        space.take("n", int, timeout=0)
    assert space.take("n", Formal("long"), timeout=0) == ("n", 7)


def test_arrays_are_views_of_the_tuples_memory(space: pvm.Space) -> None:
    numpy = pytest.importorskip("numpy")
    sent = numpy.arange(100_000, dtype=numpy.float64)
    space.out("array", sent)
    row = space.take("array", Formal("double[]"), timeout=PATIENCE)
    found = numpy.asarray(row[1])
    assert numpy.array_equal(found, sent)
    assert not found.flags.owndata
    del row
    assert found[99_999] == 99_999.0


@pytest.mark.parametrize("code", "bBhHiIlLqQfd")
def test_arrays_of_each_type_come_back(space: pvm.Space, code: str) -> None:
    sent = array.array(code, [1, 2, 3])
    space.out("array", sent)
    (row,) = space.collect("array", Formal(f"{_type_of(space)}[]"))
    assert list(row[1]) == [1, 2, 3]
    assert memoryview(row[1]).itemsize == sent.itemsize


def _type_of(space: pvm.Space) -> str:
    """The type of the array in the only row, found by asking for each."""
    from neopvm.space import _FORMATS

    (name,) = (name for name in _FORMATS.values() if space.count("array", Formal(f"{name}[]")))
    return name


def test_dataclasses_are_tuples_behind_their_name(space: pvm.Space) -> None:
    space.out(Task(1, 0.5, array.array("l", [4, 5])))
    found = space.take(Task, timeout=PATIENCE)
    assert (found.number, found.weight, list(found.data), found.name) == (1, 0.5, [4, 5], "none")
    with pytest.raises(pvm.Timeout):
        space.read(Task, timeout=0)


@pytest.mark.parametrize(
    "value", [1 << 31, object(), Typed("int", 1 << 31), Typed("number", 1), list, Formal("text"), {}]
)
def test_what_is_no_field_is_refused(space: pvm.Space, value: Any) -> None:
    with pytest.raises((pvm.UseError, pvm.WrongTypeError)):
        space.out("bad", value)
    assert space.count(str, int) == 0


def test_a_tuple_without_fields_or_with_too_many_is_refused(space: pvm.Space) -> None:
    for values in [(), tuple(range(256))]:
        with pytest.raises(pvm.UseError):
            space.out(*values)


def test_a_claim_is_done_with_its_puts_and_given_back_by_an_exception(space: pvm.Space) -> None:
    space.out("task", 1)
    with pytest.raises(KeyError), space.claim("task", int, timeout=PATIENCE) as task:
        task.put("result", 1)
        raise KeyError
    assert space.count("result", int) == 0
    with space.claim("task", int, timeout=PATIENCE) as task:
        assert (task[1], task.tries) == (1, 1)
        assert space.count("task", int) == 0
        task.put("result", task[1])
    assert (space.count("task", int), space.count("result", int)) == (0, 1)
    with pytest.raises(pvm.ClaimOverError):
        task.done()


def test_a_claim_comes_back_when_its_lease_ends(space: pvm.Space) -> None:
    space.out("task", 1)
    claim = space.claim("task", int, lease=0.05)
    again = space.claim("task", int, timeout=PATIENCE)
    assert again.tries == 1
    with pytest.raises(pvm.ClaimOverError):
        claim.done()
    again.give_back()


def test_a_waiting_take_lets_other_threads_run(space: pvm.Space) -> None:
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(space.take("late", int, timeout=PATIENCE)))
    thread.start()
    time.sleep(0.2)
    space.out("late", 1)
    thread.join(PATIENCE)
    assert found == [("late", 1)]


def test_an_interrupted_take_has_taken_nothing(space: pvm.Space) -> None:
    with pytest.raises(KeyboardInterrupt):
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        space.take("never", int)
    space.out("never", 1)
    assert space.count("never", int) == 1


def test_a_tuple_that_came_before_the_exception_of_a_signal_was_lost(space: pvm.Space) -> None:
    def puts_and_raises(*_: object) -> None:
        space.out("just", 1)
        raise InterruptedError

    before = signal.signal(signal.SIGUSR1, puts_and_raises)
    try:
        for _ in range(5):
            threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGUSR1)).start()
            with pytest.raises(InterruptedError):
                space.take("just", int)
            assert space.take("just", int, timeout=PATIENCE) == ("just", 1)
    finally:
        signal.signal(signal.SIGUSR1, before)


def server_of(vm: pvm.Machine) -> int:
    """The process that keeps the spaces of this host."""
    run = os.environ["PVM_TMP"].encode()
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            words = (entry / "cmdline").read_bytes()
            if b"pvmtuples" in words and b"--behind" in words and run in (entry / "environ").read_bytes():
                return int(entry.name)
        except OSError:
            pass
    raise AssertionError("no tuple server runs")


def test_a_stopped_server_kept_a_call_with_a_limit_and_an_interrupted_one(
    vm: pvm.Machine, space: pvm.Space
) -> None:
    space.out("one", 1)
    server = server_of(vm)
    os.kill(server, signal.SIGSTOP)
    try:
        begun = time.monotonic()
        with pytest.raises(pvm.Timeout):
            space.take("one", int, timeout=0.2)
        assert time.monotonic() - begun < PATIENCE
        for call in (
            lambda: space.take("one", int),
            lambda: space.collect("one", int),
            lambda: vm.space("another"),
        ):
            begun = time.monotonic()
            with pytest.raises(KeyboardInterrupt):
                threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
                call()
            # Half a second behind the interrupt, or later on a busy computer; the server stays stopped.
            assert time.monotonic() - begun < PATIENCE
    finally:
        os.kill(server, signal.SIGCONT)
    assert space.take("one", int, timeout=PATIENCE) == ("one", 1)
    assert space.count("one", int) == 0


def test_tuples_come_by_for_and_by_async_for(space: pvm.Space) -> None:
    for number in range(5):
        space.out("n", number)
    assert [row[1] for row in space.each("n", int, timeout=0)] == [0, 1, 2, 3, 4]

    async def gather() -> list[int]:
        async def put() -> None:
            for number in range(5):
                await asyncio.sleep(0.01)
                space.out("n", number)

        putting = asyncio.ensure_future(put())
        numbers: list[int] = []
        async for row in space.each("n", int, timeout=PATIENCE):
            numbers.append(row[1])
            if len(numbers) == 5:
                break
        await putting
        return numbers + [row[1] async for row in space.each("n", int, timeout=0.01)]

    assert asyncio.run(gather()) == [0, 1, 2, 3, 4]


def test_a_cancelled_coroutine_has_taken_nothing(space: pvm.Space) -> None:
    async def cancel() -> None:
        waiting = asyncio.ensure_future(space.take_async("n", int))
        await asyncio.sleep(0.1)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    asyncio.run(cancel())
    space.out("n", 1)
    assert space.count("n", int) == 1


def test_a_full_space_is_told(vm: pvm.Machine) -> None:
    with vm.space("small", new=True, limit=1000, full="error") as space:
        with pytest.raises(pvm.TooLongError):
            space.out(b"x" * 1000)
        space.out(b"x" * 500)
        with pytest.raises(pvm.FullError):
            space.out(b"x" * 500)
    vm.delete_space("small")
    with pytest.raises(pvm.NotFoundError):
        space.out(1)
    with pytest.raises(pvm.NotFoundError):
        vm.space("small", create=False)


def test_what_has_no_room_goes_to_a_file_and_comes_back_in_its_turn(vm: pvm.Machine) -> None:
    with vm.space("spilling", new=True, limit=1000, full="spill") as space:
        for number in range(20):
            space.out(number, bytes([number]) * 500)
        assert [space.take(int, bytes, timeout=0)[0] for _ in range(20)] == list(range(20))
    vm.delete_space("spilling")


@pytest.mark.parametrize("sync_every", [0.0, 0.05])
def test_a_durable_space_begins_with_what_was_put_before(
    vm: pvm.Machine, tmp_path: Path, sync_every: float
) -> None:
    with vm.space("kept", new=True, durable=tmp_path, sync_every=sync_every) as space:
        assert space.note == ""
        space.out("n", 1)
        os.kill(server_of(vm), signal.SIGKILL)
        with pytest.raises(pvm.SpaceLostError):
            space.take("never", int)
    (file,) = tmp_path.glob("kept.*.tuples")
    with file.open("ab") as end:
        end.write(b"damaged")
    with vm.space("kept", new=True, durable=tmp_path, sync_every=sync_every) as space:
        assert "7 bytes" in space.note
        assert space.take("n", int, timeout=0) == ("n", 1)
    vm.delete_space("kept")
    assert list(tmp_path.glob("kept.*.tuples")) == []


@pytest.mark.parametrize(
    "options",
    [
        {"full": "wait"},
        {"copies": 3},
        {"copies": -1},
        {"limit": -1},
        {"limit": 1 << 64},
        {"durable": ""},
        {"durable": "a\0b"},
        {"sync_every": 1.0},
        {"durable": "/tmp", "sync_every": 0.001},
        {"durable": "/tmp", "sync_every": 61.0},
        {"durable": "/tmp", "sync_every": float("nan")},
        {"durable": "/tmp", "sync_every": -1.0},
    ],
)
def test_options_that_no_space_can_have_are_refused(vm: pvm.Machine, options: dict[str, Any]) -> None:
    with pytest.raises(pvm.UseError):
        vm.space("refused", **options)
    with pytest.raises(pvm.NotFoundError):
        vm.space("refused", create=False)


def test_a_tuple_went_to_a_call_whose_space_had_been_closed(vm: pvm.Machine) -> None:
    waits_in, other = vm.space("closed", new=True), vm.space("closed")
    ended: list[BaseException] = []

    def wait() -> None:
        try:
            waits_in.take("n", int)
        except pvm.NotFoundError as error:
            ended.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    while not waiting_in("closed"):
        time.sleep(0.01)
    # The first one of the two openings: the call goes on. The other one ends it.
    other.close()
    waits_in.close()
    thread.join(PATIENCE)
    assert len(ended) == 1
    with vm.space("closed", create=False) as space:
        space.out("n", 1)
        assert space.take("n", int, timeout=0) == ("n", 1)
    vm.delete_space("closed")


def waiting_in(name: str) -> list[Any]:
    """The calls that wait in a space."""
    program = Path(os.environ["NEOPVM_PREFIX"]) / "bin" / "pvm"
    why: list[str | Path] = [program, "space", "why", name, "--json"]
    done = subprocess.run(why, capture_output=True, text=True, timeout=PATIENCE, check=True)
    waiting: list[Any] = json.loads(done.stdout)["waiting"]
    return waiting


def test_a_dead_workers_claim_comes_back(vm: pvm.Machine, space: pvm.Space, script: Callable[[str], str]) -> None:
    space.out("task", 1)
    program = script(
        f"""
import os, signal
with pvm.connect() as vm:
    task = vm.space({space.name!r}, create=False).claim("task", int, timeout={PATIENCE})
    os.kill(os.getpid(), signal.SIGKILL)
"""
    )
    vm.spawn(program).wait(PATIENCE)
    with space.claim("task", int, timeout=PATIENCE) as task:
        assert task.tries == 1


def test_a_killed_client_leaves_no_half_step_no_lost_tuple_and_no_waiter(
    vm: pvm.Machine, space: pvm.Space, script: Callable[[str], str]
) -> None:
    for number in range(3):
        space.out("job", number)
    program = script(
        f"""
import threading
with pvm.connect() as vm:
    space = vm.space({space.name!r}, create=False)
    threading.Thread(target=lambda: space.take("never", int), daemon=True).start()
    while True:
        space.out_all([("left", 1), ("right", 1)])
        with space.claim("job", int) as job:
            job.put("job", job[1] + 1)
"""
    )
    for turn in range(10):
        begun = space.count("left", int)
        workers = vm.spawn(program, n=2)
        while space.count("left", int) < begun + 10 or len(waiting_in(space.name)) < 2:
            time.sleep(0.001 * turn)
        workers.kill()
        workers.wait(PATIENCE)
        while waiting_in(space.name) or space.count("job", int) < 3:
            time.sleep(0.01)
        assert space.count("job", int) == 3
        assert space.count("left", int) == space.count("right", int)


def test_a_tuple_has_up_to_255_fields(space: pvm.Space) -> None:
    space.out(*range(255))
    assert space.take(*[int] * 255, timeout=PATIENCE) == tuple(range(255))
    with pytest.raises(pvm.Error):
        space.out(*range(256))
    with pytest.raises(pvm.Error):
        space.out()


def test_a_claim_whose_end_was_refused_kept_its_tuple(space: pvm.Space) -> None:
    space.out("task", 1)
    with pytest.raises(pvm.WrongTypeError), space.claim("task", int) as task:
        task.put(None)
    assert space.take("task", int, timeout=0).tries == 1


@pytest.mark.parametrize(
    "value",
    [
        Typed("float", "x"),
        Typed("double", None),
        Typed("float", 1e300),
        Typed("double complex", "q"),
        Typed("int128", 1),
        Typed("struct", 5),
        Formal("struct", -1),
        Formal("struct", 1 << 70),
        Formal(3),  # type: ignore[arg-type]
        None,
    ],
)
def test_values_that_are_no_fields_are_refused_by_name(space: pvm.Space, value: object) -> None:
    with pytest.raises(pvm.WrongTypeError):
        space.take(value, timeout=0)


def test_the_shell_takes_what_python_has_put(space: pvm.Space) -> None:
    program = Path(os.environ["NEOPVM_PREFIX"]) / "bin" / "pvm"

    def shell(*words: str) -> str:
        done = subprocess.run([program, *words], capture_output=True, text=True, timeout=PATIENCE, check=True)
        return done.stdout.strip()

    space.out("task", 7, 2.5)
    assert shell("take", space.name, "task", "?int", "?double") == "task\t7\t2.5"
    shell("out", space.name, "result", "long:7")
    assert space.take("result", Formal("long"), timeout=PATIENCE) == ("result", 7)


def test_a_child_of_a_fork_cannot_use_its_parents_space(space: pvm.Space) -> None:
    child = os.fork()
    if child == 0:
        try:
            space.out("n", 1)
        except pvm.ClosedError:
            os._exit(0)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_one_bag_has_workers_in_several_languages(vm: pvm.Machine) -> None:
    """The example: each task is done once, whoever does it. Languages that are missing here are left out by it."""
    program = Path(__file__).resolve().parents[3] / "examples" / "tuples" / "bag.sh"
    prefix = os.environ["NEOPVM_PREFIX"]
    done = subprocess.run(
        ["bash", program, prefix, "12"],
        env={**os.environ, "PYTHON": sys.executable},
        capture_output=True,
        text=True,
        timeout=2 * PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    *workers, last = done.stdout.splitlines()
    assert last == "1438 primes below 12000"
    counts = {line.split(":")[0]: int(line.split()[1]) for line in workers}
    assert sum(counts.values()) == 12
    assert counts.keys() <= {"C", "Python", "Java", "shell"}
