#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# spread.sh PREFIX [STEP|INTERFACE...]: the interfaces on three hosts of `testbed hosts`, as root. PREFIX lies outside of /tmp, which each
# of these hosts has for itself. Steps, all of them where none is named:
#   programs   each program of an interface's list that is to succeed, in C and Fortran, on 3 and 6 ranks, host programs, and
#              ranks in both languages; interfaces beside one another (AT_ONCE, 4). A part of `make check`
#   chance     programs by chance on 3 and 7 ranks (NEOPVM_LONG: a million operations each)
#   deaths     a rank on any of the hosts is killed, and the keeper
#   daemons    programs by chance again and again while daemons are killed, TIMES (3; NEOPVM_LONG: 100) for each
#   power      a host is switched off under a job of each interface, TIMES (1; NEOPVM_LONG: 100)
# The interfaces are those that are named, or all.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
tool=$here/../xtask/hosts.sh
prefix=$(cd "$1" && pwd) || exit 2
shift
# shellcheck source=xtask/failed.sh
. "$here/../xtask/failed.sh"
# shellcheck source=crates/testbed/testbed.sh
. "$here/../crates/testbed/testbed.sh"
testbed_hosts 3
# The hosts share it, which /tmp is not.
work=$HOSTS_DIR/interfaces
mkdir "$work"

export CC=${CC:-cc} FC=${FC:-gfortran} TREE=$prefix
# shellcheck source=personalities/tests/building.sh
. "$here/tests/building.sh"
count() { echo "${TIMES:-$([ -n "${NEOPVM_LONG:-}" ] && echo 100 || echo "$1")}"; }
# PVM 2.4 has components in the place of jobs.
all='' steps=''
for word; do
    case $word in
        programs | chance | deaths | daemons | power) steps="$steps $word" ;;
        *) all="$all${all:+ }$word" ;;
    esac
done
all=${all:-tcgmsg p4 nx express cps mpl cmmd vertex mpsc pvm2} steps=${steps:-programs chance deaths daemons power}
jobs=${all/pvm2/}
: >"$work/failures" >"$work/failed_interfaces" >"$work/runs"
fail() {
    echo "FAIL $*"
    echo "$*" >>"$work/failures"
}
# NAME WORDS...: of an interface; it may be a process of its own that says so
fail_of() {
    echo "FAIL $*"
    echo "$1" >>"$work/failed_interfaces"
}
on() { bash "$tool" on "$@"; }
now() { date +%s%3N; }

# What others call PVM: the command on h1, in the caller's folder.
make_command() {
    export PVM=$work/pvm
    printf '#!/bin/bash\nexec bash %s on h1 env ${NEOPVM_LONG:+NEOPVM_LONG=1} -C "$PWD" pvm "$@"\n' "$tool" >"$PVM"
    chmod +x "$PVM"
}

