# PROGRAM -sz N by hand, and a host program by hand: a machine is started for them, and ended.
set -u
fail() { echo "$*"; exit 1; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
PVM_TMP=$folder timeout 100 "$BUILT/calls" -sz 3 -pn any >"$folder/out" 2>&1 || fail "-sz 3: $(cat "$folder/out")"
grep -q '^ok' "$folder/out" || fail "-sz 3 says $(cat "$folder/out")"
timeout 100 "$BUILT/calls" | grep -q '^ok' || fail "alone"
# The handler's answer came into the queue while the program held the lock for ever.
timeout 100 "$BUILT/threads" | grep -q '^ok' || fail "a handler that answers, alone"
for size in none 3x 2.5 0 -3 99999999999999999999 ''; do
    timeout 100 "$BUILT/calls" -sz "$size" >"$folder/out" 2>&1 && fail "a size of '$size': $(cat "$folder/out")"
    grep -q -- "-sz $size: a program runs on 1 to 16384 nodes" "$folder/out" || fail "$size: $(cat "$folder/out")"
done
timeout 100 "$BUILT/calls" -sz >"$folder/out" 2>&1 && fail "no size: $(cat "$folder/out")"
grep -q -- '-sz needs a value' "$folder/out" || fail "no size: $(cat "$folder/out")"
# A program that the machine does not know and PATH does: its job ended with 0 before it had begun.
PATH=$BUILT:$PATH timeout 100 "$PVM" run --quiet --as nx -n 2 calls >"$folder/out" 2>&1 || fail "in PATH: $(cat "$folder/out")"
grep -q '^ok' "$folder/out" || fail "in PATH: $(cat "$folder/out")"
# Standard input is for rank 0. Another one that was the first on its line waited for input that nobody sent.
printf 'localhost 1\nlocalhost 1\n' >"$folder/hosts"
echo input | timeout 100 "$PVM" run --quiet --as nx --hosts "$folder/hosts" /bin/cat >"$folder/out" 2>&1 ||
    fail "all ranks read: $(cat "$folder/out")"
[ "$(cat "$folder/out")" = input ] || fail "all ranks read: $(cat "$folder/out")"
for size in 1 2 4; do
    PVM_TMP=$folder timeout 100 "$BUILT/host" "$BUILT/node" $size >"$folder/out" 2>&1 || fail "host: $(cat "$folder/out")"
    grep -q '^ok' "$folder/out" || fail "host: $(cat "$folder/out")"
done
timeout 100 "$BUILT/fhost" "$BUILT/node" | grep -q '^ *ok' || fail "a host program in Fortran"
timeout 100 "$BUILT/host" "$BUILT/nosuch" 2 >"$folder/out" 2>&1 && fail "a program that is not there"
grep -q 'nosuch: no such program' "$folder/out" || fail "$(cat "$folder/out")"
exit 0
