#!/bin/bash
# speed.sh PVM [TASKS...] : how fast `PVM predict --depth line` is, and how much memory it takes.
#
# For each number of TASKS (4 64 1024) a ring of a million rounds in all, in SimGrid's form, is read
# and simulated on one core. A line each: tasks, actions, processor seconds, millions of actions a
# second, KiB at most. Two files of 4 tasks, one ten times as long, tell whether memory grows with
# the trace. A ring of 256 tasks with messages of 64 KiB is simulated packet by packet, and its events
# of the network are counted. A minute in all, 700 MB of files in a folder of its own below TMPDIR. MILLION=1 adds
# ring, tree and stencil of 10^6 tasks, which need 2 GiB of memory and a minute more.
set -eu
pvm=$(realpath "$1")
tasks=${*:2}
tasks=${tasks:-4 64 1024}
place=$(mktemp -d "${TMPDIR:-/tmp}/speed.XXXXXX")
trap 'rm -rf "$place"' EXIT

# measure NAME PATTERN TASKS ROUNDS [BYTES DEPTH]
measure() {
  "$pvm" predict generate "$2" --tasks "$3" --rounds "$4" --bytes "${5:-1024}" -o "$place/trace.ti"
  taskset -c 0 python3 - "$pvm" "$place/trace.ti" "$1" "${6:-line}" <<'PY'
import json
import resource
import subprocess
import sys

pvm, trace, name, depth = sys.argv[1:]
command = [pvm, "predict", trace, "--network", "switch-1000", "--depth", depth, "--json"]
told = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
seconds = used.ru_utime + used.ru_stime
actions, events = told["inputs"]["actions"], told["events"]
told = [f"{seconds:.3f} s", f"{actions} actions, {actions / seconds / 1e6:.2f} M/s"]
if depth == "packet":
    told.append(f"{events} events, {events / seconds / 1e6:.2f} M/s")
print(f"{name}: {', '.join(told)}, {used.ru_maxrss} KiB")
PY
  rm "$place/trace.ti"
}

for count in $tasks; do measure "ring of $count" ring "$count" $((1000000 / count)); done
measure "packets, ring of 256" ring 256 100 65536 packet
measure "packets, everybody of 256 to everybody" exchange 256 1 16384 packet
measure "ring of 4, a tenth" ring 4 25000
measure "ring of 4, ten times that" ring 4 250000
# threads COUNT : the seconds that pass while such an exchange is simulated, with so many threads.
threads() {
  local began=$EPOCHREALTIME
  "$pvm" predict "$place/exchange.ti" --network switch-1000 --depth packet --threads "$1" --json >"$place/told.$1"
  echo "packets, everybody of 256 to everybody, $1 threads: $(bc <<<"$EPOCHREALTIME - $began") s"
}

"$pvm" predict generate exchange --tasks 256 --rounds 1 --bytes 16384 -o "$place/exchange.ti"
for count in 1 2 1 2; do threads "$count"; done
cmp "$place/told.1" "$place/told.2"
rm "$place/exchange.ti"
[ -z "${MILLION:-}" ] || for pattern in ring tree stencil; do measure "$pattern of 10^6" "$pattern" 1000000 1; done