build_one() {
    local source sources
    use_interface "$1" "$work"
    case $1 in
        pvm2) sources=$(printf "$here/pvm2/tests/%s\n" family.c crowd.c chance.c killed.c lost.c fmaster.f fworker.f pvm_time.c) ;;
        mpl | cmmd | vertex | mpsc) sources="$here/echo/tests/$1.c $here/echo/tests/chance.c" ;;
        *) sources=$(ls "$here/$1"/tests/*.[cf]) ;;
    esac
    for source in $sources; do SHARED_ALONE=1 build_program "$source"; done
    [ "$1" != mpl ] || SHARED_ALONE=1 build_program "$here/echo/tests/solver.c"
    [ "$1" != pvm2 ] || ln -s "$BUILT/family" "$BUILT/member"
    [ "$1" != pvm2 ] || ln -s "$BUILT/pvm_time" "$BUILT/worker"
}

# COMMAND for each interface, so many beside one another.
side_by_side() {
    local name
    for name in $all; do
        while [ "$(jobs -rp | wc -l)" -ge "${AT_ONCE:-4}" ]; do wait -n; done
        "$1" "$name" &
    done
    wait
}

# RANKS: as options of `pvm run`; p4 shares them among its clusters by a file.
ranks_of() {
    local others=$((($2 - 1) / 3))
    if [ "$1" != p4 ]; then
        echo "-n $2"
        return
    fi
    printf 'local %d\n' $(($2 - 2 * (others + ($2 < 4)) - 1)) >"$work/procgroup.$2.$(basename "$3")"
    printf "h%d $((others + ($2 < 4))) $3\n" 2 3 >>"$work/procgroup.$2.$(basename "$3")"
    echo "--hosts $work/procgroup.$2.$(basename "$3")"
}

run_job() { # NAME RANKS PROGRAM ARGS
    local name=$1 ranks=$2 program=$3
    shift 3
    # shellcheck disable=SC2046
    # Some write files where they are.
    (cd "$work/programs/$name" && exec timeout "${NEOPVM_LONG:+9}300" "$PVM" run --quiet --as "$name" \
        $(ranks_of "$name" "$ranks" "$program") "$program" "$@") >"$work/out.$name" 2>"$work/err.$name" </dev/null
}

succeed() {
    echo "$*" >>"$work/runs"
    run_job "$@" && return
    fail_of "$1" "${*:2}: status $?"
    tail -n 4 "$work/out.$1" "$work/err.$1"
}

# NAME WORDS...: a command on h1, in the folder of its interface's programs.
succeed_there() {
    local name=$1
    shift
    echo "$*" >>"$work/runs"
    on h1 timeout "${NEOPVM_LONG:+9}300" env -C "$work/programs/$name" PATH="$prefix/libexec/neopvm/bin:$prefix/bin:$PATH" "$@" \
        >"$work/out.$name" 2>"$work/err.$name" </dev/null && return
    fail_of "$name" "$*: status $?"
    tail -n 4 "$work/out.$name" "$work/err.$name"
}

programs_of_lists() {
    local name=$1 status program list ranks
    case $name in
        mpl) list=$'3 0 mpl\n3 0 solver 15' ;;
        cmmd | vertex | mpsc) list="3 0 $name" ;;
        *) list=$(grep -v '^#' "$here/$name/tests/list") ;;
    esac
    while read -r _ status program; do
        # What is for one rank alone says nothing here, and chance has a step of its own.
        case "$status $program" in "0 chance"* | "0 shared" | "0 heap" | "0 limit"* | "0 locks_speed" | "0 table" | "0 odds"*) continue ;; esac
        [ "$status" = 0 ] || continue
        # Each of their messages crosses a link.
        case $program in counter) program="counter 50" ;; barriers) program="barriers 0 100" ;; esac
        # shellcheck disable=SC2086
        for ranks in 3 6; do succeed "$name" $ranks "$work/programs/$name/"$program; done
    done <<<"$list"
}

# What an interface starts in its own way, and ranks in two languages.
programs_of_its_own() {
    local built=$work/programs/$1
    case $1 in
        tcgmsg)
            printf "x h%s $built/%s $built\n" "1 1" mixed_c "2 2" mixed_f "3 2" mixed_c >"$built/mixed.p"
            succeed_there tcgmsg parallel mixed
            printf "x h%s $built/%s $built\n" "2 1" mixed_f "3 1" mixed_c "1 2" mixed_f >"$built/mixed.p"
            succeed_there tcgmsg parallel mixed
            ;;
        p4)
            printf "%s $built/mixed_f\n" "h2 2" "h3 1" | sed '1i local 0' >"$built/mixed.pg"
            succeed_there p4 ./mixed_c -p4pg mixed.pg
            ;;
        nx)
            succeed_there nx ./host "$built/node" 6
            succeed_there nx ./fhost "$built/node"
            ;;
        express)
            succeed_there express ./host "$built/node" 6
            succeed_there express ./fhost "$built/node"
            succeed_there express cubix -n 6 "$built/nodes"
            ;;
        cps)
            printf "c 1 h%s $built/seed %s\n" "2" 0 "3" 1 >"$built/classes"
            succeed_there cps cps classes
            ;;
        pvm2)
            succeed_there pvm2 ./family
            succeed_there pvm2 ./fmaster
            succeed_there pvm2 ./pvm_time
            succeed_there pvm2 ./crowd 8
            succeed_there pvm2 pvm run --quiet -n 9 "$built/crowd" 9 spread
            succeed_there pvm2 pvm run --quiet -n 6 "$built/chance" 6 60 11 spread
            succeed_there pvm2 ./killed 10
            ;;
    esac
}

programs_of() {
    [ "$1" = pvm2 ] || programs_of_lists "$1"
    programs_of_its_own "$1"
}

programs() { side_by_side programs_of; }

chance() {
    local name ranks
    for name in $jobs; do
        for ranks in 3 7; do succeed "$name" $ranks "$work/programs/$name/chance" $ranks; done
        echo "$name: $(cat "$work/out.$name")"
    done
    [ "$jobs" = "$all" ] || succeed_there pvm2 pvm run --quiet -n 7 "$work/programs/pvm2/chance" 7 "${NEOPVM_LONG:+200}00" 5 spread
}

# WORD: components on three hosts that run until one of them is gone; the word is in their path.
start_components() {
    lost=$work/programs/pvm2/lost.$1
    cp "$work/programs/pvm2/lost" "$lost"
    rm -f "$work/out.lost"
    on h1 timeout 100 "$lost" h1 h2 h3 >"$work/out.lost" 2>"$work/err.lost" </dev/null &
    component=$!
    local tick
    for tick in $(seq 2000); do
        grep -qs running "$work/out.lost" && return
        sleep 0.01
    done
    fail "components do not start: $(cat "$work/err.lost")"
}

components_told() { # WITHIN_MS of BEGAN
    wait $component || fail "components, of which one was lost: status $?, $(cat "$work/out.lost" "$work/err.lost")"
    local took=$(($(now) - $2))
    [ $took -le "$1" ] || fail "components were told after $took ms"
    [ $took -le $worst ] || worst=$took
    # They have left; the processes end a moment later.
    local tick
    for tick in $(seq 3000); do
        pgrep -f "^$lost" >/dev/null || break
        sleep 0.01
    done
    ! pgrep -f "^$lost" >/dev/null || fail "components are left"
    rm -f "$lost"
}

deaths_of_components() {
    local time began worst=0
    for ((time = 0; time < $(count 3); time++)); do
        start_components $time
        sleep "0.$((RANDOM % 3))$((RANDOM % 10))"
        began=$(now)
        # Those that were started have no arguments.
        kill -KILL "$(pgrep -f "^$lost\$" | shuf -n1)"
        components_told 30000 "$began"
    done
    echo "pvm2: $time deaths, the others had noticed and ended after $worst ms at most"
}

deaths() {
    local name
    for name in $jobs; do
        bash "$here/tests/deaths.sh" "$name" "$work/programs/$name/chance" || fail "deaths of $name"
    done
    [ "$jobs" = "$all" ] || deaths_of_components
}

run_by_chance() { # NAME SEED
    case $1 in
        pvm2) timeout 100 "$PVM" run --quiet -n 3 "$work/programs/pvm2/chance" 3 200 "$2" spread >"$work/out.$1" 2>"$work/err.$1" ;;
        *) run_job "$1" 3 "$work/programs/$1/chance" "$2" 2000 100 ;;
    esac
}

# Again and again until the file is there.
keep_running() {
    local name=$1 seed=0
    until [ -e "$work/enough" ]; do
        run_by_chance "$name" $((++seed)) && continue
        echo "seed $seed: $(cat "$work/err.$name")" >"$work/failed"
        return
    done
    echo "$name: $seed jobs"
}

daemons() {
    local name victim killed
    for name in $all; do
        rm -f "$work/enough" "$work/failed"
        keep_running "$name" &
        for ((killed = 0; killed < $(count 3); killed++)); do
            sleep "0.$((RANDOM % 3))$((RANDOM % 10))"
            [ ! -e "$work/failed" ] || break
            victim=$(daemons_of_hosts | shuf -n1)
            [ -n "$victim" ] && kill -KILL "$victim" || fail "no daemon to kill"
        done
        touch "$work/enough"
        wait
        [ ! -e "$work/failed" ] || fail "$name, while daemons were killed: $(cat "$work/failed")"
        echo "$name: $killed daemons were killed"
    done
}

# Of all three hosts: processes of ours in their process tables.
daemons_of_hosts() {
    local host pid
    for host in h1 h2 h3; do
        pid=$(cat "$HOSTS_DIR/$host/pid") || continue
        pgrep --ns "$pid" --nslist pid -f '^pvmd --daemon' || true
    done
}

# Jobs of all that run until they are ended.
start_jobs() { # TIME
    local name tick
    rm -f "$work"/ended.*
    for name in $jobs; do
        (
            run_job "$name" 3 "$work/programs/$name/chance" "2$1" 1000000000 2000
            echo "$? $(now)" >"$work/ended.$name"
        ) &
        running="$running $!"
    done
    for tick in $(seq 3000); do
        [ "$(pgrep -fc "^$work/programs/.*/chance 2$1 1000000000")" -ge $((3 * $(echo "$jobs" | wc -w))) ] && break
        sleep 0.02
    done
}

