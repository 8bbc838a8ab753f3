#!/bin/bash
# Measures the older interfaces: run.sh PREFIX OUT
#
# The same loops by the calls of PVM 3, TCGMSG, p4 and NX, and by Debian's TCGMSG over Open MPI where libglobalarrays-dev is
# installed, in turns, ROUNDS (5) of each. OUT/interfaces.txt has all values; the table has the median of each and its ratios
# to the first column's, with the best in brackets. speed.c says what is measured.
set -u
here=$(cd "$(dirname "$0")" && pwd)
prefix=$(cd "$1" && pwd) && mkdir -p "$2" && out=$(cd "$2" && pwd) || exit 2
rounds=${ROUNDS:-5}
export PVM_TMP=$out/tmp PVM_VMID=interfaces.$$ PVM_ALLOW_ROOT=1 LD_LIBRARY_PATH=$prefix/lib
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
mkdir -p "$PVM_TMP" && chmod 700 "$PVM_TMP"
pvm=$prefix/bin/pvm
build() { # NAME WAY
  cc -O2 -w -D"$2" -I"$prefix/include" -I"$prefix/include/neopvm/$1" -o "$out/speed.$1" "$here/speed.c" -L"$prefix/lib/neopvm/$1" \
    -Wl,-rpath,"$prefix/lib/neopvm/$1" -l"$1" || exit 1
}
cc -O2 -w -DOF_PVM -I"$prefix/include" -o "$out/speed.pvm" "$here/speed.c" -L"$prefix/lib" -lgpvm3 -lpvm3 || exit 1
build tcgmsg OF_TCGMSG
build p4 OF_P4
build nx OF_NX
systems="pvm tcgmsg p4 nx"
if mpicc.openmpi -O2 -w -DOF_TCGMSG -o "$out/speed.mpi" "$here/speed.c" -lga-openmpi -larmci-openmpi -lgfortran -lm 2>/dev/null; then
  systems="$systems mpi"
else
  echo "Debian's TCGMSG over MPI is missing (apt install libglobalarrays-dev libarmci-mpi-dev openmpi-bin)"
fi
run() { # SYSTEM RANKS WHAT
  case $1 in
    pvm) SPEED_RANKS=$2 timeout 60 "$pvm" run --quiet -n "$2" "$out/speed.pvm" "$3" ;;
    mpi) timeout 60 mpirun.openmpi --oversubscribe -n "$2" "$out/speed.mpi" "$3" 2>/dev/null ;;
    *) timeout 60 "$pvm" run --quiet --as "$1" -n "$2" "$out/speed.$1" "$3" ;;
  esac </dev/null | sed "s/^/$1 $2 /"
}
"$pvm" up >/dev/null || exit 1
trap '"$pvm" halt >/dev/null 2>&1' EXIT
: >"$out/interfaces.txt"
for ((round = 0; round < rounds; round++)); do
  for system in $systems; do
    run $system 2 one-way
    run $system 4 together
    case $system in tcgmsg | mpi) for ranks in 1 2 4; do run $system $ranks numbers; done ;; esac
    [ $system != nx ] || run nx 2 handler
  done
done >>"$out/interfaces.txt"
awk '
  { key = $3 " " $2; if (!(key in seen)) { seen[key] = ++keys; names[keys] = key }
    at = ++count[$1, key]; value[$1, key, at] = $4 }
  function median(system, key,   n, i, j, t, v) {
    n = count[system, key]
    for (i = 1; i <= n; i++) v[i] = value[system, key, i]
    for (i = 2; i <= n; i++) for (j = i; j > 1 && v[j] < v[j - 1]; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
    least = v[1]
    return n ? v[int((n + 1) / 2)] : 0
  }
  END {
    split("pvm tcgmsg p4 nx mpi", systems, " ")
    printf "%-22s", "ns: median (best)"
    for (s = 1; s <= 5; s++) printf "%24s", systems[s]
    print ""
    for (k = 1; k <= keys; k++) {
      printf "%-22s", names[k]
      for (s = 1; s <= 5; s++) {
        m = median(systems[s], names[k])
        printf "%24s", m ? sprintf("%.0f (%.0f)", m, least) : "-"
      }
      print ""
    }
  }' "$out/interfaces.txt"
