#!/bin/bash
# Runs random sequences on one system, one after the other, each on a machine of its own: session.sh KIND [PREFIX]
#
# KIND is "original" or "ours". A line of standard input is a program (calls, pair, fcalls) and its arguments; what
# it prints comes back, then a line "== STATUS". cargo xtask differ speaks to two of these.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 2
. ../machine.sh
machine_init "$1" "${2:-}"
trap machine_end EXIT
trap 'exit 130' INT TERM

DEBIAN_LIB=${DEBIAN_LIB:-/usr/lib/$(gcc -print-multiarch)}
# Padding and what lies behind the end of a message is 0 in ours. In the original it is what its memory held before: so its
# memory holds 0 when it is allocated, and what a program is shown is the same each time. Ours gets memory full of another byte,
# so that it is seen where it shows what it never wrote.
if [ "$1" = original ]; then
	export GLIBC_TUNABLES=glibc.malloc.perturb=255:glibc.malloc.tcache_count=0
	flags=(-I/usr/include "-L$DEBIAN_LIB")
else
	export GLIBC_TUNABLES=glibc.malloc.perturb=82:glibc.malloc.tcache_count=0
	flags=("-I$2/include" "-L$2/lib" "-Wl,-rpath,$2/lib")
fi
for source in *.c; do
	gcc -std=gnu89 -fcommon -w -O1 -o "$WORK/${source%.c}" "$source" "${flags[@]}" -lgpvm3 -lpvm3 || exit 2
done
for source in *.f; do
	[ -e "$source" ] || continue
	gfortran -std=legacy -w -O1 -o "$WORK/${source%.f}" "$source" "${flags[@]}" -lfpvm3 -lgpvm3 -lpvm3 || exit 2
done
cp "$WORK/pair" "$HOME/pvm3/bin/$PVM_ARCH/" 2>/dev/null

while read -r program arguments; do
	machine_start || exit 2
	# shellcheck disable=SC2086
	{ machine_run 60 "$WORK/$program" $arguments; } </dev/null >"$WORK/out" 2>&1
	status=$?
	cat "$WORK/out"
	printf '\n== %s\n' "$status"
	machine_kill
	STARTED=
	rm -rf "$PVM_TMP"
	mkdir -m 700 "$PVM_TMP"
done 2>/dev/null