# NAME HOST BEGAN: its job has ended, and has said why.
job_told() {
    local took=$(($(cut -d' ' -f2 "$work/ended.$1") - $3))
    [ $took -le $worst ] || worst=$took
    [ $took -le 30000 ] || fail "$1 ended $took ms behind its host"
    [ "$(cut -d' ' -f1 "$work/ended.$1")" -ne 0 ] || fail "$1 did not fail without $2"
    grep -q "rank [0-9] (t[0-9a-f]* on $2) is lost with its host; the job is ended" "$work/err.$1" ||
        fail "$1: $(cat "$work/err.$1")"
}

# A job of each is running, and components; then h2 or h3 loses its power.
power() {
    local name host time tick began running worst=0
    for ((time = 0; time < $(count 1); time++)); do
        host=h$((2 + RANDOM % 2)) running=
        start_jobs $time
        [ "$jobs" = "$all" ] || start_components "power$time"
        sleep "0.$((RANDOM % 10))"
        began=$(now)
        bash "$tool" power-off $host
        [ "$jobs" = "$all" ] || components_told 30000 "$began"
        # shellcheck disable=SC2086
        wait $running
        for name in $jobs; do job_told "$name" $host "$began"; done
        for tick in $(seq 300); do
            pgrep -f "^$work/programs/.*/chance" >/dev/null || break
            sleep 0.1
        done
        ! pgrep -f "^$work/programs/.*/chance" >/dev/null || fail "ranks are left"
        bash "$tool" boot $host && on h1 pvm add $host >/dev/null || fail "$host does not come back"
    done
    echo "$time hosts were switched off under a job of each of $(echo "$all" | wc -w) interfaces; the last job had ended $worst ms behind"
}

