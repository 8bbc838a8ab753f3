#!/bin/bash
# The conformance programs and Debian's own programs on a machine of three hosts: see README.md.
#
#   spread.sh live [NAME...]          on Debian's PVM, compared with the recorded answers
#   spread.sh ours PREFIX [NAME...]   on the installation in PREFIX
#   spread.sh oracle [NAME...]        records the answers where three hosts answer differently than one
#   spread.sh debian WHERE [NAME...]  debian.sh WHERE ("original" or a PREFIX)
#   spread.sh all PREFIX [TEST...]    live, ours PREFIX and debian PREFIX at the same time, each on hosts of its own; a TEST is
#                                     "original: NAME", "ours: NAME" or "debian: NAME", as the last lines name those that failed
#
# The hosts are those of `testbed hosts`; where they cannot be made, this is skipped by name. After ours no process and no
# file of it may be left on any of them.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
tool=$here/../xtask/hosts.sh

[ $# -gt 0 ] || { sed -n '4,9s/^#   //p' "$0" >&2; exit 2; }

if [ "$1" = all ]; then
	. "$here/together.sh"
	prefix=$(cd "$2" && pwd) || exit 2
	printf -v self 'bash %q' "$here/spread.sh"
	printf -v where '%q' "$prefix"
	wanted=("${@:3}")
	together original "$self live" ours "$self ours $where" debian "$self debian $where"
	exit
fi

words=()
for word; do
	[[ $word == */* && -d $word ]] && word=$(cd "$word" && pwd) # prefixes from where we were called
	words+=("$word")
done
set -- "${words[@]}"
# shellcheck source=crates/testbed/testbed.sh
. "$here/../crates/testbed/testbed.sh"
testbed_hosts 3

# left: what is on the hosts besides sshd
left() {
	local host found
	for host in h1 h2 h3; do
		found=$(bash "$tool" on "$host" ps -eo pid=,args= | grep -v -e " sshd:" -e " ps -eo"
			bash "$tool" on "$host" find /tmp -xdev "(" -name "neopvm*" -o -name "pvm*" ")")
		[ -z "$found" ] || printf 'left on %s:\n%s\n' "$host" "$found"
	done
}

program=run.sh
[ "$1" != debian ] || { program=debian.sh; shift; }
bash "$tool" on h1 env MACHINE_HOSTS="h2 h3" LIMIT="${LIMIT:-90}" TESTBED_PROGRAM="$TESTBED_PROGRAM" \
	${COMPILED_PROGRAMS:+COMPILED_PROGRAMS="$COMPILED_PROGRAMS"} \
	bash "$here/$program" "$@"
status=$?
case $* in
live* | oracle* | original*) ;;
*)
	bash "$tool" env "HOME=$HOSTS_DIR/home" # the run's own is gone
	# What halts at this moment may end.
	for tick in $(seq 60); do
		found=$(left)
		[ -n "$found" ] || break
		sleep 1
	done
	if [ -n "$found" ]; then
		echo "$found"
		status=1
	fi
	;;
esac
testbed down
exit $status
