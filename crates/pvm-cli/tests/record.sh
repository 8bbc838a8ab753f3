#!/bin/bash
# Records the outputs in console/*.txt anew from the original (Debian's package pvm).
#
# A file has a sentence, the lines of a script, and what the console of PVM 3.4.6 prints:
#   # sentence
#   --- rc         (optional) the .pvmrc
#   --- script     `%sleep SECONDS` gives what comes by itself time to come; a test waits for that
#                  instead. `%settle SECONDS` is time for what shows no output, in tests too
#   --- output     standard output and error together, and how the console ended
# Run it on a computer (or in a container) whose name is `vm`.
set -u
cd "$(dirname "$0")/console" || exit 1
# shellcheck source=crates/testbed/testbed.sh
. ../../../testbed/testbed.sh
section() { awk -v want="$2" '/^--- /{on = ($2 == want); next} on' "$1"; }
for file in ${*:-*.txt}; do
	testbed_up 0
	work=$HOME
	export PVM_ROOT=/usr/lib/pvm3
	section "$file" rc >"$work/.pvmrc"
	section "$file" script >"$work/script"
	{
		sleep 0.3
		while IFS= read -r line; do
			case $line in
			'%sleep '* | '%settle '*) sleep "${line#%* }" ;;
			*)
				printf '%s\n' "$line"
				sleep 0.08
				;;
			esac
		done <"$work/script"
	} | stdbuf -oL timeout 60 /usr/bin/pvm >"$work/output" 2>&1
	status=${PIPESTATUS[1]}
	rm -f "$work/.pvmrc"
	echo halt | timeout 5 /usr/bin/pvm >/dev/null 2>&1
	{
		sed '/^--- output/q' "$file"
		sed "s#$work#\$HOME#g" "$work/output"
		if [ "$status" -gt 128 ]; then echo "[ended by signal $((status - 128))]"; else echo "[exit status $status]"; fi
	} >"$work/new"
	cp "$work/new" "$file"
	testbed down
done
