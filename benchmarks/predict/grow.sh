#!/bin/bash
# grow.sh PREFIX OUT [PROGRAM...]: are 16 tasks what recordings of 2, 4 and 8 tell? (root)
#
# Records each NAS program of class S on this computer, with tasks that take turns (--alone), three times with each
# number of tasks, and keeps the recording whose timed section is the median. Then `pvm predict --tasks 16` is compared
# with the prediction of the recording of 16 tasks, on each of NETWORKS ("tbf-10 tbf-100 switch-1000"): a line each.
# PREDICTOR is the `pvm` that predicts (that of PREFIX). It takes a minute.
set -eu
prefix=$(realpath "$1") out=$2
here=$(cd "$(dirname "$0")" && pwd)
programs=${*:3}
programs=${programs:-ep is cg mg ft}
pvm=$prefix/bin/pvm
predictor=${PREDICTOR:-$pvm}
mkdir -p "$out"
out=$(realpath "$out")
make -s -C "$here/../nas" PVM_HOME="$prefix" BUILD="$out/build"
place=$(mktemp -d /tmp/grow.XXXXXX)
trap 'rm -rf "$place"' EXIT
for program in $programs; do
  for tasks in 2 4 8 16; do
    for time in 1 2 3; do
      env -u PVM_VMID HOME="$place" PVM_TMP="$place" PVM_ROOT="$prefix" PVM_ALLOW_ROOT=1 PATH="$prefix/bin:$PATH" \
        chrt -r 1 timeout 120 "$pvm" run --quiet --trace "$place/$program-$tasks.$time.trace" --alone \
        "$out/build/nas-$program" S "$tasks" --json >/dev/null 2>"$place/said" || { cat "$place/said"; exit 1; }
    done
    kept=$(python3 "$here/median.py" "$predictor" switch-1000 "$place/$program-$tasks".*.trace)
    cp "$kept" "$out/$program-$tasks.trace"
  done
  for network in ${NETWORKS:-tbf-10 tbf-100 switch-1000}; do
    (cd "$out" && "$predictor" predict "$program"-{2,4,8}.trace --tasks 16 --network "$network" --json >grown.json 2>/dev/null
      "$predictor" predict "$program-16.trace" --network "$network" --json >whole.json 2>/dev/null)
    python3 - "$program" "$network" "$out/grown.json" "$out/whole.json" <<'END'
import json, sys
grown, whole = ({one["name"]: one for one in json.load(open(file))["sections"]}["timed"] for file in sys.argv[3:5])
error = 100 * (grown["seconds"] / whole["seconds"] - 1)
print("| %s | %s | %.4f | %.4f | %+.1f %% |" % (sys.argv[1].upper(), sys.argv[2], grown["seconds"], whole["seconds"], error))
END
  done
done
rm -f "$out/grown.json" "$out/whole.json"
