# A rank that is killed at any moment ends the job within a second, and nothing is left.
set -u
fail() { echo "$*"; exit 1; }
times=${TIMES:-6}
if [ -n "${NEOPVM_LONG:-}" ]; then times=100; fi
ranks_of() { pgrep -f "^[^ ]*$BUILT/random $1 " ; }
now() { date +%s%N; }
for time in $(seq "$times"); do
    seed=9$time$$
    "$PVM" run --quiet --as tcgmsg -n 4 "$BUILT/random" "$seed" 100000000 >out 2>err &
    job=$!
    # Not before they run.
    for try in $(seq 500); do [ "$(ranks_of "$seed" | wc -l)" -ge 4 ] && break; sleep 0.01; done
    sleep "0.$((RANDOM % 3))$((RANDOM % 10))"
    victim=$(ranks_of "$seed" | shuf -n1)
    began=$(now)
    kill -KILL "$victim"
    wait $job
    status=$?
    took=$((($(now) - began) / 1000000))
    [ $status -eq 137 ] || fail "ended with $status: $(cat err)"
    grep -q 'rank [0-3] (t[0-9a-f]* on .*) was ended by SIGKILL; the job is ended' err || fail "what was told: $(cat err)"
    [ -z "$(ranks_of "$seed")" ] || fail "ranks are left"
    echo "$time: $took ms"
done
# The keeper's own death takes the ranks with it.
"$PVM" run --quiet --as tcgmsg -n 3 "$BUILT/random" 77$$ 100000000 >out 2>err &
job=$!
for try in $(seq 500); do [ "$(ranks_of "77$$" | wc -l)" -ge 3 ] && break; sleep 0.01; done
kill -KILL $job
wait $job 2>/dev/null
for try in $(seq 500); do [ -z "$(ranks_of "77$$")" ] && break; sleep 0.02; done
[ -z "$(ranks_of "77$$")" ] || fail "ranks outlive their keeper"
exit 0
