# Which process died is told, though others notice it first; and the first process runs where it was started.
set -u
fail() { echo "$*"; exit 1; }
echo 'local 2' >told.pg
for what in lock monitor; do
    "$BUILT/told" -p4pg told.pg $what >out 2>err
    status=$?
    [ $status -eq 137 ] || fail "$what: ended with $status: $(cat err)"
    grep -q 'rank 2 (t[0-9a-f]* on .*) was ended by SIGKILL; the job is ended' err || fail "$what: told: $(cat err)"
done
timeout 100 "$BUILT/told" -p4pg /dev/zero error >out 2>err
status=$?
[ $status -eq 2 ] || fail "a file without an end: $status: $(cat err)"
export PVM_VMID=told
"$PVM" up --local 2 >out || fail "no machine of two hosts: $(cat out)"
trap '"$PVM" halt >out 2>&1' EXIT
here=$("$PVM" conf | awk 'NR == 2 { print $1 }')
for time in 1 2 3 4; do
    "$BUILT/told" -p4pg told.pg error >out 2>err
    grep -q "rank 0 (t[0-9a-f]* on $here) p4_error: told: 7" err || fail "not started on $here: $(cat err)"
done
exit 0
