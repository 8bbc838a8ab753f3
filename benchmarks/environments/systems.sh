# SPDX-License-Identifier: MIT OR Apache-2.0
# How the programs are built and started, for run.sh and verify.sh. PREFIX holds NeoPVM; where an interface lies elsewhere than
# in PREFIX, TREE does. OUT gets what is built. A machine of its own runs until the script ends.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=crates/testbed/testbed.sh
. "$here/../../crates/testbed/testbed.sh"

# Sets `systems` to those of SYSTEMS (default: all) whose libraries are there, `missing` to 1 where one is not, and builds their
# programs.
build_all() {
  local system
  PREFIX=$(cd "$1" && pwd) && mkdir -p "$2" && OUT=$(cd "$2" && pwd) || exit 2
  TREE=${TREE:-$PREFIX} systems=() missing=0
  for system in ${SYSTEMS:-nx express pvm}; do
    if [ "$system" = pvm ] || [ -e "$TREE/lib/neopvm/$system/lib$system.so" ]; then
      systems+=("$system")
    else
      echo "$system: $TREE/lib/neopvm/$system/lib$system.so is not there, so it is left out" >&2
      missing=1
    fi
  done
  make -s -C "$here" PREFIX="$PREFIX" TREE="$TREE" BUILD="$OUT" SYSTEMS="${systems[*]}" >&2 || exit 1
}

start_machine() {
  testbed_up 1 --prefix "$PREFIX" --home callers
  export LD_LIBRARY_PATH=$PREFIX/lib
}

# run_one SYSTEM PROGRAM TASKS ARGUMENT...: PVM's first task starts the others, the other systems have their starter.
run_one() {
  local system=$1 program=$OUT/$1/$2 tasks=$3
  shift 3
  case $system in
  pvm) timeout "${LIMIT:-60}" "$program" "$tasks" "$@" ;;
  *) timeout "${LIMIT:-60}" "$PREFIX/bin/pvm" run --quiet --as "$system" -n "$tasks" "$program" "$tasks" "$@" ;;
  esac </dev/null
}
