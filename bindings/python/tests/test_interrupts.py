"""Interrupts and limits of time that come in the very moment in which what was waited for has come, or while nobody answers."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from pathlib import Path

import neopvm as pvm
import partners
import pytest
from conftest import PATIENCE
from programs import printed

PARTNERS = f"import sys; sys.path.append({str(Path(partners.__file__).parent)!r}); import partners\n"


class Late(Exception):
    """Raised by a handler of signals."""


def test_an_interrupt_of_a_barrier_that_was_met_told_nobody_of_it(vm: pvm.Machine) -> None:
    vm.join("met")
    (task,) = vm.spawn(partners.enter_when_told, "met", 2, 1)
    vm.recv(task, 1, PATIENCE)
    told: list[None] = []

    def meets_and_raises(*_: object) -> None:
        """It is met while the handler runs."""
        vm.send(0, task, 1)
        vm.recv(task, 1, PATIENCE)
        raise Late

    before = signal.signal(signal.SIGALRM, meets_and_raises)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(Late):
            # No step of Python's between the call's end and the noting of it.
            told.extend(map(vm.barrier, ["met"], [2]))
        assert told == [None]
    finally:
        signal.signal(signal.SIGALRM, before)
        vm.leave_group("met")


async def met_meanwhile(vm: pvm.Machine, group: str) -> int:
    """A partner that will meet this task in the barrier of a group that both have joined."""
    vm.join(group)
    (task,) = vm.spawn(partners.enter_when_told, group, 2, 2)
    await vm.arecv(task, 2, PATIENCE)
    return task


def meet(vm: pvm.Machine, task: int) -> None:
    """It meets this task in the barrier: the loop, which waits here, knows nothing of it when this returns."""
    vm.send(0, task, 2)
    vm.recv(task, 2, PATIENCE)


async def test_a_coroutine_was_told_a_timeout_of_a_barrier_that_was_met(vm: pvm.Machine) -> None:
    task = await met_meanwhile(vm, "in time")
    loop = asyncio.get_running_loop()
    loop.call_soon(loop.call_soon, meet, vm, task)
    # Over as soon as the loop looks again.
    await asyncio.wait_for(vm.abarrier("in time", 2), 0.001)
    vm.leave_group("in time")


async def test_a_cancelled_coroutine_threw_away_that_its_barrier_was_met(vm: pvm.Machine) -> None:
    task = await met_meanwhile(vm, "cancelled")
    told = []

    async def member() -> None:
        await vm.abarrier("cancelled", 2)
        told.append("met")
        await asyncio.sleep(10 * PATIENCE)
        told.append("never cancelled")

    waiting = asyncio.create_task(member())
    await asyncio.sleep(0.05)
    meet(vm, task)
    waiting.cancel("enough")
    with pytest.raises(asyncio.CancelledError, match="enough"):
        await waiting
    assert told == ["met"] and waiting.cancelled()
    vm.leave_group("cancelled")


async def test_a_limit_around_a_barrier_that_was_met_ends_what_is_behind_it(vm: pvm.Machine) -> None:
    task = await met_meanwhile(vm, "around")
    told = []
    asyncio.get_running_loop().call_soon(asyncio.get_running_loop().call_soon, meet, vm, task)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.001):
            await vm.abarrier("around", 2)
            told.append("met")
            await asyncio.sleep(10 * PATIENCE)
    assert told == ["met"]
    # What was cancelled once is not cancelled for ever.
    await asyncio.sleep(0)
    vm.leave_group("around")


def test_a_freeze_could_not_be_interrupted_and_counted_who_had_gone(tmp_path: Path) -> None:
    lines = printed(
        tmp_path,
        PARTNERS
        + """
import signal, threading
if __name__ == "__main__":
    vm = pvm.connect()
    vm.join("g")
    threading.Timer(0.2, signal.raise_signal, [signal.SIGINT]).start()
    try: vm.freeze("g", 2)
    except KeyboardInterrupt: print("interrupted")
    (task,) = vm.spawn(partners.freeze, "g", 2, 1)
    print(vm.recv(task, 1, 120).obj)
    try: vm.recv(task, 1, 0.3)
    except pvm.Timeout: print("it waits")
    print(vm.freeze("g", 2), vm.recv(task, 1, 120).obj)
    vm.close()
