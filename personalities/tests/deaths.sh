# deaths.sh NAME PROGRAM: a rank of PROGRAM, which runs until it is ended, is killed at any moment - sometimes while another
# one is stopped - and the job ends: with the signal's status, and a line that names the rank, its host and the cause. So
# does the keeper's own death, without a word. Nothing is left. TIMES (3; NEOPVM_LONG: 100) deaths; WITHIN_MS
# (30000, for a computer that is busy) is how long an end may take. PVM is the command.
set -u
name=$1 program=$2
times=${TIMES:-3}
[ -z "${NEOPVM_LONG:-}" ] || times=100
folder=$(mktemp -d) || exit 2
job=''
# A test that fails leaves no ranks behind, which would be a fault of their own.
trap 'kill $job 2>/dev/null; wait; rm -rf "$folder"' EXIT
fail() { echo "$name: $*"; exit 1; }
now() { date +%s%N; }

# The ranks of the job with this seed; the keeper has the seed behind its own words.
ranks_of() { pgrep -f "^[^ ]*$program $1 "; }

start() { # SEED: waits until four ranks run
    "$PVM" run --quiet --as "$name" -n 4 "$program" "$1" 1000000000 500 /dev/null >"$folder/out" 2>"$folder/err" </dev/null &
    job=$!
    local tick
    for tick in $(seq 3000); do
        [ "$(ranks_of "$1" | wc -l)" -ge 4 ] && return
        sleep 0.01
    done
    fail "four ranks do not start: $(cat "$folder/err")"
}

# Only the first process of a cluster of p4 can tell of the others, and tells of them when it has forked all.
all_have_entered() {
    local tick
    for tick in $(seq 3000); do
        grep -q begun "$folder/out" && return
        sleep 0.01
    done
    fail "four ranks do not enter: $(cat "$folder/err")"
}

gone() { # SEED
    local tick
    for tick in $(seq 3000); do
        ranks_of "$1" >/dev/null || return 0
        sleep 0.01
    done
    return 1
}

took=
for ((time = 1; time <= times; time++)); do
    seed=$((RANDOM * 32768 + RANDOM))$$
    start "$seed"
    [ "$name" != p4 ] || all_have_entered
    sleep "0.$((RANDOM % 3))$((RANDOM % 10))"
    mapfile -t victims < <(ranks_of "$seed" | shuf -n2)
    [ $((time % 3)) -ne 0 ] || kill -STOP "${victims[1]}"
    began=$(now)
    kill -KILL "${victims[0]}"
    wait "$job" 2>/dev/null
    status=$?
    ms=$((($(now) - began) / 1000000))
    took="$took $ms"
    if grep -q 'rank [1-3] (t[0-9a-f]* on .*) has ended, and its parent does not tell how; the job is ended' "$folder/err"; then
        # A process of a cluster of p4, and the first one of it was stopped.
        [ $((time % 3)) -eq 0 ] && [ $status -eq 1 ] || fail "a parent that runs does not tell: $status, $(cat "$folder/err")"
    else
        [ $status -eq 137 ] || fail "the job ended with $status: $(cat "$folder/err")"
        grep -q 'rank [0-3] (t[0-9a-f]* on .*) was ended by SIGKILL; the job is ended' "$folder/err" ||
            fail "what was told: $(cat "$folder/err")"
    fi
    [ "$ms" -le "${WITHIN_MS:-30000}" ] || fail "the end took $ms ms"
    gone "$seed" || fail "ranks are left"
done
seed=$((RANDOM * 32768 + RANDOM))$$
start "$seed"
{
    kill -KILL "$job"
    wait "$job"
} 2>/dev/null
gone "$seed" || fail "ranks outlive their keeper"
echo "$name: $times deaths, an end took $(printf '%s\n' $took | sort -n | sed -n "$(((times + 1) / 2))p;\$p" | tr '\n' ' ')ms (median, most)"
