#!/bin/bash
# What recording costs: run.sh PREFIX OUT [SECONDS]
#
# A call and 8 bytes one way, recorded and not, and eight tasks that make a million records a second
# together for SECONDS (100): how many are lost, and bytes a record in the file. Nothing else should
# run meanwhile.
set -eu
prefix=$(realpath "$1") out=$2 seconds=${3:-100}
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$out"
out=$(realpath "$out")

# shellcheck source=crates/testbed/testbed.sh
. "$here/../../crates/testbed/testbed.sh"
testbed_up 0 --prefix "$prefix"
bin=$HOME/pvm3/bin/$PVM_ARCH
for program in cost flood; do
  cc -O2 -I"$prefix/include" -o "$bin/$program" "$here/$program.c" \
    -L"$prefix/lib" -Wl,-rpath,"$prefix/lib" -lpvm3
done

pvm run cost calls
pvm run cost messages 2000
calls=$(pvm run --quiet -n 8 --trace "$out/flood.trace" flood "$seconds" 125000 |
  awk '/^calls/ { sum += $2 } END { print sum }')
bytes=$(stat -c %s "$out/flood.trace")
pvm trace show --json "$out/flood.trace" |
  python3 -c '
import json, sys
shown, calls, bytes = json.load(sys.stdin), int(sys.argv[1]), int(sys.argv[2])
lost = sum(gap["lost"] for gap in shown["gaps"])
records = shown["records"]
print(f"8 tasks: {calls} calls made, {records} records, {lost} lost, {bytes / records:.1f} bytes a record")
sys.exit(records + lost < calls)' "$calls" "$bytes"
