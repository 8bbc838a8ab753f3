#!/bin/bash
# run.sh PREFIX PYTHON [ROUNDS]: C and Python in turn on one machine, with what is installed in PREFIX; PYTHON has the wheel.
set -eu
prefix=$1 python=$2 rounds=${3:-3}
here=$(cd "$(dirname "$0")" && pwd)
PVM_TMP=$(mktemp -d)
export PVM_TMP PVM_VMID=bench PVM_ROOT=$prefix PVM_ALLOW_ROOT=1
unset PVMSOCK
trap '"$prefix/bin/pvm" halt >/dev/null 2>&1 || true; rm -rf "$PVM_TMP"' EXIT
cc -O2 -o "$PVM_TMP/pair" "$here/pair.c" -I"$prefix/include" -L"$prefix/lib" -Wl,-rpath,"$prefix/lib" -lgpvm3 -lpvm3
"$prefix/bin/pvm" up >/dev/null
echo "        pack ns  unpack ns  round us  8 MB one way us"
for _ in $(seq "$rounds"); do
  printf 'C       %s\n' "$("$PVM_TMP/pair")"
  printf 'Python  %s\n' "$("$python" "$here/pair.py")"
done
