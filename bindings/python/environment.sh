# shellcheck shell=bash
# Sourced by the scripts beside it: a Python of our own in target/python/venv, with what the files of requirements name.
# Once it has that, nothing is fetched.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
work=${CARGO_TARGET_DIR:-$root/target}/python
venv=$work/venv

# have_python: whether there is a Python that this can be built with; says what is missing.
have_python() {
  python3 -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && return
  echo "Python 3.11 or newer with its module venv is missing (Debian packages python3 and python3-venv)" >&2
  return 1
}

# environment FILE: what that file of requirements names is there.
environment() {
  local list=$here/$1 mark=$venv/installed-$1
  cmp -s "$list" "$mark" && return
  mkdir -p "$work"
  [ -x "$venv/bin/python" ] || python3 -m venv "$venv" || return
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --requirement "$list" || return
  cp "$list" "$mark"
}

# wheel STAGE: the wheel that is installed there.
wheel() {
  local wheel
  wheel=$(echo "$1"/share/python/neopvm-*.whl)
  [ -f "$wheel" ] || {
    echo "there is no wheel in $1/share/python" >&2
    return 1
  }
  echo "$wheel"
}

# install_wheel STAGE: the environment has the wheel of that installation, in place of any other.
install_wheel() {
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-index --no-deps --force-reinstall "$(wheel "$1")"
}
