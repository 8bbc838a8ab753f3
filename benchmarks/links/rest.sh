#!/bin/bash
# Measures the hosts of one computer at rest: rest.sh PREFIX [HOSTS [SECONDS]]
#
# Starts a machine of HOSTS (64) on this computer, waits until it is quiet, and prints how much of a core all its
# processes use in SECONDS (10), and how often each host wakes in a second: the switches of its two processes in
# which they wait (the kernel's schedstat and status). With more than 64 hosts let nothing else run.
set -u
# shellcheck source=crates/testbed/testbed.sh
. "$(dirname "$0")/../../crates/testbed/testbed.sh"
prefix=$(cd "$1" && pwd) || exit 2
hosts=${2:-64} seconds=${3:-10} quiet_after=12

testbed_up "$hosts" --prefix "$prefix"
sleep $quiet_after

ours() {
  local pid
  for pid in $(pgrep -x pvmd); do
    tr '\0' '\n' 2>/dev/null <"/proc/$pid/environ" | grep -q "^PVM_TMP=$PVM_TMP\$" && echo "$pid"
  done
}
pids=$(ours)

# used: nanoseconds of all threads, and how often they waited
used() {
  local pid
  for pid in $pids; do cat "/proc/$pid"/task/*/{schedstat,status} 2>/dev/null; done |
    awk '/^[0-9]+ / { time += $1 } /^voluntary/ { waits += $2 } END { print time, waits }'
}

before=$(used)
sleep "$seconds"
echo "$before $(used)" | awk -v hosts="$hosts" -v seconds="$seconds" '{
  printf "%d hosts at rest: %.2f %% of a core, each wakes %.1f times a second\n",
    hosts, ($3 - $1) / seconds / 1e7, ($4 - $2) / seconds / hosts }'
testbed down
