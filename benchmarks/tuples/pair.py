"""What a put and the take of that tuple cost from Python, as `speed pair` measures them from C: pair.py COUNT."""

import sys
import time

import neopvm as pvm


def pairs(space: pvm.Space, count: int) -> float:
    """Nanoseconds of each pair."""
    begun = time.monotonic()
    for number in range(count):
        space.out("pair", number)
        space.take("pair", int)
    return 1e9 * (time.monotonic() - begun) / count


count = int(sys.argv[1])
with pvm.connect(start=False) as vm:
    space = vm.space("speed")
    pairs(space, count // 10 + 1)
    print(f"pair-of-python {pairs(space, count):.0f}")
