#!/bin/bash
# Measures tuple spaces beside Redis: run.sh PREFIX OUT
#
# The same loops by neotuple.h and by Redis's lists (Debian's redis-server on a Unix socket, hiredis, no pipelining), in
# turns, ROUNDS (5) of each; speed.c says what each loop does. OUT/tuples.txt has all values, and the table the median
# of each with the best in brackets. Memory, and what an idle space costs, are measured once, of ours alone.
# The same put and take follow from C, Python and Java (both engines; PYTHON names the Python that has the package
# neopvm), JPVM's round trip beside that of org.neopvm, and a durable space beside Redis that syncs always and each second.
# Where hosts can be made (root, xtask/hosts.sh), a put with a copy on a second host follows, beside a message's round
# trip; OUT must not be in /tmp then. PASSES="one memory languages durable two" chooses.
set -u
here=$(cd "$(dirname "$0")" && pwd)
tool=$here/../../xtask/hosts.sh
rounds=${ROUNDS:-5}
# shellcheck source=crates/testbed/testbed.sh
. "$here/../../crates/testbed/testbed.sh"

run() { # SYSTEM WHAT NUMBER [BYTES]
  timeout 120 "$OUT/speed.$1" "${@:2}" | sed "s/^/$1 /"
}

one_round() {
  local system
  for system in $SYSTEMS; do
    run $system pair 50000
    run $system pingpong 20000 100
    run $system pingpong 400 1000000
    run $system bag 100000
    run $system claims 100000
    run $system tuples 100000
    run $system waiters 10000
  done
}

server() { pgrep -n -u "$(id -u)" -x pvmtuples; }

resident() { awk '/^Pss_Anon:/ { print $2 * 1024 }' "/proc/$1/smaps_rollup"; }

ticks() { awk '{ print $14 + $15 }' "/proc/$1/stat"; }

# Bytes of the server's own memory for each tuple of 100 and of 10 000 bytes, beside those of the tuple.
memory() { # COUNT BYTES
  local before after
  coproc FILL { "$OUT/speed.space" fill "$1" "$2"; }
  read -r _ <&"${FILL[0]}"
  before=$(resident "$(server)")
  echo >&"${FILL[1]}"
  read -r _ <&"${FILL[0]}"
  after=$(resident "$(server)")
  echo "space memory-of-$2 $(((after - before) / $1))"
  exec {FILL[1]}>&-
  wait "$FILL_PID"
}

# Ticks of the processor that the server of an idle space uses in ten seconds.
idle() {
  local before
  "$PREFIX/bin/pvm" space create speed && "$PREFIX/bin/pvm" out speed here 1
  before=$(ticks "$(server)")
  sleep 10
  echo "space idle-ticks $(($(ticks "$(server)") - before))"
}

on_one_host() {
  local round redis socket=$OUT/redis.sock
  SYSTEMS=space
  if redis=$(command -v redis-server) && [ -x "$OUT/speed.redis" ]; then
    "$redis" --port 0 --unixsocket "$socket" --save "" --maxclients 20000 --dir "$OUT" >/dev/null &
    redis=$!
    # The server is ended with this part, however it ends; `redis` is not set any more then.
    # shellcheck disable=SC2064
    trap "kill $redis 2>/dev/null" EXIT
    export REDIS_SOCKET=$socket
    until [ -S "$socket" ]; do sleep 0.05; done
    SYSTEMS="space redis"
  else
    echo "Redis is missing (apt install redis-server libhiredis-dev)"
  fi
  for ((round = 0; round < rounds; round++)); do one_round; done >>"$OUT/tuples.txt"
}

# A put and its take from each language, in turns with those from C.
languages() {
  local round java jar=$PREFIX/share/java/neopvm.jar python=${PYTHON:-python3}
  # shellcheck source=bindings/java/jdks.sh
  . "$here/../../bindings/java/jdks.sh"
  [ ! -f "$jar" ] || "$newest/bin/javac" --release 17 -nowarn -cp "$jar" -d "$OUT" "$here/Pair.java" "$here/Echo.java"
  for ((round = 0; round < rounds; round++)); do
    run space pair 50000
    "$python" -c 'import neopvm' 2>/dev/null && "$python" "$here/pair.py" 50000 | sed 's/^/space /'
    [ -f "$jar" ] || continue
    [ "$newest_version" -lt 22 ] ||
      "$newest/bin/java" --enable-native-access=ALL-UNNAMED -cp "$jar:$OUT" Pair pair-of-java 300000 | sed 's/^/space /'
    "$oldest/bin/java" -Dpvm.engine=wire -cp "$jar:$OUT" Pair pair-of-wire-java 5000 | sed 's/^/space /'
  done >>"$OUT/tuples.txt"
  [ ! -f "$jar" ] || [ "$newest_version" -lt 22 ] ||
    "$newest/bin/java" --enable-native-access=ALL-UNNAMED -cp "$jar:$OUT" Echo 10000
  [ ! -f "$jar" ] || "$oldest/bin/java" -Dpvm.engine=wire -cp "$jar:$OUT" Echo 1000
}

