#!/bin/bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# One bag of tasks with workers in C, Python, Java and shell at once: bag.sh PREFIX [TASKS]
#
# It runs in the machine that runs here (`pvm up`). A worker whose language is missing is left out. PYTHON names the
# Python that has the package neopvm.
set -eu
prefix=$(cd "$1" && pwd)
tasks=${2:-40}
here=$(cd "$(dirname "$0")" && pwd)
export PATH=$prefix/bin:$PATH PVM_ROOT=${PVM_ROOT:-$prefix}
work=$(mktemp -d)
trap 'rm -rf "$work"; pvm space delete bag >/dev/null 2>&1' EXIT

pvm space create bag
workers=()
if cc -O2 -I"$prefix/include" -o "$work/worker" "$here/worker.c" -L"$prefix/lib" -Wl,-rpath,"$prefix/lib" -lpvm3; then
  "$work/worker" & workers+=($!)
fi
python=${PYTHON:-python3}
if "$python" -c 'import neopvm' 2>/dev/null; then "$python" "$here/worker.py" & workers+=($!); fi
jar=$prefix/share/java/neopvm.jar
if command -v javac >/dev/null && [ -f "$jar" ]; then
  javac -cp "$jar" -d "$work" "$here/Worker.java"
  java --enable-native-access=ALL-UNNAMED -cp "$jar:$work" Worker & workers+=($!)
fi
sh "$here/worker.sh" & workers+=($!)

for _ in "${workers[@]}"; do
  pvm take bag ready --timeout 60 >/dev/null || { echo "bag.sh: a worker has not started" >&2; exit 1; }
done
for ((number = 1; number <= tasks; number++)); do pvm out bag task $((1000 * number)); done
for ((number = 1; number <= tasks; number++)); do
  pvm take bag result '?int' '?int' '?text'
done | sort -n -k 2 | awk '{ count[$4]++; last = $3 " primes below " $2 } END {
  for (who in count) printf "%s: %d tasks\n", who, count[who] | "sort"
  close("sort")
  print last
}'
for _ in "${workers[@]}"; do pvm out bag task -1; done
for worker in "${workers[@]}"; do wait "$worker"; done
