# cubix, what nodes print in each mode, and host programs.
set -u
fail() { echo "$*"; exit 1; }
cubix=$TREE/libexec/neopvm/bin/cubix
echo hello | timeout 100 "$cubix" -n 3 ./output >out 2>err || fail "cubix: $(cat out err)"
sed '/^async$/d' out >got
cat >wanted <<'END'
single
word hello
multi 0 hello
multi 1 hello
multi 2 hello
again 0
again 1
again 2
single again
ok end 0
ok end 1
ok end 2
END
[ "$(grep -c '^async$' out)" = 3 ] || fail "output under fasync: $(cat out)"
diff wanted got || fail "output in other modes"
timeout 100 ./nodes >out || fail "alone: $(cat out)"
timeout 100 ./host "$PWD/node" 3 >out 2>err && grep -q 'ok host of 3' out || fail "host program: $(cat out err)"
timeout 100 ./fhost "$PWD/node" >out 2>err && grep -q 'ok host' out || fail "host program in Fortran: $(cat out err)"
timeout 100 ./host "$PWD/no-such-program" 2 >out 2>err && fail "a program that is not there: $(cat out err)"
grep -q no-such-program err || fail "a program that is not there is not told: $(cat err)"
timeout 100 "$cubix" -n 2 ./nodes short >out 2>err
[ $? = 1 ] && grep -q 'exread: the message of node' err || fail "a short buffer is not told: $(cat err)"
exit 0
