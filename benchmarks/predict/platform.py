#!/usr/bin/env python3
"""platform.py ECHO RATE: a platform file for four namespaces of this computer whose cables are shaped by tbf.

What a message costs its sender and its receiver, and the times of segments that go alone, are from the lines that echo
told, in the file ECHO; all else is from the command line of the shaping and from this computer."""
import json
import os
import sys

echo, rate = {}, float(sys.argv[2])
for line in open(sys.argv[1]):
    echo.update(json.loads(line))
short, long, size = echo["short_us"], echo["long_us"], echo["bytes"]
# What the kernel's timer and scheduler do (rounds 1 to 4 had neither).
late = f'late = "{echo["late_us"]:.1f} us"\n' if "late_us" in echo else ""
slices = "/proc/sys/kernel/sched_rr_timeslice_ms"
slice_ = f'slice = "{open(slices).read().strip()} ms"\n' if late and os.path.exists(slices) else ""
# A segment that goes alone is slower than one of many: caches and processors are cold (rounds 1 to 6 had no such time).
# Round 7 has one such time, and no times of segments at the begin of a longer write.
tenths = echo.get("alone", {})
times = tenths.get("1448")
lone = (times[4] + times[5]) / 2 if times else echo.get("lone_us")
latency = lone / 4 if lone else short / 6
alone = "" if not lone else f"""
# A full segment that goes alone is acknowledged after {lone:g} us (median): a quarter of it is the `latency` of each cable.
# `wake` is what `late` is. Tasks bound their bytes under way, and the kernel's buffers grow."""
route = "" if not lone else f"""
wake = "{echo["late_us"]:.1f} us"
tuned = true
bounded = true"""
if tenths:
    route += "\n# Of the first segment of a write of 64 KiB, in tenths.\nalone = ["
    route += ", ".join(f'"{time:g} us"' for time in tenths["65536"]) + "]"
# Both copy the bytes, one behind the other.
copy = 2 * size / max(long - short, 0.1) / 1e3
print(f"""# Four network namespaces of one computer, their cables shaped by
# `tc ... tbf rate {rate:g}mbit burst 1600 limit 256kb` at both ends. Between two such hosts, not shaped, a message takes
# {short:g} us for 1 byte and {long:g} us for {size} bytes (medians). A third of it each is the sender's, the receiver's
# and that of the two cables between them. An idle processor takes up to 20 us and more to wake.
# `late` is by how much a process' timer of 250 us goes off late (mean), `slice` that of real-time tasks.{alone}
name = "tbf-{rate:g}"

[network]
kind = "switch"
rate = "{rate:g} Mb/s"
latency = "{latency:.2f} us"
burst = "1600 B"
{late}queue = "256 kB"
frame = "14 B"
shortest = "0 B"

[host]
send = "{short / 3:.2f} us"
receive = "{short / 3:.2f} us"
jitter = "20 us"
copy = "{copy:.2f} GB/s"
cores = {os.cpu_count()}
{slice_}computers = 1

[transport]
kind = "tcp"
train = 1
congestion = "bbr"
# A frame's head and a message's, in a record (72 + 21 bytes); a confirmation (16 + 21).
message = "93 B"
confirmation = "37 B"{route}""")
