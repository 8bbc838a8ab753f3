# Job files.
set -u
fail() { echo "$*"; exit 1; }
cps=$TREE/libexec/neopvm/bin/cps
printf '# two classes\nfirst 1 local %s/seed 0 # gives\n\nsecond 1 local %s/seed 1\n' "$PWD" "$PWD" >job
timeout 100 "$cps" job >out 2>err && grep -q 'ok 100 round trips' out || fail "job: $(cat out err)"
printf 'first 1 local /bin/true\nsecond x local\n' >wrong
timeout 100 "$cps" wrong >out 2>err && fail "a bad line: $(cat out)"
grep -q 'wrong:2.*' err && grep -q expected err || fail "a bad line is not told: $(cat err)"
timeout 100 "$cps" job -n 5 >out 2>err && fail "a number of processes beside a job file"
grep -q -- '-n.*nothing is started' err && [ ! -s out ] || fail "-n is not refused at once: $(cat out err)"
echo '# nothing' >wrong
timeout 100 "$cps" wrong >out 2>err && fail "an empty file"
timeout 100 "$cps" no-such-file >out 2>err && fail "a file that is not there"
grep -q no-such-file err || fail "a file that is not there is not told: $(cat err)"
exit 0
