#!/bin/bash
# docs.sh STAGE OUT: makes the pages of the Python package of the installation STAGE in OUT.
set -eu
stage=$(realpath "$1") out=$(realpath -m "$2")
# shellcheck source=environment.sh
. "$(dirname "$0")/environment.sh"
# shellcheck source=xtask/failed.sh
. "$root/xtask/failed.sh"
have_python
environment requirements-docs.txt
install_wheel "$stage"
cd "$work"
"$venv/bin/pdoc" neopvm --output-directory "$out"
