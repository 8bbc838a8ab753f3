# PROGRAM -sz N by hand, and a host program by hand: a machine is started for them, and ended.
set -u
fail() { echo "$*"; exit 1; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
PVM_TMP=$folder timeout 100 "$BUILT/calls" -sz 3 -pn any >"$folder/out" 2>&1 || fail "-sz 3: $(cat "$folder/out")"
grep -q '^ok' "$folder/out" || fail "-sz 3 says $(cat "$folder/out")"
timeout 100 "$BUILT/calls" | grep -q '^ok' || fail "alone"
timeout 100 "$BUILT/calls" -sz none >/dev/null 2>&1 || fail "no size is one node"
timeout 100 "$BUILT/calls" -sz -3 2>&1 | grep -q 'sz -3: ' || fail "a negative size"
for size in 1 2 4; do
    PVM_TMP=$folder timeout 100 "$BUILT/host" "$BUILT/node" $size >"$folder/out" 2>&1 || fail "host: $(cat "$folder/out")"
    grep -q '^ok' "$folder/out" || fail "host: $(cat "$folder/out")"
done
timeout 100 "$BUILT/fhost" "$BUILT/node" | grep -q '^ *ok' || fail "a host program in Fortran"
timeout 100 "$BUILT/host" "$BUILT/nosuch" 2 >"$folder/out" 2>&1 && fail "a program that is not there"
grep -q 'nosuch: no such program' "$folder/out" || fail "$(cat "$folder/out")"
exit 0
