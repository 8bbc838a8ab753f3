"""The Python half of benchmarks/python: what pair.c does, with the calls of Python, and the same line of figures."""

import statistics
import sys
import time

import neopvm as pvm

try:
    import numpy
except ImportError:
    numpy = None

CALLS, ROUNDS, ARRAYS, REPEAT, COUNT = 10000, 2000, 60, 9, 1000000

now = time.monotonic


def array():
    """A million doubles, of numpy where it is; written once, as memory that never was is one page of zeros in the cache."""
    if numpy is not None:
        return numpy.arange(COUNT, dtype="f8")
    return memoryview(bytearray(8 * COUNT)).cast("d")


def echo(vm: pvm.Machine, master: int) -> None:
    room = array()
    for _ in range(REPEAT * ROUNDS):
        x = vm.receive(master, 1).unpack("f8")
        vm.message().f64(x).send(master, 2)
    for _ in range(ARRAYS):
        vm.Recv(room, master, 3)
        vm.message().f64(0.5).send(master, 2)


def calls(vm: pvm.Machine) -> tuple[float, float]:
    message = vm.message()
    pack = message.f64
    start = now()
    for _ in range(CALLS):
        pack(0.5)
    packed = (now() - start) / CALLS
    message.send(vm.tid, 1)
    unpack = vm.receive(vm.tid, 1).unpack
    start = now()
    for _ in range(CALLS):
        unpack("f8")
    return packed, (now() - start) / CALLS


def main() -> None:
    vm = pvm.connect()
    if vm.parent is not None:
        echo(vm, vm.parent)
        return
    packs, unpacks = zip(*(calls(vm) for _ in range(REPEAT)))
    (other,) = vm.spawn(__file__)
    rounds = []
    for _ in range(REPEAT):
        start = now()
        for _ in range(ROUNDS):
            vm.message().f64(0.5).send(other, 1)
            vm.receive(other, 2).unpack("f8")
        rounds.append((now() - start) / ROUNDS)
    items, wholes = array(), []
    for _ in range(ARRAYS):
        start = now()
        vm.Send(items, other, 3)
        vm.receive(other, 2)
        wholes.append(now() - start)
    median = statistics.median
    print(f"{1e9 * median(packs):.1f} {1e9 * median(unpacks):.1f} {1e6 * median(rounds):.3f} {1e6 * median(wholes):.1f}")


if __name__ == "__main__":
    main()
    sys.stdout.flush()
