#!/bin/bash
# storm.sh SECONDS: kills, interrupts, cancels and forks at random, with the wheel that check.sh has installed last.
set -eu
# shellcheck source=environment.sh
. "$(dirname "$0")/environment.sh"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
env -u PVM_ROOT -u PVM_VMID PVM_TMP="$tmp" PVM_ALLOW_ROOT=1 "$venv/bin/python" "$here/tests/storm.py" "$1"
