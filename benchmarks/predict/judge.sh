#!/bin/bash
# judge.sh PVM OUT [small]: predictions beside the kernel's own TCP between network namespaces (root).
#
# Four hosts on one bridge, both ends of each cable shaped by tbf. judge.py sends real messages over them and asks
# `PVM predict` for the same ones. `small` is one shape and two cases, for `make check`; `64` has the cases of 64 KiB of
# which several share a cable. Without it, all, into OUT. SHAPES and CONTROLS narrow it down.
set -eu
pvm=$1 out=$2 part=${3:-all}
shapes=${SHAPES:-10mbit|10 Mb/s|256,10mbit|10 Mb/s|60,100mbit|100 Mb/s|256}
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=xtask/failed.sh
. "$here/../../xtask/failed.sh"
pre=np$$
mkdir -p "$out"

down() {
  for k in 1 2 3 4; do ip netns del "${pre}h$k" 2>/dev/null || :; done
  ip netns del "${pre}sw" 2>/dev/null || :
}
trap down EXIT

# up RATE BURST LIMIT
up() {
  down
  ip netns add "${pre}sw"
  ip -n "${pre}sw" link add br0 type bridge
  ip -n "${pre}sw" link set br0 up
  for k in 1 2 3 4; do
    ip netns add "${pre}h$k"
    ip link add "${pre}e$k" type veth peer name "${pre}s$k"
    ip link set "${pre}e$k" netns "${pre}h$k" name eth0
    ip link set "${pre}s$k" netns "${pre}sw"
    ip -n "${pre}sw" link set "${pre}s$k" master br0
    ip -n "${pre}sw" link set "${pre}s$k" up
    ip -n "${pre}h$k" link set lo up
    ip -n "${pre}h$k" addr add "10.99.0.$k/24" dev eth0
    ip -n "${pre}h$k" link set eth0 gso_max_segs 1
    ip -n "${pre}h$k" link set eth0 up
    ip netns exec "${pre}h$k" tc qdisc add dev eth0 root tbf rate "$1" burst "$2" limit "$3"
    ip netns exec "${pre}sw" tc qdisc add dev "${pre}s$k" root tbf rate "$1" burst "$2" limit "$3"
  done
}

if [ "$part" = small ]; then
  up 10mbit 1600 256000
  bad=0
  python3 "$here/judge.py" "$pvm" "$pre" "10 Mb/s" 256 reno small || bad=1
  exit $bad
fi
{
  echo "# Predictions beside the kernel's TCP: $(date -u +%F), $(git -C "$here" rev-parse --short HEAD), $(nproc) cores, Linux $(uname -r)"
  IFS=, read -ra all <<<"$shapes"
  for shape in "${all[@]}"; do
    IFS='|' read -r rate said queue <<<"$shape"
    up "$rate" 1600 "${queue}000"
    for congestion in ${CONTROLS:-reno cubic bbr}; do
      python3 "$here/judge.py" "$pvm" "$pre" "$said" "$queue" "$congestion" "$part"
    done
  done
} | tee "$out/error.txt"
