#!/usr/bin/env bash
# run.sh PREFIX: builds the programs with clc and cc, and runs them on the machine of the caller, with 1 to 8 workers.
set -u
prefix=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
clc=${CLC:-$prefix/libexec/neopvm/bin/clc}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PVM_ROOT=$prefix PATH=$prefix/bin:$PATH
failures=0

fail() {
    echo "FAIL $*"
    failures=$((failures + 1))
}

# runs STATUS PROGRAM ARGS...: it ends so, and a program that ends with 0 says ok.
runs() {
    local wanted=$1 status
    shift
    # shellcheck disable=SC2086 # words
    timeout "${LIMIT:-100}" "$prefix/libexec/neopvm/bin/ntsnet" ${OPTIONS:-} "$work/$1" "${@:2}" >"$work/out" 2>"$work/err" </dev/null
    status=$?
    if [ "$status" -ne "$wanted" ] || { [ "$status" -eq 0 ] && ! grep -q '^ok' "$work/out" && [ "$1" != seed ]; }; then
        fail "$* ended with $status and not $wanted: $(tail -n 5 "$work/out" "$work/err")"
    fi
}

for source in "$here"/*.cl; do
    name=$(basename "$source" .cl)
    "$clc" -std=gnu11 -Wall -Werror -g -o "$work/$name" "$source" -lm || fail "$name does not build"
    nm -u "$work/$name" >>"$work/called"
done
for source in "$here"/*.c; do
    name=$(basename "$source" .c)
    cc -std=gnu99 -Wall -Werror -g -I"$prefix/include/neopvm/linda" -I"$prefix/include" -o "$work/$name" "$source" \
        -L"$prefix/lib/neopvm/linda" -Wl,-rpath,"$prefix/lib/neopvm/linda" -llinda -L"$prefix/lib" \
        -Wl,-rpath,"$prefix/lib" -lpvm3 || fail "$name does not build"
    nm -u "$work/$name" >>"$work/called"
done
for source in "$here"/*.cc; do
    name=$(basename "$source" .cc)
    for compiler in "${CXX:-c++}" clang++; do
        command -v "$compiler" >/dev/null || continue
        for standard in c++11 c++20; do
            "$compiler" -std=$standard -Wall -Wextra -Werror -I"$prefix/include/neopvm/linda" -o "$work/$name" "$source" \
                -L"$prefix/lib/neopvm/linda" -Wl,-rpath,"$prefix/lib/neopvm/linda" -llinda -L"$prefix/lib" \
                -Wl,-rpath,"$prefix/lib" -lpvm3 || fail "$name does not build with $compiler as $standard"
        done
    done
done

# Every documented call is called, and nothing else is exported.
missing=$(comm -23 <(grep -v '^#' "$here/../linda.calls" | sort -u) <(awk '{ print $NF }' "$work/called" | sort -u))
[ -z "$missing" ] || fail "no test calls" $missing
foreign=$(comm -23 <(nm -D --defined-only "$prefix/lib/neopvm/linda/liblinda.so" | awk '{ print $NF }' | sort -u) \
    <(tr -d ' ;' <"$here/../linda.map" | sort -u))
[ -z "$foreign" ] || fail "liblinda.so exports" $foreign
for header in linda posybl; do
    for standard in gnu89 c11; do
        echo "#include <$header.h>" | cc -std=$standard -Wall -Werror -fsyntax-only -I"$prefix/include/neopvm/linda" -xc - ||
            fail "$header.h does not stand alone in $standard"
    done
    for standard in c++11 c++17; do
        echo "#include <$header.h>" | "${CXX:-c++}" -std=$standard -Wall -Werror -fsyntax-only -I"$prefix/include/neopvm/linda" \
            -xc++ - || fail "$header.h does not stand alone in $standard"
    done
done

# neotuple.h without its comments has no callback, no variable argument and no integer of an unknown width.
sed -e 's:/\*:\n/*:g' "$prefix/include/neotuple.h" | awk '/\/\*/ { inside = 1 } !inside { print } /\*\// { inside = 0 }' >"$work/bare"
grep -nE '\(\*|\.\.\.|\b(int|long|short|unsigned|size_t)\b' "$work/bare" && fail "neotuple.h has something else than fixed widths"
grep -q 'int32_t neotuple_out' "$work/bare" || fail "neotuple.h was not read"
runs 0 fields "a b" ""
runs 1 fields rows
grep -q 'fields.cl:[0-9]*: in: field 2: 20 bytes have come for an array of items of 16' "$work/err" ||
    fail "half a row is not told: $(cat "$work/err")"
runs 0 eval
runs 0 strange
runs 1 eval 1
grep -q 'has ended without its tuple' "$work/err" || fail "a crash is not told: $(cat "$work/err")"
# The first process waits in an operation, whose end is not the program's.
for _ in 1 2 3 4 5 6; do
    runs 7 eval 3
    [ -s "$work/err" ] && fail "the end by lhalt is told as a fault: $(cat "$work/err")"
