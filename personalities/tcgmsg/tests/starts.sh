# A program by hand, by parallel with each of its files, two jobs at once, and files that are wrong.
set -u
fail() { echo "$*"; exit 1; }
parallel=$TREE/libexec/neopvm/bin/parallel
here=$(pwd) host=$(hostname)
folder=$(mktemp -d) && cd "$folder" || exit 1
trap 'cd /; rm -rf "$folder"' EXIT
export HOME=$folder

# By hand: a job of one, which needs no machine.
PVM_TMP=$folder/none "$here/classic" | grep -q '^ok' || fail "a program by hand"
PVM_TMP=$folder/none timeout 100 "$here/wrong" alone 2>err && fail "alone and waiting for ever"
grep -q 'RCV.*alone' err || fail "what is wrong with a lonely receive: $(cat err)"
PVM_TMP=$folder/none "$here/wrong" parerr 2>err; [ $? -eq 3 ] || fail "PARERR by hand"

# The files, in their order.
line() { echo "someone $1 $2 $here/classic $folder"; }
line localhost 1 >PROCGRP
"$parallel" classic | grep -q '^ok' || fail "./PROCGRP"
ranks() { "$parallel" "$@" | grep -c '^node '; }
line "$host" 2 >other
[ "$(PROCGRP=other ranks classic)" = 2 ] || fail "\$PROCGRP"
mkdir pdir && { line localhost 1; line "$host" 2; } >pdir/classic.p
[ "$(PROCGRP=other ranks classic f)" = 3 ] || fail "\$HOME/pdir"
{ echo '# four'; line localhost 4; } >classic.p
[ "$(PROCGRP=other ranks classic pbginf)" = 4 ] || fail "NAME.p"

# Standard input is rank 0's; the program's arguments and folder are the file's.
printf 'u localhost 2 cat %s\n' "$folder" >cat.p
cp "$(command -v cat)" "$folder/cat"
[ "$(echo text | "$parallel" cat)" = text ] || fail "standard input"

# What is wrong with a file is told, and nothing is started.
wrong() {
    "$parallel" bad >out 2>err && fail "a bad file: $1"
    tr '\n' ' ' <err | grep -q "$2" || fail "a bad file ($1): $(cat err)"
    [ ! -s out ] || fail "something was started: $(cat out)"
}
echo 'u localhost 1 x' >bad.p && wrong "too few words" 'bad.p:1: .*expected `user host N path folder`'
{ line localhost 1; echo 'u localhost none x y'; } | sed s,classic,ga, >bad.p 2>&1
sed -i '2s/.*/u localhost none x y/' bad.p && wrong "no number" 'bad.p:2:.*'
{ line localhost 1; line nowhere.example 1; } >bad.p && wrong "no such host" 'bad.p:2: no host nowhere.example'
grep -q 'pvm add nowhere.example' err || fail "the command that adds it"
echo '# nothing' >bad.p && wrong "no line" 'no line says'
printf 'u localhost 1 nosuch %s\n' "$folder" >bad.p && wrong "no such program" 'nosuch: no such program'
rm bad.p && (cd pdir && rm -f ../PROCGRP && "$parallel" missing 2>err && fail "no file"; grep -q 'missing.p' err) ||
    fail "no file: $(cat pdir/err)"

# Two jobs in one machine do not meet: same types, any source.
for job in 1 2 3; do
    "$PVM" run --quiet --as tcgmsg -n 3 "$here/chance" 5 3000 >"job$job" 2>&1 &
done
wait
[ "$(cat job? | grep -c '^ok')" = 3 ] || fail "jobs at once: $(cat job?)"

# INTEGERs of 4 bytes and a library for 8.
"$PVM" run --quiet --as tcgmsg "$here/narrow" 2>err && fail "INTEGERs of another width"
grep -q 'INTEGER has 4 bytes' err || fail "INTEGERs of another width: $(cat err)"
# A program that includes a header is told at once.
for header in msgtypesf.h tcgmsg.fh; do
    printf "      program told\n      include '%s'\n      call pbeginf\n      print *, 'on'\n      call pend\n      end\n" $header >told.f
    # shellcheck disable=SC2086
    $FC $FLAGS -o told4 told.f $LIBS -ltcgmsg -lpvm3 && $FC $FLAGS -fdefault-integer-8 -o told8 told.f $LIBS -ltcg4 -lpvm3 ||
        fail "$header does not compile"
    for width in 4 8; do
        "$PVM" run --quiet --as tcgmsg -n 2 ./told$width >out 2>err && fail "$header: INTEGERs of $width bytes"
        grep -q "PBEGINF: the program's INTEGER has $width bytes, and this library's" err || fail "$header: $(cat err)"
        [ ! -s out ] || fail "$header: not at PBEGINF: $(cat out)"
    done
    # shellcheck disable=SC2086
    $FC $FLAGS -o told4 told.f $LIBS -ltcg4 -lpvm3 && $FC $FLAGS -fdefault-integer-8 -o told8 told.f $LIBS -ltcgmsg -lpvm3 &&
        ./told4 && ./told8 || fail "$header: INTEGERs as the library's"
done
exit 0
