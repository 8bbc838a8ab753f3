"""A Mandelbrot worker in Python, which uses the messages of ../c/mandelbrot.c.

A job consists of four ints: the band of rows (a negative number ends the worker), and the width, height and iterations
of the picture. The answer consists of the band, the seconds of computing as a double, and a byte for each pixel. If the
program was not spawned it is the master: it draws a small picture with two workers and prints it as text.
"""

import sys
import time

import neopvm as pvm

JOB, BAND = 1, 2
BAND_ROWS, SAMPLES = 4, 2


def escape(x: float, y: float, iterations: int) -> int:
    """Returns the number of steps until the point leaves the circle of radius 2."""
    a = b = aa = bb = 0.0
    n = 0
    while n < iterations and aa + bb < 4:
        b = 2 * a * b + y
        a = aa - bb + x
        aa, bb = a * a, b * b
        n += 1
    return n


def pixel(width: int, height: int, iterations: int, column: int, row: int) -> int:
    """Returns the mean of SAMPLES x SAMPLES points: 0 is inside the set, 1 to 255 are colours of the palette."""
    step = 3.2 / width
    total = 0
    for i in range(SAMPLES * SAMPLES):
        dx, dy = i % SAMPLES / SAMPLES, i // SAMPLES / SAMPLES
        n = escape(-2.3 + (column + dx) * step, (row + dy - height / 2) * step, iterations)
        total += 0 if n == iterations else 1 + n * 9 % 255
    return total // (SAMPLES * SAMPLES)


def work(vm: pvm.Machine, master: int) -> None:
    while True:
        with vm.receive(master, JOB) as job:
            band = job.unpack("i4")
            if band < 0:
                return
            width, height, iterations = job.unpack("i4", 3)
        start = time.monotonic()
        rows = range(band * BAND_ROWS, min((band + 1) * BAND_ROWS, height))
        pixels = bytes(pixel(width, height, iterations, column, row) for row in rows for column in range(width))
        spent = time.monotonic() - start
        vm.message().i32(band).f64(spent).i8(pixels).send(master, BAND)


def draw(vm: pvm.Machine, width: int = 72, height: int = 32, iterations: int = 200) -> list[bytes]:
    """Returns the rows of a picture that two workers have computed."""
    team = vm.spawn(__file__, n=2)
    bands = iter(range((height + BAND_ROWS - 1) // BAND_ROWS))
    rows: dict[int, bytes] = {}

    def hand_out(worker: int) -> int:
        band = next(bands, -1)
        vm.message().i32([band, width, height, iterations]).send(worker, JOB)
        return int(band >= 0)

    busy = sum(hand_out(worker) for worker in team)
    while busy:
        with vm.receive(tag=BAND, timeout=60) as answer:
            band, _ = answer.unpack("i4"), answer.unpack("f8")
            pixels = bytes(answer.view("u1"))
            for i in range(0, len(pixels), width):
                rows[band * BAND_ROWS + i // width] = pixels[i : i + width]
            busy += hand_out(answer.source) - 1
    return [rows[row] for row in range(height)]


def main() -> int:
    with pvm.connect() as vm:
        if vm.parent is not None:
            work(vm, vm.parent)
            return 0
        for row in draw(vm):
            print("".join(" .:-=+*#%@"[value * 9 // 255] for value in row).rstrip())
    return 0


if __name__ == "__main__":
    sys.exit(main())
