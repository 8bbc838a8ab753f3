#!/bin/bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# run.sh PREFIX OUT: measures the primitives and applications over NX, Express and PVM, and writes the tables of the
# comparison of 1997 again, beside what was printed: OUT/tables.md to read, OUT/tables.csv with a line for each printed value.
#
# The systems take turns, round after round, so that a busy moment of the computer hits all of them; what is told is the median
# of all values. ROUNDS (3), TASKS of the applications (1 to 32), ORDERS and BODIES may be set; QUICK=1 measures little.
set -u
. "$(dirname "$0")/systems.sh"
build_all "$1" "$2"
start_machine
if [ -n "${QUICK:-}" ]; then
  : "${ROUNDS:=1}" "${TASKS:=1 2}" "${ORDERS:=256}" "${BODIES:=512 1024}" "${SECONDS_EACH:=0.01}"
fi
rounds=${ROUNDS:-3} tasks=${TASKS:-1 2 4 8 16 32} seconds=${SECONDS_EACH:-0.03}
orders=${ORDERS:-256 384 512 640 768} bodies=${BODIES:-512 1024 2048 4096 8192 16384}
crowds=$(for n in $tasks; do [ "$n" -ge 4 ] && echo "$n"; done)
words="1 2 4 16 26" patterns="4 100 200 600 1000 4000 8000 16000"

: >"$OUT/told"
measure() {
  local system=$1
  run_one "$@" >"$OUT/said" || {
    echo "failed: $*" >&2
    exit 1
  }
  sed "s/^/$system /" "$OUT/said" >>"$OUT/told"
}

measure_all() {
  local system=$1 n
  local few="3 1000 $seconds"
  # shellcheck disable=SC2086
  measure "$system" primitives 2 $few echo 0 4 100 200 1000 16000
  # shellcheck disable=SC2086
  measure "$system" primitives 4 $few exchange 0 $patterns broadcast $patterns ring 0 $patterns complete $patterns \
    sum $words multiply $words and $words
  for n in $crowds; do
    # shellcheck disable=SC2086
    [ "$n" = 4 ] || measure "$system" primitives "$n" $few sum $words
  done
  for n in $tasks; do
    # shellcheck disable=SC2086
    LIMIT=300 measure "$system" applications "$n" 2 rows $orders columns $orders scattered $orders nbody $bodies
  done
}

for ((round = 1; round <= rounds; round++)); do
  for system in "${systems[@]}"; do
    echo "round $round of $rounds: $system" >&2
    measure_all "$system"
  done
done
# The results of all runs have the same bits.
awk '$2 == "bits" { sub("rows|columns|scattered", "gauss", $3); print $3, $5, $6 }' "$OUT/told" | sort -u >"$OUT/bits"
[ "$(wc -l <"$OUT/bits")" = "$(cut -d' ' -f1,2 "$OUT/bits" | sort -u | wc -l)" ] || {
  echo "results differ in their bits: $OUT/bits" >&2
  exit 1
}
python3 "$here/table.py" "$OUT/told" "$here/../seeds/express-pvm-1997.csv" "$OUT"
echo "$OUT/tables.md and $OUT/tables.csv"
