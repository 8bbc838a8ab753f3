#!/bin/bash
# Measures the order beside bulk on slow cables: cables.sh PREFIX OUT
#
# Three hosts of `testbed hosts`, as root. Every cable is shaped both ways to RATE, with a queue of QUEUE bytes in
# front of it. On each host a task puts empty named messages, one after the other, while three of the six ways are
# filled with messages of BYTES by the daemons ("bulk"), or by direct routes ("direct"). Printed for each rate and
# kind: how many puts were answered in SECONDS_EACH, their median, 99th percentile and longest time in ms, and the
# kilobytes a second of the three ways. RATES, KINDS, QUEUE, BYTES and SECONDS_EACH may be set; the lines go to
# OUT/cables.txt, too. With SOCKETS=1 OUT/sockets.txt gets what the kernel tells of connections, twice a second.
set -u
here=$(cd "$(dirname "$0")" && pwd)
tool=$here/../../xtask/hosts.sh
# shellcheck source=crates/testbed/testbed.sh
. "$here/../../crates/testbed/testbed.sh"
rates=${RATES:-1mbit 10mbit 100mbit} kinds=${KINDS:-alone bulk direct}
queue=${QUEUE:-256kb} seconds=${SECONDS_EACH:-20} bytes=${BYTES:-32768}

if [ -z "${CABLES_RATE:-}" ]; then
  prefix=$(cd "$1" && pwd) && mkdir -p "$2" && out=$(cd "$2" && pwd) || exit 2
  ${CC:-cc} -O2 -w -o "$out/cables" "$here/../../crates/pvm-e2e/programs/cables.c" -I"$prefix/include" \
    -L"$prefix/lib" -Wl,-rpath,"$prefix/lib" -lpvm3 -lpthread || exit 1
  export PREFIX=$prefix OUT=$out
  : >"$out/cables.txt"
  printf '%-8s %-7s %6s %8s %8s %8s   %s\n' rate kind puts median p99 longest 'kB/s of h1-h2 h1-h3 h2-h3'
  for rate in $rates; do
    (
      testbed_hosts 3 "$rate,1600,$queue"
      CABLES_RATE=$rate bash "$here/cables.sh" && testbed down
    ) || exit
  done
  exit 0
fi

on() { bash "$tool" on "$@"; }

# measure KIND: puts on three hosts, and what fills the ways
measure() {
  local kind=$1 until=$HOSTS_DIR/done.$1 own=$HOSTS_DIR/$1 host pids='' watch
  mkdir "$own"
  if [ "$kind" != alone ]; then
    on h1 "$OUT/cables" "$kind" h2 "$bytes" "$until" >"$own/way1" &
    on h1 "$OUT/cables" "$kind" h3 "$bytes" "$until" >"$own/way2" &
    on h2 "$OUT/cables" "$kind" h3 "$bytes" "$until" >"$own/way3" &
  fi
  for host in h1 h2 h3; do
    on $host "$OUT/cables" put 0 "$until" >"$own/put.$host" &
  done
  if [ -n "${SOCKETS:-}" ]; then
    (while sleep 0.5; do for host in h1 h2 h3; do
      echo "$CABLES_RATE $kind $host $(date +%s.%N)"
      on $host tc -s qdisc show dev eth0 | grep backlog
      on $host ss -Htin state established
    done; done) >>"$OUT/sockets.txt" &
    watch=$!
  fi
  sleep "$seconds"
  [ -z "${watch:-}" ] || kill "$watch"
  touch "$until"
  wait
  sed -n 's/^put //p' "$own"/put.* | sort -n | awk -v rate="$CABLES_RATE" -v kind="$kind" \
    -v ways="$(cat "$own"/way* 2>/dev/null | sed -n 's/^kilobytes_per_second //p' | tr '\n' ' ')" '
    { time[NR] = $1 }
    function at(share,   place) { place = int(NR * share + 0.999999); return time[place < 1 ? 1 : place] }
    END { printf "%-8s %-7s %6d %8.1f %8.1f %8.1f   %s\n", rate, kind, NR, at(0.5), at(0.99), time[NR], ways }' |
    tee -a "$OUT/cables.txt"
}

bash "$tool" env "HOME=$HOSTS_DIR/home" "PATH=$PREFIX/bin:$PATH" LC_ALL=C PVM_ALLOW_ROOT=1
mkdir -p "$HOSTS_DIR/home/pvm3/bin/LINUX64" && cp "$OUT/cables" "$HOSTS_DIR/home/pvm3/bin/LINUX64/"
on h1 pvm up >/dev/null && on h1 pvm add h2 h3 >/dev/null || exit 1
for kind in $kinds; do measure "$kind"; done
on h1 pvm halt >/dev/null
