#!/bin/bash
# Runs a command as the user nobody, with a home of its own: second-user.sh PREFIX COMMAND [ARGUMENT...]
#
# A checkout in a folder that only root may enter stays in its place but becomes reachable, in a mount
# namespace that only this command sees. PREFIX is where NeoPVM was installed; the tests find it in NEOPVM_PREFIX.
set -eu
prefix=$1
shift
root=$(cd "$(dirname "$0")/.." && pwd)
user=nobody

as_user() { setpriv --reuid "$user" --regid "$(id -g "$user")" --clear-groups "$@"; }

# The first folder on the way to the checkout that the user may not enter.
closed_folder() {
  local path=$root closed=
  while [ "$path" != / ]; do
    as_user test -x "$path" || closed=$path
    path=$(dirname "$path")
  done
  echo "$closed"
}

if [ "${SECOND_USER_INSIDE:-}" = "" ] && [ -n "$(closed_folder)" ]; then
  SECOND_USER_INSIDE=1 exec unshare --mount bash "$0" "$prefix" "$@"
fi
closed=$(closed_folder)
if [ -n "$closed" ]; then
  kept=$(mktemp -d)
  mount --bind "$root" "$kept"
  mount -t tmpfs -o mode=755 none "$closed"
  mkdir -p "$root"
  mount --bind "$kept" "$root"
  umount "$kept"
  rmdir "$kept"
  cd "$root"
fi

home=$(mktemp -d "${TMPDIR:-/tmp}/neopvm-user.XXXXXX")
trap 'rm -rf "$home"' EXIT
mkdir "$home/tmp"
chown -R "$user" "$home"
as_user env --ignore-environment PATH="$PATH" HOME="$home" TMPDIR="$home/tmp" USER="$user" LOGNAME="$user" \
  LANG="${LANG:-C.UTF-8}" NEOPVM_PREFIX="$prefix" ${TESTBED_PROGRAM:+TESTBED_PROGRAM="$TESTBED_PROGRAM"} \
  ${COMPILED_PROGRAMS:+COMPILED_PROGRAMS="$COMPILED_PROGRAMS"} "$@"
