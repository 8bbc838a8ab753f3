# shellcheck shell=bash
# Sourced by scripts that need a machine or hosts of their own:
#
#   testbed_up ARGS      `testbed up ARGS`, and its environment in this shell
#   testbed_hosts ARGS   `testbed hosts ARGS`, and its environment in this shell
#   testbed down         ends it; without that it ends with this shell
#
# A script ends where there is none, with testbed's status; where this computer cannot have hosts it
# has only said so, unless CI is "true". TESTBED_PROGRAM names the program; it is built if that is
# not set.

testbed() {
  local status=0
  "${TESTBED_PROGRAM:?is set by testbed_up}" "$@" || status=$?
  # The folder of temporary files has gone with the place; the script may want another place.
  [ "${1:-}" != down ] || export TMPDIR=$testbed_tmpdir
  return $status
}

testbed_up() { testbed_begin up "$@"; }
testbed_hosts() { testbed_begin hosts "$@"; }

testbed_begin() {
  local lines status crate target
  if [ -z "${TESTBED_PROGRAM:-}" ]; then
    crate=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
    target=${CARGO_TARGET_DIR:-$crate/../../target}/debug
    [ ! -e "$target/.cargo-lock" ] || flock --nonblock "$target/.cargo-lock" true ||
      echo "testbed: waiting for another cargo that works in this source tree" \
        "(TESTBED_PROGRAM=PATH takes a testbed that is built)" >&2
    (cd "$crate" && cargo build --quiet --package testbed) || exit
    export TESTBED_PROGRAM=$target/testbed
  fi
  lines=$(testbed "$@" --for $$) || {
    status=$?
    [ $status != 77 ] || [ "${CI:-}" = true ] || status=0
    exit $status
  }
  testbed_tmpdir=${TMPDIR:-/tmp}
  eval "$lines"
}
