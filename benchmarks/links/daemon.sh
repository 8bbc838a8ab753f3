#!/bin/bash
# Measures the daemon of a host: daemon.sh PREFIX [TIMES]
#
# Puts a named message of 6 MiB thirty times under one name on a machine of three hosts, and prints the memory that
# each process of them has resident then. Kills the daemon of the first host TIMES (20) times and prints how long
# `pvm conf` takes that begins at that moment, beside how long it takes otherwise.
set -u
# shellcheck source=crates/testbed/testbed.sh
. "$(dirname "$0")/../../crates/testbed/testbed.sh"
prefix=$(cd "$1" && pwd) || exit 2
programs=$(cd "$(dirname "$0")/../../crates/pvm-e2e/programs" && pwd)
times=${2:-20} bytes=$((6 << 20)) puts=30

testbed_up 3 --prefix "$prefix"
PKG_CONFIG_PATH=$prefix/lib/pkgconfig
export PKG_CONFIG_PATH
# shellcheck disable=SC2046
cc -O2 -o "$TMPDIR/cables" "$programs/cables.c" $(pkg-config --cflags --libs neopvm) || exit
pvm run "$TMPDIR/cables" put $bytes $puts | grep -c '^put ' | sed 's/$/ puts of 6 MiB/'

ours() {
  local pid
  for pid in $(pgrep -x pvmd); do
    tr '\0' '\n' 2>/dev/null <"/proc/$pid/environ" | grep -q "^PVM_TMP=$PVM_TMP\$" && echo "$pid"
  done
}
for pid in $(ours); do
  what=parent
  tr '\0' ' ' <"/proc/$pid/cmdline" | grep -q -- --daemon && what=daemon
  awk -v what=$what '/^VmRSS/ { printf "%s: %.1f MiB resident\n", what, $2 / 1024 }' "/proc/$pid/status"
done | sort

now() { date +%s%N; }
daemon() { pvm status --json | sed 's/.*"daemon_pid": *\([0-9]*\).*/\1/'; }
# took: how long `pvm conf` takes, in milliseconds
took() {
  local before
  before=$(now)
  pvm conf >/dev/null || echo "pvm conf fails" >&2
  echo $((($(now) - before) / 1000000))
}
# summary WHAT: the middle and the largest of the numbers
summary() { sort -n | awk -v what="$1" '{ all[NR] = $1 } END {
  printf "%s: %d times, middle %d ms, longest %d ms\n", what, NR, all[int((NR + 1) / 2)], all[NR] }'; }

for ((i = 0; i < times; i++)); do took; done | summary "pvm conf"
for ((i = 0; i < times; i++)); do
  kill -9 "$(daemon)"
  took
  # More than twenty crashes in a minute end the host.
  sleep 4
done | summary "pvm conf after the daemon was killed"
testbed down
