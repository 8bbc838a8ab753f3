"""Typed messages, buffers and views."""

from __future__ import annotations

import array
import gc
import os
import signal
import threading
from typing import Any

import neopvm as pvm
import partners
import pytest
from conftest import PATIENCE

TYPES: dict[str, list[Any]] = {
    "i1": [0, 1, 255],
    "i2": [-32768, 32767],
    "i4": [-(2**31), 2**31 - 1],
    "i8": [-(2**63), 2**63 - 1],
    "u2": [0, 65535],
    "u4": [0, 2**32 - 1],
    "u8": [0, 2**64 - 1],
    "f4": [0.5, -2.0],
    "f8": [1e300, -0.1],
    "c8": [1 + 2j, -0.5j],
    "c16": [1e300 + 1j, 0j],
}


def to_self(vm: pvm.Machine, message: pvm.Message, tag: int = 1) -> pvm.Message:
    message.send(vm.tid, tag)
    return vm.receive(vm.tid, tag, PATIENCE)


@pytest.mark.parametrize("raw", [False, True])
@pytest.mark.parametrize("kind", TYPES)
def test_every_type_comes_back(vm: pvm.Machine, kind: Any, raw: bool) -> None:
    values = TYPES[kind]
    message = vm.message(raw=raw).pack(kind, values).pack(kind, values[0])
    got = to_self(vm, message)
    assert got.unpack(kind, len(values)) == values
    assert got.unpack(kind) == values[0]
    got.rewind()
    assert got.unpack(kind) == values[0]


def test_messages_are_packed_in_a_chain(vm: pvm.Machine) -> None:
    got = to_self(vm, vm.message().i32([1, 2]).str("x\u00e4").f64(2.5).i8(b"ab").c128(1j).i64(range(3)))
    assert got.unpack("i4", 2) == [1, 2]
    assert got.unpack_str() == "x\u00e4"
    assert got.unpack("f8") == 2.5
    assert bytes(got.unpack("u1", 2)) == b"ab"
    assert got.unpack("c16") == 1j
    assert got.unpack("long", 3) == [0, 1, 2]
    assert got.next_type is None


def test_another_type_than_was_packed_is_told_with_whose_it_was(vm: pvm.Machine) -> None:
    got = to_self(vm, vm.message().f64([1.0, 2.0]), 6)
    with pytest.raises(pvm.WrongTypeError) as wrong:
        got.unpack("i4")
    assert (wrong.value.task, wrong.value.tag) == (vm.tid, 6) and "doubles" in wrong.value.cause
    assert isinstance(wrong.value, TypeError)
    with pytest.raises(pvm.WrongTypeError):
        got.view("i2")
    assert isinstance(got.unpack("i4", convert=True), int)  # As PVM converts it.
    got.rewind()
    assert got.unpack("f8", 2) == [1.0, 2.0]  # Nothing was read by what failed.


def test_a_short_message_is_told_and_not_read(vm: pvm.Machine) -> None:
    got = to_self(vm, vm.message().i32([1, 2]), 6)
    for count in (3, 1 << 40, (1 << 63) - 1):
        with pytest.raises(pvm.ShortError) as short:
            got.unpack("i4", count)
        assert (short.value.task, short.value.tag) == (vm.tid, 6)
    assert got.unpack("i4", 2) == [1, 2]
    with pytest.raises(pvm.ShortError):
        got.unpack_str()


def test_values_that_do_not_fit_are_not_packed(vm: pvm.Machine) -> None:
    message = vm.message()
    with pytest.raises(OverflowError):
        message.i32(2**31)
    with pytest.raises(OverflowError):
        message.i8([1, 256])
    with pytest.raises(pvm.WrongTypeError):
        message.i32(["text"])
    with pytest.raises(pvm.WrongTypeError):
        message.pack("nonsense", 1)  # type: ignore[arg-type]
    with pytest.raises(pvm.UseError):
        message.str("a\0b")
    assert message.nbytes == 0


def test_buffers_arrive_in_buffers(vm: pvm.Machine) -> None:
    for count in (10, 100_000, 3_000_000):
        items = array.array("d", [0.5]) * count
        (echo,) = vm.spawn(partners.echo_messages, 1)
        vm.Send(items, echo, 3)
        into = array.array("d", [0.0]) * count
        assert vm.Recv(into, echo, 4, PATIENCE) == (echo, 4)
        assert into == items


