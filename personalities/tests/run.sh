#!/usr/bin/env bash
# run.sh PREFIX WORK [TEST...]: runs the tests of the interfaces that are installed in PREFIX, on a machine of its own.
# All that it writes lies in WORK; `-` is a temporary folder. A TEST is an interface, or one of its tests as the last lines
# name those that have failed ("p4 bad kill with 4 ranks", "nx forged.sh", "cps deaths", "files").
#
# An interface's folder tests has a runner of its own, run.sh PREFIX, or
#   *.c *.f *.f90   programs. `flags: ...` in one of the first lines is given to the compiler and linker; where it names
#                   a library (-l...), that is in the place of the interface's own
#   list            lines `RANKS STATUS PROGRAM [ARGS]`: run with 1, 2, 4 ranks (RANKS is 1,2,4), each time ending with
#                   STATUS (0: and with a last line of rank 0's that begins with "ok")
#   chance.c        a program by chance (chance.h) that deaths.sh runs, too; NEOPVM_LONG makes both of them long
#   refused.table   wrong calls of refused.c (frefused.table: of frefused.f), and what is told of each (refused.sh)
#   *.sh            scripts that end with 0. They find PVM, BUILT (the programs), TREE (PREFIX), FLAGS
#                   and LIBS (to build more) and NAME in the environment
# Each name in NAME.calls must be called by one of the programs, and the shared library exports NAME.map's names alone.
set -u
prefix=$(realpath "$1")
if [ "$2" = - ]; then
    work=$(mktemp -d) || exit 2
    trap 'rm -rf "$work"' EXIT
else
    work=$(mkdir -p "$2" && realpath "$2") || exit 2
fi
shift 2
here=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=xtask/failed.sh
. "$here/../xtask/failed.sh"
wanted=("$@")
export CC=${CC:-cc} FC=${FC:-gfortran}
# shellcheck source=crates/testbed/testbed.sh
. "$here/../crates/testbed/testbed.sh"
testbed_up 1 --prefix "$prefix" --home callers
export PVM=$prefix/bin/pvm TREE=$prefix LD_LIBRARY_PATH=$prefix/lib
unset PVM_ROOT PROCGRP
failures=0 runs=0

# shellcheck source=personalities/tests/building.sh
. "$here/tests/building.sh"

# What no test is to blame for.
fail() {
    echo "FAIL $*"
    failures=$((failures + 1))
}

# TEST WORDS...
fail_test() {
    has_failed "$1"
    echo "FAIL $1: ${*:2}"
}

# TEST COMMAND...: a test of its own, which ends with 0 and writes little.
run_test() {
    local name=$1 ended
    shift
    is_wanted "$name" "${name%% *}" || return 0
    runs=$((runs + 1))
    "$@" >"$work/out" 2>&1 </dev/null && return
    ended=$?
    fail_test "$name" "ended with $ended: $(tail -n 20 "$work/out")"
    return $ended
}

run_program() {
    local ranks=$1 status=$2 ended name
    shift 2
    name="$NAME $* with $ranks ranks"
    is_wanted "$name" "$NAME" || return 0
    runs=$((runs + 1))
    (cd "$BUILT" && timeout "${NEOPVM_LONG:+9}300" "$PVM" run --quiet --as "${AS:-$NAME}" -n "$ranks" "./$1" "${@:2}") \
        >"$work/out" 2>"$work/err" </dev/null
    ended=$?
    if [ "$ended" -ne "$status" ]; then
        fail_test "$name" "ended with $ended and not $status"
        tail -n 5 "$work/out" "$work/err"
    elif [ "$status" -eq 0 ] && ! grep -q '^ *ok' "$work/out"; then
        fail_test "$name" "did not say ok"
        tail -n 5 "$work/out" "$work/err"
    fi
}

run_list() {
    local ranks status program n
    [ -f "$here/$NAME/tests/list" ] || return 0
    while read -r ranks status program; do
        case $ranks in '' | '#'*) continue ;; esac
        # shellcheck disable=SC2086
        for n in ${ranks//,/ }; do run_program "$n" "$status" $program; done
    done <"$here/$NAME/tests/list"
}

run_scripts() {
    local script
    for script in "$here/$NAME"/tests/*.sh; do
        [ -f "$script" ] || continue
        run_test "$NAME ${script##*/}" env -C "$BUILT" timeout 400 bash "$script"
    done
}

run_refused() {
    local table
    for table in "$here/$NAME"/tests/*refused.table; do
        [ -f "$table" ] || continue
        run_test "$NAME ${table##*/}" timeout 400 bash "$here/tests/refused.sh" "$NAME" "$BUILT/$(basename "$table" .table)" "$table"
    done
}

