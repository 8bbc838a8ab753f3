# A task that is no rank says that the nodes have ended: the host program waits on.
set -u
fail() { echo "$*"; exit 1; }
printf '#!/bin/sh\nexec %s\n' "$BUILT/patient" >patient-node && chmod +x patient-node
"$BUILT/patient" "$PWD/patient-node" >out 2>err </dev/null &
job=$!
for tick in $(seq 1000); do grep -q waiting out && break; sleep 0.01; done
for process in $(pgrep -f "^$BUILT/patient"); do
    variable=$(tr '\0' '\n' <"/proc/$process/environ" 2>/dev/null | sed -n 's/^NEOPVM_JOB=//p')
    [ -z "$variable" ] || break
done
[ -n "$variable" ] || fail "no job is found"
"$STRANGER" "$variable" 1 33 >stranger || fail "the stranger cannot send"
wait "$job" || fail "a forged end is believed: $(cat out err)"
grep -q '^ok' out || fail "$(cat out err)"
exit 0
