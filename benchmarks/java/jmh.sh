#!/bin/bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Runs the benchmarks of jmh/ on each engine: jmh.sh JAR JDK OUT. Prints "ENGINE jmh-NAME MICROSECONDS".
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
jar=$1 jdk=$2 out=$3/jmh

if ! command -v mvn >/dev/null; then
  echo "# skipped: JMH needs Maven (Debian package maven)"
  exit 0
fi
JAVA_HOME=$jdk mvn -B -q -f "$here/jmh/pom.xml" compile "-Dneopvm.jar=$jar" "-Dbenchmarks.out=$out" >"$out.log" 2>&1 || {
  echo "# skipped: JMH could not be built; the first time, Maven fetches it (see $out.log)"
  exit 0
}
engines=wire
[ "$("$jdk/bin/java" -XshowSettings:properties -version 2>&1 | sed -n 's/.*java.specification.version = //p')" -lt 22 ] || engines="native wire"
for engine in $engines; do
  options=
  [ "$engine" = wire ] || options=--enable-native-access=ALL-UNNAMED
  # shellcheck disable=SC2086
  "$jdk/bin/java" -Xms1g -Xmx1g -XX:+UseParallelGC "-Dpvm.engine=$engine" $options -cp "$out/classes:$(cat "$out/classpath"):$jar" \
    org.openjdk.jmh.Main -rf csv -rff "$out.$engine.csv" Packing >>"$out.log" 2>&1
  awk -F, -v engine="$engine" 'NR > 1 { gsub(/"/, ""); sub(/.*\./, "", $1); print engine, "jmh-" $1, $5 }' "$out.$engine.csv"
done
