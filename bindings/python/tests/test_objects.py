"""Objects between tasks."""

from __future__ import annotations

import array
import os
import pickle
import pwd
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import neopvm as pvm
import partners
import pytest
from conftest import PATIENCE
from neopvm import objects


def test_objects_come_back_as_they_were(vm: pvm.Machine) -> None:
    values: list[Any] = [None, 1, 2.5, "text", {"a": [1, 2]}, b"x" * 1000, bytearray(200_000), [1] * 5000]
    team = vm.spawn(partners.echo, len(values))
    for tag, value in enumerate(values):
        vm.send(value, team[0], 2 * tag)
        got = vm.recv(team[0], 2 * tag + 1, PATIENCE)
        assert got.obj == value
        assert (got.source, got.tag) == (team[0], 2 * tag + 1)
        assert got.nbytes > 0
    team.wait(PATIENCE)


def test_large_buffers_stay_out_of_the_pickle_and_are_aligned(vm: pvm.Machine) -> None:
    numpy = pytest.importorskip("numpy")
    value = {"a": numpy.arange(100_000.0), "b": numpy.ones((3, 5), dtype="i2")}
    pieces = objects.encode(value)
    assert len(pieces) == 6
    (echo,) = vm.spawn(partners.echo, 2)
    vm.send(value, echo, 1)
    got = vm.recv(echo, 2, PATIENCE).obj
    assert (got["a"] == value["a"]).all() and (got["b"] == value["b"]).all()
    got["a"][0] = 7  # It is the receiver's own.
    vm.send(value, echo, 1)
    seen = vm.recv(echo, 2, PATIENCE, copy=False).obj
    assert (seen["a"] == value["a"]).all() and not seen["a"].flags.writeable
    assert seen["a"].ctypes.data % 16 == 0


def test_large_bytes_were_copied_into_the_pickle_and_again_behind_its_head(vm: pvm.Machine) -> None:
    values: list[bytes | bytearray] = [bytearray(b"x" * 300_000), bytes(300_000)]
    for value in values:
        *_, last = objects.encode(value)
        assert isinstance(last, memoryview) and last.obj is value
        for copy in (True, False):
            vm.send(value, vm.tid, 3)
            got = vm.recv(tag=3, timeout=PATIENCE, copy=copy).obj
            assert got == value and type(got) is type(value)
    within = objects.encode([values[1]])
    assert len(within) == 2 and len(within[0]) < 100


def test_one_object_goes_to_many(vm: pvm.Machine) -> None:
    team = vm.spawn(partners.echo, 1, n=3)
    team.send("all", 5)
    assert sorted(vm.recv(tag=6, timeout=PATIENCE).source for _ in team) == sorted(team)
    team.wait(PATIENCE)


def test_an_object_to_oneself(vm: pvm.Machine) -> None:
    vm.send([1, 2], vm.tid, 3)
    assert vm.recv(vm.tid, 3, 0).obj == [1, 2]
    assert vm.try_recv(vm.tid, 3) is None


def test_a_wait_ends_with_its_time(vm: pvm.Machine) -> None:
    start = time.monotonic()
    with pytest.raises(pvm.Timeout) as late:
        vm.recv(tag=77, timeout=0.05)
    assert time.monotonic() - start >= 0.05
    assert isinstance(late.value, TimeoutError) and late.value.tag == 77
    with pytest.raises(pvm.Timeout):
        vm.recv(tag=77, timeout=0)


def test_other_threads_run_while_one_waits(vm: pvm.Machine) -> None:
    got: list[object] = []
    waiting = threading.Thread(target=lambda: got.append(vm.recv(tag=31, timeout=PATIENCE).obj))
    waiting.start()
    vm.send("found", vm.tid, 31)
    waiting.join(PATIENCE)
    assert got == ["found"]


def test_what_is_no_object_is_refused_with_whose_it_was(vm: pvm.Machine) -> None:
    vm.message().i32([1, 2]).send(vm.tid, 8)
    with pytest.raises(pvm.ForeignError) as typed:
        vm.recv(tag=8, timeout=PATIENCE)
    assert (typed.value.task, typed.value.tag) == (vm.tid, 8)
    assert "typed items" in typed.value.cause
    vm.message(raw=True).i8(b"some bytes that are no object at all").send(vm.tid, 8)
    with pytest.raises(pvm.ForeignError, match="bytes, not a Python object"):
        vm.recv(tag=8, timeout=PATIENCE)


