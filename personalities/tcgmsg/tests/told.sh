# What ends a job is told as it was, and what did not end it is not.
set -u
fail() { echo "$*"; exit 1; }
# The cause that a rank tells comes before its end, each time.
for time in $(seq 15); do
    "$PVM" run --quiet --as tcgmsg -n 3 "$BUILT/wrong" node >out 2>err && fail "a wrong node is none"
    grep -q 'rank [0-2] (t[0-9a-f]* on .*) .*node' err || fail "the cause is not told: $(cat err)"
done
# A program of one interface that is started as one of another one.
timeout 100 "$PVM" run --quiet --as p4 -n 2 "$BUILT/classic" >out 2>err
status=$?
[ $status -eq 1 ] || fail "a program of tcgmsg as one of p4 ended with $status: $(cat err)"
grep -q 'is of tcgmsg, and was started by pvm run --as p4' err || fail "the other interface is not told: $(cat err)"
# A node on another host whose last message is long.
export PVM_VMID=told
"$PVM" up --local 2 >out || fail "no machine of two hosts: $(cat out)"
trap '"$PVM" halt >out 2>&1' EXIT
set -- $("$PVM" conf | awk 'NR > 1 { print $1 }')
printf 'me %s 1 parting %s\n' "$1" "$BUILT" "$2" "$BUILT" >told.p
for time in 1 2 3; do
    timeout 100 "$PVM" run --quiet --as tcgmsg --hosts told.p parting >out 2>err || fail "a good job failed: $(cat err)"
done
exit 0
