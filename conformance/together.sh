# Several runs at the same time: sourced by run.sh and spread.sh.
#
#   together NAME COMMAND NAME COMMAND ...   runs the commands (each one word, for bash -c) at the same time and shows
#                                            their output one after the other, NAME before each line; behind all of it
#                                            once more what failed. Fails if one of them does. Of the tests that are
#                                            wanted (failed.sh), "NAME: TEST", each command gets its own as arguments;
#                                            one that has none of them does not run.
. "$(dirname "${BASH_SOURCE[0]}")/../xtask/failed.sh"

together() {
	local logs status=0 faults=0 name names=() pids=() failed=() at
	logs=$(mktemp -d) || return 2
	while [ $# -gt 1 ]; do
		if words=$(wanted_of "$1"); then
			bash -c "$2$words" >"$logs/$1" 2>&1 &
			names+=("$1")
			pids+=($!)
		fi
		shift 2
	done
	for at in "${!names[@]}"; do
		wait "${pids[at]}" || { status=1 && failed+=("${names[at]}"); }
		sed "s/^/${names[at]}: /" "$logs/${names[at]}"
	done
	for name in "${failed[@]}"; do
		printf '\nwhat failed, %s:\n' "$name"
		grep -v ': ok$' "$logs/$name" | tail -40 | grep -v -e '^failed test: ' -e '^nothing else failed'
		while read -r test; do has_failed "$name: $test"; done < <(sed -n 's/^failed test: //p' "$logs/$name")
		[ "$(tail -n 1 "$logs/$name")" = "nothing else failed" ] || faults=$((faults + 1))
	done
	rm -rf "$logs"
	tell_failed $faults
	[ ${#names[@]} -gt 0 ] && return $status
}

# wanted_of NAME: the wanted tests of that command as words for a shell; fails where it has none, and others have
wanted_of() {
	local test words=
	for test in "${wanted[@]}"; do
		[[ $test != "$1: "* ]] || words="$words $(printf %q "${test#"$1: "}")"
	done
	echo "$words"
	[ -n "$words" ] || [ ${#wanted[@]} -eq 0 ]
}