run_strangers() {
    [ -f "$here/$NAME/tests/chance.c" ] || return 0
    run_test "$NAME strangers" timeout 300 bash "$here/tests/strangers.sh" "$NAME" "$BUILT/chance" "$work/stranger"
}

run_deaths() {
    [ -f "$here/$NAME/tests/chance.c" ] && is_wanted "$NAME deaths" "$NAME" || return 0
    run_test "$NAME deaths" timeout "${NEOPVM_LONG:+9}300" bash "$here/tests/deaths.sh" "$NAME" "$BUILT/chance" && cat "$work/out"
}

# The documented calls are called by tests, and nothing else is exported.
check_names() {
    local called exported wanted missing foreign library
    called=$(nm -u "$BUILT"/*.o 2>/dev/null | awk '{print $NF}' | sort -u)
    wanted=$(grep -v '^#' "$here/$NAME/$NAME.calls" | sort -u)
    missing=$(comm -23 <(echo "$wanted") <(echo "$called"))
    [ -z "$missing" ] || fail "$NAME: no test calls" $missing
    for library in "$TREE/lib/neopvm/$NAME"/lib*.so; do
        exported=$(nm -D --defined-only "$library" | awk '{print $NF}' | sort -u)
        foreign=$(comm -23 <(echo "$exported") <(tr -d ' ;' <"$here/$NAME/$NAME.map" | sort -u))
        [ -z "$foreign" ] || fail "$library exports" $foreign
    done
}

compiles() {
    local standard=$1 compiler=$2
    # shellcheck disable=SC2086
    $compiler -std="$standard" $FLAGS -Werror -fsyntax-only "$3" "$work/header" 2>"$work/bad" && return
    fail "$(cat "$work/header") does not stand alone in $standard"
    cat "$work/bad"
}

# Headers stand alone in C89, C11 and C++17.
check_headers() {
    local header
    for header in "$TREE/include/neopvm/$NAME"/*.h; do
        # Some have Fortran inside.
        grep -q '^[!c]' "$header" && continue
        echo "#include \"$header\"" >"$work/header"
        compiles c89 "$CC" -xc
        compiles c11 "$CC" -xc
        compiles c++17 "${CXX:-c++}" -xc++
    done
}

test_interface() {
    use_interface "$1" "$work"
    if [ -f "$here/$NAME/tests/run.sh" ]; then
        run_test "$NAME" timeout "${NEOPVM_LONG:+3}900" bash "$here/$NAME/tests/run.sh" "$prefix"
        return
    fi
    [ -d "$TREE/lib/neopvm/$NAME" ] || {
        fail "$NAME is not installed in $TREE"
        return
    }
    build_programs
    run_list
    run_scripts
    run_refused
    run_deaths
    run_strangers
    # For these all programs are compiled, whichever run.
    [ -f "$here/$NAME/$NAME.calls" ] && check_names
    check_headers
}

examples() {
    timeout 400 bash "$here/../examples/interfaces/run.sh" "$prefix" 3 >"$work/examples" 2>&1
    local ended=$?
    cat "$work/examples"
    [ $ended -eq 0 ] && [ "$(grep -c ': pi is 3.14159265 by ' "$work/examples")" = 11 ]
}

export STRANGER=$work/stranger
$CC -O1 -I"$prefix/include" -o "$STRANGER" "$here/tests/stranger.c" -L"$prefix/lib" -Wl,-rpath,"$prefix/lib" -lpvm3 ||
    fail "stranger.c does not build"
# shellcheck disable=SC2046
[ $# -gt 0 ] || set -- $(cd "$here" && ls -d ./*/Makefile | cut -d/ -f2)
tested=
for name in "${@%% *}"; do
    case " $tested " in *" $name "*) continue ;; esac
    tested="$tested $name"
    [ ! -d "$here/$name/tests" ] || test_interface "$name"
done
run_test files timeout 400 bash "$here/tests/files.sh"
run_test late timeout 400 bash "$here/tests/late.sh"
run_test stopped timeout 400 bash "$here/tests/stopped.sh"
run_test examples examples
# A task that was ended may be listed for a moment.
for tick in $(seq 300); do
    left=$("$PVM" ps --json)
    case $left in *'"tasks":[]'*) break ;; esac
    sleep 0.1
done
case $left in *'"tasks":[]'*) ;; *) fail "tasks are left: $left" ;; esac
testbed down || fail "the machine has left something"
echo "$runs runs, $((failures + ${#failed_tests[@]})) failures"
tell_failed "$failures"
[ $((failures + ${#failed_tests[@]})) -eq 0 ] && [ "$runs" -gt 0 ]