done
# The known programs with 1 to 8 workers; each compares its result with a sequential one, and so a worker that is killed
# under claims leaves the result as it was.
known_programs() {
    local workers
    for workers in 1 2 4 8; do
        runs 0 primes agenda "$1" "$workers"
        runs 0 matrix 24 "$workers"
        runs 0 search 40 "$workers"
        runs 0 nbody 40 "$workers"
        runs 0 barber "$workers"
        runs 0 philosophers $((workers + 1)) 20
        runs 0 readers 5 "$workers" 2
    done
    for workers in 2 4 8; do OPTIONS=-claim runs 0 bag "$workers"; done
    runs 0 primes result 20 1
    runs 0 primes specialist 40 1
    runs 0 seed 100
    runs 0 posybl_master "$work/posybl_worker" 250000
    runs 0 posybl_plus
}
known_programs 1000
runs 0 spread 1
(
    export PVM_VMID=${PVM_VMID:-default}-three
    "$prefix/bin/pvm" up --local 3 >/dev/null || fail "a machine of three hosts does not start"
    known_programs 300
    OPTIONS='-claim -copies 1' runs 0 several 20
    runs 0 spread 3
    "$prefix/bin/pvm" halt >/dev/null
    [ "$failures" -eq 0 ]
) || failures=$((failures + 1))
OPTIONS=-claim runs 0 several 60
# Without claims the tuple is lost, and the program waits for it.
LIMIT=5 runs 124 bag 2

# ntsnet: as the comparison of 1993 called it; a list of nodes, on a machine of its own; wrong command lines.
OPTIONS='-h -p /tmp -d -n 2:4' runs 0 matrix 8 2
grep -q 'without a meaning here: -h -p -d -n$' "$work/err" || fail "ignored options are not told: $(cat "$work/err")"
printf '# nodes\n%s\n\nno-such-host.invalid\n' "$("$prefix/bin/pvm" conf --json | sed 's/.*"name":"\([^"]*\)".*/\1/')" >"$work/nodes"
PVM_RSH=false OPTIONS="-nodelist $work/nodes" runs 0 matrix 8 2
"$prefix/bin/pvm" conf >/dev/null 2>&1 || fail "ntsnet has ended the machine of its caller"
grep -q 'not all hosts of' "$work/err" || fail "a host that cannot be added is not told: $(cat "$work/err")"
(
    export PVM_VMID=${PVM_VMID:-default}-own
    head -n 1 "$work/nodes" >"$work/empty"
    OPTIONS="-nodelist $work/empty" runs 0 matrix 8 2
    "$prefix/bin/pvm" conf >/dev/null 2>&1 && fail "a machine of ntsnet is left"
    [ "$failures" -eq 0 ]
) || failures=$((failures + 1))
# A name alone is a program of the caller's folder, as in 1993.
(cd "$work" && "$prefix/libexec/neopvm/bin/ntsnet" primes agenda 100 2 2>&1 </dev/null) | grep -q '^ok' ||
    fail "a program of this folder is not found by its name"
# Other files of a program use linda.h, and make asks for the headers of all.
printf '#include <linda.h>\nint other(void) { return lprocs() > 0; }\n' >"$work/other.c"
printf '#include <linda.h>\nint other();\nint real_main() { int n; eval("n", other()); in("n", ?n); return n + other(); }\n' >"$work/main.cl"
"$clc" -Wall -Werror -o "$work/both" "$work/main.cl" "$work/other.c" || fail "linda.h is not found"
LIMIT=60 runs 2 both
"$clc" -M "$work/main.cl" | tr -d '\\\n' | grep -q '^main.o: .*main.cl .*linda.h' || fail "clc -M does not name the headers"
# The array of 4 MB fits no space of 2 MB.
OPTIONS='-limit 2000000 -copies 1' runs 1 fields 'a b' ''
grep -q 'fields.cl:[0-9]*: out: .*larger than the space may be.*-limit' "$work/err" || fail "a limit is not told: $(cat "$work/err")"
OPTIONS='-copies 3' runs 2 primes agenda 100 2
grep -q 'expected a number from 0 to 2 after -copies, not 3' "$work/err" || fail "3 copies: $(cat "$work/err")"
NEOPVM_LINDA_COPIES=3 runs 1 primes agenda 100 2
grep -q 'NEOPVM_LINDA_COPIES is 3; expected a number from 0 to 2' "$work/err" || fail "3 copies: $(cat "$work/err")"
# Whoever ended ntsnet left its program, and the machine that it had started.
printf '#include <stdio.h>\n#include <unistd.h>\nint real_main() { printf("%%d\\n", (int)getpid()); fflush(stdout); in("never"); return 0; }\n' >"$work/waits.cl"
"$clc" -o "$work/waits" "$work/waits.cl" || fail "waits.cl does not build"
ends_with_it() { # OPTIONS...
    local program starter
    "$prefix/libexec/neopvm/bin/ntsnet" "$@" "$work/waits" >"$work/begun" </dev/null &
    starter=$!
    until [ -s "$work/begun" ] || ! kill -0 $starter 2>/dev/null; do sleep 0.05; done
    kill -TERM $starter
    wait $starter
    program=$(cat "$work/begun")
    for ((looks = 0; looks < 600; looks++)); do
        [ -d "/proc/$program" ] || return
        sleep 0.1
    done
    fail "ntsnet $* is ended, and its program lives on"
    kill "$program"
}
ends_with_it
(
    export PVM_VMID=${PVM_VMID:-default}-ended
    ends_with_it -nodelist "$work/empty"
    "$prefix/bin/pvm" conf >/dev/null 2>&1 && fail "a machine of an ntsnet that was ended is left"
    [ "$failures" -eq 0 ]
) || failures=$((failures + 1))
for wrong in '' '-x prog' '-n' '-nodelist /nowhere prog' '-limit prog' '-copies x prog' '-limit -1 prog' '-n x prog' '-n 2: prog'; do
    # shellcheck disable=SC2086 # words
    "$prefix/libexec/neopvm/bin/ntsnet" $wrong >/dev/null 2>&1 </dev/null
    [ $? -eq 2 ] || fail "ntsnet $wrong did not end with 2"
done
[ "$failures" -eq 0 ]
