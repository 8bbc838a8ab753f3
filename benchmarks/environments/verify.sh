#!/bin/bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# verify.sh PREFIX OUT [RUN...]: runs every primitive and application on every system with 1, 2 and 4 tasks (and 3, for what takes any
# number), in small sizes. The programs compare what comes with what should; here the bits of the results of all systems,
# partitions and numbers of tasks are compared with those of one task alone. A system that is not installed is a failure;
# SYSTEMS="express pvm" asks for some of them only. A RUN that failed is named in the last lines; all are run again with it, as
# their results are compared.
set -u
. "$(dirname "$0")/systems.sh"
# shellcheck source=xtask/failed.sh
. "$here/../../xtask/failed.sh"
build_all "$1" "$2"
start_machine
failures=$missing runs=0

fail() {
  echo "FAIL $*"
  failures=$((failures + 1))
}

# expect STATUS SYSTEM PROGRAM TASKS ARGUMENT...
expect() {
  local wanted=$1 status
  shift
  runs=$((runs + 1))
  run_one "$@" >"$OUT/said" 2>"$OUT/errors"
  status=$?
  cat "$OUT/said" >>"$OUT/verified"
  if [ "$wanted" = 0 ] && [ "$status" != 0 ] || [ "$wanted" != 0 ] && [ "$status" = 0 ]; then
    echo "FAIL $*: status $status"
    has_failed "$1 $2 $3"
    tail -n 3 "$OUT/said" "$OUT/errors"
  fi
}

primitives="echo 0 4 100 4000 exchange 0 4 100 4000 broadcast 4 100 4000 ring 0 4 100 4000 complete 4 100 4000
  sum 1 4 16 26 multiply 1 4 16 26 and 1 4 16 26"
gauss="rows 12 60 columns 12 60 scattered 12 60"

: >"$OUT/verified"
for system in "${systems[@]}"; do
  for tasks in 1 2 3 4; do
    # shellcheck disable=SC2086
    expect 0 "$system" primitives $tasks 1 20 0.001 $primitives
    # shellcheck disable=SC2086
    expect 0 "$system" applications $tasks 1 $gauss nbody 96
  done
  expect 2 "$system" primitives 2 1 20 0.001 ring 6
  expect 2 "$system" primitives 2 1 20 much ring 4
  expect 2 "$system" applications 2 1 nbody 95
  expect 2 "$system" applications 2 1 diagonals 60
done

# One line for each problem, whichever system, partition and number of tasks.
bits=$(awk '$1 == "bits" { sub("rows|columns|scattered", "gauss", $2); print $2, $4, $5 }' "$OUT/verified" | sort -u)
[ "$(echo "$bits" | wc -l)" -le 3 ] || fail "results differ in their bits:
$bits"
# A run that failed tells less.
if [ ${#failed_tests[@]} -eq 0 ]; then
  wanted=$((${#systems[@]} * 4 * 7))
  [ "$(grep -c '^bits' "$OUT/verified")" = "$wanted" ] || fail "not all applications told their bits"
  wanted=$((${#systems[@]} * 4 * 30))
  [ "$(grep -c '^primitive' "$OUT/verified")" = "$wanted" ] || fail "not all primitives told their times"
fi
echo "${systems[*]}: $runs runs, $((failures + ${#failed_tests[@]})) failures"
tell_failed "$failures"
[ $((failures + ${#failed_tests[@]})) = 0 ]
