# Sourced by run.sh and debian.sh: the compiler.
#
#   compiled OUT COMPILER ARGUMENT...   compiles and links into OUT. Where COMPILED_PROGRAMS is set, a folder, a program that was
#                                       compiled by the same command from the same sources is taken from there, and a new one is
#                                       kept there if the folder can be written: four parts of a check compile these programs.
#                                       Who sets it empties the folder when a header or a library has changed.
compiled() {
	local out=$1 kept word
	shift
	if [ -z "${COMPILED_PROGRAMS:-}" ]; then
		"$@" -o "$out"
		return
	fi
	kept=$COMPILED_PROGRAMS/$({
		printf '%s\n' "$@"
		for word; do [ ! -f "$word" ] || cat "$word"; done
	} | sha256sum | cut -d' ' -f1)
	cp "$kept" "$out" 2>/dev/null && return
	"$@" -o "$out" || return
	# Another script may read it at any moment.
	{ cp "$out" "$kept.$$" && mv "$kept.$$" "$kept"; } 2>/dev/null || true
}
