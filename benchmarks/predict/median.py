#!/usr/bin/env python3
"""median.py PVM PLATFORM TRACE...: the trace whose timed section is predicted to take the median time."""
import json
import subprocess
import sys

pvm, platform, traces = sys.argv[1], sys.argv[2], sys.argv[3:]
told = []
for trace in traces:
    command = [pvm, "predict", "--json", "--seeds", "9", "--network", platform, trace]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    sections = {one["name"]: one["median"] for one in json.loads(text)["sections"]}
    told.append((sections["timed"], trace))
told.sort()
print(told[len(told) // 2][1])
print(" ".join(f"{seconds:.6f}" for seconds, _ in told), file=sys.stderr)
