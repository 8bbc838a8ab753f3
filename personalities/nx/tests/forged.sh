# A task that is no rank says that the nodes have ended: the host program waits on.
set -u
fail() { echo "$*"; exit 1; }
# shellcheck source=personalities/tests/await.sh
. "$(dirname "$0")/../../tests/await.sh"
rm -f enough
printf '#!/bin/sh\nexec %s %s\n' "$BUILT/patient" "$PWD/enough" >patient-node && chmod +x patient-node
"$BUILT/patient" "$PWD/patient-node" "$PWD/enough" >out 2>err </dev/null &
job=$!
await grep -q waiting out
node() { process=$(pgrep -f "^$BUILT/patient $PWD/enough" | head -1) && [ -n "$process" ]; }
await node
variable=$(tr '\0' '\n' <"/proc/$process/environ" | sed -n 's/^NEOPVM_JOB=//p')
[ -n "$variable" ] || fail "no job is found"
"$STRANGER" "$variable" 1 33 >stranger || fail "the stranger cannot send"
touch enough
wait "$job" || fail "a forged end is believed: $(cat out err)"
grep -q '^ok' out || fail "$(cat out err)"
exit 0
