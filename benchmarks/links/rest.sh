#!/bin/bash
# Measures the hosts of one computer at rest: rest.sh PREFIX [HOSTS [SECONDS]]
#
# Starts a machine of HOSTS (64) on this computer, waits until it is quiet, and prints how much of a core all its
# processes use in SECONDS (10), and how often they run in a second (the kernel's schedstat). Each host is two
# processes; with more than 64 hosts let nothing else run.
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

# used: nanoseconds of all threads, and how often they ran
used() {
  local pid
  for pid in $pids; do cat "/proc/$pid"/task/*/schedstat 2>/dev/null; done |
    awk '{ time += $1; runs += $3 } END { print time, runs }'
}

before=$(used)
sleep "$seconds"
echo "$before $(used)" | awk -v hosts="$hosts" -v seconds="$seconds" '{
  printf "%d hosts at rest: %.2f %% of a core, each runs %.1f times a second\n",
    hosts, ($3 - $1) / seconds / 1e7, ($4 - $2) / seconds / hosts }'
testbed down
