# shellcheck shell=bash
# Sourced by scripts that are several tests. `make check` runs a test that failed once more, alone, if the script tells
# which test it was and that nothing else went wrong (doc/adr/0024):
#
#   is_wanted TEST [GROUP]   whether the caller of the script wants this test: it has named the test or the group, or nothing
#                            (`wanted`, an array)
#   has_failed TEST          notes that the test has failed; the script runs it alone where its caller names it
#   tell_failed FAULTS       at the end: the tests that have failed, and that nothing else did if there were no other FAULTS
#
# A command that ends a script by `set -e` need not say anything. It is named, with its place, in the form that the table of
# the check repeats.
set -o errtrace
trap 'ended=$?; [[ $- != *e* ]] || echo "error: ${BASH_SOURCE[0]}:$LINENO: $BASH_COMMAND ended with $ended" >&2' ERR
declare -a wanted=() failed_tests=()

is_wanted() {
  local name
  [ ${#wanted[@]} -gt 0 ] || return 0
  for name in "${wanted[@]}"; do
    [ "$name" != "$1" ] && [ "$name" != "${2:-$1}" ] || return 0
  done
  return 1
}

has_failed() {
  local test
  for test in "${failed_tests[@]}"; do [ "$test" != "$1" ] || return 0; done
  failed_tests+=("$1")
}

tell_failed() {
  [ ${#failed_tests[@]} -eq 0 ] || printf 'failed test: %s\n' "${failed_tests[@]}"
  [ ${#failed_tests[@]} -eq 0 ] || [ "$1" -ne 0 ] || echo "nothing else failed"
}
