#!/bin/bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Measures Java beside C: run.sh PREFIX OUT
#
# On a machine of two hosts on this computer (messages between them pass TLS and the loopback device): the messages
# of 1 to 64 MB of the PBJ document in its four pairings, its loop, one int there and back between two processes, and
# what packing costs. Each with the engine over the C library where there is a JDK of 22 or newer, and with the one
# in Java alone on the oldest JDK there is. Printed beside the document's own figures (../seeds/pbj-2004.csv). Every figure is in
# OUT/java.txt. "apart" is the loop with a core for each of its two programs: without, the system now and then puts both on one,
# and then their turns on it are measured. PARTS="count loop apart pack message jmh", SIZES="1 2 4 8 16 32 64", PASSES and
# ROUNDS of the loop may be set; SHORT=1 measures 1 to 4 MB and 1000 rounds, in about two minutes.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
prefix=$(realpath "$1")
mkdir -p "$2"
out=$(realpath "$2")
if [ -n "${SHORT:-}" ]; then
  SIZES=${SIZES:-1 2 4} ROUNDS=${ROUNDS:-1000}
fi
sizes=${SIZES:-1 2 4 8 16 32 64}
parts=${PARTS-count loop apart pack message jmh}
jar=$prefix/share/java/neopvm.jar
figures=$out/java.txt

has() { case " $parts " in *" $1 "*) true ;; *) false ;; esac; }

# The versions of all JDKs from 17 on, each with its folder, oldest first.
jdks() {
  local javac
  for javac in ${JAVA_HOME:+"$JAVA_HOME/bin/javac"} /usr/lib/jvm/*/bin/javac; do
    [ -x "$javac" ] && printf '%s %s\n' "$(sed -n 's/^JAVA_VERSION="\([0-9]*\).*/\1/p' "${javac%/bin/javac}/release")" "${javac%/bin/javac}"
  done | sort -n | awk '$1 >= 17 && !seen[$1]++'
}

if [ ! -e "$jar" ] || [ -z "$(jdks)" ]; then
  echo "skipped: no neopvm.jar in $prefix/share/java, or no JDK of 17 or newer (Debian package openjdk-17-jdk-headless)"
  exit 0
fi
read -r old old_home <<<"$(jdks | head -n 1)"
read -r new new_home <<<"$(jdks | tail -n 1)"

# What is built already is not built again, so that a first run can be for that alone: PARTS=
c_program() { # NAME OPTIONS
  # shellcheck disable=SC2086
  [ "$out/$1" -nt "$here/timing.c" ] || ${CC:-cc} -O3 -Wall -Wextra $2 -I"$prefix/include" -o "$out/$1" "$here/timing.c" \
    -L"$prefix/lib" -Wl,-rpath,"$prefix/lib" -lpvm3
}
c_program timing ""
# With a second thread: what any program with threads pays, Java's among them.
c_program threaded "-pthread -DIDLE_THREAD"
[ "$out/classes/Timing.class" -nt "$here/src/Timing.java" ] || "$old_home/bin/javac" -Xlint:all -Werror -cp "$jar" -d "$out/classes" "$here"/src/*.java

# Programs that the machine can start: a name for each engine.
launcher() { # NAME JAVA OPTIONS
  printf '#!/bin/sh\nexec "%s/bin/java" -Xms1g -Xmx1g -XX:+UseParallelGC %s -cp "%s:%s" Timing "$@"\n' \
    "$2" "$3" "$jar" "$out/classes" >"$out/$1"
  chmod +x "$out/$1"
}
engines=wire
launcher wire "$old_home" -Dpvm.engine=wire
if [ "$new" -ge 22 ]; then
  engines="native wire"
  launcher native "$new_home" "-Dpvm.engine=native --enable-native-access=ALL-UNNAMED"
fi

# Partners with a core of their own; who starts them has another one.
if has apart && [ "$(nproc)" -ge 2 ] && command -v taskset >/dev/null; then
  mapfile -t cores < <(python3 -c 'import os; print(*sorted(os.sched_getaffinity(0)), sep="\n")')
  for kind in timing threaded $engines; do
    printf '#!/bin/sh\nexec taskset -c %s "%s" "$@"\n' "${cores[1]}" "$out/$kind" >"$out/$kind.apart"
    chmod +x "$out/$kind.apart"
  done
fi

# shellcheck source=crates/testbed/testbed.sh
. "$here/../../crates/testbed/testbed.sh"
testbed_up 2 --prefix "$prefix" --home callers
other=$(pvm conf --json | sed -n 's/.*"name": *"\([^"]*\.2\)".*/\1/p' | head -n 1)

{
  echo "# $(date -u +%Y-%m-%d) $(uname -m) $(nproc) cores, $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)"
  echo "# native: Java $new; wire: Java $old; C: $(${CC:-cc} --version | head -n 1)"
} >>"$figures"

note() { tee -a "$figures"; }

if has count; then
  "$out/timing" count | sed 's/^/count C /' | note
  for engine in $engines; do "$out/$engine" count | sed "s/^/count $engine /" | note; done
fi
# The kinds take turns, so that whatever else this computer does meets all of them.
for _ in $(seq "${PASSES:-3}"); do
  if has loop; then
    "$out/timing" loop "$out/timing" . "${ROUNDS:-5000}" | sed 's/^/C C same /' | note
    "$out/threaded" loop "$out/threaded" . "${ROUNDS:-5000}" | sed 's/^/threaded threaded same /' | note
    for engine in $engines; do "$out/$engine" loop "$out/$engine" . "${ROUNDS:-5000}" | sed "s/^/$engine $engine same /" | note; done
  fi
  if has apart && [ "$(nproc)" -ge 2 ] && command -v taskset >/dev/null; then
    for kind in timing threaded $engines; do
      taskset -c "${cores[0]}" "$out/$kind" loop "$out/$kind.apart" . "${ROUNDS:-5000}" | sed "s/^/${kind/#timing/C} ${kind/#timing/C} apart /" | note
    done
  fi
  if has pack; then
    "$out/timing" pack 200 | sed 's/^/C /' | note
    "$out/threaded" pack 200 | sed 's/^/threaded /' | note
    for engine in $engines; do "$out/$engine" pack 200 | sed "s/^/$engine /" | note; done
  fi
done
if has message; then
  for where in same different; do
    host=.
    [ $where = same ] || host=$other
    for engine in $engines; do
      for pairing in "$engine $engine" "$engine timing" "timing $engine" "timing timing"; do
        # C with C is measured once.
        [ "$engine $pairing" != "wire timing timing" ] || [ "$engines" = wire ] || continue
        read -r sender receiver <<<"$pairing"
        # shellcheck disable=SC2086
        "$out/$sender" message "$out/$receiver" "$host" $sizes | sed "s/^/message $sender $receiver $where /" | note
      done
    done
  done
fi
if has jmh; then bash "$here/jmh.sh" "$jar" "$new_home" "$out" | note; fi
[ -z "$parts" ] || python3 "$here/table.py" "$figures" "$here/../seeds/pbj-2004.csv"
