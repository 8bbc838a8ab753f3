"""What was lost, destroyed or refused without need: messages, names, buffers."""

from __future__ import annotations

import copy
import ctypes
import io
import pickle
import time
from collections.abc import Callable
from pathlib import Path

import neopvm as pvm
import partners
import pytest
from conftest import PATIENCE
from neopvm import objects
from neopvm.output import Output
from programs import printed


def test_a_get_that_was_given_up_destroyed_what_was_put_later(vm: pvm.Machine) -> None:
    with pytest.raises(pvm.NotFoundError):
        vm.get("later", take=True, timeout=0.02)
    vm.put("later", "precious", persistent=True)
    assert vm.get("later", take=True, timeout=PATIENCE) == "precious"
    assert not vm.names("later")


def test_a_refusal_is_told_at_once_and_not_asked_for_again(vm: pvm.Machine) -> None:
    start = time.monotonic()
    for _ in range(3):
        with pytest.raises(pvm.Error):
            vm.delete("never put")
    # Who asks again for what was answered waits a minute each time.
    assert time.monotonic() - start < 100


def test_an_interrupted_get_destroyed_what_was_put_later(tmp_path: Path) -> None:
    lines = printed(
        tmp_path,
        """
        import signal, threading
        vm = pvm.connect()
        threading.Timer(0.2, signal.raise_signal, [signal.SIGINT]).start()
        try: vm.get("y", take=True, timeout=None)
        except KeyboardInterrupt: print("interrupted")
        vm.put("y", "precious", persistent=True)
        print(vm.get("y", take=True))
        vm.close()
        """,
    )
    assert lines == ["interrupted", "precious"]


def test_each_get_that_was_over_had_its_own_copy_later(vm: pvm.Machine) -> None:
    for _ in range(100):
        with pytest.raises(pvm.NotFoundError):
            vm.get("polled", timeout=0.001)
    before = rss()
    vm.put("polled", b"x" * 1_000_000, persistent=True)
    assert len(vm.get("polled", timeout=PATIENCE, take=True)) == 1_000_000
    vm.hosts()
    assert rss() - before < 50_000_000


def rss() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def test_an_interrupted_barrier_counted_who_had_left_it(tmp_path: Path) -> None:
    partner = Path(partners.__file__).parent
    lines = printed(
        tmp_path,
        f"""
        import signal, sys, threading
        sys.path.append({str(partner)!r})
        import partners
        if __name__ == "__main__":
            vm = pvm.connect()
            vm.join("g")
            threading.Timer(0.2, signal.raise_signal, [signal.SIGINT]).start()
            try: vm.barrier("g", 2)
            except KeyboardInterrupt: print("interrupted")
            (task,) = vm.spawn(partners.enter_barrier, "g", 2, 1)
            print(vm.recv(task, 1, 120).obj)
            try: vm.recv(task, 1, 0.3)
            except pvm.Timeout: print("it waits")
            vm.barrier("g", 2)
            print(vm.recv(task, 1, 120).obj)
            vm.close()
        """,
    )
    assert lines == ["interrupted", "in", "it waits", "through"]


def test_a_typed_message_was_gone_where_an_object_was_expected(vm: pvm.Machine) -> None:
    receives: list[Callable[[], object]] = [lambda: vm.recv(tag=3, timeout=PATIENCE), lambda: vm.try_recv(tag=3)]
    for receive in receives:
        vm.message().i32([1, 2]).str("x").send(vm.tid, 3)
        with pytest.raises(pvm.ForeignError) as refused:
            receive()
        message = refused.value.message
        assert message is not None and message.unpack("i4", 2) == [1, 2] and message.unpack_str() == "x"


