#!/bin/bash
# Measures the older interfaces: run.sh PREFIX OUT
#
# The same loops by the calls of PVM 3 (pvm; default: in PvmDataDefault, the one encoding of PVM 2.4; daemons: with
# PvmDontRoute, too), neopvm.h (items), PVM 2.4 (vsnd and snd), TCGMSG, p4 and NX, and by Debian's TCGMSG over Open MPI
# where libglobalarrays-dev is installed, in turns, ROUNDS (5) of each. Where hosts can be made (root, xtask/hosts.sh),
# messages and numbers between two hosts follow, and jobs of 64 ranks on four. PASSES="one two four" chooses.
# OUT/interfaces.txt has all values; the tables have the median of each, with the best in brackets. speed.c says what is
# measured.
set -u
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
here=$(cd "$(dirname "$0")" && pwd)
tool=$here/../../xtask/hosts.sh
rounds=${ROUNDS:-5}
# shellcheck source=crates/testbed/testbed.sh
. "$here/../../crates/testbed/testbed.sh"

build() { # NAME WAY [FOLDER LIBRARY]
  local folder=${3:-$1}
  ${CC:-cc} -O2 -w -D"$2" -I"$PREFIX/include" -I"$PREFIX/include/neopvm/$folder" -o "$OUT/speed.$1" "$here/speed.c" \
    -L"$PREFIX/lib/neopvm/$folder" -Wl,-rpath,"$PREFIX/lib/neopvm/$folder" -l"${4:-$1}" || exit 1
}

build_all() {
  local system
  for system in pvm default daemons items any; do
    ${CC:-cc} -O2 -w -DOF_${system^^} $([ $system != any ] || echo -DOF_ITEMS) -I"$PREFIX/include" -o "$OUT/speed.$system" "$here/speed.c" \
      -L"$PREFIX/lib" -Wl,-rpath,"$PREFIX/lib" -lgpvm3 -lpvm3 || exit 1
  done
  build tcgmsg OF_TCGMSG
  build p4 OF_P4
  build nx OF_NX
  build vsnd OF_VSND pvm2 pvm
  build snd OF_SND pvm2 pvm
  SYSTEMS="pvm default daemons items any vsnd snd tcgmsg p4 nx"
  if mpicc.openmpi -O2 -w -DOF_TCGMSG -o "$OUT/speed.mpi" "$here/speed.c" -lga-openmpi -larmci-openmpi -lgfortran -lm 2>/dev/null; then
    SYSTEMS="$SYSTEMS mpi"
  else
    echo "Debian's TCGMSG over MPI is missing (apt install libglobalarrays-dev libarmci-mpi-dev openmpi-bin)"
  fi
}

# Ranks of p4 are on one host unless a file spreads them.
procgroup() { # RANKS
  local host each=$(($1 / HOSTS))
  echo "local $((each - 1))"
  for ((host = 2; host <= HOSTS; host++)); do echo "h$host $each $OUT/speed.p4"; done
}

run() { # SYSTEM RANKS WHAT
  local hosts=
  if [ "$1" = p4 ] && [ "$PASS" != one ]; then
    procgroup "$2" >"$OUT/procgroup"
    hosts="--hosts $OUT/procgroup"
  fi
  # shellcheck disable=SC2086
  case $1 in
    vsnd | snd) timeout 60 $PVM run --quiet $([ "$PASS" = one ] || echo --env SPEED_HOST=h2) "$OUT/speed.$1" "$3" ;;
    pvm | default | daemons | items | any) timeout 60 $PVM run --quiet --env SPEED_RANKS="$2" -n "$2" "$OUT/speed.$1" "$3" ;;
    mpi) timeout 60 mpirun.openmpi --oversubscribe -n "$2" "$OUT/speed.mpi" "$3" 2>/dev/null ;;
    *) timeout 60 $PVM run --quiet --as "$1" ${hosts:--n $2} "$OUT/speed.$1" "$3" ;;
  esac </dev/null | sed "s/^/$PASS $1 $2 /"
}

