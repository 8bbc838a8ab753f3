#!/bin/bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Builds neopvm.jar and tries it on a machine of two hosts of its own:
# check.sh PREFIX [ENGINE [OPTION|TEST...]]
#
# With a JDK of 22 or newer the jar holds the engine over the C library, and the tests run on it. They run again
# without native code on the oldest JDK there is. On the newest one, which alone has virtual threads, the tests of these and of the
# wire run without native code, too (NEOPVM_LONG=1: all). ENGINE, native or wire, runs one of the two, all runs both.
# OPTIONs are Maven's: a storm of five minutes is -Dtest=StormTest -Dpvm.storm.s=300. A TEST is a class, or CLASS#METHOD as the
# last lines name those that have failed.
set -euo pipefail

prefix=$(realpath "$1")
only=${2:-all}
options=() tests=
for word in "${@:3}"; do
  case $word in
  -*) options+=("$word") ;;
  *) tests="$tests${tests:+,}$word" ;;
  esac
done
[ -z "$tests" ] || options+=("-Dtest=$tests")
cd "$(dirname "$0")"
# shellcheck source=xtask/failed.sh
. ../../xtask/failed.sh
# shellcheck source=bindings/java/jdks.sh
. ./jdks.sh
# shellcheck source=crates/testbed/testbed.sh
. ../../crates/testbed/testbed.sh
[ -n "$newest" ] || { echo "no JDK from 17 on (Debian package default-jdk-headless)" >&2; exit 1; }
programs=$PWD/target/programs

compile() {
  # The same floating point as Java's; the timing program with the loops that its test expects.
  cc -O2 -ffp-contract=off -DSIZE=1000 -DLOOPS=20 -Wall -Wextra -Werror -I"$prefix/include" -o "$programs/$(basename "$1" .c)" "$1" \
    -L"$prefix/lib" -Wl,-rpath,"$prefix/lib" -lgpvm3 -lpvm3
}

# What the engine without native code does otherwise on a JDK that has virtual threads.
readonly OF_NEWEST="InterruptTest,MemoryTest,SpaceTest,WaitsTest,ExecutorsTest,MessagesTest,org.neopvm.wire.*Test"
# With one carrier for all virtual threads a wait that holds it is seen at once, on any number of cores.
readonly ONE_CARRIER="-Djdk.virtualThreadScheduler.parallelism=1 -Djdk.virtualThreadScheduler.maxPoolSize=1"

# failed_in FOLDER: CLASS#METHOD of each test that has failed by the reports there.
failed_in() {
  cat "$1"/TEST-*.xml 2>/dev/null | awk '/<testcase / { test = $0 } /<(failure|error)[ >]/ { print test }' |
    sed -E 's/.* name="([^"({[]*).*/\0\n\1/; s/.* classname="([^"]*)"[^\n]*\n(.*)/\1#\2/; s/#$//' | sort -u
}

# tests VERSION JDK ENGINE GOAL [OPTION...]: the tests on a JDK, with their reports in a folder of their own. Failed ones do not
# stop the next engine's.
faults=0 # of no test
ended=0
tests() {
  local version=$1 java=$2 engine=$3 goal=$4 failed test
  rm -rf "target/surefire-reports/$engine-$version"
  echo "tests on Java $version with the $engine engine"
  maven "$goal" -Dtest.java="$java/bin/java" -Dtest.engine="$engine" -Dtest.reports="$engine-$version" \
    -Dtest.pvm="$prefix/bin/pvm" \
    -Dtest.options="$ONE_CARRIER $([ "$version" -lt 22 ] || echo --enable-native-access=ALL-UNNAMED)" "${options[@]}" "${@:5}" && return
  ended=1
  echo # Maven leaves a line without an end, and what follows is to begin one
  failed=$(failed_in "target/surefire-reports/$engine-$version")
  [ -n "$failed" ] || {
    echo "FAIL Maven on Java $version with the $engine engine: no test failed, and Maven did not end well"
    faults=$((faults + 1))
  }
  for test in $failed; do has_failed "$test"; done
}

mkdir -p "$programs"
for source in src/test/c/*.c ../../examples/java/*.c; do
  compile "$source"
done
bash javadoc.sh target/javadoc
testbed_up 2 --prefix "$prefix" --home callers

goal=verify
if [ "$only" != wire ]; then
  if [ "$newest_version" -ge 22 ]; then
    tests "$newest_version" "$newest" native verify
    goal=surefire:test@default-test
  else
    echo "no JDK of 22 or newer: the jar is without the native engine"
  fi
fi
if [ "$only" != native ]; then
  if [ "$newest_version" != "$oldest_version" ]; then
    of_newest=()
    [[ ${NEOPVM_LONG:-} || "${options[*]}" == *-Dtest=* ]] || of_newest=("-Dtest=$OF_NEWEST")
    tests "$newest_version" "$newest" wire "$goal" "${of_newest[@]}"
    goal=surefire:test@default-test
  fi
  tests "$oldest_version" "$oldest" wire "$goal"
fi
testbed down
tell_failed $faults
exit $ended
