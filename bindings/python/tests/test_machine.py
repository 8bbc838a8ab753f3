"""Hosts, tasks, groups, names, and the life of a machine."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import neopvm as pvm
import partners
import pytest
from conftest import PATIENCE
from neopvm import errors


def run(path: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs a program in a machine of its own."""
    inherited = {name: value for name, value in os.environ.items() if name != "PVM_VMID"}
    return subprocess.run(
        [sys.executable, path],
        env={**inherited, **environment},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def test_who_this_is(vm: pvm.Machine) -> None:
    assert vm.parent is None and vm.siblings == [vm.tid] and vm.is_connected and vm.started_it
    with pvm.connect() as same:
        assert same is vm and pvm.current() is vm
    assert vm.is_connected
    assert repr(pvm.Tid(0x40001)) == "t40001"


def test_tables_of_hosts_and_tasks(vm: pvm.Machine) -> None:
    (task,) = vm.spawn(partners.sleep_for_ever)
    hosts, tasks = vm.hosts(), vm.tasks()
    assert len(hosts) == 1 and hosts[0].cores >= 1 and hosts[0].tid == task.host
    assert {vm.tid, task} <= {row.tid for row in tasks}
    assert repr(task) in repr(tasks) and hosts[0].name in repr(hosts)
    page = vm._repr_html_()
    assert page.count("<table>") == 2 and repr(task) in page and "<th>arch</th>" in page
    assert vm.is_running(task)
    vm.kill(task)
    vm.wait([task], PATIENCE)
    assert not vm.is_running(task)
    vm.kill(task)  # Who does not exist is not killed, and that is no error.


def test_a_table_shows_names_as_text() -> None:
    table = pvm.HostTable([pvm.Host(0x40000, "<b>", "X", 1000, 1, True, (), "0")])
    assert "&lt;b&gt;" in table._repr_html_() and "<b>" not in table._repr_html_()


def test_programs_scripts_and_functions_are_spawned(
    vm: pvm.Machine, script: Callable[[str], str], tmp_path: Path
) -> None:
    path = script("import sys\nvm = pvm.connect()\nvm.send(sys.argv[1:], vm.parent, 2)\n")
    team = vm.spawn(path, "one", 2, n=2)
    assert [vm.recv(tag=2, timeout=PATIENCE).obj for _ in team] == [["one", "2"]] * 2
    mark = tmp_path / "mark"
    (task,) = vm.spawn("touch", str(mark))
    vm.wait([task], PATIENCE)
    assert mark.exists()
    (task,) = vm.spawn(partners.say, {"a": 1}, 3)
    assert vm.recv(task, 3, PATIENCE).obj == {"a": 1}


def test_a_function_of_the_script_itself(script: Callable[[str], str]) -> None:
    path = script(
        "def work(n):\n    vm = pvm.connect()\n    vm.send(n * 2, vm.parent)\n"
        "if __name__ == '__main__':\n    with pvm.connect() as vm:\n"
        "        vm.spawn(work, 21)\n        print(vm.recv(timeout=120).obj)\n"
    )
    done = run(path)
    assert (done.stdout, done.returncode) == ("42\n", 0), done.stderr


def test_a_script_without_a_guard_spawned_itself_for_ever(script: Callable[[str], str]) -> None:
    path = script(
        "def work(n):\n    vm = pvm.connect()\n    vm.send(n * 2, vm.parent)\n"
        "vm = pvm.connect()\nif vm.parent is None:\n    vm.catch_output()\nteam = vm.spawn(work, 21)\nteam.wait(120)\n"
        # One write, as the lines of the task come from another thread.
        "print(f'{len(vm.tasks())} {vm.try_recv()}\\n', end='')\nvm.close()\n"
    )
    done = run(path)
    lines = done.stdout.splitlines()
    assert "1 None" in lines and done.returncode == 0, done.stdout + done.stderr
    assert sum("UseError: spawn: the script spawns tasks" in line for line in lines) == 1
    assert '__name__ == "__main__"' in lines[-2 if lines[-1] == "1 None" else -1]


def test_every_spawned_function_warned_of_how_it_was_started(script: Callable[[str], str]) -> None:
    path = script(
        "if __name__ == '__main__':\n    with pvm.connect() as vm:\n        vm.catch_output()\n"
        "        vm.spawn(print, 'said').wait(120)\n"
    )
    assert run(path).stdout == "[t40002] said\n"


def test_functions_that_nobody_could_import_are_refused(vm: pvm.Machine) -> None:
    pytest.importorskip("builtins")
    try:
        import cloudpickle  # noqa: F401  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        with pytest.raises(pvm.ForeignError, match="cloudpickle"):
            vm.spawn(lambda: None)
    else:
        vm.spawn(lambda: None).wait(PATIENCE)


def test_what_cannot_be_spawned_is_told(vm: pvm.Machine) -> None:
    with pytest.raises(pvm.SpawnError) as missing:
        vm.spawn("no-such-program-anywhere", n=2)
    assert missing.value.code == pvm.Code["NoFile"] and missing.value.started == ()
    assert "no-such-program-anywhere" in missing.value.cause and "spawn path" in missing.value.hint
    with pytest.raises(pvm.SpawnError):
        vm.spawn("no_such_script.py")
    with pytest.raises(pvm.Error) as nowhere:
        vm.spawn(partners.square, 1, host="no-such-host")
    assert nowhere.value.code == pvm.Code["NoHost"]
    with pytest.raises(pvm.UseError):
        vm.spawn(partners.square, 1, n=0)


def test_notices_of_ends(vm: pvm.Machine) -> None:
    (task,) = vm.spawn(partners.sleep_for_ever)
    vm.notify(pvm.TASK_EXIT, 55, [task])
    vm.signal(task, signal.SIGKILL)
    assert vm.receive(tag=55, timeout=PATIENCE).unpack("i4") == task
    with pytest.raises(pvm.UseError):
        vm.notify(pvm.TASK_EXIT, 55, [0])
    with pytest.raises(pvm.UseError):
        vm.notify(99, 55, [task])


def test_waiting_for_tasks_has_a_limit(vm: pvm.Machine) -> None:
    (task,) = vm.spawn(partners.sleep_for_ever)
    with pytest.raises(pvm.Timeout):
        vm.wait([task], 0.05)
    vm.kill(task)
    vm.wait([task, task], PATIENCE)
    vm.wait([task], PATIENCE)  # It has ended already.
    vm.wait([])


def test_groups_and_collective_calls(vm: pvm.Machine) -> None:
    count = 4
    assert vm.join("g") == 0
    team = vm.spawn(partners.member, "g", count, n=count - 1)
    vm.barrier("g", count)
    assert vm.size("g") == count and set(team) < set(vm.members("g"))
    assert vm.instance("g") == 0 and vm.instance("g", vm.members("g")[2]) == 2
    assert vm.gather("own", "g") == ["own", 10, 20, 30]
    assert vm.scatter([f"for {i}" for i in range(count)], "g") == "for 0"
    assert vm.bcast("word", "g") == "word"
    assert vm.reduce(lambda a, b: a + b, 100, "g") == 112
    numbers = memoryview(bytearray(8)).cast("i")
    vm.Reduce("sum", numbers, "g")
    assert list(numbers) == [6, -6]
    everything = memoryview(bytearray(8 * count)).cast("i")
    numbers[0] = numbers[1] = 0
    vm.Gather(numbers, everything, "g")
    assert list(everything) == [0, 0, 1, -1, 2, -2, 3, -3]
    own = memoryview(bytearray(8)).cast("d")
    doubles = memoryview(bytearray(8 * count)).cast("d")
    for i in range(count):
        doubles[i] = i + 0.5
    vm.Scatter(doubles, own, "g")
    assert own[0] == 0.5
    vm.barrier("g", count)
    team.wait(PATIENCE)
    vm.leave_group("g")


def test_a_function_reduces_arrays(vm: pvm.Machine) -> None:
    numpy = pytest.importorskip("numpy")
    vm.join("alone")
    items = numpy.array([1.0, 2.0])
    vm.Reduce(numpy.maximum, items, "alone")
    assert list(items) == [1.0, 2.0]
    from neopvm import collective

    folded = collective.fold(numpy.maximum, items, bytearray(items), bytearray(numpy.array([5.0, 0.0])))
    assert list(numpy.frombuffer(folded)) == [5.0, 2.0]
    vm.leave_group("alone")


def test_groups_that_are_not_as_one_thinks(vm: pvm.Machine) -> None:
    for call in (
        lambda: vm.leave_group("nobody's"),
        lambda: vm.barrier("nobody's"),
        lambda: vm.gather(1, "nobody's"),
        lambda: vm.instance("nobody's"),
    ):
        with pytest.raises(pvm.GroupError):
            call()
    vm.join("twice")
    with pytest.raises(pvm.GroupError) as twice:
        vm.join("twice")
    assert "twice" in twice.value.cause
    with pytest.raises(pvm.GroupError):
        vm.gather(1, "twice", root=5)
    with pytest.raises(pvm.UseError):
        vm.scatter([1, 2], "twice")
    with pytest.raises(pvm.WrongTypeError):
        vm.Gather(bytes(4), bytearray(3), "twice")
    with pytest.raises(pvm.UseError):
        vm.Reduce("median", bytearray(4), "twice")
    vm.leave_group("twice")


def test_a_member_that_dies_ends_the_wait_for_it(vm: pvm.Machine) -> None:
    vm.join("mortal")
    (task,) = vm.spawn(partners.join_and_wait, "mortal")
    vm.recv(task, 1, PATIENCE)
    assert vm.size("mortal") == 2
    tids = vm.members("mortal")
    vm.signal(task, signal.SIGKILL)
    vm.wait([task], PATIENCE)
    with pytest.raises(pvm.Error) as gone:
        vm._from_member("mortal", tids[1], 0, 0)
    assert gone.value.code == pvm.Code["NoTask"]
    vm.leave_group("mortal")


def test_named_messages(vm: pvm.Machine) -> None:
    index = vm.put("a name", {"x": [1, 2]})
    assert vm.get("a name", index) == {"x": [1, 2]}
    assert vm.names("a n*") == {"a name": [(index, vm.tid, 0)]}
    vm.put("a name", 2)
    assert vm.get("a name") == 2
    (task,) = vm.spawn(partners.take_name, "a name")
    assert vm.recv(task, 2, PATIENCE).obj == "Denied"
    vm.delete("a name")
    with pytest.raises(pvm.NotFoundError):
        vm.get("a name")
    with pytest.raises(pvm.NotFoundError):
        vm.get("a name", timeout=0.05)
    vm.put("typed", vm.message().i32([4, 5]))
    assert vm.get_message("typed").unpack("i4", 2) == [4, 5]
    with pytest.raises(pvm.UseError):
        vm.put("", 1)
    with pytest.raises(pvm.Error):
        vm.delete("never put")


def test_output_of_tasks_is_written(runtime: Path, script: Callable[[str], str]) -> None:
    path = script(
        "import sys\nwith pvm.connect() as vm:\n    vm.catch_output(sys.stdout)\n"
        "    team = vm.spawn('echo', 'hello', 'there', n=2)\n    team.wait(120)\n"
    )
    done = run(path)
    lines = done.stdout.splitlines()
    assert sorted(line.split("] ")[1] for line in lines) == ["hello there"] * 2, done.stderr


def test_a_stream_that_raises_left_what_tasks_print_unread(script: Callable[[str], str]) -> None:
    path = script(
        "class Stream:\n    def write(self, text):\n        raise RuntimeError('full')\n"
        "with pvm.connect() as vm:\n    vm.catch_output(Stream())\n    context = vm._output.target[1]\n"
        "    for _ in range(3):\n        vm.spawn('echo', 'hello', n=2).wait(120)\n"
        "    print(vm._output._thread.is_alive())\n    output = vm._output\n    output.end()\n"
        "    vm._output = None\n    print(vm.try_receive(context=context))\n"
    )
    done = run(path)
    assert (done.stdout, done.returncode) == ("True\nNone\n", 0), done.stderr
    assert done.stderr.count("RuntimeError: full") == 1


def test_several_hosts_of_this_computer(script: Callable[[str], str]) -> None:
    path = script(
        "with pvm.connect(hosts=3) as vm:\n    print(len(vm.hosts()))\n"
        "    team = vm.spawn(__file__.replace('program', 'worker'), n=3)\n"
        "    print(len({task.host for task in team}))\n"
        "    print(sum(len(vm.recv(tag=1, timeout=120).obj) for _ in team))\n"
        "    vm.Send(bytearray(500_000), team, 2)\n"
        "    print(sorted(vm.recv(tag=3, timeout=120).obj for _ in team))\n"
    )
    Path(path).with_name("worker.py").write_text(
        "import neopvm as pvm\nvm = pvm.connect()\nvm.send(bytearray(100_000), vm.parent, 1)\n"
        "room = bytearray(500_000)\nvm.Recv(room, vm.parent, 2, 120)\nvm.send(len(room), vm.parent, 3)\n"
    )
    done = run(path)
    assert done.stdout.split("\n")[:4] == ["3", "3", "300000", "[500000, 500000, 500000]"], done.stderr


def test_a_host_that_cannot_be_added_says_where_it_failed(vm: pvm.Machine) -> None:
    with pytest.raises(pvm.UseError):
        vm.add_local(-1)
    with pytest.raises(pvm.HostError) as failed:
        vm.add_hosts("no-such-host.invalid")
    (result,) = failed.value.results
    assert result.name == "no-such-host.invalid" and result.outcome < 0 and result.stage == "name"
    assert failed.value.cause.startswith("no-such-host.invalid at stage name")


def test_without_a_machine_nothing_is_started_if_that_is_not_wanted(script: Callable[[str], str]) -> None:
    path = script(
        "try:\n    pvm.connect(start=False)\nexcept pvm.NoMachineError as error:\n    print(error.code.name)\n"
    )
    assert run(path, PVM_VMID="nobody").stdout == "SysErr\n"


def test_a_machine_ends_with_the_process_that_started_it(runtime: Path, script: Callable[[str], str]) -> None:
    path = script(
        "import os\nvm = pvm.connect()\nvm.spawn('sleep', '1000')\n"
        "print(vm.tasks()[-1].pid, flush=True)\nos._exit(0)\n"
    )
    done = run(path, PVM_VMID="short")
    pid = int(done.stdout)
    for _ in range(1200):
        if not Path(f"/proc/{pid}").exists() and not (runtime / f"neopvm-{os.getuid()}/short").exists():
            return
        import time

        time.sleep(0.1)
    raise AssertionError("the machine goes on")


def test_use_after_close_and_a_second_machine(script: Callable[[str], str]) -> None:
    path = script(
        "vm = pvm.connect()\nvm.close()\nvm.close()\n"
        "for call in (lambda: vm.send(1, 0x40001), lambda: vm.recv(timeout=0), vm.hosts, lambda: vm.join('g')):\n"
        "    try:\n        call()\n    except pvm.Error as error:\n        print(error.code.name)\n"
        "try:\n    pvm.current()\nexcept pvm.ClosedError:\n    print('closed')\n"
        "with pvm.connect() as again:\n    print(again.is_connected, again is vm)\n"
    )
    done = run(path)
    assert done.stdout.splitlines() == ["SysErr"] * 4 + ["closed", "True False"], done.stderr
    assert done.returncode == 0


def test_a_lasting_machine_goes_on_until_it_is_halted(runtime: Path, script: Callable[[str], str]) -> None:
    first = script("vm = pvm.connect(lasting=True)\nprint(vm.started_it)\nvm.put('left', 7, persistent=True)\n")
    done = run(first, PVM_VMID="lasting")
    assert done.stdout == "False\n", done.stderr
    second = script("vm = pvm.connect(start=False)\nprint(vm.get('left'))\nvm.halt()\nprint(vm)\n")
    done = run(second, PVM_VMID="lasting")
    assert done.stdout.splitlines() == ["7", "<Machine lasting closed>"], done.stderr
    assert done.returncode == 0
    third = script("try:\n    pvm.connect(start=False)\nexcept pvm.NoMachineError:\n    print('gone')\n")
    assert run(third, PVM_VMID="lasting").stdout == "gone\n"


def test_the_end_of_the_machine_ends_waits(script: Callable[[str], str]) -> None:
    path = script(
        "import os, signal, threading\nvm = pvm.connect()\n"
        "pid = vm._daemon._process.pid\n"
        "threading.Timer(0.2, lambda: os.kill(pid, signal.SIGKILL)).start()\n"
        "try:\n    vm.recv()\nexcept pvm.NoMachineError as error:\n    print(error.call, error.code.name)\n"
    )
    assert run(path).stdout == "receive SysErr\n"


def test_every_code_has_a_class_and_a_text() -> None:
    for code in pvm.Code:
        error = errors.make(code, "call", 0x40002, 7, None, None)
        assert isinstance(error, pvm.Error) and error.code == code and "t40002, tag 7" in str(error)
