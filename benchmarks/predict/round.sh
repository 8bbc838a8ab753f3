#!/bin/bash
# round.sh PREFIX ROUND RATE RUNS [PROGRAM...]: the real runs of a sealed round, scored (root).
#
# Four hosts whose cables are shaped to RATE Mb/s (burst 1600, limit 256kb) run each NAS program of class S RUNS times,
# one after the other in turns. Runs and load go to ROUND/NAME-RATE.runs and ROUND/load, rows for the table of
# doc/prediction.md to ROUND/rows.txt. Nothing is sealed here: commit the seals first. All processes of the
# hosts have real-time priority, so other programs of the computer take little from them; ORDINARY=1 leaves them what
# they are.
set -eu
prefix=$(realpath "$1") round=$2 rate=$3 runs=$4
here=$(cd "$(dirname "$0")" && pwd)
hosts=$here/../../xtask/hosts.sh
programs=${*:5}
programs=${programs:-ep is cg mg ft lu}

if [ -z "${HOSTS_DIR:-}" ]; then
  make -s -C "$here/../nas" PVM_HOME="$prefix" BUILD="$(realpath "$round")/build"
  bash "$hosts" run 4 "${rate}mbit,1600,256kb" -- bash "$0" "$@"
  for program in $programs; do
    echo "$program, $rate Mb/s"
    "$prefix/bin/pvm" predict score "$round/$program-$rate.seal" --section timed \
      --goal "${GOAL:-3}" "$round/$program-$rate.runs"
    # A row of the table in doc/prediction.md.
    "$prefix/bin/pvm" predict score "$round/$program-$rate.seal" --section timed --json \
      --goal "${GOAL:-3}" "$round/$program-$rate.runs" >"$round/score.json"
    python3 "$here/row.py" "$program" "$rate" "$round/score.json" >>"$round/rows.txt"
  done
  rm -f "$round/score.json"
  exit
fi

on() { bash "$hosts" on "$@"; }
build=$(realpath "$round")/build
bash "$hosts" env "HOME=$HOSTS_DIR/home" PVM_ROOT="$prefix" PVM_ALLOW_ROOT=1 \
  PATH="$prefix/bin:$PATH:/usr/sbin:/sbin" >/dev/null
on h1 pvm up >/dev/null
on h1 pvm add h2 h3 h4 >/dev/null
first=(chrt -r 1)
if [ -n "${ORDINARY:-}" ]; then
  first=()
else
  # shellcheck source=/dev/null
  . "$HOSTS_DIR/state"
  for k in 1 2 3 4; do
    for process in $(ip netns pids "${PRE}h$k"); do chrt -r -p 1 "$process" 2>/dev/null || :; done
  done
fi
for program in $programs; do : >"$round/$program-$rate.runs"; done
for ((run = 0; run < runs; run++)); do
  for program in $programs; do
    echo "$rate $program $(cat /proc/loadavg) $(head -1 /proc/pressure/cpu)" >>"$round/load"
    on h1 "${first[@]}" timeout 120 "$build/nas-$program" S 4 --json >>"$round/$program-$rate.runs"
  done
done
on h1 pvm halt >/dev/null