def test_arrays_of_numpy_of_every_type(vm: pvm.Machine) -> None:
    numpy = pytest.importorskip("numpy")
    for name in ("i1", "u1", "bool", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8", "c8", "c16"):
        items = numpy.arange(5000).astype(name).reshape(50, 100)
        vm.Send(items, vm.tid, 1)
        into = numpy.zeros_like(items)
        vm.Recv(into, vm.tid, 1, PATIENCE)
        assert (into == items).all(), name


def test_buffers_that_do_not_fit_are_told(vm: pvm.Machine) -> None:
    numpy = pytest.importorskip("numpy")
    for items, kind in (
        (numpy.zeros(9), pvm.ShortError),
        (numpy.zeros(11), pvm.TooLongError),
        (numpy.zeros(20, "i4"), pvm.WrongTypeError),
    ):
        vm.Send(items, vm.tid, 5)
        with pytest.raises(kind) as wrong:
            vm.Recv(numpy.zeros(10), tag=5, timeout=PATIENCE)
        assert (wrong.value.task, wrong.value.tag) == (vm.tid, 5)
    for refused in (numpy.zeros((4, 4))[:, 1], numpy.zeros(3, ">i4"), numpy.zeros(3, "O"), "text", 5):
        with pytest.raises(pvm.WrongTypeError):
            vm.Send(refused, vm.tid, 5)
    with pytest.raises(pvm.WrongTypeError, match="read-only"):
        vm.Recv(b"12345678", tag=5, timeout=0)


def test_a_view_shows_the_message_and_keeps_it_open(vm: pvm.Machine) -> None:
    got = to_self(vm, vm.message().f64([float(i) for i in range(1000)]))
    view = got.view("f8")
    assert view.readonly and len(view) == 1000 and view[999] == 999.0
    with pytest.raises(pvm.ViewOpenError) as still:
        got.close()
    assert isinstance(still.value, BufferError)
    part = view[10:20]
    view.release()
    with pytest.raises(pvm.ViewOpenError):
        got.close()
    assert part[0] == 10.0
    part.release()
    gc.collect()
    got.close()
    with pytest.raises(pvm.ClosedError):
        got.view()


def test_a_view_outlives_its_message_object(vm: pvm.Machine) -> None:
    got = to_self(vm, vm.message(raw=True).i8(bytes(range(256)) * 100))
    view = got.view()
    del got
    gc.collect()
    assert bytes(view[:256]) == bytes(range(256))


def test_a_view_is_good_when_its_sender_is_killed(vm: pvm.Machine) -> None:
    numpy = pytest.importorskip("numpy")
    (task,) = vm.spawn(partners.echo_messages, 2)
    items = numpy.arange(100_000.0)
    vm.Send(items, task, 1)
    got = vm.receive(task, 2, PATIENCE)
    view = numpy.asarray(got.view("f8"))
    vm.signal(task, signal.SIGKILL)
    vm.wait([task], PATIENCE)
    assert (view == items).all()
    del view
    got.close()


def test_views_of_items_that_lie_apart_are_refused(vm: pvm.Machine) -> None:
    got = to_self(vm, vm.message().i32(1).f64(2.0))
    with pytest.raises(pvm.WrongTypeError):
        got.view()
    assert list(got.view("i4")) == [1]
    assert list(got.view("f8", 1)) == [2.0]


def test_allocated_memory_is_sent_as_it_was_filled(vm: pvm.Machine) -> None:
    message = vm.message().i32(7)
    place = message.allocate("f8", 10_000)
    with pytest.raises(pvm.UseError):
        message.i32(1)  # It might move the memory.
    with pytest.raises(pvm.ViewOpenError):
        message.close()
    for i in range(10_000):
        place[i] = i / 2
    (echo,) = vm.spawn(partners.echo_messages, 1)
    message.send(echo, 1)
    got = vm.receive(echo, 2, PATIENCE)
    assert got.unpack("i4") == 7
    assert got.view("f8")[9_999] == 9_999 / 2
    assert not got.is_being_read
    place.release()
    message.close()


def test_closing_twice_and_use_after_close(vm: pvm.Machine) -> None:
    message = vm.message().i32(1)
    message.close()
    message.close()
    assert message.closed and repr(message) == "<Message closed>"
    for use in (
        lambda: message.i32(1),
        lambda: message.unpack("i4"),
        lambda: message.send(vm.tid, 1),
        lambda: message.view(),
        lambda: message.tag,
        lambda: message.rewind(),
        lambda: message.Unpack(bytearray(1)),
        lambda: message.unpack_str(),
        lambda: message.allocate("i4", 1),
    ):
        with pytest.raises(pvm.ClosedError):
            use()


def test_a_received_message_is_not_packed(vm: pvm.Machine) -> None:
    got = to_self(vm, vm.message().i32(1))
    with pytest.raises(pvm.UseError):
        got.i32(2)
    assert got.unpack("i4") == 1


def test_a_message_in_the_hands_of_many_threads(vm: pvm.Machine) -> None:
    message = vm.message()
    errors: list[BaseException] = []

    def work(value: int) -> None:
        try:
            for _ in range(200):
                message.i32([value] * 100)
                _ = message.nbytes
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(value,)) for value in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    got = to_self(vm, message)
    counts = [0] * 4
    for _ in range(800):
        values = got.unpack("i4", 100)
        assert len(set(values)) == 1  # A call packs as a whole.
        counts[values[0]] += 1
    assert counts == [200] * 4


