# shellcheck shell=bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# To be sourced: finds the JDKs of this computer, and runs Maven with one of them.

# One line for each version from 17 on, oldest first: the version and the folder.
jdks() {
  local javac
  for javac in ${JAVA_HOME:+"$JAVA_HOME/bin/javac"} "$(command -v javac || true)" /usr/lib/jvm/*/bin/javac; do
    [ -x "$javac" ] || continue
    javac=$(realpath "$javac")
    printf '%s %s\n' "$("$javac" -version 2>&1 | sed 's/^javac \([0-9]*\).*/\1/')" "${javac%/bin/javac}"
  done | sort -n | awk '$1 >= 17 && !seen[$1]++'
}

newest_version=$(jdks | tail -n 1 | cut -d' ' -f1)
newest=$(jdks | tail -n 1 | cut -d' ' -f2)
oldest_version=$(jdks | head -n 1 | cut -d' ' -f1)
oldest=$(jdks | head -n 1 | cut -d' ' -f2)

# A Java program that runs for seconds ends before its best code would pay, so it is compiled simply.
brief="-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"

# What is here already is not fetched again. Tests run in a Java of their own, without these options.
maven() {
  JAVA_HOME=$newest MAVEN_OPTS="${MAVEN_OPTS:-} $brief -XX:+IgnoreUnrecognizedVMOptions --sun-misc-unsafe-memory-access=allow" \
    mvn -B -q -Dstyle.color=never "$@"
}
