# A process that dies while the first one of its cluster is stopped ended nothing: only the first one could tell of it.
set -u
fail() { echo "$*"; exit 1; }
ranks() { pgrep -f "^[^ ]*$BUILT/chance 4$$ "; }
timeout 30 "$PVM" run --quiet --as p4 -n 4 "$BUILT/chance" "4$$" 1000000000 >out 2>err &
job=$!
for tick in $(seq 1000); do [ "$(ranks | wc -l)" -ge 4 ] && break; sleep 0.01; done
sleep 0.3
mapfile -t all < <(ranks | sort -n)
kill -STOP "${all[0]}"
kill -KILL "${all[2]}"
wait "$job"
status=$?
[ $status -eq 1 ] || fail "status $status: $(cat err)"
grep -q 'rank [123] (t[0-9a-f]* on .*) has ended, and its parent does not tell how; the job is ended' err || fail "$(cat err)"
! ranks || fail "processes are left"
exit 0
