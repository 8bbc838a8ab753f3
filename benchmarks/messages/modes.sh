#!/bin/bash
# Does a test of small messages stay fast? modes.sh PREFIX OUT
#
# Runs modes.c on NeoPVM and, if it is installed, Open MPI, in turns: left alone, disturbed (a task stopped, a burst of another program),
# and beside a program that does nothing but compute. Prints for each the median and the worst of all runs. RUNS, SECONDS_EACH
# and CASES may be set. Nothing else should run meanwhile.
set -u
here=$(cd "$(dirname "$0")" && pwd)
prefix=$(cd "$1" && pwd) && mkdir -p "$2" && out=$(cd "$2" && pwd) || exit 2
runs=${RUNS:-20} seconds=${SECONDS_EACH:-0.3}
cases=${CASES:-stream pingpong barrier broadcast fifty sum pairs}

${CC:-cc} -O2 -DNEOPVM -I"$prefix/include" -o "$out/modes-neopvm" "$here/modes.c" "$here/../compare/calls_pvm.c" \
  -L"$prefix/lib" -Wl,-rpath,"$prefix/lib" -lpvm3 || exit
systems=neopvm
if command -v mpicc.openmpi >/dev/null; then
  mpicc.openmpi -O2 -o "$out/modes-openmpi" "$here/modes.c" "$here/../compare/calls_mpi.c" && systems="neopvm openmpi"
fi
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

export MACHINE_HERE=1 # one session, as a user's and as mpirun's
. "$here/../../conformance/machine.sh"
machine_init ours "$prefix"
busy=
# shellcheck disable=SC2154
trap 'kill $busy 2>/dev/null; machine_end' EXIT
machine_start || exit 1

measure() {
  case $2 in stream | pingpong) tasks=2 ;; pairs) tasks=8 ;; *) tasks=4 ;; esac
  case $1 in
    neopvm) machine_run 30 "$out/modes-neopvm" "$2" "$seconds" "$3" ;;
    openmpi) timeout 30 mpirun.openmpi --oversubscribe -n $tasks "$out/modes-openmpi" "$2" "$seconds" "$3" ;;
  esac
}

# The median and the worst of each column.
table() {
  awk -F'\t' 'NF == 8 { n++; for (i = 1; i <= 8; i++) v[i, n] = $i + 0 }
    END {
      for (i = 1; i <= 8; i++) {
        for (a = 2; a <= n; a++) { x = v[i, a]; for (b = a - 1; b > 0 && v[i, b] > x; b--) v[i, b + 1] = v[i, b]; v[i, b + 1] = x }
        printf "\t%.4g / %.4g", v[i, int((n + 1) / 2)], v[i, n]
      }
      print ""
    }' "$1"
}

printf 'case\thow\tsystem\tmedian us\tslowest tenth us\tmean us\tfirst ms\tback ms\tsleeps\tswitches\ttogether\n' | tee "$out/modes.txt"
for how in none stop burst busy; do
  [ $how != busy ] || { (while :; do :; done) & busy=$!; }
  for case in $cases; do
    for system in $systems; do : >"$out/modes-$case-$how-$system.tsv"; done
    for ((i = 0; i < runs; i++)); do
      for system in $systems; do
        measure $system "$case" "${how/busy/none}" >>"$out/modes-$case-$how-$system.tsv"
      done
    done
    for system in $systems; do
      printf '%s\t%s\t%s' "$case" $how $system
      table "$out/modes-$case-$how-$system.tsv"
    done | tee -a "$out/modes.txt"
  done
done
