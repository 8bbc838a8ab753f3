#!/bin/bash
# What instructions.c counts, on the installation in PREFIX: instructions.sh PREFIX OUT WAY:BYTES...
#
# Leaves OUT/WAY-BYTES-send.out and OUT/WAY-BYTES-receive.out, as callgrind writes them. `cargo xtask instructions` reads them.
set -u
here=$(cd "$(dirname "$0")" && pwd)
prefix=$(cd "$1" && pwd) && mkdir -p "$2" && out=$(cd "$2" && pwd) || exit 2
shift 2
command -v valgrind >/dev/null || { echo "valgrind is missing: install it with 'xtask/deps.sh bench'" >&2; exit 2; }

${CC:-cc} -O2 -I"$prefix/include" -o "$out/instructions" "$here/instructions.c" \
  -L"$prefix/lib" -Wl,-rpath,"$prefix/lib" -Wl,-z,now -lpvm3 -lpthread || exit

. "$here/../../conformance/machine.sh"
machine_init ours "$prefix"
trap machine_end EXIT
machine_start || exit 1
rm -f "$out/there" "$out/back"
mkfifo "$out/there" "$out/back" || exit

counted() {
  machine_run 120 valgrind -q --tool=callgrind --collect-atstart=no --toggle-collect=window --compress-strings=no \
    --compress-pos=no --callgrind-out-file="$out/$2-$3-$1.out" "$out/instructions" "$@"
}

for case in "$@"; do
  way=${case%:*} bytes=${case#*:}
  counted receive "$way" "$bytes" "$out/there" "$out/back" &
  receiver=$!
  counted send "$way" "$bytes" "$out/back" "$out/there" || { echo "$case: the sender failed" >&2; exit 1; }
  wait $receiver || { echo "$case: the receiver failed" >&2; exit 1; }
done