def test_an_object_of_another_was_gone_when_it_was_refused(
    vm: pvm.Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(objects, "user", lambda: "somebody")
    vm.send({"a": 1}, vm.tid, 4)
    monkeypatch.undo()
    with pytest.raises(pvm.DeniedError) as denied:
        vm.recv(tag=4, timeout=PATIENCE)
    assert denied.value.message is not None
    monkeypatch.setattr(objects, "trusted", {"somebody"})
    assert objects.decode(denied.value.message) == {"a": 1}


def test_a_message_that_does_not_fit_a_buffer_was_gone(vm: pvm.Machine) -> None:
    wrong = {pvm.ShortError: bytearray(16), pvm.TooLongError: bytearray(4), pvm.WrongTypeError: memoryview(bytearray(8)).cast("d")}
    for kind, room in wrong.items():
        vm.message().i32([1, 2]).send(vm.tid, 5)
        with pytest.raises(kind) as refused:
            vm.Recv(room, tag=5, timeout=PATIENCE)
        assert isinstance(refused.value, pvm.Error)
        assert refused.value.message is not None and refused.value.message.unpack("i4", 2) == [1, 2]


def test_a_team_could_not_be_sent(vm: pvm.Machine) -> None:
    team = vm.spawn(partners.echo, 1, n=2)
    team.send(team, 6)
    for _ in team:
        got = vm.recv(tag=7, timeout=PATIENCE).obj
        assert isinstance(got, pvm.Team) and got == team
        got.wait(PATIENCE)
    for same in (pickle.loads(pickle.dumps(team)), copy.copy(team), copy.deepcopy(team)):
        assert same == team
    vm.put("team", team)
    assert vm.get("team") == team


def test_arrays_without_dimensions_and_of_ctypes_could_not_be_sent(vm: pvm.Machine) -> None:
    def there_and_back(items: object, room: object, tag: int) -> None:
        vm.Send(items, vm.tid, tag)
        vm.Recv(room, tag=tag, timeout=PATIENCE)

    there, back = (ctypes.c_double * 3)(1, 2, 3), (ctypes.c_double * 3)()
    there_and_back(there, back, 8)
    assert list(back) == [1, 2, 3]
    number = ctypes.c_int(5)
    room = ctypes.c_int()
    there_and_back(number, room, 9)
    assert room.value == 5
    numpy = pytest.importorskip("numpy")
    zero, into = numpy.array(2.5), numpy.array(0.0)
    there_and_back(zero, into, 10)
    assert into == 2.5
    vm.send(zero, vm.tid, 11)
    assert vm.recv(tag=11, timeout=PATIENCE).obj == 2.5


def test_an_id_of_numpy_was_no_receiver_of_objects(vm: pvm.Machine) -> None:
    numpy = pytest.importorskip("numpy")
    vm.send("x", numpy.int64(vm.tid), 12)
    assert vm.recv(tag=12, timeout=PATIENCE).obj == "x"


def test_a_time_limit_that_is_no_number_was_none(vm: pvm.Machine) -> None:
    nan = float("nan")
    calls: list[Callable[[], object]] = [
        lambda: vm.recv(timeout=nan),
        lambda: vm.Recv(bytearray(1), timeout=nan),
        lambda: vm.get("nothing", timeout=nan),
    ]
    for call in calls:
        with pytest.raises(pvm.UseError):
            call()


def test_a_reduction_of_nothing_was_a_bad_parameter_without_a_reason(vm: pvm.Machine) -> None:
    vm.join("nothing")
    with pytest.raises(pvm.UseError, match="there are no items"):
        vm.Reduce(lambda a, b: a + b, bytearray(), "nothing")
    with pytest.raises(pvm.UseError, match="signed"):
        vm.Reduce("sum", memoryview(bytearray(4)).cast("I"), "nothing")
    vm.leave_group("nothing")


class _Source:
    """Hands an output what a task would print."""

    def __init__(self, vm: pvm.Machine) -> None:
        self.vm = vm

    def piece(self, text: bytes) -> pvm.Message:
        with self.vm.message() as message:
            message.i32([self.vm.tid, len(text)])
            message.Pack(text)
            message.send(self.vm.tid, 13)
        return self.vm.receive(tag=13, timeout=PATIENCE)


def test_a_long_line_cost_the_square_of_its_length(vm: pvm.Machine) -> None:
    stream = io.StringIO()
    output, source = Output(vm, stream), _Source(vm)
    piece, count = b"x" * 4096, 2000
    message = source.piece(piece)
    copied = 0
    # As many bytes are joined as there are, and not each piece with all before it.
    for _ in range(count):
        message.rewind()
        output._take(message)
        copied = max(copied, *map(len, output._partial[vm.tid]))
    assert copied == len(piece)
    output._take(source.piece(b"end\nand\nmore"))
    output._take(source.piece(b" of it"))
    message = source.piece(b"")
    output._take(message)
    output.end()
    lines = stream.getvalue().splitlines()
    assert [line.split("] ")[1][-9:] for line in lines] == ["xxxxxxend", "and", "more of it"[-9:]]
    assert len(lines[0]) > count * len(piece)
