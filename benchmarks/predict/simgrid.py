"""simgrid.py PVM ROUND RATE... : SimGrid's prediction of a round's programs, beside ours and the real runs.

SimGrid (Debian: libsimgrid-dev) replays the time-independent trace that `pvm trace export` makes of each recording.
A nanosecond of computing is a flop of a host of 1 Gf. Two calibrations, both as the manual of SMPI says: factors of
the bandwidth by size, and a latency. The first one has only what the command line of tbf tells (the rate, less
headers); the second one is fitted to ping-pongs on the shaped network itself, at 10 Mb/s, which our predictions never
saw, and is scaled with the rate. Sends never wait for their receivers, as in PVM.

Only the section that a program names is judged: from the first task's entry to the last one's exit. SimGrid knows no
sections, so its log of actions tells when the message before a section's end was sent or received, and the recording how
long the task computed from there on.
"""

import csv
import json
import os
import re
import subprocess
import sys
import tempfile

PVM, ROUND, RATES = sys.argv[1], sys.argv[2], [int(rate) for rate in sys.argv[3:]]
PROGRAMS = os.environ.get("PROGRAMS", "ep is cg mg").split()
# Half a round trip at 10 Mb/s by size, in microseconds: tbf with a burst of 1600 bytes, kernel's TCP (median of 2000).
MEASURED = [(1, 27.0), (64, 52.0), (1448, 605.0), (4096, 2211.0), (65536, 53700.0), (1048576, 876600.0)]
GOODPUT = 1448 / 1514
PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="h" suffix="" radical="0-3" speed="1Gf" core="1" bw="{bw}Bps" lat="{lat}s"
           sharing_policy="SPLITDUPLEX"/>
</platform>
"""


def factors(rate):
    """The bandwidth of the link, its latency, and the factors by size."""
    scale = 10 / rate
    byte = 8 / rate  # microseconds
    (_, least), *rest = MEASURED
    told = [f"{size}:{size * byte / ((took - least) * scale):.4f}" for size, took in rest]
    told[0] = "0:" + told[0].split(":")[1]
    # A factor counts from its size on: each is taken from the middle between two measured sizes.
    for place in range(1, len(rest)):
        middle = int((rest[place - 1][0] * rest[place][0]) ** 0.5)
        told[place] = f"{middle}:" + told[place].split(":")[1]
    return least * 1e-6, ";".join(told)


def borders(name):
    """For each task: sends and receives up to the begin and the end of the section, and the computing from there on."""
    export = [PVM, "trace", "export", "--to", "csv", f"{ROUND}/{name}.trace"]
    told = subprocess.run(export, check=True, capture_output=True, text=True).stdout
    done = [{"events": [], "last": 0, "borders": []} for _ in range(4)]
    for row in csv.DictReader(told.splitlines()):
        task, began = done[int(row["task"])], int(row["begin_ns"])
        if row["what"] in ("send", "receive") and int(row["result"]) >= 0:
            task["events"].append((row["what"][:4].replace("rece", "recv"), int(row["bytes"] or 0)))
            task["last"] = began + int(row["length_ns"])
        elif row["what"] == "state":
            task["borders"].append((len(task["events"]), max(began - task["last"], 0) * 1e-9))
    return done


def section(told, name):
    """The seconds between the first begin and the last end of the section in a log of SimGrid's actions."""
    lines = re.findall(r"^\[\S+ ([0-9.]+)\].* (\d) (send|recv) \d+ \d+ (\d+) ", told, re.M)
    begins, ends = [], []
    for number, task in enumerate(borders(name)):
        done = [(what, int(size), float(at)) for at, rank, what, size in lines if int(rank) == number]
        # The export leaves out messages of which the recording has one end only.
        place, times = 0, [0.0]
        for what, size in task["events"]:
            if place < len(done) and (what, size) == done[place][:2]:
                place += 1
            times.append(done[place - 1][2] if place else 0.0)
        if place < len(done):
            raise SystemExit(f"simgrid.py: {name}: the log of task {number} does not fit its recording")
        (first, before), (last, behind) = task["borders"]
        begins.append(times[first] + before)
        ends.append(times[last] + behind)
    return max(end - begin for begin, end in zip(begins, ends))


def replay(name, rate, latency, bandwidth):
    """The simulated seconds of the section."""
    with tempfile.TemporaryDirectory() as place:
        with open(f"{place}/p.xml", "w") as file:
            # A message crosses two of a cluster's links.
            file.write(PLATFORM.format(bw=rate * 125000, lat=latency / 2))
        with open(f"{place}/hosts", "w") as file:
            file.writelines(f"h{host}\n" for host in range(4))
        export = [PVM, "trace", "export", "--to", "ti", f"{ROUND}/{name}.trace"]
        lines = subprocess.run(export, check=True, capture_output=True, text=True).stdout.splitlines(True)
        # Each rank's lines are in a file of its own, as smpirun reads them.
        with open(f"{place}/traces", "w") as traces:
            for rank in range(4):
                with open(f"{place}/rank{rank}", "w") as own:
                    own.writelines(line for line in lines if line.startswith(f"{rank} "))
                traces.write(f"{place}/rank{rank}\n")
        command = ["smpirun", "-np", "4", "-platform", f"{place}/p.xml", "-hostfile", f"{place}/hosts",
                   "-replay", f"{place}/traces", "--cfg=smpi/bw-factor:" + bandwidth, "--cfg=smpi/lat-factor:0:1",
                   "--cfg=smpi/os:0:0:0", "--cfg=smpi/or:0:0:0", "--cfg=smpi/ois:0:0:0",
                   "--cfg=network/TCP-gamma:1e12", "--cfg=smpi/send-is-detached-thresh:1000000000",
                   "--cfg=smpi/host-speed:1Gf", "--log=smpi_replay.thres:verbose"]
        told = subprocess.run(command, capture_output=True, text=True, cwd=place)
    if told.returncode != 0:
        raise SystemExit(f"simgrid.py: {name}: {told.stdout}{told.stderr}")
    return section(told.stdout + told.stderr, name)


def ours(name, rate):
    command = [PVM, "predict", f"{ROUND}/{name}.trace", "--network", f"{ROUND}/tbf-{rate}.toml", "--seeds", "9", "--json"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def runs(name, rate):
    """The seconds of the timed section in the real runs."""
    with open(f"{ROUND}/{name}-{rate}.runs") as file:
        seconds = sorted(json.loads(line)["seconds"] for line in file)
    return seconds[len(seconds) // 2]


print("| program | Mb/s | real | ours | SimGrid, rate only | SimGrid, ping-pongs |")
print("|---|---|---|---|---|---|")
worst = {"ours": [], "rate": [], "pongs": []}
for rate in RATES:
    for name in PROGRAMS:
        told = ours(name, rate)
        timed = next(one for one in told["sections"] if one["name"] == "timed")["median"]
        plain = replay(name, rate, 20e-6, f"0:{GOODPUT:.4f}")
        fitted = replay(name, rate, *factors(rate))
        real = runs(name, rate)
        cells = []
        for kind, seconds in (("ours", timed), ("rate", plain), ("pongs", fitted)):
            error = seconds / real - 1
            worst[kind].append(abs(error))
            cells.append(f"{seconds:.4f} ({error * 100:+.1f} %)")
        print(f"| {name.upper()} | {rate} | {real:.4f} | {' | '.join(cells)} |", flush=True)
mean = [f"{sum(errors) / len(errors) * 100:.1f} %" for errors in worst.values()]
print(f"| mean of errors | | | {' | '.join(mean)} |")
