#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# spread.sh PREFIX [STEP...]: the interfaces on three hosts of `testbed hosts`, as root. PREFIX lies outside of /tmp, which each
# of these hosts has for itself. Steps, all of them where none is named:
#   programs   each program of an interface's list that is to succeed, on 3 and 6 ranks
#   chance     programs by chance on 3 and 7 ranks (NEOPVM_LONG: a million operations each)
#   deaths     a rank on any of the hosts is killed, and the keeper
#   daemons    programs by chance again and again while daemons are killed, TIMES (3; NEOPVM_LONG: 100) for each
#   power      a host is switched off under a job of each interface, TIMES (1; NEOPVM_LONG: 100)
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
tool=$here/../xtask/hosts.sh
prefix=$(cd "$1" && pwd) || exit 2
shift
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
all="tcgmsg p4 nx express cps mpl cmmd vertex mpsc"
failures=0
fail() {
    echo "FAIL $*"
    failures=$((failures + 1))
}
on() { bash "$tool" on "$@"; }
now() { date +%s%3N; }

# What others call PVM: the command on h1, in the caller's folder.
make_command() {
    export PVM=$work/pvm
    printf '#!/bin/bash\nexec bash %s on h1 env ${NEOPVM_LONG:+NEOPVM_LONG=1} -C "$PWD" pvm "$@"\n' "$tool" >"$PVM"
    chmod +x "$PVM"
}

build_all() {
    local name
    for name in $all pvm2; do
        use_interface "$name" "$work"
        case $name in
            pvm2) ;;
            mpl | cmmd | vertex | mpsc)
                for source in "$here/echo/tests/$name.c" "$here/echo/tests/chance.c"; do build_program "$source"; done
                ;;
            *) for source in "$here/$name"/tests/*.[cf]; do build_program "$source"; done ;;
        esac
    done >"$work/built" 2>&1
    grep FAIL "$work/built" && failures=$((failures + 1))
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
    timeout "${NEOPVM_LONG:+9}60" "$PVM" run --quiet --as "$name" $(ranks_of "$name" "$ranks" "$program") "$program" "$@" \
        >"$work/out.$name" 2>"$work/err.$name" </dev/null
}

succeed() {
    runs=$((runs + 1))
    run_job "$@" && return
    fail "$*: status $?"
    tail -n 4 "$work/out.$1" "$work/err.$1"
}

programs() {
    local name status program list
    for name in $all; do
        use_interface "$name" "$work"
        case $name in
            mpl | cmmd | vertex | mpsc) list="3 0 $name" ;;
            *) list=$(grep -v '^#' "$here/$name/tests/list") ;;
        esac
        cd "$BUILT" || exit 2
        while read -r _ status program; do
            # What is for one rank alone says nothing here, and chance has a step of its own.
            case "$status $program" in "0 chance"* | "0 shared" | "0 heap" | "0 limit"* | "0 locks_speed" | "0 table" | "0 odds"*) continue ;; esac
            [ "$status" = 0 ] || continue
            # shellcheck disable=SC2086
            for ranks in 3 6; do succeed "$name" $ranks "$BUILT/"$program; done
        done <<<"$list"
    done
}

chance() {
    local name ranks
    for name in $all; do
        for ranks in 3 7; do succeed "$name" $ranks "$work/programs/$name/chance" $ranks; done
        echo "$name: $(cat "$work/out.$name")"
    done
}

deaths() {
    local name
    for name in $all; do
        bash "$here/tests/deaths.sh" "$name" "$work/programs/$name/chance" || fail "deaths of $name"
    done
}

# Again and again until the file is there.
keep_running() {
    local name=$1 seed=0
    until [ -e "$work/enough" ]; do
        run_job "$name" 3 "$work/programs/$name/chance" $((++seed)) 2000 100 && continue
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

# A job of each is running; then h2 or h3 loses its power.
power() {
    local name host time began tick worst=0 took
    for ((time = 0; time < $(count 1); time++)); do
        host=h$((2 + RANDOM % 2))
        rm -f "$work"/ended.*
        for name in $all; do
            (
                run_job "$name" 3 "$work/programs/$name/chance" 2$time 1000000000 2000
                echo "$? $(now)" >"$work/ended.$name"
            ) &
        done
        for tick in $(seq 1000); do
            [ "$(pgrep -fc "^$work/programs/.*/chance 2$time 1000000000")" -ge 27 ] && break
            sleep 0.02
        done
        sleep "0.$((RANDOM % 10))"
        began=$(now)
        bash "$tool" power-off $host
        wait
        for name in $all; do
            took=$(($(cut -d' ' -f2 "$work/ended.$name") - began))
            [ $took -le $worst ] || worst=$took
            [ $took -le 8000 ] || fail "$name ended $took ms behind its host"
            [ "$(cut -d' ' -f1 "$work/ended.$name")" -ne 0 ] || fail "$name did not fail without $host"
            grep -q "rank [0-9] (t[0-9a-f]* on $host) is lost with its host; the job is ended" "$work/err.$name" ||
                fail "$name: $(cat "$work/err.$name")"
        done
        ! pgrep -f "^$work/programs/.*/chance" >/dev/null || fail "ranks are left"
        bash "$tool" boot $host && on h1 pvm add $host >/dev/null || fail "$host does not come back"
    done
    echo "$time hosts were switched off under a job of each of $(echo "$all" | wc -w) interfaces; the last job had ended $worst ms behind"
}

runs=0
mkdir -p "$HOSTS_DIR/home"
bash "$tool" env HOME="$HOSTS_DIR/home" PATH="$prefix/bin:$PATH" LC_ALL=C PVM_ALLOW_ROOT=1
make_command
build_all
on h1 pvm up >/dev/null && on h1 pvm add h2 h3 >/dev/null || exit 1
[ $# -gt 0 ] || set -- programs chance deaths daemons power
for step in "$@"; do $step; done
left=$(on h1 pvm ps --json)
case $left in *'"tasks":[]'*) ;; *) fail "tasks are left: $left" ;; esac
on h1 pvm halt >/dev/null
echo "$runs runs on three hosts, $failures failures"
[ "$failures" -eq 0 ]
