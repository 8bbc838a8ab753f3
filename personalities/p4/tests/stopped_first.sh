# A process that dies while the first one of its cluster is stopped ended nothing: only the first one can tell how. Then the
# job ended 200 ms later, or five seconds later, without a cause. Now the first one is told to go on, and tells.
set -u
fail() { echo "$*"; exit 1; }
# shellcheck source=personalities/tests/await.sh
. "$(dirname "$0")/../../tests/await.sh"
ranks() { pgrep -f "^[^ ]*$BUILT/chance 4$$ "; }
none() { ! ranks >/dev/null; }

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
[ $status -eq 137 ] && grep -q 'rank [123] (t[0-9a-f]* on .*) was ended by SIGKILL; the job is ended' err ||
    fail "status $status: $(cat err)"
await none
exit 0
