"""What becomes of messages, and of the process, where there is no memory or too much is asked for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import neopvm as pvm
import pytest
from conftest import PATIENCE
from programs import printed

LIMIT = """
import contextlib, gc, re, resource
# More than malloc keeps for later.
SIZE = 48 << 20
@contextlib.contextmanager
def little_memory(room=8 << 20):
    "So much address space more, as `ulimit -v` of a batch system leaves it."
    gc.collect()
    used = int(re.search(r"VmSize:\\s+(\\d+)", open("/proc/self/status").read())[1]) << 10
    resource.setrlimit(resource.RLIMIT_AS, (used + room, resource.RLIM_INFINITY))
    try: yield
    finally: resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)
"""


def test_no_memory_ended_the_process(tmp_path: Path) -> None:
    lines = printed(
        tmp_path,
        LIMIT
        + """
vm = pvm.connect()
big, text, numbers = bytearray(SIZE), "x" * SIZE, [1] * (SIZE // 8)
words = ["y" * 100_000] * 300
vm.join("g")
packed = vm.message().Pack(big)
long = vm.message().str(text)
long.send(vm.tid, 1); vm.Send(big, vm.tid, 2)
written, bytes_ = vm.receive(tag=1), vm.receive(tag=2)
calls = {
    "send": lambda: vm.send(big, vm.tid, 3), "put": lambda: vm.put("q", packed), "str": lambda: vm.message().str(text),
    "pack": lambda: vm.message().i64(numbers), "unpack": lambda: bytes_.unpack("u1", SIZE),
    "spawn": lambda: vm.spawn("true", *words), "Send": lambda: vm.Send(big, vm.tid, 3),
    "Gather": lambda: vm.Gather(big, bytearray(SIZE), "g"), "Reduce": lambda: vm.Reduce(lambda a, b: a, big, "g"),
    "Scatter": lambda: vm.Scatter(big, bytearray(SIZE), "g"), "text": lambda: written.unpack_str(),
    "combine": lambda: pvm._core.combine("sum", memoryview(big).cast("d"), memoryview(big).cast("d")),
}
for name, call in calls.items():
    try:
        with little_memory(): call()
    except MemoryError: pass
    print(name)
# Nothing is broken by it.
vm.send("well", vm.tid, 4)
print(vm.recv(tag=4, timeout=120).obj, vm.probe(tag=3))
vm.close()
""",
    )
    assert lines[-1] == "well None", lines


def test_no_memory_for_its_object_destroyed_a_message(tmp_path: Path) -> None:
    lines = printed(
        tmp_path,
        LIMIT
        + """
from neopvm import objects
vm = pvm.connect()
# No arena of malloc's holds it.
size = 80 << 20
beside, within = bytearray(size), {"in band": bytes(size)}
vm.send(beside, vm.tid, 1); vm.send(within, vm.tid, 1)
# What was sent gives its memory back when it is received: only then it is counted.
taken = [vm.receive(tag=1), vm.receive(tag=1)]
vm.receive = lambda *_, **__: taken.pop(0)
for value in (beside, within):
    try:
        with little_memory(): vm.recv(tag=1)
    except pvm.Error as error:
        print(isinstance(error, MemoryError), objects.decode(error.message) == value)
vm.close()
""",
    )
    assert lines == ["True True"] * 2


def test_what_no_frame_holds_was_a_panic_or_the_end_of_the_task(vm: pvm.Machine) -> None:
    size = 70 << 20
    calls: list[Callable[[], object]] = [
        lambda: vm.put("big", bytes(size)),
        lambda: vm.put("big", vm.message(raw=True).Pack(bytes(size))),
        lambda: vm.spawn("true", *["y" * 100_000] * 700),
        lambda: vm.notify(pvm.TASK_EXIT, 1, [vm.tid] * (size // 4)),
        lambda: vm.names("x" * size),
        lambda: vm.delete("x" * size),
        lambda: vm.add_hosts("x" * size),
    ]
    for call in calls:
        with pytest.raises(pvm.FullError, match="32 MiB"):
            call()
    vm.send("alive", vm.tid, 5)
    assert vm.recv(tag=5, timeout=PATIENCE).obj == "alive" and len(vm.hosts()) == 1
