#!/bin/bash
# calibrate.sh PREFIX OUT RATE... : `pvm predict calibrate` judged on networks that are known (root).
#
# Four namespaces whose cables are shaped to each RATE in Mb/s (burst 1600, limit 256kb), or not shaped where RATE is
# `none`. OUT/calibrated-RATE.toml, .json and .svg are what it writes; the lines that are printed compare the rate and
# the bucket that it found with those that were set, and its model with what it measured. A minute a rate at most.
# CALIBRATOR is the `pvm` that calibrates (PREFIX/bin/pvm).
set -eu
prefix=$(realpath "$1") out=$2
here=$(cd "$(dirname "$0")" && pwd)
hosts=$here/../../xtask/hosts.sh
pvm=${CALIBRATOR:-$prefix/bin/pvm}

if [ -n "${HOSTS_DIR:-}" ]; then
  on() { bash "$hosts" on "$@"; }
  bash "$hosts" env "HOME=$HOSTS_DIR/home" PVM_ROOT="$prefix" PVM_ALLOW_ROOT=1 \
    PATH="$prefix/bin:$PATH:/usr/sbin:/sbin" >/dev/null
  on h1 pvm up >/dev/null
  on h1 pvm add h2 h3 h4 >/dev/null
  # shellcheck source=/dev/null
  . "$HOSTS_DIR/state"
  for k in 1 2 3 4; do
    for process in $(ip netns pids "${PRE}h$k"); do chrt -r -p 1 "$process" 2>/dev/null || :; done
  done
  on h1 chrt -r 1 timeout 100 "$pvm" predict calibrate --json -o "$out/calibrated-$3.toml" \
    --picture "$out/calibrated-$3.svg" >"$out/calibrated-$3.json"
  on h1 pvm halt >/dev/null
  exit
fi

mkdir -p "$out"
out=$(realpath "$out")
for rate in "${@:3}"; do
  shape="${rate}mbit,1600,256kb"
  [ "$rate" != none ] || shape=
  # shellcheck disable=SC2086
  bash "$hosts" run 4 $shape -- bash "$0" "$prefix" "$out" "$rate"
  python3 - "$out" "$rate" <<'PY'
import json
import sys
import tomllib

out, rate = sys.argv[1:]
told = json.load(open(f"{out}/calibrated-{rate}.json"))
network = tomllib.load(open(f"{out}/calibrated-{rate}.toml", "rb"))["network"]
print(f"{rate} Mb/s, measured for {told['measuring']:.0f} s: rate {network['rate']}, latency {network['latency']}, "
      f"bucket {network.get('burst', 'none')}")
for one in told["model"]:
    print(f"  {one['name']}: {one['seconds'] * 1e6:.1f} us, predicted {one['predicted'] * 1e6:.1f}, "
          f"{one['error']:+.1f} %")
PY
done
