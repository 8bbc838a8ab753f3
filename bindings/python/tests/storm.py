"""A storm: `python storm.py SECONDS`. Kills, interrupts, cancelled waits and forks, at random, for some time; then
nothing is lost, nothing was done that was given up, and nothing is left. STORM_SEED=N draws the same lots again.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import CancelledError, Future, ProcessPoolExecutor

import neopvm as pvm

SEED = int(os.environ.get("STORM_SEED", time.time_ns()))
DICE = random.Random(SEED)
WAIT = 120.0


class Interrupt(Exception):
    """What the storm's signal raises."""


def interrupted(call: Callable[[], object], seconds: float) -> object:
    """The result of a call, or what ended it: an interrupt comes after so long, in the call or beside it."""
    raised = False

    def handler(*_: object) -> None:
        nonlocal raised
        if not raised:
            raised = True
            raise Interrupt

    signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        return call()
    except Interrupt as interrupt:
        return interrupt
    finally:
        raised = True
        signal.setitimer(signal.ITIMER_REAL, 0)


def square(x: int) -> int:
    if x % 10 == 0:
        time.sleep(0.01)
    return x * x


def kills(vm: pvm.Machine) -> str:
    """Workers die, futures are cancelled: each has its result or was cancelled."""
    with pvm.Pool(3) as pool:
        futures: list[Future[int]] = [pool.submit(square, x) for x in range(300)]
        for _ in range(DICE.randrange(3)):
            time.sleep(DICE.random() * 0.02)
            vm.signal(DICE.choice(pool.workers), signal.SIGKILL)
        for future in DICE.sample(futures, 30):
            future.cancel()
        for x, future in enumerate(futures):
            try:
                assert future.result(WAIT) == x * x
            except CancelledError:
                pass
            except pvm.WorkerLostError:
                pass  # Three workers died over it.
    return "kills"


def spawns(vm: pvm.Machine) -> str:
    """A spawn that is interrupted has started nobody."""
    interrupted(lambda: vm.spawn(square, 3, n=2), DICE.random() * 0.05)
    return "spawns"


def pools(vm: pvm.Machine) -> str:
    interrupted(lambda: pvm.Pool(2).shutdown(), DICE.random() * 0.1)
    return "pools"


def takes(vm: pvm.Machine) -> str:
    """A take that is given up takes nothing: what is put is there, or was got."""
    name = f"name{DICE.randrange(1 << 40)}"
    putter = threading.Timer(DICE.random() * 0.01, vm.put, [name, 1])
    putter.start()
    try:
        got = vm.get(name, take=True, timeout=DICE.random() * 0.01)
    except pvm.NotFoundError:
        got = None
    putter.join()
    if got is None:
        got = vm.get(name, take=True)
    assert got == 1 and not vm.names(name)
    # An interrupt may take the result with it behind the call, as Python does with any; the wait itself ends.
    interrupted(lambda: vm.get(name, take=True, timeout=None), DICE.random() * 0.01)
    return "takes"


def leaves(vm: pvm.Machine) -> str:
    """A barrier that is given up does not count who left it: none is met by one."""
    met = interrupted(lambda: vm.barrier("storm", 2), DICE.random() * 0.02)
    assert met is not None, "a barrier of two was met by one"
    return "leaves"


def forks(vm: pvm.Machine) -> str:
    children = []
    for _ in range(3):
        child = os.fork()
        if child == 0:
            try:
                vm.close()
                time.sleep(DICE.random() * 0.05)
            finally:
                os._exit(0)
        children.append(child)
    for child in children:
        assert os.waitpid(child, 0)[1] == 0
    if DICE.random() < 0.3:
        with ProcessPoolExecutor(1) as local:
            assert local.submit(square, 4).result(WAIT) == 16
    return "forks"


async def cancelled(vm: pvm.Machine) -> None:
    """Waits that are cancelled take nothing: all messages are got by those that wait on."""
    vm.join("alone")
    got: list[int] = []
    count = 200

    async def takes() -> None:
        while len(got) < count:
            try:
                got.append((await asyncio.wait_for(vm.arecv(tag=1), DICE.random() * 0.003)).obj)
            except (TimeoutError, asyncio.TimeoutError):
                pass

    async def gives() -> None:
        for i in range(count):
            vm.send(i, vm.tid, 1)
            if DICE.random() < 0.2:
                await asyncio.sleep(DICE.random() * 0.002)

    async def gives_up() -> None:
        for _ in range(3):
            try:
                await asyncio.wait_for(vm.abarrier("alone", 2), DICE.random() * 0.02)
                raise AssertionError("a barrier of two was met by one")
            except (TimeoutError, asyncio.TimeoutError):
                pass

    await asyncio.wait_for(asyncio.gather(gives(), takes(), takes(), gives_up()), WAIT)
    assert sorted(got) == list(range(count))
    vm.leave_group("alone")


def cancels(vm: pvm.Machine) -> str:
    asyncio.run(cancelled(vm))
    return "cancels"


def calm(vm: pvm.Machine) -> None:
    """Nothing is left: no task, and no thread of a pool, which ends a moment after its workers."""
    end = time.monotonic() + WAIT
    threads: list[threading.Thread] | None = None
    while len(vm.tasks()) > 1 or threads != []:
        assert time.monotonic() < end, (vm.tasks(), threads)
        threads = [thread for thread in threading.enumerate() if thread.name == "neopvm-pool"]
        time.sleep(0.02)


def main() -> None:
    print("seed", SEED, flush=True)
    end = time.monotonic() + float(sys.argv[1])
    done: dict[str, int] = {}
    with pvm.connect() as vm:
        vm.join("storm")
        while time.monotonic() < end or len(done) < 7:
            what = DICE.choice([kills, spawns, pools, takes, leaves, forks, cancels])(vm)
            done[what] = done.get(what, 0) + 1
        calm(vm)
        folder = f"{os.environ['PVM_TMP']}/neopvm-{os.getuid()}/{vm.vmid}"
        assert os.path.exists(folder)
    assert not os.path.exists(folder)
    print("calm", done)


if __name__ == "__main__":
    main()
