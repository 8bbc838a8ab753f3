#!/bin/bash
# rustdoc.sh ARGUMENT...: in the place of rustdoc, for `cargo test --doc`. Tests the examples of a crate as rustdoc does, then
# writes the pages of the crate into the folder RUST_PAGES, and what rustdoc has to say of them into RUST_PAGES/said.
#
# The tests have compiled all that the crate uses. `cargo doc` would check all of it once more, for half a minute.
rustdoc "$@"
ended=$?
tests='' pages=()
while (($#)); do
	case $1 in
	--test) tests=1 ;;
	--test-run-directory) shift ;;
	*) pages+=("$1") ;;
	esac
	shift
done
# Cargo asks for the version, too.
[ -z "$tests" ] || {
	mkdir -p "$RUST_PAGES"
	rustdoc "${pages[@]}" --deny warnings --out-dir "$RUST_PAGES" >>"$RUST_PAGES/said" 2>&1 || echo "rustdoc failed" >>"$RUST_PAGES/said"
}
exit $ended
