#!/bin/bash
# Links the libraries from the archive that cargo makes of this crate.
#
#   link.sh ARCHIVE OUTDIR
#
# For another machine CROSS is what its tools' names begin with, such as i686-linux-gnu-.
#
#   libpvm3.so.3   everything: C, Fortran, groups, handles. Linked from the archive, because a
#                  shared library that rustc links does not export the functions of the C shim.
#   libgpvm3.so.3  nothing of its own: programs built for PVM 3 ask for the file; it leads to
#   libfpvm3.so.3  libpvm3.so.3, where their symbols are
#   libpvm3.a      everything, for static linking
#   libgpvm3.a     a mark each, so that old link lines (-lfpvm3 -lgpvm3 -lpvm3) work; two archives
#   libfpvm3.a     with Rust inside never meet
#   libpvmtrc.a    helpers for programs that read traces (include/pvmtrc.h)
set -euo pipefail

archive=$(realpath "$1")
mkdir -p "$2"
out=$(realpath "$2")
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=xtask/failed.sh
. "$here/../../xtask/failed.sh"
CROSS=${CROSS:-}
CC=${CC:-${CROSS:+${CROSS}g}cc}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

flags=(-shared -fPIC -Wl,-z,relro,-z,now -Wl,--hash-style=gnu -Wl,--build-id)

# Calls inside of the library stay inside (-Bsymbolic-functions), but data do not: an old program
# has its own copy of pvm_errno, and that one counts. The library is never unloaded, as threads
# and forks of the program come back to it. Unwinding is linked in, as no panic leaves the library: one library less to
# be found, mapped and relocated at the start of every task.
"$CC" "${flags[@]}" -Wl,-soname,libpvm3.so.3 -Wl,--version-script="$here/exports.map" \
	-Wl,-Bsymbolic-functions -Wl,-z,nodelete -Wl,-z,defs -Wl,--gc-sections -Wl,--strip-debug \
	-Wl,--whole-archive "$archive" -Wl,--no-whole-archive \
	-static-libgcc -lgcc -lgcc_eh -lpthread -ldl -lm -o "$work/libpvm3.so.3"
ln -s libpvm3.so.3 "$work/libpvm3.so"

# All of its thread-local memory is static, as one word of it is. A program that loads the library by
# dlopen (Java, Python, slang) finds at most 1664 bytes of that, for all that it loads so.
tls=$("${CROSS}readelf" -lW "$work/libpvm3.so.3" | awk '$1 == "TLS" { print $6 }')
if ((${tls:-0} > 1536)); then
	echo "link.sh: $((tls)) bytes of thread-local memory are more than 1536: dlopen would fail" >&2
	exit 1
fi

for name in gpvm3 fpvm3; do
	printf 'const char neopvm_mark_%s[] = "NeoPVM: all code is in libpvm3";\n' "$name" >"$work/$name.c"
	"$CC" -O2 -fPIC -c "$work/$name.c" -o "$work/$name.o"
	"$CC" "${flags[@]}" -Wl,-soname,"lib$name.so.3" -Wl,--no-as-needed "$work/$name.o" \
		-L"$work" -lpvm3 -o "$work/lib$name.so.3"
	ln -s "lib$name.so.3" "$work/lib$name.so"
	"${CROSS}ar" rcs "$work/lib$name.a" "$work/$name.o"
done

"$CC" -O2 -fPIC -std=gnu11 -Wall -Wextra -I"$here/../../include" -c "$here/trace/trc.c" -o "$work/trc.o"
"${CROSS}ar" rcs "$work/libpvmtrc.a" "$work/trc.o"

# The static library is one object that shows only what the shared one shows. What the program does
# not need of Rust's own library is left out; and as all symbols are weak, a program may have
# functions of the same names, as it may beside the shared library.
"${CROSS}nm" -D --defined-only --format=posix "$work/libpvm3.so.3" | cut -d' ' -f1 >"$work/symbols"
sed 's/^/-u /' "$work/symbols" >"$work/roots"
"${CROSS}ld" -r --gc-sections "@$work/roots" "$archive" -o "$work/all.o"
"${CROSS}objcopy" --strip-unneeded --remove-section=.llvmbc --remove-section=.llvmcmd \
	--keep-global-symbols="$work/symbols" --weaken-symbols="$work/symbols" "$work/all.o"
"${CROSS}ar" rcs "$work/libpvm3.a" "$work/all.o"

for file in "$work"/*.so* "$work"/*.a; do
	rm -f "$out/${file##*/}"
	cp -P "$file" "$out/"
done
