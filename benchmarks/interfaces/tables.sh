#!/bin/bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# tables.sh PREFIX OUT [one] [two]: the nine tables of the report of 1993 on one host, and as root on two of `testbed hosts`,
# each by one round of `pvm bench two-nodes`. Prints each average beside its goal, a thousandth of the printed one on one
# host and a twentieth between two, and how long it took. Ends with 1 where an average or a table misses its goal. What
# `pvm bench` measures besides (PVM 3.4.6, MPI) may fail, and gets 10 s a program.
set -u
prefix=$(realpath "$1") && out=$(mkdir -p "$2" && realpath "$2") || exit 2
shift 2
here=$(cd "$(dirname "$0")" && pwd)
tool=$here/../../xtask/hosts.sh
# shellcheck source=crates/testbed/testbed.sh
. "$here/../../crates/testbed/testbed.sh"
began=$SECONDS
missed=0

bench() { # FOLDER ARGS...: on this host, or on h1
  timeout 200 ${ON:-} "$prefix/bin/pvm" bench two-nodes --rounds 1 --limit 10 --sources "$here/../suites" --out "$1" "${@:2}" >"$1.log" 2>&1 ||
    tail -n 5 "$1.log"
}

judge() { # FOLDER DIVISOR
  python3 "$here/tables.py" "$1/figures.csv" "$here/../seeds/two-nodes-1993.csv" "$2" || missed=1
}

[ $# -gt 0 ] || set -- one two
for hosts in "$@"; do
  echo "on $hosts:"
  if [ "$hosts" = one ]; then
    bench "$out/one"
    judge "$out/one" 1000
  else
    testbed_hosts 2
    # The hosts share this folder, which /tmp is not.
    bash "$tool" env PVM_ALLOW_ROOT=1 PATH="$prefix/bin:$PATH"
    ON="bash $tool on h1" bench "$HOSTS_DIR/two" --hosts h2
    cp -r "$HOSTS_DIR/two" "$HOSTS_DIR/two.log" "$out/"
    testbed down
    judge "$out/two" 20
  fi
done
echo "took $((SECONDS - began)) s (goal: 90 s for both)"
exit $missed
