# SPDX-License-Identifier: MIT OR Apache-2.0
# stopped.sh: a rank that is stopped when its job fails goes on and takes the signal that asks it to end. It stayed stopped
# until the next signal killed it, 300 ms later, and the user waited for that. Of some tries on a busy computer it takes
# the first signal in one; before, in none. PVM is the command.
set -u
folder=$(mktemp -d) || exit 2
job=''
# A test that fails leaves no ranks behind, which would be a fault of their own.
trap 'kill $job 2>/dev/null; wait; rm -rf "$folder"' EXIT
cd "$folder" || exit 2
fail() { echo "$*: $(cat out err 2>/dev/null)"; exit 1; }
cat >rank <<'SCRIPT'
#!/bin/bash
if mkdir first 2>/dev/null; then
    until [ -e go ]; do sleep 0.01; done
    exit 3
fi
trap 'touch told; exit 0' TERM
echo $$ >pid.new && mv pid.new pid
while :; do sleep 0.1 & wait; done
SCRIPT
chmod +x rank
for try in $(seq 20); do
    rm -rf first go told pid
    "$PVM" run --quiet --as nx -n 2 ./rank >out 2>err </dev/null &
    job=$!
    for tick in $(seq 3000); do
        [ -e pid ] && break
        sleep 0.01
    done
    kill -STOP "$(cat pid)" || fail "no second rank"
    touch go
    wait $job
    status=$?
    [ $status -eq 3 ] || fail "the job ended with $status"
    [ ! -e told ] || exit 0
done
fail "a stopped rank is never asked to end"
