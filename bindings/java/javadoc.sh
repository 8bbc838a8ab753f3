#!/bin/bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Makes the pages of the Java classes in OUT: javadoc.sh OUT
set -euo pipefail
out=$(realpath -m "$1")
cd "$(dirname "$0")"
# shellcheck source=xtask/failed.sh
. "../../xtask/failed.sh"
# shellcheck source=bindings/java/jdks.sh
. ./jdks.sh
# shellcheck disable=SC2086
"$oldest/bin/javadoc" ${brief//-XX/-J-XX} -quiet -Xdoclint:all,-missing -Werror --release 17 -d "$out" -sourcepath src/main/java \
  -windowtitle "NeoPVM for Java" org.neopvm org.neopvm.engine jpvm pbj
