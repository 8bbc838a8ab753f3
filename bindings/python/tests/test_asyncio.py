"""Messages for coroutines."""

from __future__ import annotations

import asyncio

import neopvm as pvm
import partners
import pytest
from conftest import PATIENCE


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
