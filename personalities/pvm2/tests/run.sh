#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# run.sh PREFIX: builds the tests of PVM 2.4 against what is installed in PREFIX and runs them on a machine of two hosts
# of this computer. NEOPVM_LONG=1 runs the ones by chance for longer.
set -u
PREFIX=$(cd "$1" && pwd) || exit 2
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
LIB=$PREFIX/lib/neopvm/pvm2
INCLUDE=$PREFIX/include/neopvm/pvm2
CC=${CC:-cc} FC=${FC:-gfortran} CXX=${CXX:-c++}
# shellcheck source=crates/testbed/testbed.sh
. "$HERE/../../../crates/testbed/testbed.sh"
testbed_up 0 --prefix "$PREFIX"
WORK=$TMPDIR
cd "$WORK" || exit 2
failures=0

fail() {
	echo "pvm2: $1" >&2
	failures=$((failures + 1))
}

compile() {
	"$@" -L"$LIB" -Wl,-rpath,"$LIB" -lpvm -L"$PREFIX/lib" -Wl,-rpath,"$PREFIX/lib" -lpvm3 || fail "does not compile: $*"
}

run() {
	timeout -k 1 "${LIMIT:-300}" "$@" >out 2>&1 && return
	fail "failed: $*"
	cat out >&2
}

headers() {
	local header standard
	for header in pvmuser.h pvm.h; do
		for standard in c89 c11; do
			echo "#include <$header>" | "$CC" -std=$standard -pedantic -Wall -Wextra -Werror -fsyntax-only -I"$INCLUDE" -x c - ||
				fail "$header is not $standard"
		done
		printf '#include <%s>\nint main() { return enroll("x"); }\n' $header |
			"$CXX" -std=c++17 -pedantic -Wall -Wextra -Werror -fsyntax-only -I"$INCLUDE" -x c++ - || fail "$header is not C++17"
	done
}

# Exported are the documented names and no others, and each is called by a test.
names() {
	sort "$HERE/../pvm2.calls" >documented
	nm -D --defined-only "$LIB/libpvm.so" | awk '{ print $3 }' | sort | diff documented - || fail "libpvm.so exports other names"
	nm -g --defined-only "$LIB/libpvm.a" | awk 'NF == 3 { print $3 }' | sort | diff documented - || fail "libpvm.a has other names"
	nm -u alone family crowd fmaster fworker | awk '{ print $2 }' | sort -u >called
	comm -23 documented called >uncalled
	[ ! -s uncalled ] || fail "no test calls $(tr '\n' ' ' <uncalled)"
}

headers
for name in alone aside family forked crowd late left relative visited own_names chance killed; do
	compile "$CC" -O1 -g -Wall -Wextra -I"$INCLUDE" -I"$PREFIX/include" -o $name "$HERE/$name.c"
done
"$CC" -O1 -g -I"$PREFIX/include" -o stranger "$HERE/stranger.c" -L"$PREFIX/lib" -Wl,-rpath,"$PREFIX/lib" -lpvm3 || fail stranger
compile "$CC" -std=gnu89 -fcommon -I"$INCLUDE" -o pvm_time "$HERE/pvm_time.c"
"$CC" -O1 -o own_static "$HERE/own_names.c" "$LIB/libpvm.a" "$PREFIX/lib/libpvm3.a" -lpthread -ldl -lm || fail own_static
compile "$FC" -O1 -g -Wall -o fmaster "$HERE/fmaster.f"
compile "$FC" -O1 -g -Wall -o fworker "$HERE/fworker.f"
ln -s family member
ln -s pvm_time worker
names

"$PREFIX/bin/pvm" up --local 2 >/dev/null || { echo "pvm2: the machine does not start" >&2; exit 1; }
run ./alone
run ./aside
run ./family
run ./forked
run ./crowd 12
run "$PREFIX/bin/pvm" run --quiet -n 8 ./crowd 8 spread
run "$PREFIX/bin/pvm" run --quiet -n 5 ./chance 5 40 7 spread
run ./late
run ./left
run ./relative
run ./visited ./stranger
run ./own_names
run ./own_static
run ./fmaster
run ./pvm_time
run ./killed 20
run ./chance 1 50
run ./chance 2 300
run ./chance 4 100
run ./chance 16 30
if [ "${NEOPVM_LONG:-0}" != 0 ]; then
	LIMIT=900
	run ./crowd 64
	run ./killed 500
	for ranks in 2 4 16; do run ./chance $ranks $((1000000 / ranks / ranks)); done
fi
# The machine takes away what a component had named a moment after its end.
named() { "$PREFIX/bin/pvm" names | grep neopvm.pvm2; }
for tick in $(seq 300); do named >left || break; sleep 0.1; done
[ ! -s left ] || fail "named messages are left behind: $(cat left)"
testbed down || fail "the machine has left something"
[ "$failures" = 0 ]
