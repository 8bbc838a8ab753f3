# SPDX-License-Identifier: MIT OR Apache-2.0
"""A worker in Python: its claims end with their results, or by an exception give the task back."""

import neopvm as pvm


def primes_below(end: int) -> int:
    return sum(all(n % divisor for divisor in range(2, int(n**0.5) + 1)) for n in range(2, end))


with pvm.connect(start=False) as vm:
    bag = vm.space("bag", create=False)
    bag.out("ready")
    number = 0
    while number >= 0:
        with bag.claim("task", int) as task:
            number = task[1]
            if number >= 0:
                task.put("result", number, primes_below(number), "Python")
