#!/bin/bash
# Four hosts on this computer draw a picture together: demo.sh PREFIX OUT
#
# Starts a machine of four daemons that share only the network, and runs the token ring and
# Mandelbrot on it, with workers in C and, if these languages are installed, one in Java and one in
# Python. Writes OUT/ring.trace, OUT/ring.svg and OUT/mandelbrot.png, and ends the machine. All files
# of the run are in a folder of its own, so the script disturbs no other machine of the user and may
# run twice at once. The exit status is not 0 if anything fails.
set -eu
prefix=$(realpath "$1") out=$2
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$out"
out=$(realpath "$out")

[ -f "$here/../crates/testbed/testbed.sh" ] || {
  echo "demo.sh: it runs in a checkout only: \`make demo\` there" >&2
  exit 1
}
# shellcheck source=xtask/failed.sh
. "$here/../xtask/failed.sh"
# A place without a machine yet; all that is started in it ends with this script.
# shellcheck source=crates/testbed/testbed.sh
. "$here/../crates/testbed/testbed.sh"
testbed_up 0 --prefix "$prefix" --home callers

make --no-print-directory --silent -C "$here" PREFIX="$prefix" OUT="$out/bin"

# worker NAME COMMAND...: a program for the master to start.
workers=()
worker() {
  local name=$1
  shift
  printf '#!/bin/sh\nexec %s\n' "$(printf "'%s' " "$@")" >"$out/bin/$name"
  chmod +x "$out/bin/$name"
  workers+=(-x "$out/bin/$name")
}

jar=$prefix/share/java/neopvm.jar
if [ -f "$jar" ] && command -v javac >/dev/null && javac -cp "$jar" -d "$out/java" "$here/java/MandelbrotWorker.java"; then
  worker mandelbrot_java java -cp "$jar:$out/java" MandelbrotWorker
else
  echo "no worker in Java: it needs a JDK from 17 on (Debian package default-jdk-headless) and Maven for neopvm.jar"
fi
wheel=$(compgen -G "$prefix/share/python/neopvm-*.whl" || true)
if [ -n "$wheel" ] && python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
  # The wheel is unpacked; one program does not need a virtual environment.
  rm -rf "$out/python"
  python3 -m zipfile -e "$wheel" "$out/python"
  worker mandelbrot_python env PYTHONPATH="$out/python" python3 "$here/python/mandelbrot_worker.py"
else
  echo "no worker in Python: it needs Python 3.11 with its module venv (Debian packages python3, python3-venv)"
fi

echo "a machine of four hosts:"
timeout --foreground 200 pvm up --local 4
timeout --foreground 200 pvm conf

echo
# The ring is recorded, and drawn as in the figure that it is known by.
trace=$out/ring.trace
timeout --foreground 200 pvm run --trace "$trace" "$out/bin/ring" 4 10
timeout --foreground 200 pvm trace draw "$trace" --what spacetime -o "$out/ring.svg"
recorded=$(timeout --foreground 200 pvm trace show --json "$trace" | grep -o '"tid":"t[0-9a-f]*"' | wc -l)
[ "$recorded" = 4 ] || { echo "demo: the trace has $recorded of the ring's 4 tasks" >&2; exit 1; }
matched=$(timeout --foreground 200 pvm trace profile "$trace" | awk '/with both ends/ { print $2 }')
# Ten rounds of four messages, and what the first task tells the three others.
[ "$matched" = 43 ] || { echo "demo: the trace has $matched of the ring's 43 messages" >&2; exit 1; }
echo "the ring's trace: $trace, drawn in $out/ring.svg"
echo
rm -f "$out/mandelbrot.png"
timeout --foreground 600 "$out/bin/mandelbrot" -o "$out/mandelbrot.png" "${workers[@]}" | tee "$out/mandelbrot.txt"
[ "${PIPESTATUS[0]}" = 0 ] && [ -s "$out/mandelbrot.png" ] || { echo "demo: the picture is not there" >&2; exit 1; }

# Every host must have computed rows.
hosts=$(awk 'NR > 1 && $1 != "all" && NF >= 4 && $3 > 0 { print $1 }' "$out/mandelbrot.txt" | sort -u | wc -l)
[ "$hosts" = 4 ] || { echo "demo: only $hosts of 4 hosts computed rows" >&2; exit 1; }
# Every language must have computed rows, too.
for name in "${workers[@]##*/}"; do
  [ "$name" = -x ] || awk -v name="$name" '$5 == name && $3 > 0 { found = 1 } END { exit !found }' "$out/mandelbrot.txt" ||
    { echo "demo: $name computed no rows" >&2; exit 1; }
done

# Halts the machine, and fails if a process or a file is left.
testbed down
echo "the machine is halted, nothing is left behind"
