# Ranks of one job in C and in Fortran, whichever is the first.
set -u
fail() { echo "$*"; exit 1; }
line() { echo "someone localhost $1 $BUILT/$2 $PWD"; }
{ line 2 mixed_c; line 2 mixed_f; line 1 mixed_c; } >mixed.p
"$TREE/libexec/neopvm/bin/parallel" mixed >out 2>err && grep -q '^ok 5' out || fail "C first: $(cat out err)"
{ line 1 mixed_f; line 3 mixed_c; } >mixed.p
"$TREE/libexec/neopvm/bin/parallel" mixed >out 2>err && grep -q 'ok *4' out || fail "Fortran first: $(cat out err)"
exit 0
