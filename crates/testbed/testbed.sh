# Sourced by scripts that need a machine or hosts of their own:
#
#   testbed_up ARGS      `testbed up ARGS`, and its environment in this shell
#   testbed_hosts ARGS   `testbed hosts ARGS`, and its environment in this shell
#   testbed down         ends it; without that it ends with this shell
#
# A script ends where there is none, with testbed's status. TESTBED_PROGRAM names the program; it is
# built if that is not set.

testbed() {
  if [ -z "${TESTBED_PROGRAM:-}" ]; then
    local crate
    crate=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
    (cd "$crate" && cargo build --quiet --package testbed) || exit
    export TESTBED_PROGRAM=${CARGO_TARGET_DIR:-$crate/../../target}/debug/testbed
  fi
  "$TESTBED_PROGRAM" "$@"
}

testbed_up() { testbed_eval up "$@"; }
testbed_hosts() { testbed_eval hosts "$@"; }

testbed_eval() {
  local lines
  # Here and not in the subshell below, which would forget the program's path.
  [ -n "${TESTBED_PROGRAM:-}" ] || testbed env >/dev/null 2>&1 || true
  lines=$(testbed "$@" --for $$) || exit
  eval "$lines"
}
