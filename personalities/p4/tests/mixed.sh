# Processes of one job in C and Fortran; the master also talks to a task of PVM, while jobs of two other kinds run in the same
# machine: a TCGMSG job, another p4 job and a PVM program with more tasks.
set -u
fail() { echo "$*"; exit 1; }
printf 'local 0\nlocalhost 2 %s\nlocalhost 1 %s\n' "$BUILT/mixed_f" "$BUILT/mixed_f" >mixed.pg
timeout 100 "$BUILT/mixed_c" -p4pg mixed.pg >out 2>err && grep -q '^ok 4' out || fail "C and Fortran: $(cat out err)"

other=$BUILT/of_tcgmsg library=$TREE/lib/neopvm/tcgmsg
$CC -O1 -I"$TREE/include/neopvm/tcgmsg" -o "$other" "$(dirname "$0")/../../tcgmsg/tests/chance.c" \
    -L"$library" -Wl,-rpath,"$library" -ltcgmsg -lpthread || fail "chance.c of tcgmsg does not build"
timeout 100 "$PVM" run --quiet --as tcgmsg -n 3 "$other" 8 2000 100 >others 2>&1 &
timeout 100 "$PVM" run --quiet --as p4 -n 3 "$BUILT/chance" 8 2000 100 >chances 2>&1 &
timeout 100 "$BUILT/pvm_task" >task 2>taskerr &
for tick in $(seq 3000); do [ -s task ] && break; sleep 0.02; done
timeout 100 "$BUILT/mixed_c" -p4pg mixed.pg "$(cat task)" >out 2>err && grep -q '^ok 4' out || fail "beside others: $(cat out err)"
wait
grep -q '^ok' chances || fail "a p4 job beside others: $(cat chances)"
grep -q '^ok' others || fail "a TCGMSG job beside others: $(cat others)"
[ ! -s taskerr ] || fail "the task: $(cat taskerr)"
exit 0
