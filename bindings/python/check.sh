#!/bin/bash
# check.sh STAGE [TEST...]: the checks of the Python part on what is installed in STAGE: lints, types, tests with real machines,
# and the wheel in an empty environment. Of the tests those run that are named, as the last lines name those that have failed.
set -eu
stage=$(realpath "$1")
# shellcheck source=environment.sh
. "$(dirname "$0")/environment.sh"
# shellcheck source=crates/testbed/testbed.sh
. "$root/crates/testbed/testbed.sh"
# shellcheck source=xtask/failed.sh
. "$root/xtask/failed.sh"
wanted=("${@:2}")
have_python
environment requirements-build.txt
environment requirements-test.txt

cd "$here"
export PYO3_PYTHON=$venv/bin/python
cargo fmt --check
# `make check` sets this: it has compiled the wheel with clippy already.
[ -n "${LINT_WHEEL:-}" ] ||
  CARGO_TARGET_DIR=$work/cargo cargo clippy --locked --quiet --all-targets -- -D warnings

wheel=$(wheel "$stage")

echo "types"
"$venv/bin/mypy" --cache-dir "$work/mypy" --config-file pyproject.toml

echo "an empty environment, with no NeoPVM on the path"
empty=$work/empty
rm -rf "$empty"
python3 -m venv "$empty"
"$empty/bin/pip" install --quiet --disable-pip-version-check --no-index --no-deps "$wheel"
testbed_up 0 --home callers
unset PVM_VMID # each test is in a machine of its own
(
  cd "$TMPDIR"
  env -i HOME="$TMPDIR" PATH=/usr/bin:/bin PVM_TMP="$PVM_TMP" PVM_ALLOW_ROOT=1 "$empty/bin/python" -c '
import neopvm as pvm, shutil
with pvm.connect() as vm:
    team = vm.spawn("echo", "from", "a", "wheel", n=2)
    team.wait(120)
    with pvm.Pool(2) as pool:
        print(sum(pool.map(abs, range(-10, 0), timeout=120)))
' | grep -qx 55
  env -i HOME="$TMPDIR" PATH=/usr/bin:/bin "$empty/bin/pvm" --version
)

echo "tests"
install_wheel "$stage"
# The tests are run where the sources of the package are not found: what is tested is the wheel.
cd "$here/tests"
[ ${#wanted[@]} -gt 0 ] || wanted=(.)
env -u PVM_ROOT NEOPVM_PREFIX="$stage" "$venv/bin/python" -m pytest -q -p no:cacheprovider --rootdir "$here/tests" \
  -c "$here/pyproject.toml" -rfE "${wanted[@]}" | tee "$work/tests.log"
status=${PIPESTATUS[0]}
testbed down
while read -r test; do has_failed "$test"; done < <(sed -n 's/^FAILED \([^ ]*\).*/\1/p' "$work/tests.log")
# Pytest ends with 1 where tests have failed and nothing else has.
tell_failed $((status != 1 || $(grep -c '^ERROR ' "$work/tests.log") > 0))
exit $status
