#!/bin/bash
# Brings what the targets of the Makefile need: deps.sh build | demo | bench | check | all
#
# Debian packages are installed where this runs as root, and named in one command otherwise. Only what is missing
# is asked for, so nothing touches the network on a machine that has everything. Rust's own tools (nightly
# for the fuzzer and Miri) belong to the user and are installed by whoever runs this.
set -u
what=${1:-all}

# need PATTERN-OR-PROGRAM PACKAGE...: remembers the packages if no such file, or no such program, is there.
missing=
need() {
  local thing=$1
  shift
  case $thing in
    /*) compgen -G "$thing" >/dev/null ;;
    *) PATH=$PATH:/usr/sbin:/sbin command -v "$thing" >/dev/null ;;
  esac || missing="$missing $*"
}

need cc gcc libc6-dev
need ar binutils
case $what in build) ;; *)
  need setpriv util-linux
  need timeout coreutils
  ;;
esac
case $what in bench | check | all)
  need gfortran gfortran
  # Counts instructions: `cargo xtask instructions`.
  need valgrind valgrind
  ;;
esac
# Tuple spaces are measured beside Redis.
case $what in bench | all)
  need redis-server redis-server
  need /usr/include/hiredis/hiredis.h libhiredis-dev
  ;;
esac
# The `ti` form of traces is replayed; with what it needs it takes 205 MB, so a check names what it skips.
[ "$what" != all ] || need smpirun libsimgrid-dev
case $what in check | all)
  need g++ g++
  # The second compiler for what clc writes.
  need clang clang
  need /usr/bin/pvmd pvm
  need /usr/include/pvm3.h pvm-dev
  need /usr/bin/master1 pvm-examples
  need /usr/bin/tablix2_kernel tablix2
  need slsh slsh
  need '/usr/lib/*/slang/v2/modules/pvm-module.so' slang-pvm
  need NPpvm netpipe-pvm
  need strace strace
  # TCGMSG over MPI.
  need '/usr/lib/*/libga-openmpi.a' libglobalarrays-dev
  need '/usr/lib/*/libarmci-openmpi.a' libarmci-mpi-dev
  need mpirun.openmpi openmpi-bin libopenmpi-dev
  # The report of `pvm bench` is drawn once.
  need chromium chromium fonts-dejavu-core
  need ip iproute2
  need nft nftables
  need tc iproute2
  need nsenter util-linux
  need pkill procps
  need sshd openssh-server
  need ssh openssh-client
  need man man-db
  # The man pages in the site of all documents.
  need mandoc mandoc
  # The fuzzer, which would be compiled for a minute otherwise.
  need '/usr/lib/llvm-*/lib/clang/*/lib/linux/libclang_rt.fuzzer-*.a' libclang-rt-dev
  # Hosts with other longs and the other order of bytes: compilers, their C libraries, an emulator.
  need i686-linux-gnu-gcc gcc-i686-linux-gnu libc6-dev-i386-cross
  need /lib/ld-linux.so.2 libc6-i386
  need /usr/lib32/libgcc_s.so.1 lib32gcc-s1
  need s390x-linux-gnu-gcc gcc-s390x-linux-gnu libc6-dev-s390x-cross
  need qemu-s390x qemu-user
  need zsh zsh
  need fish fish
  need unshare util-linux
  # Java from 17 on; a newer JDK that is there is used as well.
  need javac default-jdk-headless
  need mvn maven
  python3 -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null ||
    missing="$missing python3 python3-venv"
  # CPython's own tests of executors are run with the pool.
  version=$(/usr/bin/python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null)
  need '/usr/lib/python3*/test/test_concurrent_futures*' "libpython${version:-3.11}-testsuite"
  ;;
esac

if [ -n "$missing" ]; then
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "installing:$missing"
    export DEBIAN_FRONTEND=noninteractive
    # shellcheck disable=SC2086
    apt-get update -qq && apt-get install -y -qq --no-install-recommends $missing >/dev/null || {
      echo "apt-get could not install:$missing" >&2
      exit 1
    }
  else
    echo "missing, to be installed with: sudo apt-get install$missing" >&2
    # A check names what it skips; a build cannot go on.
    [ "$what" = build ] && ! command -v cc >/dev/null && exit 1
  fi
fi

if ! command -v cargo >/dev/null; then
  echo "Rust is missing, install it with: curl --proto '=https' -sSf https://sh.rustup.rs | sh -s -- -y" >&2
  exit 1
fi

# rustup brings the version that rust-toolchain.toml names; a cargo from elsewhere must be new enough by itself.
wanted=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' "$(dirname "$0")/../Cargo.toml")
have=$(cargo --version 2>/dev/null | cut -d' ' -f2)
if [ "$(printf '%s\n' "$wanted" "$have" | sort -V | head -n 1)" != "$wanted" ]; then
  echo "Rust $wanted or newer is needed, cargo here is '$have'; rustup brings it:" \
    "curl --proto '=https' -sSf https://sh.rustup.rs | sh -s -- -y" >&2
  exit 1
fi

case $what in check | all)
  if command -v rustup >/dev/null; then
    rustup toolchain list | grep -q '^nightly' || rustup toolchain install nightly --profile minimal ||
      echo "no nightly Rust: the fuzz part will fail" >&2
    # No part of the check uses Miri, which interprets the standard library, too.
    [ "$what" = check ] || rustup +nightly component list --installed 2>/dev/null | grep -q '^miri' ||
      rustup component add miri rust-src --toolchain nightly ||
      echo "no Miri: cargo xtask miri will fail" >&2
    # The part that runs mixed machines builds for these; one is 32-bit, one has the highest byte first.
    targets="i686-unknown-linux-gnu s390x-unknown-linux-gnu"
    (cd "$(dirname "$0")/.." && for target in $targets; do
      rustup target list --installed | grep -qx "$target" || rustup target add "$target" || exit
    done) || echo "no Rust for i686 and s390x: the mixed part will be skipped" >&2
  else
    echo "no rustup: the fuzz part needs a nightly Rust" >&2
  fi
  ;;
esac
exit 0
