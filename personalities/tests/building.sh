# shellcheck shell=bash
# Sourced: how the tests of an interface are built. `here` is the folder personalities, `prefix` the installation; `fail`
# says that something failed.

# NAME WORK: sets what the functions below and scripts of tests use.
use_interface() {
    export NAME=$1 BUILT=$2/programs/$1 LIBRARY=$1
    [ "$1" != pvm2 ] || LIBRARY=pvm
    export FLAGS="-I$TREE/include/neopvm/$NAME -I$prefix/include"
    export LIBS="-L$TREE/lib/neopvm/$NAME -Wl,-rpath,$TREE/lib/neopvm/$NAME -L$prefix/lib -Wl,-rpath,$prefix/lib"
    mkdir -p "$BUILT"
}

flags_of() {
    head -5 "$1" | sed -n 's/.*flags: *\(.*[^ *\/]\)[ *\/]*$/\1/p' | head -1
}

# One object, linked with the shared library to be run, and with the static one to see that it can be, unless
# SHARED_ALONE is set.
build_program() {
    local source=$1 program own libs
    program=$BUILT/$(basename "${source%.*}")
    own=$(flags_of "$source")
    libs=-l$LIBRARY
    case " $own" in *' -l'*) libs= ;; esac
    local compiler=$CC
    case $source in *.f | *.f90) compiler=$FC ;; esac
    # shellcheck disable=SC2086
    $compiler -O1 -g $FLAGS $own -c -o "$program.o" "$source" &&
        $compiler -o "$program" "$program.o" $LIBS $libs $own -lpvm3 -lm -lpthread &&
        { [ -n "${SHARED_ALONE:-}" ] || $compiler -o "$program.static" "$program.o" $LIBS -Wl,-Bstatic $libs $own -Wl,-Bdynamic -lpvm3 -lm -lpthread -ldl; } ||
        fail "$NAME: $(basename "$source") does not build"
}

build_programs() {
    local source
    for source in "$here/$NAME"/tests/*.c "$here/$NAME"/tests/*.f "$here/$NAME"/tests/*.f90; do
        [ -f "$source" ] && build_program "$source"
    done
}
