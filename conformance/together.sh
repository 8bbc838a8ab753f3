# Several runs at the same time: sourced by run.sh and spread.sh.
#
#   together NAME COMMAND NAME COMMAND ...   runs the commands (each one word, for bash -c) at the same time and shows
#                                            their output one after the other, NAME before each line; behind all of it
#                                            once more what failed. Fails if one of them does.

together() {
	local logs status=0 name names=() pids=() failed=() at
	logs=$(mktemp -d) || return 2
	while [ $# -gt 1 ]; do
		bash -c "$2" >"$logs/$1" 2>&1 &
		names+=("$1")
		pids+=($!)
		shift 2
	done
	for at in "${!names[@]}"; do
		wait "${pids[at]}" || { status=1 && failed+=("${names[at]}"); }
		sed "s/^/${names[at]}: /" "$logs/${names[at]}"
	done
	for name in "${failed[@]}"; do
		printf '\nwhat failed, %s:\n' "$name"
		grep -v ': ok$' "$logs/$name" | tail -40
	done
	rm -rf "$logs"
	return $status
}
