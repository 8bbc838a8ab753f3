#!/bin/bash
# Measures groups over several hosts: run.sh PREFIX OUT
#
# Times a round of each collective call with two members on each of 2 to 8 hosts of `testbed hosts`
# (root), and counts how often the data of a call crossed a host's network card. Prints a line for
# each call and keeps them in OUT/groups.txt. HOSTS="2 4 8", MEMBERS (on each host), ROUNDS (of a
# call) and TIMES (of everything; the line of the median is printed) may be set.
set -u
here=$(cd "$(dirname "$0")" && pwd)
tool=$here/../../xtask/hosts.sh
# shellcheck source=crates/testbed/testbed.sh
. "$here/../../crates/testbed/testbed.sh"
hosts=${HOSTS:-2 4 8} members=${MEMBERS:-2} rounds=${ROUNDS:-20} times=${TIMES:-3}

if [ -z "${GROUPS_PASS:-}" ]; then
  # OUT on a folder that the hosts share, which /tmp is not.
  prefix=$(cd "$1" && pwd) && mkdir -p "$2" && out=$(cd "$2" && pwd) || exit 2
  ${CC:-cc} -O2 -w -I"$prefix/include" -I"$here/../../crates/pvm-e2e/programs" -o "$out/crossings" \
    "$here/../../crates/pvm-e2e/programs/crossings.c" -L"$prefix/lib" -Wl,-rpath,"$prefix/lib" -lgpvm3 -lpvm3 || exit 1
  export PREFIX=$prefix OUT=$out
  : >"$out/groups.txt"
  for count in $hosts; do
    (
      testbed_hosts "$count"
      GROUPS_PASS=$count bash "$here/run.sh" && testbed down
    ) || exit
  done
  exit 0
fi

room="HOME=$HOSTS_DIR/home PATH=$PREFIX/bin:$PATH LC_ALL=C PVM_ALLOW_ROOT=1 PVM_PATH=$OUT"
# shellcheck disable=SC2086
bash "$tool" env $room
on() { bash "$tool" on h1 "$@"; }
mkdir -p "$HOSTS_DIR/home/pvm3/bin/LINUX64"
cp "$OUT/crossings" "$HOSTS_DIR/home/pvm3/bin/LINUX64/"
# shellcheck disable=SC2046
on pvm up >/dev/null && on pvm add $(seq -f 'h%g' -s ' ' 2 "$GROUPS_PASS") >/dev/null || exit
for ((i = 0; i < times; i++)); do
  on "$OUT/crossings" "$members" "$rounds" || exit
done >"$OUT/pass.txt"
on pvm halt >/dev/null
cat "$OUT/pass.txt" >>"$OUT/groups.txt"
# The median of the times; what crossed is the same each time.
sort -k1,1 -k2,2n -k8,8n "$OUT/pass.txt" | awk -v times="$times" '(NR - 1) % times == int(times / 2)'
