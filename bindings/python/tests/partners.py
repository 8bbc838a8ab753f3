"""What spawned tasks of the tests do."""

from __future__ import annotations

import os
import signal
import sys
import time
from typing import Any

import neopvm as pvm


def echo(rounds: int) -> None:
    """Sends objects back, with 1 added to the tag."""
    vm = pvm.connect()
    for _ in range(rounds):
        got = vm.recv()
        vm.send(got.obj, got.source, got.tag + 1)


def echo_messages(rounds: int) -> None:
    """Sends messages back as they are."""
    vm = pvm.connect()
    for _ in range(rounds):
        with vm.receive() as message:
            message.send(message.source, message.tag + 1)


def say(value: Any, tag: int) -> None:
    """Sends an object to the parent."""
    vm = pvm.connect()
    assert vm.parent is not None
    vm.send(value, vm.parent, tag)


def say_and_die(value: Any, tag: int) -> None:
    """The same, and is killed."""
    say(value, tag)
    os.kill(os.getpid(), signal.SIGKILL)


def sleep_for_ever() -> None:
    """Is there until it is killed."""
    pvm.connect()
    while True:
        time.sleep(60)


def member(group: str, count: int) -> None:
    """Takes part in what `test_groups` has all members of a group do."""
    vm = pvm.connect()
    instance = vm.join(group)
    vm.barrier(group, count)
    assert vm.gather(instance * 10, group, root=0) is None
    part = vm.scatter(None, group, root=0)
    assert part == f"for {instance}"
    word = vm.bcast(None, group, root=0)
    assert vm.reduce(lambda a, b: a + b, len(word), group, root=0) is None
    numbers = bytearray(8)
    view = memoryview(numbers).cast("i")
    view[0], view[1] = instance, -instance
    vm.Reduce("sum", view, group, root=0)
    vm.Gather(view, None, group, root=0)
    own = memoryview(bytearray(8)).cast("d")
    vm.Scatter(None, own, group, root=0)
    assert own[0] == instance + 0.5
    vm.barrier(group, count)
    vm.leave_group(group)


def join_and_wait(group: str) -> None:
    """Is in a group until it is killed."""
    vm = pvm.connect()
    vm.join(group)
    assert vm.parent is not None
    vm.send("in", vm.parent, 1)
    sleep_for_ever()


def square(x: int) -> int:
    return x * x


def fail(text: str) -> None:
    raise ValueError(text)


def die_once(path: str) -> str:
    """The first task that does this dies; the next one gives an answer."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return "done"
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("it lives")


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def unwilling() -> None:
    """Sends the parent an object whose unpickling raises."""
    say(Stubborn(), 9)


class Stubborn:
    """Cannot be unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return (int, ("no number",))


def take_name(name: str) -> None:
    """Tells the parent what comes of putting something under a name of another."""
    vm = pvm.connect()
    assert vm.parent is not None
    try:
        vm.put(name, 1)
    except pvm.Error as error:
        vm.send(error.code.name, vm.parent, 2)
    else:
        vm.send("taken", vm.parent, 2)


def leave(status: int) -> None:
    """What a function does that does not know that it is in a pool."""
    sys.exit(status)


def interrupt() -> None:
    raise KeyboardInterrupt


def wait(path: str) -> None:
    """Until there is such a file."""
    while not os.path.exists(path):
        time.sleep(0.01)


class Leaver:
    """Its unpickling would end the process."""

    def __reduce__(self) -> tuple[Any, ...]:
        return (sys.exit, (3,))


class Unreadable:
    """Raises something else where it is unpickled."""

    def __init__(self, what: str) -> None:
        self.what = what

    def __reduce__(self) -> tuple[Any, ...]:
        return (raise_it, (self.what,))


def raise_it(what: str) -> None:
    raise {"memory": MemoryError, "interrupt": KeyboardInterrupt}[what]