on_one_host() {
  local system ranks
  for system in $SYSTEMS; do
    run $system 2 one-way
    case $system in
      default | daemons | items | any | vsnd | snd) continue ;;
    esac
    run $system 4 together
    case $system in
      tcgmsg | mpi) for ranks in 1 2 4; do run $system $ranks numbers; done ;;
      nx) run nx 2 handler ;;
      p4) run p4 1 locks ;;
    esac
  done
}

on_two_hosts() {
  local system
  for system in pvm default daemons items vsnd snd tcgmsg p4 nx; do run $system 2 one-way; done
  run tcgmsg 2 numbers
}

# A job of many ranks from its start to its end, with one barrier.
jobs() {
  local system begin
  for system in pvm tcgmsg p4 nx; do
    begin=$(date +%s%N)
    run $system 64 meet
    echo "$PASS $system 64 job $(($(date +%s%N) - begin))"
  done
}

# Within the hosts' script: a machine of N hosts, and what is measured there.
if [ -n "${PASS:-}" ] && [ "$PASS" != one ]; then
  bash "$tool" env PVM_TMP=/tmp PVM_ALLOW_ROOT=1 PATH="$PREFIX/bin:$PATH" LD_LIBRARY_PATH="$PREFIX/lib"
  # shellcheck disable=SC2016
  bash "$tool" on h1 sh -c 'pvm up && pvm add "$@"' sh $(seq -f h%g 2 "$HOSTS") >/dev/null || exit 1
  PVM="bash $tool on h1 pvm"
  for ((round = 0; round < rounds; round++)); do
    if [ "$PASS" = two ]; then on_two_hosts; else jobs; fi
  done >>"$OUT/interfaces.txt"
  bash "$tool" on h1 pvm halt >/dev/null 2>&1
  exit
fi

prefix=$(cd "$1" && pwd) && mkdir -p "$2" && out=$(cd "$2" && pwd) || exit 2
export PREFIX=$prefix OUT=$out
build_all
: >"$OUT/interfaces.txt"
passes=${PASSES:-one two four}
if [[ " $passes " == *" one "* ]]; then
  (
    testbed_up 1 --prefix "$PREFIX" --home callers
    export LD_LIBRARY_PATH=$PREFIX/lib PASS=one
    PVM=$PREFIX/bin/pvm
    for ((round = 0; round < rounds; round++)); do on_one_host; done >>"$OUT/interfaces.txt"
    testbed down
  )
fi
on_hosts() { # PASS HOSTS
  [[ " $passes " == *" $1 "* ]] || return
  (
    testbed_hosts "$2"
    PASS=$1 HOSTS=$2 bash "$here/run.sh"
    testbed down
  )
}
on_hosts two 2
on_hosts four 4
awk '
  { key = $1 " " $4 " " $3; if (!(key in seen)) { seen[key] = ++keys; names[keys] = key }
    at = ++count[$2, key]; value[$2, key, at] = $5 }
  function median(row, key,   n, i, j, t, v) {
    n = count[row, key]
    for (i = 1; i <= n; i++) v[i] = value[row, key, i]
    for (i = 2; i <= n; i++) for (j = i; j > 1 && v[j] < v[j - 1]; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
    least = v[1]
    return n ? v[int((n + 1) / 2)] : 0
  }
  END {
    n = split("pvm default daemons items any vsnd snd tcgmsg p4 nx mpi", rows, " ")
    printf "%-24s", "ns: median (best)"
    for (s = 1; s <= n; s++) printf "%18s", rows[s]
    print ""
    for (k = 1; k <= keys; k++) {
      printf "%-24s", names[k]
      for (s = 1; s <= n; s++) {
        m = median(rows[s], names[k])
        printf "%18s", m ? sprintf("%.0f (%.0f)", m, least) : "-"
      }
      print ""
    }
  }' "$OUT/interfaces.txt"
