#!/bin/bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# The number pi by each of the older interfaces: run.sh PREFIX [RANKS]
#
# It runs in the machine that runs here (`pvm up`), and shows how a program of each interface is compiled and started.
set -eu
prefix=$(cd "$1" && pwd)
ranks=${2:-4}
here=$(cd "$(dirname "$0")" && pwd)
export PATH=$prefix/bin:$prefix/libexec/neopvm/bin:$PATH PVM_ROOT=${PVM_ROOT:-$prefix}
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig LD_RUN_PATH=$prefix/lib
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

compile() { # INTERFACE COMPILER...
  local name=$1
  shift
  # shellcheck disable=SC2046
  LD_RUN_PATH=$prefix/lib/neopvm/$name:$prefix/lib "$@" $(pkg-config --cflags --libs "neopvm-$name") -o "pi_$name"
}

for name in p4 nx express cps pvm2 mpl cmmd vertex mpsc; do compile $name "${CC:-cc}" -O2 "$here/pi_$name.c"; done

# An interface's own start, and the one that all have.
printf 'local %d\n' $((ranks - 1)) >pi_p4.pg
./pi_p4
./pi_nx -sz "$ranks"
cubix -n "$ranks" ./pi_express
echo "worker $ranks local $work/pi_cps" >classes
cps classes
poe -procs "$ranks" ./pi_mpl
for name in cmmd vertex mpsc; do pvm run --quiet --as $name -n "$ranks" ./pi_$name; done
pvm run --quiet ./pi_pvm2
if command -v "${FC:-gfortran}" >/dev/null; then
  compile tcgmsg "${FC:-gfortran}" -O2 -fdefault-integer-8 "$here/pi_tcgmsg.f"
  pvm run --quiet --as tcgmsg -n "$ranks" ./pi_tcgmsg
fi
clc -O2 "$here/pi.cl" -o pi_linda
ntsnet ./pi_linda