""",
    )
    assert lines == ["interrupted", "in", "it waits", "2 2"]


@pytest.mark.skipif(not os.environ.get("NEOPVM_LONG"), reason="waits for longer than a minute; NEOPVM_LONG=1")
def test_a_freeze_failed_after_a_minute_because_others_were_late(vm: pvm.Machine) -> None:
    vm.join("late")
    (task,) = vm.spawn(partners.freeze, "late", 2, 3, 65)
    assert vm.recv(task, 3, PATIENCE).obj == "in"
    assert vm.freeze("late", 2) == 2
    assert vm.recv(task, 3, PATIENCE).obj == 2
    vm.send(0, task, 3)
    vm.leave_group("late")


def test_no_interrupt_ended_a_call_while_the_daemon_was_stopped(tmp_path: Path) -> None:
    """The first one withdraws the question, and the second one does not wait for what comes of that."""
    lines = printed(
        tmp_path,
        """
        import os, signal, threading
        is_waiting, released = False, False
        def interrupt(*_):
            if is_waiting: raise KeyboardInterrupt
        def release():
            global released
            released = True
            os.kill(daemon, signal.SIGCONT)
        vm = pvm.connect()
        daemon = vm._daemon._process.pid
        vm.join("joined")
        signal.signal(signal.SIGALRM, interrupt)
        signal.setitimer(signal.ITIMER_REAL, 0.1, 0.1)
        calls = [vm.hosts, vm.tasks, vm.new_context, lambda: vm.get("x", timeout=None), lambda: vm.put("x", 1),
                 lambda: vm.members("joined"), lambda: vm.members("other"), lambda: vm.join("other"),
                 lambda: vm.barrier("joined", 2), lambda: vm.freeze("joined", 2), lambda: vm.spawn("true"),
                 lambda: vm.Reduce("sum", memoryview(bytearray(8)).cast("d"), "joined"), lambda: vm.gather(1, "other")]
        os.kill(daemon, signal.SIGSTOP)
        limit = threading.Timer(100, release)
        limit.start()
        for call in calls:
            try:
                is_waiting = True
                call()
            except KeyboardInterrupt: pass
            finally: is_waiting = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        print("ended while it was stopped", not released)
        limit.cancel()
        os.kill(daemon, signal.SIGCONT)
        print(vm.put("y", 2), vm.get("y", timeout=120), len(vm.hosts()))
        vm.close()
        """,
    )
    assert lines == ["ended while it was stopped True", "0 2 1"]


def test_an_interrupt_while_the_members_were_asked_for_left_a_barrier_waiting(tmp_path: Path) -> None:
    """The answer came all the same, and the interrupt was kept until the barrier would be met."""
    lines = printed(
        tmp_path,
        """
        import os, signal
        is_waiting, calls = False, 0
        def interrupt(*_):
            global is_waiting
            if is_waiting:
                is_waiting = False
                os.kill(daemon, signal.SIGCONT)
                raise KeyboardInterrupt
        vm = pvm.connect()
        daemon = vm._daemon._process.pid
        signal.signal(signal.SIGALRM, interrupt)
        for number in range(20):
            name = f"asked{number}"
            vm.join(name)
            os.kill(daemon, signal.SIGSTOP)
            signal.setitimer(signal.ITIMER_REAL, 0.02)
            try:
                is_waiting = True
                vm.barrier(name, 2)
            except KeyboardInterrupt: calls += 1
            vm.leave_group(name)
        print(calls, "interrupted")
        vm.close()
        """,
    )
    assert lines == ["20 interrupted"]


def test_an_interrupted_connect_left_a_daemon_that_was_in_the_way_of_the_next(tmp_path: Path) -> None:
    lines = printed(
        tmp_path,
        """
        import os, signal, subprocess, time
        class Late(Exception): pass
        popen = subprocess.Popen._execute_child
        def slow(*arguments):
            # The child runs already, and who has started it does not know yet.
            popen(*arguments)
            os.kill(os.getpid(), signal.SIGALRM)
            time.sleep(0.3)
        subprocess.Popen._execute_child = slow
        def interrupt(*_): raise Late
        signal.signal(signal.SIGALRM, interrupt)
        try: pvm.connect()
        except Late: print("interrupted")
        subprocess.Popen._execute_child = popen
        children = subprocess.run(["ps", "--no-headers", "--ppid", str(os.getpid()), "-o", "comm"], capture_output=True, text=True)
        print([child for child in children.stdout.split() if child != "ps"])
        with pvm.connect() as vm: print(vm.started_it)
        """,
    )
    assert lines == ["interrupted", "[]", "True"]


def test_a_daemon_that_was_about_to_end_kept_connect_from_starting_one(tmp_path: Path) -> None:
    lines = printed(
        tmp_path,
        """
        import os, subprocess, threading
        from neopvm import launch
        os.environ["PVM_VMID"] = "ending"
        # One that is not ready for anybody, and ends a moment later.
        other = launch.Daemon("ending")
        other.start()
        os.kill(other._process.pid, 19)
        threading.Timer(1, other._process.kill).start()
        with pvm.connect() as vm: print(vm.started_it)
        """,
    )
    assert lines == ["True"]
