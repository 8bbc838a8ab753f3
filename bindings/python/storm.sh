#!/bin/bash
# storm.sh STAGE SECONDS: kills, interrupts, cancels and forks at random, with what is installed in STAGE.
set -eu
stage=$(realpath "$1")
# shellcheck source=environment.sh
. "$(dirname "$0")/environment.sh"
have_python
environment requirements-test.txt
install_wheel "$stage"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"
env -u PVM_ROOT -u PVM_VMID PVM_TMP="$tmp" PVM_ALLOW_ROOT=1 "$venv/bin/python" "$here/tests/storm.py" "$2"
