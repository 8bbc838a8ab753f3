#!/bin/bash
# pvm3.sh PVM OUT RATE... : the default route of PVM 3.4.6 between two hosts, measured and predicted (root).
#
# Debian's pvm (packages pvm, pvm-dev) runs echo.c through its daemons: first both tasks on one host, from which the
# platform's memory_latency and memory_rate follow, then one byte between two hosts whose cable is not shaped, from which
# the latency follows, then on two hosts whose cable is shaped to each RATE in Mb/s (burst 1600, limit 256kb). `PVM predict` is asked for the same messages on kind "pvm3". OUT/pvm3-RATE.txt has a line for
# each size: measured, predicted, error. SIZES in bytes, COUNT messages of each (5). Each size has a machine of its own
# (AGED=1: one for all), because PVM's daemons send a datagram again that takes longer than the ones before it did. The
# hosts' processes have real-time priority. Half a minute a rate.
set -eu
out=$2
here=$(cd "$(dirname "$0")" && pwd)
hosts=$here/../../xtask/hosts.sh
sizes=${SIZES:-1 64 1024 2048 4096 8192 16384 32768 65536 131072 262144 524288 1048576}
count=${COUNT:-5}

on() { bash "$hosts" on "$@"; }

begin() { # [HOST]: a machine, of two hosts with HOST
  # shellcheck disable=SC2016
  on h1 sh -c 'rm -f /tmp/ready; pvmd -n$(hostname) >/tmp/ready 2>&1 &
    for i in $(seq 200); do [ -s /tmp/ready ] && break; sleep 0.05; done'
  [ -z "${1:-}" ] || on h1 sh -c "{ echo add $1; sleep 0.5; echo quit; } | pvm" >/dev/null
  # shellcheck source=/dev/null
  . "$HOSTS_DIR/state"
  for k in 1 2; do
    for process in $(ip netns pids "${PRE}h$k"); do chrt -r -p 1 "$process" 2>/dev/null || :; done
  done
}

end() {
  on h1 sh -c 'echo halt | pvm; while pgrep -x pvmd3 || pgrep -x pvmd; do sleep 0.05; done' >/dev/null 2>&1 || :
}

if [ -n "${HOSTS_DIR:-}" ]; then
  bash "$hosts" env "HOME=$HOSTS_DIR/home" PVM_ROOT=/usr/lib/pvm3 PVM_TMP=/tmp PVM_ARCH=LINUX64 PVM_ALLOW_ROOT=1 \
    PVM_RSH=/usr/bin/ssh PATH="/usr/lib/pvm3/bin:$PATH" >/dev/null
  if [ "$3" != none ]; then
    begin
    # shellcheck disable=SC2086
    on h1 chrt -r 1 timeout 60 "$out/echo" 100 $sizes >"$out/pvm3-local.jsonl"
    end
  fi
  groups=("$sizes")
  [ -n "${AGED:-}" ] || read -ra groups <<<"$sizes"
  for group in "${groups[@]}"; do
    begin h2
    # shellcheck disable=SC2086
    on h1 chrt -r 1 timeout 600 "$out/echo" "$count" $group
    end
  done >"$out/pvm3-$3.jsonl"
  exit
fi

mkdir -p "$out"
out=$(realpath "$out")
cc -O2 -D_GNU_SOURCE -o "$out/echo" "$here/echo.c" -lpvm3
SIZES=1 COUNT=100 bash "$hosts" run 2 -- bash "$0" "$1" "$out" none
for rate in "${@:3}"; do
  bash "$hosts" run 2 "${rate}mbit,1600,256kb" -- bash "$0" "$1" "$out" "$rate"
  python3 "$here/pvm3.py" "$1" "$out" "$rate" | tee "$out/pvm3-$rate.txt"
done
