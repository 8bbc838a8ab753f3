# A process that dies while the first one of its cluster is stopped ended nothing: only the first one could tell of it.
set -u
fail() { echo "$*"; exit 1; }
ranks() { pgrep -f "^[^ ]*$BUILT/chance 4$$ "; }
timeout 100 "$PVM" run --quiet --as p4 -n 4 "$BUILT/chance" "4$$" 1000000000 >out 2>err &
job=$!
for tick in $(seq 3000); do [ "$(ranks | wc -l)" -ge 4 ] && break; sleep 0.01; done
sleep 0.3
mapfile -t all < <(ranks)
# The first process has forked the others. Numbers of processes come again, so their order tells nothing.
for pid in "${all[@]}"; do
    parent=$(ps -o ppid= -p "$pid" | tr -d ' ')
    case " ${all[*]} " in *" $parent "*) forked=$pid ;; *) first=$pid ;; esac
done
[ -n "${forked:-}" ] || fail "no process of ${all[*]} is forked"
kill -STOP "$first"
kill -KILL "$forked"
wait "$job"
status=$?
[ $status -eq 1 ] || fail "status $status: $(cat err)"
grep -q 'rank [123] (t[0-9a-f]* on .*) has ended, and its parent does not tell how; the job is ended' err || fail "$(cat err)"
for tick in $(seq 300); do ranks >/dev/null || break; sleep 0.1; done
! ranks || fail "processes are left"
exit 0
