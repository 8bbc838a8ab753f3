#!/bin/bash
# What reading a large trace costs: files.sh OUT [ROUNDS]
#
# Writes the trace of a simulated ring, of a hundred million records (ROUNDS is 4200000; some 900 MB),
# and reads it: the slowest of a hundred windows, all of it to Perfetto's form, and its profile, each
# with the memory that it took. Needs no machine. Takes two to three minutes.
set -eu
out=$1 rounds=${2:-4200000}
here=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$out"
cd "$here"
cargo build --quiet --release --package pvm-trace --examples
programs=${CARGO_TARGET_DIR:-target}/release/examples
"$programs/simulated_ring" "$out/large.trace" "$rounds"
"$programs/measure" "$out/large.trace"
rm "$out/large.trace"
