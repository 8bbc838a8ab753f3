# A program prints the same as on Debian's TCGMSG, which is over MPI (libglobalarrays-dev, libarmci-mpi-dev, libopenmpi-dev), and
# our test of Global Arrays' spelling passes on it, too: what they ask for is not of our own making. messages.c and counter.c
# are not run there: a send of 5 MB waits for its receiver, and a number is given out when a node is in a call. Nor are the
# programs in Fortran: its tcgmsg.fh has not all of the constants.
set -u
fail() { echo "$*"; exit 1; }
# A check that is to be whole says so.
skip() {
    echo "skipped: Debian's TCGMSG over MPI: $1 is missing (apt install libglobalarrays-dev libarmci-mpi-dev openmpi-bin)"
    [ "${CI:-}" != true ] || exit 1
    exit 0
}
here=$(cd "$(dirname "$0")" && pwd)
for need in mpicc.openmpi mpirun.openmpi; do command -v $need >/dev/null || skip $need; done
for need in libga-openmpi.a libarmci-openmpi.a; do [ -f "$(cc -print-file-name=$need)" ] || skip $need; done
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl_base_warn_component_unused=0
theirs() { timeout 100 mpirun.openmpi --oversubscribe -n "$@" 2>err </dev/null; }
ours() { timeout 100 "$PVM" run --quiet --as tcgmsg -n "$@" 2>err </dev/null; }
libraries="-lga-openmpi -larmci-openmpi -lgfortran -lm"
for name in alike ga; do
    # With Global Arrays' own header; its library has no tcg_parerr.
    # shellcheck disable=SC2086
    mpicc.openmpi -O1 -w '-Dtcg_parerr(code)=abort()' -o "$name.mpi" "$here/$name.c" $libraries || fail "$name is not built on Debian's"
done
for nodes in 1 2 3 7; do
    theirs $nodes ./alike.mpi >wanted || fail "alike on Debian's with $nodes: $(cat err)"
    ours $nodes ./alike >got || fail "alike with $nodes: $(cat err)"
    diff wanted got || fail "$nodes nodes print something else than on Debian's"
    grep -q '^ok' got || fail "alike with $nodes: no end"
done
for nodes in 2 3; do
    theirs $nodes ./ga.mpi >out || fail "ga on Debian's with $nodes: $(cat out err)"
done
exit 0
