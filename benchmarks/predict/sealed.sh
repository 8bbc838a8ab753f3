#!/bin/bash
# sealed.sh PREFIX ROUND RUNS RATE... : a whole round of sealed predictions (root, a computer with nothing else to do).
#
# Seals (seal.sh), commits ROUND, and only then makes and scores the runs at each RATE in Mb/s (round.sh). A ROUND that is
# there already is refused: its seals would be new ones. PROGRAMS ("ep is cg mg"), TIMES (9) and PREDICTOR (the `pvm` that
# predicts, that of PREFIX) are taken from the environment. Four programs, nine runs and two rates take some six minutes.
# The rows for doc/prediction.md are in ROUND/rows.txt afterwards; commit ROUND again with them.
set -eu
prefix=$1 round=$2 runs=$3
here=$(cd "$(dirname "$0")" && pwd)
programs=${PROGRAMS:-ep is cg mg}
[ ! -e "$round" ] || { echo "sealed.sh: $round is there already; a round is sealed once" >&2; exit 2; }
mkdir -p "$round"
round=$(realpath "$round")
bash "$here/seal.sh" "$prefix" "$round" "${@:4}"
git -C "$round" add -- "$round"/*.trace "$round"/*.seal "$round"/*.toml "$round/echo.json" "$round/load"
git -C "$round" commit -qm "Round $(basename "$round") of predictions is sealed" -- "$round"
git -C "$round" log -1 --format='sealed by %h at %cI'
for rate in "${@:4}"; do
  # shellcheck disable=SC2086
  bash "$here/round.sh" "$prefix" "$round" "$rate" "$runs" $programs
done
rm -rf "$round/build"
cat "$round/rows.txt"
# The model of the thesis beside ours, and what each of our corrections buys.
python3 "$here/steps.py" "${PREDICTOR:-$prefix/bin/pvm}" "$round" "${@:4}" | tee "$round/steps.txt"
