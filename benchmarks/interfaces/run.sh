#!/bin/bash
# Measures the older interfaces: run.sh PREFIX OUT
#
# A program of each interface (TCGMSG, p4, NX, PVM 2.4 with vsnd and with snd, and plain tasks) runs the same loops by its
# own calls and by those of PVM 3 and neopvm.h, batch by batch in the same processes, so that both meet the same cores at
# the same distance and the same other work. Debian's TCGMSG over Open MPI, where libglobalarrays-dev is installed, runs in
# turns with them. ROUNDS (5) of each. Where hosts can be made (root, xtask/hosts.sh), messages and numbers between two
# hosts follow, and jobs of 64 ranks on four. PASSES="one two four" chooses; BUILT=1 takes the programs that an earlier
# run has left in OUT, which the hosts must see: they have a /tmp of their own. OUT/interfaces.txt has all values; of the
# tables, the first has nanoseconds: the median of the rounds, and the best. The second one has how many times as long an
# interface takes as the machine's own calls beside it: the median of the rounds, least and most. speed.c says what is
# measured. Programs that fail or take longer than LIMIT seconds (60; between hosts 300) are
# named, and the status is 1 then.
set -u -o pipefail
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
here=$(cd "$(dirname "$0")" && pwd)
tool=$here/../../xtask/hosts.sh
rounds=${ROUNDS:-5}
limit=${LIMIT:-60}
# shellcheck source=crates/testbed/testbed.sh
. "$here/../../crates/testbed/testbed.sh"

build() { # NAME SOURCE FOLDER LIBRARY [FLAG]
  ${CC:-cc} -O2 -Wall -Wextra ${5:-} -I"$PREFIX/include" -I"$PREFIX/include/neopvm/$3" -o "$OUT/speed.$1" \
    "$here/speed.c" "$here/$2.c" "$here/pvm.c" -L"$PREFIX/lib/neopvm/$3" -Wl,-rpath,"$PREFIX/lib/neopvm/$3" \
    -L"$PREFIX/lib" -Wl,-rpath,"$PREFIX/lib" -l"$4" -lgpvm3 -lpvm3 || exit 1
}

build_all() {
  SYSTEMS="tasks vsnd snd tcgmsg p4 nx"
  if [ -n "${BUILT:-}" ]; then
    [ ! -x "$OUT/speed.mpi" ] || SYSTEMS="$SYSTEMS mpi"
    return
  fi
  build tasks tasks . pvm3
  build tcgmsg tcgmsg tcgmsg tcgmsg
  build p4 p4 p4 p4
  build nx nx nx nx
  build vsnd pvm2 pvm2 pvm
  build snd pvm2 pvm2 pvm -DOF_SND
  if mpicc.openmpi -O2 -w -o "$OUT/speed.mpi" "$here/speed.c" "$here/tcgmsg.c" "$here/alone.c" -lga-openmpi \
    -larmci-openmpi -lgfortran -lm 2>/dev/null; then
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
  if ! case $1 in
    vsnd | snd) timeout $limit $PVM run --quiet $([ "$PASS" = one ] || echo --host h1 --env SPEED_HOST=h2) "$OUT/speed.$1" "$3" ;;
    tasks) timeout $limit $PVM run --quiet --env SPEED_RANKS="$2" -n "$2" "$OUT/speed.$1" "$3" ;;
    mpi) timeout $limit mpirun.openmpi --oversubscribe -n "$2" "$OUT/speed.mpi" "$3" 2>/dev/null ;;
    *) timeout $limit $PVM run --quiet --as "$1" ${hosts:--n $2} "$OUT/speed.$1" "$3" ;;
  esac </dev/null | sed "s/^/$PASS $1 $2 /"; then
    echo "failed: $PASS $1 with $2 ranks: $3" | tee -a "$OUT/failed" >&2
    return 1
  fi
}

on_one_host() {
  local system ranks
  for system in $SYSTEMS; do
    run $system 2 one-way
    case $system in
      vsnd | snd) continue ;;
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
  for system in tasks vsnd snd tcgmsg p4 nx; do run $system 2 one-way; done
  run tcgmsg 2 numbers
}

# A job of many ranks from its start to its end, with one barrier.
jobs() {
  local system begin took
  for system in tasks tcgmsg p4 nx; do
    begin=$(date +%s%N)
    run $system 64 meet || continue
    took=$(($(date +%s%N) - begin))
    echo "$PASS $system 64 job own $took $took 0"
  done
}

# Within the hosts' script: a machine of N hosts, and what is measured there.
if [ -n "${PASS:-}" ] && [ "$PASS" != one ]; then
  bash "$tool" env PVM_TMP=/tmp PVM_ALLOW_ROOT=1 PATH="$PREFIX/bin:$PATH" LD_LIBRARY_PATH="$PREFIX/lib"
  # shellcheck disable=SC2016
  bash "$tool" on h1 sh -c 'pvm up && pvm add "$@"' sh $(seq -f h%g 2 "$HOSTS") >/dev/null || exit 1
  PVM="bash $tool on h1 pvm"
  limit=${LIMIT:-300}
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
rm -f "$OUT/failed"
passes=${PASSES:-one two four}
case "$OUT/ $passes" in
  /tmp/*two* | /tmp/*four*)
    echo "$OUT: hosts have a /tmp of their own and do not see it; name another folder, or PASSES=one" >&2
    exit 2
    ;;
esac
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
    column = $5 == "own" ? $2 : $2 "/" $5
    if (!(column in known)) { known[column] = ++columns; heads[columns] = column }
    if (column ~ /\//) has_ratio[key] = 1
    at = ++count[column, key]; median_of[column, key, at] = $6; best_of[column, key, at] = $7; ratio_of[column, key, at] = $8 }
  function sorted(values, column, key,   n, i, j, t) {
    n = count[column, key]
    for (i = 1; i <= n; i++) v[i] = values[column, key, i]
    for (i = 2; i <= n; i++) for (j = i; j > 1 && v[j] < v[j - 1]; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
    return n
  }
  function table(title, is_ratio,   k, c, n, m, text) {
    printf "%-24s", title
    for (c = 1; c <= columns; c++) if (!is_ratio || heads[c] ~ /\//) printf " %21s", heads[c]
    print ""
    for (k = 1; k <= keys; k++) {
      if (is_ratio && !has_ratio[names[k]]) continue
      printf "%-24s", names[k]
      for (c = 1; c <= columns; c++) {
        if (is_ratio && heads[c] !~ /\//) continue
        text = "-"
        if (is_ratio && (n = sorted(ratio_of, heads[c], names[k]))) text = sprintf("%.2f (%.2f-%.2f)", v[int((n + 1) / 2)], v[1], v[n])
        if (!is_ratio && (n = sorted(median_of, heads[c], names[k]))) {
          m = v[int((n + 1) / 2)]
          sorted(best_of, heads[c], names[k])
          text = sprintf("%.0f (%.0f)", m, v[1])
        }
        printf " %21s", text
      }
      print ""
    }
  }
  END { table("ns: median (best)", 0); print ""; table("own calls / these", 1) }' "$OUT/interfaces.txt"
[ ! -e "$OUT/failed" ]
