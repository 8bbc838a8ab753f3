#!/bin/bash
# run.sh PREFIX PYTHON [ROUNDS]: C and Python in turn on one machine, with what is installed in PREFIX; PYTHON has the wheel.
set -eu
prefix=$1 python=$2 rounds=${3:-3}
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=crates/testbed/testbed.sh
. "$here/../../crates/testbed/testbed.sh"
testbed_up 1 --prefix "$prefix" --home callers
cc -O2 -o "$TMPDIR/pair" "$here/pair.c" -I"$prefix/include" -L"$prefix/lib" -Wl,-rpath,"$prefix/lib" -lgpvm3 -lpvm3
echo "        pack ns  unpack ns  round us  8 MB one way us"
for _ in $(seq "$rounds"); do
  printf 'C       %s\n' "$("$TMPDIR/pair")"
  printf 'Python  %s\n' "$("$python" "$here/pair.py")"
done
