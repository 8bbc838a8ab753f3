#!/bin/bash
# wheel.sh PROGRAMS OUT: builds the wheel with the daemon, the console and the tuple server of the folder PROGRAMS in it,
# and puts it into OUT. Where there is no Python to build it with, this says so and is no failure: NeoPVM does without.
set -eu
programs=$(realpath "$1") out=$(realpath -m "$2")
# shellcheck source=environment.sh
. "$(dirname "$0")/environment.sh"
# shellcheck source=xtask/failed.sh
. "$root/xtask/failed.sh"
have_python && environment requirements-build.txt || {
  echo "the Python wheel is left out" >&2
  exit 0
}

# The package carries them; git does not.
bin=$here/python/neopvm/bin
mkdir -p "$bin"
for name in pvm pvmd pvmtuples; do
  install -m 755 "$programs/$name" "$bin/$name.new"
  strip "$bin/$name.new"
  mv "$bin/$name.new" "$bin/$name"
done

# What somebody built in place would be in the wheel twice.
rm -f "$here"/python/neopvm/*.so
new=$work/wheel
rm -rf "$new"
cd "$here"
# `make check` lets clippy compile the module, which warns of it.
[ -z "${LINT_WHEEL:-}" ] || export RUSTC_WRAPPER=$here/lint.sh
# Where `make build` has compiled the crates that the module uses.
CARGO_TARGET_DIR=$(dirname "$work") "$venv/bin/maturin" build --quiet --release --locked \
  --interpreter "$venv/bin/python" --out "$new"
mkdir -p "$out"
rm -f "$out"/neopvm-*.whl
cp "$new"/neopvm-*.whl "$out"
