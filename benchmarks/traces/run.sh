#!/bin/bash
# What recording costs: run.sh PREFIX OUT [SECONDS]
#
# A call and 8 bytes one way, recorded and not; a program with a millisecond of computing between its
# messages, recorded and not in turn; and eight tasks that make a million records a second together
# for SECONDS (100): how many are lost, bytes a record in the file, and the recorder's memory. Nothing
# else should run meanwhile. It takes SECONDS and one and a half minutes more.
set -eu
prefix=$(realpath "$1") out=$2 seconds=${3:-100}
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$out"
out=$(realpath "$out")

# shellcheck source=crates/testbed/testbed.sh
. "$here/../../crates/testbed/testbed.sh"
testbed_up 0 --prefix "$prefix"
bin=$HOME/pvm3/bin/$PVM_ARCH
for program in cost flood paced; do
  cc -O2 -I"$prefix/include" -o "$bin/$program" "$here/$program.c" \
    -L"$prefix/lib" -Wl,-rpath,"$prefix/lib" -lpvm3
done

pvm run cost calls
pvm run cost messages 2000

# paced STEPS [OPTION...]: seconds that it took.
paced() { pvm run --quiet "${@:2}" paced 2000 "$1" | awk '/^seconds/ { print $2 }'; }
# Both are to compute alike, so how much a millisecond is is measured once.
steps=$(pvm run --quiet paced 2 | awk '/^seconds/ { print $4 }')
for round in 1 2 3 4 5 6 7; do
  off=$(paced "$steps")
  on=$(paced "$steps" --trace "$out/paced.trace" 2>/dev/null)
  echo "$on $off"
done | python3 -c '
import statistics, sys
pairs = [tuple(map(float, line.split())) for line in sys.stdin]
on, off = (statistics.median(side) for side in zip(*pairs))
ratios = sorted(on / off for on, off in pairs)
print(f"a millisecond between messages: {on:.4f} s recorded, {off:.4f} s not (medians); "
      f"ratio {statistics.median(ratios):.4f} ({ratios[0]:.4f} to {ratios[-1]:.4f})")'

# What the recorder has for itself, KiB: the most that it was found to have.
watch_recorder() {
  local most=0 now pid
  while sleep 0.3; do
    for pid in $(pgrep -f "recorder --host=" || true); do
      # Other machines of this computer have theirs.
      tr '\0' '\n' 2>/dev/null <"/proc/$pid/environ" | grep -qx "PVM_TMP=$PVM_TMP" || continue
      now=$(awk '/^RssAnon/ { print $2 }' "/proc/$pid/status" 2>/dev/null || true)
      [ "${now:-0}" -le $most ] || most=$now
    done
    echo $most >"$out/recorder"
  done
}
watch_recorder &
watcher=$!
calls=$(pvm run --quiet -n 8 --trace "$out/flood.trace" flood "$seconds" 125000 |
  awk '/^calls/ { sum += $2 } END { print sum }')
kill $watcher
echo "memory of the recorder beside the rings: $(cat "$out/recorder") KiB"
bytes=$(stat -c %s "$out/flood.trace")
pvm trace show --json "$out/flood.trace" |
  python3 -c '
import json, sys
shown, calls, bytes = json.load(sys.stdin), int(sys.argv[1]), int(sys.argv[2])
lost = sum(gap["lost"] for gap in shown["gaps"])
records = shown["records"]
print(f"8 tasks: {calls} calls made, {records} records, {lost} lost, {bytes / records:.1f} bytes a record")
sys.exit(records + lost < calls)' "$calls" "$bytes"
