#!/bin/bash
# storm.sh STAGE SECONDS: kills, interrupts, cancels and forks at random, with what is installed in STAGE.
set -eu
stage=$(realpath "$1")
# shellcheck source=environment.sh
. "$(dirname "$0")/environment.sh"
# shellcheck source=xtask/failed.sh
. "$root/xtask/failed.sh"
# shellcheck source=crates/testbed/testbed.sh
. "$root/crates/testbed/testbed.sh"
have_python
environment requirements-test.txt
install_wheel "$stage"
testbed_up 0 --home callers
unset PVM_VMID
cd "$TMPDIR"
"$venv/bin/python" "$here/tests/storm.py" "$2"
