# Programs that are started by hand: the procgroup file by each of its names, clusters, arguments, and a bad line.
set -u
fail() { echo "$*"; exit 1; }
run() { timeout 100 "$@" >out 2>err; }
rm -rf starts && mkdir starts && cd starts || exit 1
cp "$BUILT/messages" "$BUILT/global" "$BUILT/odds" "$BUILT/table" "$BUILT/bad" .

run ./messages && grep -q 'ok 1 processes' out || fail "alone: $(cat out err)"
echo 'local 1' >procgroup
run ./messages && grep -q 'ok 2 processes' out || fail "procgroup: $(cat out err)"
echo 'local 2 # two more' >messages.pg
run ./messages && grep -q 'ok 3 processes' out || fail "messages.pg: $(cat out err)"
printf '# clusters\nlocal 1\n\nlocalhost 2 %s/global\nlocalhost 1 %s/global otto\n' "$PWD" "$PWD" >other
run ./global -p4pg other && grep -q 'ok 3 clusters' out || fail "-p4pg: $(cat out err)"
run ./global -pg other && grep -q 'ok 3 clusters' out || fail "-pg: $(cat out err)"
rm procgroup
run ./table && grep -q 'ok table of 4' out || fail "a table by hand: $(cat out err)"

run ./odds a -p4dbg 3 -p4rdbg 2 b -p4gm 1000000 -p4norem -execer_id 3 -p4whatever c -p4wd / -p4ssport 3 -p4dmn x -p4log
[ "$(grep -c '^argument' out)" = 3 ] && grep -q 'dprintfl 3' out || fail "arguments: $(cat out err)"
! grep -q 'too fine 4' out || fail "debug level: $(cat out)"
run ./odds -p4version && grep -q NeoPVM out || fail "version: $(cat out err)"
run ./odds -p4help && grep -q p4pg out || fail "help: $(cat out err)"
run ./odds -p4dbg 3 -p4out printed && grep -q '^ok' printed || fail "-p4out: $(cat out err)"
run ./odds -p4dbg x && fail "a level that is no number: $(cat out)"
grep -q 'p4dbg x' err || fail "a level that is no number is not told: $(cat err)"

printf 'local 1\nada\n' >wrong
run ./messages -p4pg wrong && fail "a bad line"
grep -q 'wrong:2' err || fail "a bad line is not told: $(cat err)"
printf 'local 1\nno-such-host 1 /bin/true\n' >wrong
run ./messages -p4pg wrong && fail "a host that is not there"
grep -q 'pvm add no-such-host' err || fail "a host that is not there is not told: $(cat err)"
run ./messages -p4pg no-such-file && fail "a file that is not there"
grep -q no-such-file err || fail "a file that is not there is not told: $(cat err)"

echo 'local 3' >bad.pg
for try in 1 2 3 4 5; do
    run ./bad free
    [ $? = 1 ] && grep -q 'rank 3.*p4_msg_free' err || fail "the cause is not told: $(cat err)"
done

# A process that is killed at some moment ends all, and nothing is left.
ranks() { pgrep -f "^$PWD/bad wait"; }
for try in 1 2 3 4 5 6 7 8; do
    ./bad wait -p4pg bad.pg >out 2>err &
    keeper=$!
    for tick in $(seq 6000); do ranks >/dev/null && break; sleep 0.01; done
    sleep "0.0$((RANDOM % 8))"
    victim=$(ranks | shuf -n 1)
    kill -KILL "$victim" || fail "no process to kill"
    for tick in $(seq 300); do kill -0 $keeper 2>/dev/null || break; sleep 0.1; done
    kill -0 $keeper 2>/dev/null && fail "the job goes on without a process"
    wait $keeper
    [ $? -ne 0 ] || fail "the job does not fail without a process"
    for tick in $(seq 300); do ranks >/dev/null || break; sleep 0.1; done
    ! ranks >/dev/null || fail "processes are left: $(pgrep -af "^$PWD/bad wait")"
done
exit 0
