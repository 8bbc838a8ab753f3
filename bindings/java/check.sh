#!/bin/bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Builds neopvm.jar and tries it on a machine of two hosts that this script starts and ends: check.sh PREFIX
#
# With a JDK of 22 or newer the jar holds the engine over the C library, and the tests run on it. They run again on
# the oldest JDK there is, without native code.
set -euo pipefail

prefix=$(realpath "$1")
cd "$(dirname "$0")"
out=$PWD/target
programs=$out/programs

# A JDK is a folder with bin/javac; the versions of all there are, each with its folder, oldest first.
jdks() {
  local javac
  for javac in ${JAVA_HOME:+"$JAVA_HOME/bin/javac"} /usr/lib/jvm/*/bin/javac; do
    [ -x "$javac" ] && printf '%s %s\n' "$("$javac" -version 2>&1 | sed 's/^javac \([0-9]*\).*/\1/')" "${javac%/bin/javac}"
  done | sort -n | awk '$1 >= 17 && !seen[$1]++'
}

oldest=$(jdks | head -n 1 | cut -d' ' -f2)
newest=$(jdks | tail -n 1 | cut -d' ' -f2)
version=$(jdks | tail -n 1 | cut -d' ' -f1)
[ -n "$newest" ] || { echo "no JDK of 17 or newer (Debian package openjdk-17-jdk-headless)" >&2; exit 1; }

work=$(mktemp -d)
export PVM_TMP=$work PVM_ROOT=$prefix PVM_ALLOW_ROOT=1 PATH=$prefix/bin:$PATH
unset PVMSOCK PVM_VMID
end_machine() {
  timeout 30 pvm halt >/dev/null 2>&1 </dev/null || true
  rm -rf "$work"
}
trap end_machine EXIT
trap 'exit 130' INT TERM

mkdir -p "$programs"
for source in src/test/c/*.c; do
  cc -O2 -Wall -Wextra -Werror -I"$prefix/include" -o "$programs/$(basename "$source" .c)" "$source" \
    -L"$prefix/lib" -Wl,-rpath,"$prefix/lib" -lgpvm3 -lpvm3
done
timeout --foreground 60 pvm up --local 2 >/dev/null

# Runs a Maven of Debian, or the user's own, with a certain JDK. Nothing is fetched that is here already.
maven() {
  local home=$1
  shift
  JAVA_HOME=$home MAVEN_OPTS="${MAVEN_OPTS:-} -XX:+IgnoreUnrecognizedVMOptions --sun-misc-unsafe-memory-access=allow" \
    mvn -B -q "$@"
}

run() {
  echo "tests on Java $1 with the $2 engine"
  shift 2
  maven "$newest" "$@"
}

if [ "$version" -ge 22 ]; then
  run "$version" native verify -Dtest.engine=native
else
  echo "no JDK of 22 or newer: the jar is without the native engine"
fi
