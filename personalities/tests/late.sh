# SPDX-License-Identifier: MIT OR Apache-2.0
# late.sh: a job is interrupted while one of its hosts has not answered yet: the rank that is started behind the interruption
# is told to end, too. It lived on until it was killed five seconds later. PVM is the command.
set -u
folder=$(mktemp -d) || exit 2
export PVM_VMID=late
trap '"$PVM" halt >/dev/null 2>&1; rm -rf "$folder"' EXIT
cd "$folder" || exit 2
fail() { echo "$*: $(cat out err 2>/dev/null)"; exit 1; }
# shellcheck source=personalities/tests/await.sh
. "$(dirname "$0")/await.sh"
# Each one that is told says so. One that was not told is killed.
cat >rank <<'SCRIPT'
#!/bin/bash
mkdir first 2>/dev/null && me=first || me=second
trap 'touch told.$me; exit 0' HUP
touch begun.$me
for tick in $(seq 3000); do sleep 0.1; done
SCRIPT
chmod +x rank
"$PVM" up --local 2 >out 2>err || fail "no machine of two hosts"
"$PVM" conf | awk 'NR > 1 { print $1, 1 }' >hosts
mapfile -t daemons < <(for pid in $(pgrep -f '^pvmd --daemon'); do
    tr '\0' '\n' 2>/dev/null <"/proc/$pid/environ" | grep -qx PVM_VMID=late && echo "$pid"
done)
second=$(ps -o pid= --sort=start_time -p "$(IFS=, && echo "${daemons[*]}")" | tail -1)
kill -STOP $second
"$PVM" run --quiet --as nx --hosts hosts ./rank >out 2>err </dev/null &
job=$!
await test -e begun.first
kill -HUP $job
await test -e told.first
kill -CONT $second
{ wait $job; } 2>/dev/null
[ ! -e begun.second ] || [ -e told.second ] || fail "a rank lived on behind the interruption"