def test_an_object_that_is_cut_short_is_refused(vm: pvm.Machine) -> None:
    whole = b"".join(bytes(piece) for piece in objects.encode({"a": bytearray(1000)}))
    for size in (9, 24, 31, 60, len(whole) - 1):
        vm.message(raw=True).i8(whole[:size]).send(vm.tid, 8)
        with pytest.raises(pvm.ForeignError) as short:
            vm.recv(tag=8, timeout=PATIENCE)
        assert short.value.task == vm.tid


def test_counts_that_lie_reserve_no_memory(vm: pvm.Machine) -> None:
    head = objects._HEAD.pack(b"NeoPVMpy", 1, 4, 0xFFFF_FFFF, 1 << 62)
    vm.message(raw=True).i8(head + b"root" + bytes(100)).send(vm.tid, 8)
    with pytest.raises(pvm.ForeignError, match="truncated"):
        vm.recv(tag=8, timeout=PATIENCE)


def test_an_object_of_another_user_is_refused_unless_he_is_trusted(
    vm: pvm.Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(objects, "user", lambda: "somebody")
    pieces = objects.encode([1])
    monkeypatch.undo()
    vm.send_pieces(pieces, vm.tid, 8)
    with pytest.raises(pvm.DeniedError) as refused:
        vm.recv(tag=8, timeout=PATIENCE)
    assert "somebody" in refused.value.cause and isinstance(refused.value, PermissionError)
    monkeypatch.setattr(objects, "trusted", {"somebody"})
    vm.send_pieces(pieces, vm.tid, 8)
    assert vm.recv(tag=8, timeout=PATIENCE).obj == [1]


def test_an_object_that_does_not_unpickle_names_its_sender(vm: pvm.Machine) -> None:
    (task,) = vm.spawn(partners.unwilling)
    with pytest.raises(pvm.ForeignError) as foreign:
        vm.recv(tag=9, timeout=PATIENCE)
    assert foreign.value.task == task
    assert isinstance(foreign.value.__cause__, ValueError)


def test_an_object_whose_unpickling_leaves_ended_the_receiver(vm: pvm.Machine) -> None:
    vm.send(partners.Leaver(), vm.tid, 9)
    with pytest.raises(pvm.ForeignError, match="SystemExit: 3") as foreign:
        vm.recv(tag=9, timeout=PATIENCE)
    assert (foreign.value.task, foreign.value.tag) == (vm.tid, 9)


def test_the_user_was_who_the_environment_said(script: Callable[[str], str]) -> None:
    path = script("from neopvm import objects\nprint(objects.user())\n")
    done = subprocess.run(
        [sys.executable, path],
        env={**os.environ, "LOGNAME": "somebody", "USER": "somebody"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == pwd.getpwuid(os.getuid()).pw_name


def test_an_object_that_does_not_pickle_is_the_senders_error(vm: pvm.Machine) -> None:
    with pytest.raises(pvm.Error):
        vm.send(threading.Lock(), vm.tid, 1)
    assert vm.try_recv(tag=1) is None


def test_the_message_of_a_task_that_died_arrives(vm: pvm.Machine) -> None:
    team = vm.spawn(partners.say_and_die, list(range(20_000)), 4)
    team.wait(PATIENCE)
    assert vm.recv(team[0], 4, PATIENCE).obj == list(range(20_000))


def test_ctrl_c_ends_a_wait(script: Callable[[str], str]) -> None:
    path = script(
        # Who starts the tests in the background may have told them to ignore the signal.
        "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "vm = pvm.connect()\n"
        "try:\n    print('waits', flush=True)\n    vm.recv(tag=1)\nexcept KeyboardInterrupt:\n    print('interrupted')\nvm.close()\n"
    )
    process = subprocess.Popen([sys.executable, path], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "waits\n"
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=PATIENCE)
    assert rest == "interrupted\n" and process.returncode == 0


def test_pickles_of_arrays_of_the_standard_library(vm: pvm.Machine) -> None:
    value = array.array("d", [0.5] * 10_000)
    vm.send(value, vm.tid, 2)
    assert vm.recv(tag=2, timeout=PATIENCE).obj == value
    assert pickle.loads(pickle.dumps(value)) == value


@pytest.mark.skipif(
    os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES") < 12 << 30, reason="needs 12 GB of memory"
)
def test_an_object_of_more_than_two_gigabytes(vm: pvm.Machine) -> None:
    size = (2 << 30) + 12345
    value = bytearray(size)
    value[0], value[-1] = 1, 2
    vm.send(value, vm.tid, 2)
    got = vm.recv(tag=2, timeout=PATIENCE).obj
    assert len(got) == size and (got[0], got[-1]) == (1, 2)
