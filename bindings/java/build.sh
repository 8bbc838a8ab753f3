#!/bin/bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Makes neopvm.jar and puts it where it is wanted: build.sh FILE
# Ends with 3, and says what is missing, where there is no JDK or no Maven.
set -euo pipefail

file=$(realpath -m "$1")
cd "$(dirname "$0")"
# shellcheck source=xtask/failed.sh
. "../../xtask/failed.sh"
# shellcheck source=bindings/java/jdks.sh
. ./jdks.sh

command -v mvn >/dev/null || { echo "no Maven (Debian package maven): neopvm.jar is left out" >&2; exit 3; }
[ -n "$newest" ] || { echo "no JDK from 17 on (Debian package default-jdk-headless): neopvm.jar is left out" >&2; exit 3; }

# With the same JDK nothing changes until a source does.
jar=target/neopvm.jar
mark=target/built-with-$newest_version
if [ ! -e "$jar" ] || [ ! -e "$mark" ] || [ -n "$(find pom.xml src/main -newer "$jar" -print -quit)" ]; then
  maven clean package -DskipTests
  : >"$mark"
fi
mkdir -p "$(dirname "$file")"
install -m 644 "$jar" "$file.new"
mv "$file.new" "$file"