class NoException(Exception):
    """Becomes something else on its way."""

    def __reduce__(self) -> tuple[Any, ...]:
        return (int, (7,))


def unreadable(what: str) -> object:
    if what == "other":
        raise NoException("became a number")
    return Unreadable(what)


class TwoWords(Exception):
    """Is made of two, and says one: as many exceptions are written."""

    def __init__(self, text: str, path: str) -> None:
        super().__init__(f"{text} at {path}")


def two_words() -> None:
    raise TwoWords("disk full", "/data")


class Speechless(Exception):
    """Has no text, and cannot be pickled."""

    def __str__(self) -> str:
        raise ValueError("nothing to say")

    def __reduce__(self) -> tuple[Any, ...]:
        raise ValueError("not to be sent")


def speechless() -> None:
    raise Speechless


def touch(path: str) -> None:
    open(path, "w").close()


def append_to(path: str, number: int) -> None:
    with open(path, "a") as log:
        log.write(f"{number}\n")


def connects_in_a_with() -> int:
    with pvm.connect() as vm:
        return vm.tid


def connects_and_closes() -> int:
    vm = pvm.connect()
    try:
        return vm.tid
    finally:
        vm.close()


def put_later(name: str, value: Any, path: str) -> None:
    """Once there is such a file."""
    wait(path)
    pvm.connect().put(name, value, persistent=True)


def enter_barrier(group: str, count: int, tag: int) -> None:
    """Says to the parent when it is through."""
    vm = pvm.connect()
    vm.join(group)
    assert vm.parent is not None
    vm.send("in", vm.parent, tag)
    vm.barrier(group, count)
    vm.send("through", vm.parent, tag)


def enter_when_told(group: str, count: int, tag: int) -> None:
    """Says to the parent when it is in the group and when it is through, and enters when that says so."""
    vm = pvm.connect()
    vm.join(group)
    assert vm.parent is not None
    vm.send("in", vm.parent, tag)
    vm.recv(vm.parent, tag)
    vm.barrier(group, count)
    vm.send("through", vm.parent, tag)


def freeze(group: str, size: int, tag: int, later: float = 0) -> None:
    """Says to the parent that it is in the group, and how many were frozen."""
    vm = pvm.connect()
    vm.join(group)
    assert vm.parent is not None
    vm.send("in", vm.parent, tag)
    time.sleep(later)
    vm.send(vm.freeze(group, size), vm.parent, tag)
    # Who leaves at once may not be there any more when the others look.
    vm.recv(vm.parent, tag)


def expose_and_wait(number: int, size: int) -> None:
    """Exposes memory to be written and, under the next number, some to be read, says so and takes no further part."""
    vm = pvm.connect()
    vm.expose(number, size, writable=True)
    vm.expose(number + 1, 8).view[:] = b"readable"
    assert vm.parent is not None
    vm.send("exposed", vm.parent, 1)
    sleep_for_ever()


def use_memory(owner: int, number: int) -> None:
    """Tells the parent what it finds in its memory, and changes that."""
    vm = pvm.connect()
    size, writable = vm.exposed(owner, number)
    before = vm.add_memory(owner, number, 0, 1)
    vm.put_memory(owner, number, size - 8, b"far away")
    vm.send((size, writable, before), owner, 2)


def count() -> None:
    """Takes numbers of a counter in the parent's memory when it is told which, and tells the parent which it had. The second
    word counts, too, by exchanges alone."""
    vm = pvm.connect()
    assert vm.parent is not None
    vm.message().send(vm.parent, 2)
    owner, number, rounds = vm.receive(vm.parent, 1).unpack("i4", 3)
    had = []
    for _ in range(rounds):
        had.append(vm.add_memory(owner, number, 0, 1))
        seen = vm.add_memory(owner, number, 8, 0)
        while (found := vm.exchange_memory(owner, number, 8, seen, seen + 1)) != seen:
            seen = found
    vm.message().i64(had).send(vm.parent, 3)