mkdir -p "$HOSTS_DIR/home"
bash "$tool" env HOME="$HOSTS_DIR/home" PATH="$prefix/bin:$PATH" LC_ALL=C PVM_ALLOW_ROOT=1
make_command
side_by_side build_one >"$work/built" 2>&1
[ ! -s "$work/failures" ] || cat "$work/built"
on h1 pvm up >/dev/null && on h1 pvm add h2 h3 >/dev/null || { echo "the machine of three hosts does not start" >&2; exit 1; }
for step in $steps; do $step; done
# What has ended may be listed for a moment.
for tick in $(seq 300); do
    named=$(on h1 pvm names | grep neopvm.pvm2) left=$(on h1 pvm ps --json)
    case $named$left in '{'*'"tasks":[]'*) break ;; esac
    sleep 0.1
done
[ -z "$named" ] || fail "named messages are left behind: $named"
case $left in *'"tasks":[]'*) ;; *) fail "tasks are left: $left" ;; esac
on h1 pvm halt >/dev/null
while read -r name; do has_failed "$name"; done <"$work/failed_interfaces"
echo "$(wc -l <"$work/runs") runs on three hosts, $(cat "$work/failures" "$work/failed_interfaces" | wc -l) failures"
tell_failed "$(wc -l <"$work/failures")"
[ ! -s "$work/failures" ] && [ ! -s "$work/failed_interfaces" ]
