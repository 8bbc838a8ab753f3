#!/bin/bash
# seal.sh PREFIX ROUND RATE... : records, measures hosts, and seals predictions (root).
#
# Records each NAS program of PROGRAMS ("ep is cg mg") of class S on this computer, four tasks that take turns
# (--alone), TIMES times (9), and keeps the recording whose timed section is the median. Two hosts whose cable is not
# shaped tell what messages cost, and two whose cable has a shaper that holds nothing back (10 Gb/s) the times of segments
# that go alone. From that come a platform file for each RATE (Mb/s) and the seals. Nothing runs at a RATE here: commit
# ROUND, then `round.sh PREFIX ROUND RATE RUNS PROGRAM...` makes the runs. What is measured has real-time priority, as
# there.
set -eu
prefix=$(realpath "$1") round=$2
here=$(cd "$(dirname "$0")" && pwd)
hosts=$here/../../xtask/hosts.sh
programs=${PROGRAMS:-ep is cg mg}
times=${TIMES:-9}
pvm=$prefix/bin/pvm
predictor=${PREDICTOR:-$pvm}

if [ -n "${HOSTS_DIR:-}" ]; then
  # Inside: two hosts.
  on() { bash "$hosts" on "$@"; }
  bash "$hosts" env "HOME=$HOSTS_DIR/home" PVM_ROOT="$prefix" PVM_ALLOW_ROOT=1 \
    PATH="$prefix/bin:$PATH:/usr/sbin:/sbin" >/dev/null
  on h1 pvm up >/dev/null
  on h1 pvm add h2 >/dev/null
  # shellcheck source=/dev/null
  . "$HOSTS_DIR/state"
  for k in 1 2; do
    for process in $(ip netns pids "${PRE}h$k"); do chrt -r -p 1 "$process" 2>/dev/null || :; done
  done
  on h1 chrt -r 1 timeout 60 "$round/build/echo" "${ECHO:-300}"
  on h1 pvm halt >/dev/null
  exit
fi

mkdir -p "$round/build"
round=$(realpath "$round")
make -s -C "$here/../nas" PVM_HOME="$prefix" BUILD="$round/build"
cc -O2 -D_GNU_SOURCE -I"$prefix/include" -o "$round/build/echo" "$here/echo.c" \
  -L"$prefix/lib" -Wl,-rpath,"$prefix/lib" -lpvm3
load() { echo "$1 $(cat /proc/loadavg) $(head -1 /proc/pressure/cpu)" >>"$round/load"; }

load "echo"
bash "$hosts" run 2 -- bash "$0" "$prefix" "$round" | tail -1 >"$round/echo.json"
ECHO=segments bash "$hosts" run 2 10gbit,1600,256kb -- bash "$0" "$prefix" "$round" | tail -1 >>"$round/echo.json"
for rate in "${@:3}"; do
  python3 "$here/platform.py" "$round/echo.json" "$rate" >"$round/tbf-$rate.toml"
done

place=$(mktemp -d /tmp/seal.XXXXXX)
trap 'rm -rf "$place"' EXIT
for program in $programs; do
  load "$program"
  for ((time = 0; time < times; time++)); do
    env -u PVM_VMID HOME="$place" PVM_TMP="$place" PVM_ROOT="$prefix" PVM_ALLOW_ROOT=1 PATH="$prefix/bin:$PATH" \
      chrt -r 1 timeout 120 "$pvm" run --quiet --trace "$place/$program-$time.trace" --alone \
      "$round/build/nas-$program" S 4 --json >/dev/null 2>"$place/said" || { cat "$place/said"; exit 1; }
  done
  kept=$(python3 "$here/median.py" "$predictor" "$round/tbf-$3.toml" "$place/$program"-*.trace)
  cp "$kept" "$round/$program.trace"
done
cd "$round"
for rate in "${@:3}"; do
  for program in $programs; do
    rm -f "$program-$rate.seal"
    "$predictor" predict seal "$program.trace" --seeds "${SEEDS:-25}" --network "tbf-$rate.toml" -o "$program-$rate.seal"
  done
done
