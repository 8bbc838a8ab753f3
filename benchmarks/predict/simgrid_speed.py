"""simgrid_speed.py PVM [TASKS...] : actions a second of `pvm predict --depth line` and of SimGrid's replay.

Both read the same trace of a ring (300 000 actions in all) and are timed in turns, three times each: processor seconds of
the whole process, reading included; the least of three counts. SimGrid runs with its plainest model (CM02, no factors).
"""

import os
import resource
import subprocess
import sys
import tempfile

PVM = os.path.realpath(sys.argv[1])
TASKS = [int(word) for word in sys.argv[2:]] or [4, 64, 1024]
PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="h" suffix="" radical="0-{last}" speed="1Gf" bw="125MBps" lat="1us" sharing_policy="SPLITDUPLEX"/>
</platform>
"""


def seconds(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(tasks, place):
    os.chdir(place)
    generate = [PVM, "predict", "generate", "ring", "--tasks", str(tasks), "--rounds", str(100_000 // tasks)]
    subprocess.run([*generate, "--bytes", "1024", "-o", "all.ti"], check=True)
    with open("all.ti") as file:
        lines = file.readlines()
    actions = sum(1 for line in lines if "init" not in line and "finalize" not in line)
    ranks = {}
    for line in lines:
        ranks.setdefault(line.split(" ", 1)[0], []).append(line)
    with open("traces", "w") as traces, open("hosts", "w") as hosts:
        for rank in range(tasks):
            with open(f"rank{rank}", "w") as own:
                own.writelines(ranks[str(rank)])
            traces.write(f"{place}/rank{rank}\n")
            hosts.write(f"h{rank}\n")
    with open("p.xml", "w") as file:
        file.write(PLATFORM.format(last=tasks - 1))
    ours = [PVM, "predict", "all.ti", "--network", "switch-1000", "--depth", "line", "--json"]
    theirs = ["smpirun", "-np", str(tasks), "-platform", "p.xml", "-hostfile", "hosts", "-replay", "traces",
              "--cfg=network/model:CM02", "--cfg=smpi/host-speed:1Gf", "--log=root.thres:critical"]
    took = [(seconds(ours), seconds(theirs)) for _ in range(3)]
    ours, theirs = (min(times) for times in zip(*took))
    rates = (actions / ours / 1e6, actions / theirs / 1e6)
    print(f"| {tasks} | {actions} | {rates[0]:.2f} | {rates[1]:.3f} | {rates[0] / rates[1]:.1f} |", flush=True)


print("| tasks | actions | ours, M/s | SimGrid, M/s | ratio |")
print("|---|---|---|---|---|")
for count in TASKS:
    with tempfile.TemporaryDirectory() as folder:
        measure(count, folder)
