"""Messages for coroutines."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import threading
import weakref
from collections.abc import Callable

import neopvm as pvm
import partners
import pytest
from conftest import PATIENCE
from neopvm import aio
from programs import run


async def test_a_coroutine_waits_while_others_run(vm: pvm.Machine) -> None:
    waiting = asyncio.create_task(vm.arecv(tag=3, timeout=PATIENCE))
    await asyncio.sleep(0)
    (task,) = vm.spawn(partners.say, "hello", 3)
    got = await waiting
    assert (got.obj, got.source) == ("hello", task)


async def test_messages_come_one_after_the_other(vm: pvm.Machine) -> None:
    (task,) = vm.spawn(partners.echo, 5)
    for i in range(5):
        vm.send(i, task, 4)
    seen = []
    async for got in vm.messages(task, 5):
        seen.append(got.obj)
        if len(seen) == 5:
            break
    assert seen == list(range(5))


async def test_each_coroutine_gets_its_own(vm: pvm.Machine) -> None:
    waiting = [asyncio.create_task(vm.arecv(tag=tag, timeout=PATIENCE)) for tag in range(10, 20)]
    await asyncio.sleep(0)
    for tag in reversed(range(10, 20)):
        vm.send(tag, vm.tid, tag)
    assert [got.obj for got in await asyncio.gather(*waiting)] == list(range(10, 20))


async def test_a_message_that_another_call_has_looked_at_still_wakes(vm: pvm.Machine) -> None:
    """Another call looks at all that has come, after which the descriptor is silent."""
    for _ in range(50):
        waiting = asyncio.create_task(vm.arecv(tag=21, timeout=PATIENCE))
        await asyncio.sleep(0)
        vm.send("for the coroutine", vm.tid, 21)
        assert vm.try_recv(tag=22) is None
        assert (await waiting).obj == "for the coroutine"


async def test_a_time_limit(vm: pvm.Machine) -> None:
    with pytest.raises(pvm.Timeout) as late:
        await vm.arecv(tag=9, timeout=0.02)
    assert late.value.tag == 9


async def test_a_coroutine_that_is_cancelled_takes_nothing(vm: pvm.Machine) -> None:
    for _ in range(20):
        waiting = asyncio.create_task(vm.arecv(tag=30))
        await asyncio.sleep(0)
        vm.send("stays", vm.tid, 30)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert vm.recv(tag=30, timeout=0).obj == "stays"


async def test_a_barrier_for_coroutines(vm: pvm.Machine) -> None:
    vm.join("async")
    await vm.abarrier("async", 1)
    vm.leave_group("async")


async def test_a_coroutine_slept_for_ever_beside_its_message(vm: pvm.Machine) -> None:
    """Another one looks, and the descriptor tells of nothing more."""

    async def looks() -> None:
        while True:
            with contextlib.suppress(pvm.Timeout):
                await vm.arecv(tag=42, timeout=0.0005)

    looking = asyncio.create_task(looks())
    for i in range(100):
        waiting = asyncio.create_task(vm.arecv(tag=41))
        await asyncio.sleep(0.001 * (i % 3))
        vm.send(i, vm.tid, 41)
        assert (await asyncio.wait_for(waiting, PATIENCE)).obj == i
    looking.cancel()


async def test_a_coroutine_slept_for_ever_behind_a_call_that_waits(vm: pvm.Machine) -> None:
    """A sleep takes what the descriptor tells of."""
    vm.join("behind")
    for _ in range(20):
        waiting = asyncio.create_task(vm.arecv(tag=43))
        await asyncio.sleep(0)
        (task,) = vm.spawn(partners.say, "late", 43)
        vm.members("behind")
        assert (await asyncio.wait_for(waiting, PATIENCE)).source == task
    vm.leave_group("behind")


async def test_two_coroutines_that_wait_for_the_same_get_one_each(vm: pvm.Machine) -> None:
    for _ in range(50):
        waiting = [asyncio.create_task(vm.arecv(tag=44)) for _ in range(3)]
        await asyncio.sleep(0)
        for i in range(2):
            vm.send(i, vm.tid, 44)
        # The one that was woken for it takes nothing: another does.
        waiting[0].cancel()
        done = await asyncio.wait_for(asyncio.gather(*waiting[1:]), PATIENCE)
        assert sorted(got.obj for got in done) == [0, 1]


def test_coroutines_of_two_loops_do_not_take_news_from_one_another(vm: pvm.Machine) -> None:
    count, got = 200, dict[int, list[int]]()

    async def receive(tag: int) -> None:
        got[tag] = [(await vm.arecv(tag=tag, timeout=PATIENCE)).obj for _ in range(count)]

    loops = [threading.Thread(target=asyncio.run, args=[receive(tag)]) for tag in (47, 48)]
    for loop in loops:
        loop.start()
    for i in range(count):
        for tag in (47, 48):
            vm.send(i, vm.tid, tag)
        vm.probe(tag=49)
    for loop in loops:
        loop.join()
    assert got == {47: list(range(count)), 48: list(range(count))}


async def test_a_barrier_that_was_given_up_kept_the_loop_from_ending(vm: pvm.Machine) -> None:
    vm.join("given up")
    with pytest.raises(asyncio.TimeoutError):
        await asyncio.wait_for(vm.abarrier("given up", 2), 0.05)
    # And it is not counted: the next two are needed, not one.
    (task,) = vm.spawn(partners.enter_barrier, "given up", 2, 45)
    assert (await vm.arecv(task, 45, PATIENCE)).obj == "in"
    with pytest.raises(pvm.Timeout):
        await vm.arecv(task, 45, 0.3)
    await vm.abarrier("given up", 2)
    assert (await vm.arecv(task, 45, PATIENCE)).obj == "through"
    vm.leave_group("given up")


def test_each_loop_was_kept_and_slowed_every_call(vm: pvm.Machine) -> None:
    async def one() -> None:
        vm.send(1, vm.tid, 46)
        assert (await vm.arecv(tag=46, timeout=PATIENCE)).obj == 1

    loops = []

    async def note() -> None:
        loops.append(weakref.ref(asyncio.get_running_loop()))
        await one()

    for _ in range(50):
        asyncio.run(note())
    gc.collect()
    # The last one may be known still.
    assert sum(loop() is not None for loop in loops) <= 1
    assert len(aio._arrivals) <= 1


def test_an_interrupt_took_the_message_with_it_once_asyncio_was_used(script: Callable[[str], str]) -> None:
    path = script(
        "import asyncio, functools, signal, threading, time\n"
        "vm = pvm.connect()\n"
        "async def once():\n    vm.send(0, vm.tid, 1)\n    await vm.arecv(tag=1)\n"
        "asyncio.run(once())\n"
        "def send():\n"
        "    for i in range(1000):\n        vm.send(i, vm.tid, 2)\n        time.sleep(0.0005)\n"
        "    vm.send('end', vm.tid, 3)\n"
        "got, interrupts, over = [], 0, False\n"
        "receive = iter(functools.partial(vm.receive, tag=2, timeout=120), None)\n"
        "def stop(*_):\n    if not over: raise KeyboardInterrupt\n"
        "threading.Thread(target=send).start()\n"
        "signal.signal(signal.SIGALRM, stop)\n"
        "while not over:\n"
        "    try:\n"
        "        signal.setitimer(signal.ITIMER_REAL, 0.003)\n"
        # No bytecode between the call and the list: what is lost is lost in the call.
        "        got.extend(receive)\n"
        "    except KeyboardInterrupt:\n"
        # The next one comes when the timer is set again.
        "        interrupts += 1\n"
        "        over = over or len(got) == 1000 or bool(vm.probe(tag=3) and not vm.probe(tag=2))\n"
        "print(len(got), interrupts > 0)\nvm.close()\n"
    )
    done = run(path)
    assert done.stdout == "1000 True\n", done.stdout + done.stderr


async def test_a_reader_of_the_programs_own_was_never_called_again_behind_a_receive(vm: pvm.Machine) -> None:
    loop, seen = asyncio.get_running_loop(), asyncio.Queue[int]()

    def look() -> None:
        if (got := vm.try_recv(tag=51)) is not None:
            seen.put_nowait(got.obj)

    loop.add_reader(vm.fileno(), look)
    for i in range(2):
        vm.send(i, vm.tid, 51)
        assert await asyncio.wait_for(seen.get(), PATIENCE) == i
        with pytest.raises(pvm.Timeout):
            await vm.arecv(tag=52, timeout=0.01)
    assert loop.remove_reader(vm.fileno())


def test_a_receive_of_a_loop_that_was_closed_complained_when_it_was_thrown_away(script: Callable[[str], str]) -> None:
    path = script(
        "import asyncio, gc\n"
        "with pvm.connect() as vm:\n"
        "    loop = asyncio.new_event_loop()\n"
        "    waiting = loop.create_task(vm.arecv(tag=1))\n"
        "    waiting._log_destroy_pending = False\n"
        "    loop.run_until_complete(asyncio.sleep(0.01))\n"
        "    loop.close()\n"
        "    del waiting, loop\n"
        "    gc.collect()\n"
        "    async def again():\n"
        "        vm.send(5, vm.tid, 1)\n"
        "        return (await vm.arecv(tag=1, timeout=120)).obj\n"
        "    print(asyncio.run(again()))\n"
    )
    done = run(path)
    assert (done.stdout, done.stderr) == ("5\n", "")