def test_closing_while_others_use_it(vm: pvm.Machine) -> None:
    for _ in range(20):
        got = to_self(vm, vm.message().f64([0.5] * 5000))
        stop = threading.Event()
        strange: list[BaseException] = []

        def read(message: pvm.Message = got, strange: list[BaseException] = strange) -> None:
            while not stop.is_set():
                try:
                    message.rewind()
                    assert message.view("f8")[4999] == 0.5
                except pvm.ClosedError:
                    return
                except BaseException as error:
                    strange.append(error)
                    return

        thread = threading.Thread(target=read)
        thread.start()
        while not got.closed:
            try:
                got.close()
            except pvm.ViewOpenError:
                pass
        stop.set()
        thread.join()
        assert not strange


def test_nonsense_as_receiver_and_tag(vm: pvm.Machine) -> None:
    message = vm.message().i32(1)
    for dest in (0, -1, 0x40000, 1 << 31, "t40001", [vm.tid, 0], None):
        with pytest.raises((pvm.UseError, OverflowError)):
            message.send(dest, 1)  # type: ignore[arg-type]
    with pytest.raises(pvm.UseError):
        message.send(vm.tid, -1)
    with pytest.raises(pvm.UseError):
        vm.receive(source=5, timeout=0)
    with pytest.raises(pvm.UseError):
        vm.receive(tag=-7, timeout=0)
    with pytest.raises(TypeError):
        vm.receive("anybody")  # type: ignore[arg-type]


def test_the_child_of_a_fork_has_no_messages(vm: pvm.Machine) -> None:
    (echo,) = vm.spawn(partners.echo_messages, 1)
    vm.Send(bytes(100_000), echo, 1)
    got = vm.receive(echo, 2, PATIENCE)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            assert got.closed and not vm.is_connected
            try:
                got.unpack("i1")
            except pvm.ClosedError:
                status = 0
            got.close()
            del got
            gc.collect()
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    assert got.nbytes == 100_000


def test_integers_were_read_as_a_text(vm: pvm.Machine) -> None:
    message = vm.message().i32([1, 2, 3]).str("text").str("").i32(1).pack("i1", b"no length before")
    message.send(vm.tid, 3)
    got = vm.receive(tag=3, timeout=0)
    with pytest.raises(pvm.WrongTypeError) as wrong:
        got.unpack_str()
    assert (wrong.value.task, wrong.value.tag) == (vm.tid, 3) and "i4" in wrong.value.cause
    assert got.unpack("i4", 3) == [1, 2, 3]
    assert (got.unpack_str(), got.unpack_str(), got.unpack("i4")) == ("text", "", 1)
    with pytest.raises(pvm.WrongTypeError):
        got.unpack_str()
    got.unpack("i1", 16)
    with pytest.raises(pvm.ShortError):
        got.unpack_str()


def test_probing_takes_nothing(vm: pvm.Machine) -> None:
    assert vm.probe(tag=3) is None
    vm.message().i32([1, 2]).send(vm.tid, 3)
    assert vm.probe(vm.tid, 3) == (vm.tid, 3, 8)
    assert vm.receive(tag=3, timeout=0).unpack("i4", 2) == [1, 2]


def test_contexts_keep_messages_apart(vm: pvm.Machine) -> None:
    other = vm.new_context()
    vm.message().i32(1).send(vm.tid, 3, context=other)
    assert vm.try_receive(tag=3) is None
    vm.context = other
    try:
        assert vm.receive(tag=3, timeout=0).context == other
    finally:
        vm.context = 0
    vm.free_context(other)
