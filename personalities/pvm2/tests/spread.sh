#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# spread.sh PREFIX: the tests of PVM 2.4 that have several components, on three hosts of xtask/hosts.sh, as root. PREFIX lies
# outside of /tmp, which each of these hosts has for itself.
set -u
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
TOOL=$HERE/../../../xtask/hosts.sh
if [ -z "${HOSTS_DIR:-}" ]; then
	PREFIX=$(cd "$1" && pwd) || exit 2
	WORK=$(mktemp -d /var/tmp/pvm2.XXXXXX) || exit 2
	trap 'rm -rf "$WORK"' EXIT
	export PREFIX WORK
	timeout 280 bash "$TOOL" run 3 -- bash "$HERE/spread.sh"
	exit
fi

build() {
	"$@" -L"$PREFIX/lib/neopvm/pvm2" -Wl,-rpath,"$PREFIX/lib/neopvm/pvm2" -lpvm -L"$PREFIX/lib" \
		-Wl,-rpath,"$PREFIX/lib" -lpvm3 || exit 1
}
for name in family crowd chance killed; do
	build cc -O1 -I"$PREFIX/include/neopvm/pvm2" -o "$WORK/$name" "$HERE/$name.c"
done
build cc -std=gnu89 -I"$PREFIX/include/neopvm/pvm2" -o "$WORK/pvm_time" "$HERE/pvm_time.c"
for name in fmaster fworker; do build gfortran -O1 -o "$WORK/$name" "$HERE/$name.f"; done
ln -s family "$WORK/member"
ln -s pvm_time "$WORK/worker"
mkdir -p "$HOSTS_DIR/home"
bash "$TOOL" env HOME="$HOSTS_DIR/home" PATH="$PREFIX/bin:$PATH" LC_ALL=C PVM_ALLOW_ROOT=1
on() { bash "$TOOL" on h1 "$@"; }
on pvm up >/dev/null && on pvm add h2 h3 >/dev/null || exit 1
failures=0
while read -r words; do
	# shellcheck disable=SC2086
	on timeout 60 $words </dev/null || { echo "failed on three hosts: $words" && failures=1; }
done <<END
$WORK/family
$WORK/fmaster
$WORK/pvm_time
$WORK/crowd 8
pvm run --quiet -n 9 $WORK/crowd 9 spread
pvm run --quiet -n 6 $WORK/chance 6 60 11 spread
$WORK/killed 10
END
[ -z "$(on pvm names | grep neopvm.pvm2)" ] || { echo "named messages are left behind" && failures=1; }
on pvm halt >/dev/null
exit $failures
