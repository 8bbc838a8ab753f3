# A process that dies while the first one of its cluster is stopped ended nothing: only the first one could tell of it. And
# where the first one is only late, the job ended as if it had been stopped.
set -u
fail() { echo "$*"; exit 1; }
await() { # COMMAND...: until it succeeds
    local tick
    for tick in $(seq 3000); do
        "$@" && return
        sleep 0.01
    done
    fail "waited in vain: $*, $(cat out err)"
}
ranks() { pgrep -f "^[^ ]*$BUILT/chance 4$$ "; }
none() { ! ranks >/dev/null; }
now() { date +%s%3N; }

stop_first() { # Each thread of it stops when it comes to a core.
    kill -STOP "$first"
    await all_threads_stand
}
all_threads_stand() { ! sed 's/.*) //' "/proc/$first/task"/*/stat | grep -qv '^T'; }

begin() { # Sets job, and first and forked of its processes.
    timeout 100 "$PVM" run --quiet --as p4 -n 4 "$BUILT/chance" "4$$" 1000000000 0 /dev/null >out 2>err &
    job=$!
    await grep -q begun out
    local all pid parent
    mapfile -t all < <(ranks)
    # The first process has forked the others. Numbers of processes come again, so their order tells nothing.
    for pid in "${all[@]}"; do
        parent=$(ps -o ppid= -p "$pid" | tr -d ' ')
        case " ${all[*]} " in *" $parent "*) forked=$pid ;; *) first=$pid ;; esac
    done
    [ -n "${forked:-}" ] || fail "no process of ${all[*]} is forked"
}

begin
stop_first
kill -KILL "$forked"
wait "$job"
status=$?
[ $status -eq 1 ] || fail "status $status: $(cat err)"
grep -q 'rank [123] (t[0-9a-f]* on .*) has ended, and its parent does not tell how; the job is ended' err || fail "$(cat err)"
await none

begin
stop_first
killed=$(now)
kill -KILL "$forked"
sleep 1
kill -CONT "$first"
late=$(($(now) - killed))
wait "$job"
status=$?
# On a computer that itself stood still, the first one came too late.
[ $late -gt 4000 ] || { [ $status -eq 137 ] && grep -q 'rank [123] (t[0-9a-f]* on .*) was ended by SIGKILL; the job is ended' err; } ||
    fail "a first process that is late by $late ms: status $status: $(cat err)"
await none
exit 0
