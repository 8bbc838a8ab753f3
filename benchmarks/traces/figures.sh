#!/bin/bash
# The figures 2.10, 2.11 and 5.1 to 5.14 of the thesis, made again: figures.sh PREFIX OUT
#
# The ring on four hosts of this computer and the seven NAS programs in the shape of the thesis, each
# recorded while it runs. Writes OUT/ring, OUT/ring-exchange, OUT/NAME-aggregate and OUT/NAME-dynamic
# as .svg and .png, and prints for each station what it sent, of which the thesis tells in its
# appendix A. Takes a minute.
set -eu
prefix=$(realpath "$1") out=$2
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$out"
out=$(realpath "$out")

# shellcheck source=crates/testbed/testbed.sh
. "$here/../../crates/testbed/testbed.sh"
testbed_up 4 --prefix "$prefix"
traces=$HOME/traces
mkdir -p "$traces"
cc -O2 -I"$prefix/include" -o "$traces/ring" "$here/../../examples/c/ring.c" \
  -L"$prefix/lib" -Wl,-rpath,"$prefix/lib" -lgpvm3 -lpvm3
env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make --silent -j2 -C "$here/../nas" \
  BUILD="$traces/nas" PVM_HOME="$prefix" OPT=-O2

# draw TRACE PICTURE NAME [WINDOW...]
draw() {
  local form
  for form in svg png; do
    pvm trace draw "$1" --what "$2" "${@:4}" -o "$out/$3.$form"
    chmod 644 "$out/$3.$form"
  done
}

pvm run --quiet --trace "$traces/ring.trace" "$traces/ring" 4 10
draw "$traces/ring.trace" spacetime ring

# The seconds at which the fifth token is on its way, from its send to its second receive.
window=$(pvm trace show --events --json "$traces/ring.trace" | python3 -c '
import json, sys
records = [json.loads(line) for line in sys.stdin]
sends = [record for record in records if record["what"] == "send" and record.get("bytes") == 4032]
begin = sends[20]["begin"]
print(begin / 1e9 - 0.0002, sends[22]["begin"] / 1e9 + 0.0003)')
draw "$traces/ring.trace" spacetime ring-exchange --from "${window% *}" --to "${window#* }"

for name in mg cg is ft lu sp bt; do
  tasks=4
  case $name in lu | sp | bt) tasks=5 ;; esac
  more=()
  case $name in sp | bt) more=(--self) ;; esac
  trace=$traces/$name.trace
  pvm run --quiet -n $tasks --trace "$trace" "$traces/nas/nas-$name" --shape thesis "${more[@]}" >"$traces/$name.txt"
  for picture in aggregate dynamic; do
    draw "$trace" $picture "$name-$picture"
  done
  # The thesis counts the pieces of a message, of 4080 bytes, that PVM 3 gave to TCP.
  pvm trace show --events --json "$trace" | python3 -c '
import collections, json, sys
name, sums = sys.argv[1].upper(), collections.defaultdict(lambda: [0, 0, 0])
for record in map(json.loads, sys.stdin):
    if record["what"] == "send":
        station = sums[record["task"]]
        station[0] += 1
        station[1] += -(-record["bytes"] // 4080)
        station[2] += record["bytes"]
for station, told in sorted(sums.items()):
    print(name, station, "messages %d, pieces %d, bytes %d" % tuple(told))' "$name"
done
testbed down
