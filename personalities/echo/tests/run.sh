#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# run.sh PREFIX: builds the tests of MPL, CMMD, Vertex and MPSC against what is installed in PREFIX and runs each alone and
# as jobs of several ranks on a machine of two hosts of this computer.
set -u
PREFIX=$(cd "$1" && pwd) || exit 2
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
CC=${CC:-cc} CXX=${CXX:-c++}
# shellcheck source=crates/testbed/testbed.sh
. "$HERE/../../../crates/testbed/testbed.sh"
testbed_up 0 --prefix "$PREFIX"
WORK=$TMPDIR
unset MP_PROCS
cd "$WORK" || exit 2
failures=0

fail() {
	echo "echo: $1" >&2
	failures=$((failures + 1))
}

# run STATUS COMMAND...
run() {
	local wanted=$1
	shift
	timeout -k 1 "${NEOPVM_LONG:+9}300" "$@" >out 2>&1 </dev/null
	local got=$?
	[ $got = "$wanted" ] && return
	fail "status $got, not $wanted: $*"
	cat out >&2
}

build() {
	local name=$1 source=$2
	local lib=$PREFIX/lib/neopvm/$name
	"$CC" -O1 -g -Wall -Wextra -I"$PREFIX/include/neopvm/$name" -o "$(basename "$source" .c)-$name" "$source" \
		-L"$lib" -Wl,-rpath,"$lib" "-l$name" -lm -lpthread || fail "$source does not compile"
}

for name in mpl cmmd vertex mpsc; do
	lib=$PREFIX/lib/neopvm/$name include=$PREFIX/include/neopvm/$name
	for standard in c89 c11; do
		echo "#include <$name.h>" | "$CC" -std=$standard -pedantic -Wall -Wextra -Werror -fsyntax-only -I"$include" -x c - || fail "$name.h is not $standard"
	done
	echo "#include <$name.h>" | "$CXX" -std=c++17 -pedantic -Wall -Wextra -Werror -fsyntax-only -I"$include" -x c++ - || fail "$name.h is not C++17"
	build $name "$HERE/$name.c"
	build $name "$HERE/echo.c"
	build $name "$HERE/chance.c"
	build $name "$HERE/refused.c"
	sort "$HERE/../$name/$name.calls" >documented
	nm -D --defined-only "$lib/lib$name.so" | awk '{ print $3 }' | sort | diff documented - || fail "lib$name.so exports other names"
	nm -g --defined-only "$lib/lib$name.a" | awk 'NF == 3 { print $3 }' | sort | diff documented - || fail "lib$name.a has other names"
	nm "$name-$name" | awk 'NF < 3 || $2 ~ /[BV]/ { print $NF }' | sed 's/@.*//' | sort -u >called
	comm -23 documented called >uncalled
	[ ! -s uncalled ] || fail "no test calls $(tr '\n' ' ' <uncalled)"
done
build mpl "$HERE/solver.c"
echo '#include <mpl.h>
int main() { int id = -1, n; size_t w; return mpc_wait(&id, &n) + ::mpc_wait(&id, &w); }' >counts.cc
"$CXX" -std=c++17 -pedantic -Wall -Wextra -Werror -fsyntax-only -I"$PREFIX/include/neopvm/mpl" counts.cc || fail "MPL's counts in C++"
"$CC" -O1 -I"$PREFIX/include" -o stranger "$HERE/../../tests/stranger.c" -L"$PREFIX/lib" -Wl,-rpath,"$PREFIX/lib" -lpvm3 ||
	fail "stranger.c does not compile"

# Each message crosses a link: 20,000 operations took a minute beside other work.
operations=5000
[ -z "${NEOPVM_LONG:-}" ] || operations=1000000
for name in mpl cmmd vertex mpsc; do run 0 "./$name-$name"; run 0 "./refused-$name"; done # alone, without a machine
"$PREFIX/bin/pvm" up --local 2 >/dev/null || { echo "echo: the machine does not start" >&2; exit 1; }
for name in mpl cmmd vertex mpsc; do
	for ranks in 1 2 3 4; do run 0 "$PREFIX/bin/pvm" run --quiet --as $name -n $ranks "./$name-$name"; done
	run 0 "$PREFIX/bin/pvm" run --quiet --as $name -n 2 "./refused-$name"
	run 0 "$PREFIX/bin/pvm" run --quiet --as $name -n 2 "./echo-$name" 20
	[ "$(grep -c us out)" = 7 ] || fail "$name's echo told something else: $(cat out)"
	for ranks in 2 5 16; do run 0 "$PREFIX/bin/pvm" run --quiet --as $name -n $ranks "./chance-$name" $ranks $operations; done
	PVM=$PREFIX/bin/pvm bash "$HERE/../../tests/deaths.sh" $name "$WORK/chance-$name" || fail "deaths of $name"
	PVM=$PREFIX/bin/pvm bash "$HERE/../../tests/strangers.sh" $name "$WORK/chance-$name" "$WORK/stranger" || fail "strangers of $name"
done
for ranks in 1 2 5; do run 0 "$PREFIX/bin/pvm" run --quiet --as mpl -n $ranks ./solver-mpl; done
for how in mpc mp fortran; do run 7 "$PREFIX/bin/pvm" run --quiet --as mpl -n 3 ./mpl-mpl $how; done
run 0 "$PREFIX/libexec/neopvm/bin/poe" -procs 2 ./mpl-mpl
run 0 "$PREFIX/libexec/neopvm/bin/poe" ./mpl-mpl -procs 3
for count in '' 1 2; do run 0 env MP_PROCS="$count" ./mpl-mpl; done
for count in two 2x 0 -1 99999999999999; do
	run 1 env MP_PROCS=$count ./mpl-mpl
	grep -q "MP_PROCS=$count: a job has 1 to 16384 processes" out || fail "MP_PROCS=$count: $(cat out)"
done
# A task that was ended may be listed for a moment.
for tick in $(seq 300); do
	"$PREFIX/bin/pvm" ps --json | grep -q '"pid"' || break
	sleep 0.1
done
"$PREFIX/bin/pvm" ps --json | grep '"pid"' && fail "tasks are left behind"
testbed down || fail "the machine has left something"
[ "$failures" = 0 ]
