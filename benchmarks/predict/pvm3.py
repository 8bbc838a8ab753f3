"""pvm3.py PVM OUT RATE: what pvm3.sh measured at a rate, beside `PVM predict` for the same messages.

The platform knows the rate, and what messages between two tasks of one host take. Each of these crosses memory twice, to
the daemon and from it, and so does the answer of 8 bytes; a byte's time is from the longest message. What a byte takes
longer there and back between two hosts without a shaper is the latency of four cables.
"""

import json
import os
import subprocess
import sys

PVM, OUT, RATE = sys.argv[1:]
ROUNDS = 20
ANSWER = 8


def told(name):
    with open(f"{OUT}/pvm3-{name}.jsonl", encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    return {line["bytes"]: line["seconds"] for line in lines}


def platform(local, whole):
    short, long = min(local), max(local)
    cable = max(whole[short] - local[short], 0) / 4
    byte = (local[long] - local[short]) / (long - short) / 2
    latency = local[short] / 4
    return f"""name = "pvm3-{RATE}"
[network]
kind = "switch"
rate = "{RATE} Mb/s"
latency = "{cable * 1e6:.2f} us"
burst = "1600 B"
queue = "256 kB"
frame = "14 B"
shortest = "0 B"
[host]
memory_latency = "{latency * 1e6:.2f} us"
memory_rate = "{1 / byte / 1e6:.2f} MB/s"
cores = {os.cpu_count()}
computers = 1
[transport]
kind = "pvm3"
"""


def predicted(size):
    forth = f"0 send 1 0 {size}\n0 recv 1 0 {ANSWER}\n" * ROUNDS
    back = f"1 recv 0 0 {size}\n1 send 0 0 {ANSWER}\n" * ROUNDS
    with open(f"{OUT}/pvm3.ti", "w", encoding="utf-8") as file:
        file.write(forth + back)
    command = [PVM, "predict", f"{OUT}/pvm3.ti", "--network", f"{OUT}/pvm3-{RATE}.toml", "--json"]
    answer = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    return json.loads(answer.stdout)["seconds"] / ROUNDS


def main():
    with open(f"{OUT}/pvm3-{RATE}.toml", "w", encoding="utf-8") as file:
        file.write(platform(told("local"), told("none")))
    print("| bytes | Mb/s | measured | predicted | error |\n|---|---|---|---|---|")
    for size, real in told(RATE).items():
        took = predicted(size)
        print(f"| {size} | {RATE} | {real * 1e3:.3f} ms | {took * 1e3:.3f} ms | {100 * (took / real - 1):+.1f} % |", flush=True)


main()
