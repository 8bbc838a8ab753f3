"""A pool of workers that repeats the work of dead workers. farm.py [WORKERS [LIMIT]] counts primes."""

import os
import random
import signal
import sys

import neopvm as pvm


def primes(block: tuple[int, int]) -> int:
    """Returns the number of primes from the first number up to the second."""
    # Now and then a worker kills itself in the middle; the result is still correct.
    if random.random() < 0.005:
        os.kill(os.getpid(), signal.SIGKILL)
    first, end = block
    return sum(n > 1 and all(n % d for d in range(2, int(n**0.5) + 1)) for n in range(first, end))


def main() -> None:
    workers = int(sys.argv[1]) if len(sys.argv) > 1 else 4
    limit = int(sys.argv[2]) if len(sys.argv) > 2 else 100_000
    step = max(1, limit // 100)
    blocks = [(first, min(first + step, limit)) for first in range(0, limit, step)]
    with pvm.connect(), pvm.Pool(workers) as pool:
        total = sum(pool.map(primes, blocks))
        print(f"{total} primes below {limit}; {pool.lost} workers were lost")


if __name__ == "__main__":
    main()