# A durable space beside Redis with its own log.
durable() {
  local round mode what count options pids=()
  [ -x "$OUT/speed.redis" ] && command -v redis-server >/dev/null || return
  mkdir -p "$OUT/durable"
  for mode in always everysec; do
    redis-server --port 0 --unixsocket "$OUT/$mode.sock" --save "" --appendonly yes --appendfsync $mode --dir "$OUT" \
      --appenddirname $mode >/dev/null &
    pids+=($!)
    until [ -S "$OUT/$mode.sock" ]; do sleep 0.05; done
  done
  # shellcheck disable=SC2064 # these servers
  trap "kill ${pids[*]} 2>/dev/null" EXIT
  for ((round = 0; round < rounds; round++)); do
    for mode in always everysec; do
      # The loss windows of both are equal.
      options=() count=1
      [ $mode = always ] || { options=(--sync-every 1) count=20; }
      "$PREFIX/bin/pvm" space create speed --durable "$OUT/durable" "${options[@]}"
      for what in "pair $((500 * count))" "bag $((4000 * count))"; do
        # shellcheck disable=SC2086 # two words
        run space $what | awk -v mode=$mode '{ print $1, $2 "-" mode, $3 }'
        # shellcheck disable=SC2086
        REDIS_SOCKET=$OUT/$mode.sock run redis $what | awk -v mode=$mode '{ print $1, $2 "-" mode, $3 }'
      done
      "$PREFIX/bin/pvm" space delete speed
    done
  done >>"$OUT/tuples.txt"
}

build() {
  ${CC:-cc} -O2 -Wall -DOF_SPACE -I"$PREFIX/include" -o "$OUT/speed.space" "$here/speed.c" \
    -L"$PREFIX/lib" -Wl,-rpath,"$PREFIX/lib" -lpvm3 -lpthread || exit 1
  rm -f "$OUT/speed.redis"
  ${CC:-cc} -O2 -Wall -DOF_REDIS -o "$OUT/speed.redis" "$here/speed.c" -lhiredis -lpthread 2>/dev/null
}

# Ranks that send messages to each other, for the comparison between two hosts.
build_messages() {
  local folder=$here/../interfaces
  ${CC:-cc} -O2 -w -I"$PREFIX/include" -o "$OUT/speed.pvm" "$folder/speed.c" "$folder/tasks.c" "$folder/pvm.c" \
    -L"$PREFIX/lib" -Wl,-rpath,"$PREFIX/lib" -lgpvm3 -lpvm3
}

# Within the hosts' script: two hosts, a space with a copy on the other one.
if [ "${PASS:-}" = two ]; then
  bash "$tool" env PVM_TMP=/tmp PVM_ALLOW_ROOT=1 PATH="$PREFIX/bin:$PATH" LD_LIBRARY_PATH="$PREFIX/lib"
  bash "$tool" on h1 sh -c 'pvm up && pvm add h2 && pvm space create speed --copies 1' >/dev/null || exit 1
  for ((round = 0; round < rounds; round++)); do
    bash "$tool" on h1 "$OUT/speed.space" out 2000 | sed 's/^/copy /'
    bash "$tool" on h1 pvm run --quiet --env SPEED_RANKS=2 -n 2 "$OUT/speed.pvm" one-way </dev/null |
      awk '$1 == "one-way-8" { print "message round-trip", 2 * $3; exit }'
  done >>"$OUT/tuples.txt"
  bash "$tool" on h1 pvm halt >/dev/null 2>&1
  exit
fi

prefix=$(cd "$1" && pwd) && mkdir -p "$2" && out=$(cd "$2" && pwd) || exit 2
export PREFIX=$prefix OUT=$out
build
: >"$OUT/tuples.txt"
passes=${PASSES:-one memory languages durable two}
on_a_machine() { # PASS COMMAND...
  [[ " $passes " == *" $1 "* ]] || return
  (
    testbed_up 1 --prefix "$PREFIX" --home callers
    export LD_LIBRARY_PATH=$PREFIX/lib
    "${@:2}"
    testbed down
  )
}
on_a_machine one on_one_host
# Each with a server of its own: what another one has freed would count as nothing.
on_a_machine memory memory 100000 100 >>"$OUT/tuples.txt"
on_a_machine memory memory 10000 10000 >>"$OUT/tuples.txt"
on_a_machine memory idle >>"$OUT/tuples.txt"
on_a_machine languages languages
on_a_machine durable durable
if [[ " $passes " == *" two "* ]]; then
  (
    build_messages || exit
    testbed_hosts 2
    PASS=two bash "$here/run.sh"
    testbed down
  )
fi
awk '
  { key = $2; if (!(key in seen)) { seen[key] = ++keys; names[keys] = key }
    row = $1 == "redis" ? "redis" : "space"; at = ++count[row, key]; value[row, key, at] = $3 }
  function median(row, key,   n, i, j, t, v) {
    n = count[row, key]
    for (i = 1; i <= n; i++) v[i] = value[row, key, i]
    for (i = 2; i <= n; i++) for (j = i; j > 1 && v[j] < v[j - 1]; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
    least = v[1]
    return n ? v[int((n + 1) / 2)] : 0
  }
  END {
    printf "%-24s%24s%24s%10s\n", "ns: median (best)", "space", "redis", "ratio"
    for (k = 1; k <= keys; k++) {
      own = median("space", names[k]); best = least
      other = median("redis", names[k])
      printf "%-24s%24s", names[k], sprintf("%.0f (%.0f)", own, best)
      if (other) printf "%24s%10.2f", sprintf("%.0f (%.0f)", other, least), other / own
      print ""
    }
  }' "$OUT/tuples.txt"
