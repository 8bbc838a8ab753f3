#!/bin/bash
# Conformance programs: run on the original or on ours, recorded or compared. See README.md.
#
#   run.sh oracle [NAME...]        records expected/NAME.txt on Debian's PVM
#   run.sh live [NAME...]          runs them on Debian's PVM and compares with the recorded
#   run.sh ours PREFIX [NAME...]   runs them on the installation in PREFIX and compares
#   run.sh all PREFIX [TEST...]    live, ours PREFIX and debian.sh PREFIX at the same time; a TEST is "original: NAME", ...
#
# With MACHINE_TRACED=1 everything is recorded, and the answers must be the same.
#
# With MACHINE_HOSTS set (spread.sh does that) the machine has several hosts: programs whose answers differ there are
# compared with expected/spread/NAME.txt, and the ones in spread/ run, too.
#
# Prints a line per program, "N passed, N failed", and at the end the names of those that failed (xtask/failed.sh); exits 0 only
# if none failed.

set -u
shopt -s nullglob
called_from=$PWD
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 2
here=$PWD
. ./machine.sh
. ./compiled.sh
. ../xtask/failed.sh

LIMIT=${LIMIT:-90} # seconds for one program
DEBIAN_LIB=${DEBIAN_LIB:-/usr/lib/$(gcc -print-multiarch)}

usage() {
	sed -n '4,7s/^#   //p' run.sh >&2
	exit 2
}

mode=${1:-}
[ $# -gt 0 ] && shift
if [ "$mode" = all ]; then
	. ./together.sh
	prefix=$(cd "$called_from" && cd "${1:-}" && pwd) || exit 2
	printf -v where '%q' "$prefix"
	wanted=("${@:2}")
	together original "bash run.sh live" ours "bash run.sh ours $where" debian "bash debian.sh $where"
	exit
fi
prefix=
case $mode in
oracle | live)
	for part in /usr/bin/pvmd:pvm /usr/include/pvm3.h:pvm-dev "$DEBIAN_LIB/libpvm3.so.3:libpvm3"; do
		if [ ! -e "${part%%:*}" ]; then
			echo "skipped: conformance on the original (apt install ${part##*:})"
			exit 0
		fi
	done
	machine_init original
	includes=/usr/include
	libs=$DEBIAN_LIB
	;;
ours)
	[ $# -gt 0 ] || usage
	prefix=$(cd "$called_from" && cd "$1" && pwd) || exit 2
	shift
	machine_init ours "$prefix"
	includes=$prefix/include
	libs=$prefix/lib
	;;
*) usage ;;
esac
trap machine_end EXIT
trap 'exit 130' INT TERM

have_fortran=$(command -v gfortran)
[ -n "$have_fortran" ] || echo "skipped: the Fortran programs (apt install gfortran)"

names=("$@")
if [ ${#names[@]} -eq 0 ]; then
	sources=(c/*.c f/*.f console/*.in)
	[ -z "$MACHINE_HOSTS" ] || sources+=(spread/*.c spread/*.in)
	for source in "${sources[@]}"; do
		name=${source##*/}
		name=${name%.*}
		# On several hosts each daemon tells of its own, in any order.
		[ -z "$MACHINE_HOSTS" ] || [ "$name" != traced ] || continue
		# These scripts name the machine's first tasks by their ids, which those who record have.
		[ -z "${MACHINE_TRACED:-}" ] || [[ " console_basic console_names console_spawn " != *" $name "* ]] || continue
		names+=("$name")
	done
fi

# source_of NAME: the one file in these folders
source_of() {
	local file
	for file in {c,spread}/"$1".c f/"$1".f {console,spread}/"$1".in; do
		[ ! -e "$file" ] || { echo "$file" && return; }
	done
}

# expected_of NAME: the recorded answers, those of several hosts where they are different
expected_of() {
	if [ -n "$MACHINE_HOSTS" ] && [ -e "expected/spread/$1.txt" ]; then
		echo "expected/spread/$1.txt"
	else
		echo "expected/$1.txt"
	fi
}

# is_console NAME: a script for the console
is_console() { [[ $(source_of "$1") == *.in ]]; }

# record NAME: keeps the answers; those of several hosts only where they are different
record() {
	local to=expected/$1.txt
	if [ -n "$MACHINE_HOSTS" ]; then
		to=expected/spread/$1.txt
		mkdir -p expected/spread
		if cmp -s "expected/$1.txt" "$WORK/out"; then
			rm -f "$to"
			return
		fi
	fi
	[ ! -e "$to" ] || diff -U1 --label before --label now "$to" "$WORK/out"
	cp "$WORK/out" "$to"
}

# compile NAME TARGET INCLUDES LIBS
compile() {
	local rpath=()
	[ "$4" = "$DEBIAN_LIB" ] || rpath=("-Wl,-rpath,$4")
	local source
	source=$(source_of "$1")
	if [ "${source##*.}" = c ]; then
		compiled "$2" gcc -std=gnu89 -fcommon -w -O1 -Ic "$source" -I"$3" -L"$4" "${rpath[@]}" -lgpvm3 -lpvm3
	else
		compiled "$2" gfortran -std=legacy -w -O1 "$source" -I"$3" -L"$4" "${rpath[@]}" -lfpvm3 -lgpvm3 -lpvm3
	fi
}

# answers_before FILE EXPECTED: for each line of a console script how many lines the console has written before it,
# as far as the expected answers tell
answers_before() {
	awk 'NR == FNR { sub(/^(pvm> )+/, ""); want[++count] = $0; next }
		/^SLEEP/ { next }
		{
			known = index($0, "@LAST@") - 1
			for (i = at + 1; i <= count; i++)
				if (known < 0 ? want[i] == $0 : substr(want[i], 1, known) == substr($0, 1, known))
					break
			print i <= count ? (at = i) - 1 : 0
		}' "$2" "$1"
}

# await_answers COUNT: until the console has written so many lines; on a busy computer that takes its time
await_answers() {
	local i
	for ((i = 0; i < 500; i++)); do
		[ "$(wc -l <"$WORK/raw")" -lt "$1" ] || return
		sleep 0.02
	done
}

# feed FILE EXPECTED: a console script line by line, each behind the answers that are expected before it. "SLEEP n" waits
# longer, @WORK@ is the private folder, @LAST@ the task id that the console printed last.
feed() {
	local line before
	exec 3< <(answers_before "$1" "$2")
	while IFS= read -r line; do
		case $line in
		SLEEP*) sleep "${line#SLEEP }" ;;
		*)
			read -r before <&3 && await_answers "$before"
			line=${line//@WORK@/$WORK}
			[[ $line != *@LAST@* ]] || line=${line//@LAST@/$(grep -E '^t[0-9a-f]+$' "$WORK/raw" | tail -1)}
			printf '%s\n' "$line" && sleep 0.05
			;;
		esac
	done <"$1"
	exec 3<&-
	sleep 0.2
}

# normalise_console: private paths, the host's name, process ids; task ids become T0001 ... in the
# order in which they are shown (as wide as the ids are, so that columns stand).
normalise_console() {
	sed -E -e "s|$WORK|@WORK@|g" -e "s/^( *)$(hostname | cut -d. -f1)( +[0-9a-f(]| +ok)/\1HOST\2/" \
		-e 's/^( +(HOST|h[23]) +[^ ]+ +[^ ]+) +[0-9]+( +[0-9]+\/)/\1 PID\3/' |
		awk '{
			line = ""
			while (match($0, /4[0-9a-f][0-9a-f][0-9a-f][0-9a-f]/)) {
				tid = substr($0, RSTART, 5)
				before = RSTART > 1 ? substr($0, RSTART - 1, 1) : " "
				after = substr($0, RSTART + 5, 1)
				if (before ~ /[ tx]/ && after !~ /[0-9a-zA-Z]/ && tid != "40000") {
					if (!(tid in role)) role[tid] = sprintf("T%04d", ++roles)
					tid = role[tid]
				}
				line = line substr($0, 1, RSTART - 1) tid
				$0 = substr($0, RSTART + 5)
			}
			print line $0
		}'
}

# run_once NAME PROGRAM: its output in $WORK/out, its complaints in $WORK/err; fails where there is no machine, or its
# trace is unreadable
run_once() {
	local status
	machine_start || { machine_stop && echo "no machine" >"$WORK/out" && return 1; }
	if is_console "$1"; then
		rm -rf "$WORK/scratch" && mkdir "$WORK/scratch"
		: >"$WORK/raw"
		feed "$(source_of "$1")" "$WORK/want" | machine_run "$LIMIT" stdbuf -oL "$CONSOLE" >"$WORK/raw" 2>&1
		status=${PIPESTATUS[1]}
		normalise_console <"$WORK/raw" >"$WORK/out"
	else
		machine_run "$LIMIT" "$2" >"$WORK/out" 2>"$WORK/err" </dev/null
		status=$?
	fi
	# That a task is recorded is among the options that its tasker has to give it: 0x10000.
	[ -z "${MACHINE_TRACED:-}" ] || sed -i 's/^\( *PVMTRCOPT=\)65536$/\10/' "$WORK/out"
	[ $status -eq 0 ] || echo "exit status $status" >>"$WORK/out"
	machine_stop
	[ -e "$WORK/unreadable" ] || return 0
	{ echo "its trace is unreadable:" && cat "$WORK/unreadable"; } >>"$WORK/out"
	return 1
}

# any_order NAME: where several hosts write, chance decides whose lines come first; those programs' lines are compared sorted
any_order() {
	local file
	[ -n "$MACHINE_HOSTS" ] && grep -qx "$1" spread/any_order.txt || return 0
	for file in "$WORK/want" "$WORK/out"; do
		sed -E -i 's/^(pvm> )+//; /^$/d' "$file"
		sort -o "$file" "$file"
	done
}

# differences NAME: filters stdin by the lines of differences.txt that are for NAME
differences() {
	local script
	script=$(awk -F'\t' -v name="$1" '!/^#/ && NF >= 3 && ($1 == name || $1 == "*") { print $2 "\t" $3 }' differences.txt |
		while IFS=$'\t' read -r pattern replacement; do
			printf 's\001%s\001%s\001\n' "$pattern" "$replacement"
		done)
	sed -E "$script"
}

passed=0
failed=0
faults=0 # of no test
verdict() { # NAME WAY OK
	if [ "$3" = ok ]; then
		passed=$((passed + 1))
		echo "$1$2: ok"
	else
		failed=$((failed + 1))
		has_failed "$1"
		echo "$1$2: FAIL"
	fi
}

# check NAME WAY PROGRAM TRIES: what makes a try fail without a word of the program is not tried again
check() {
	local name=$1 way=$2 program=$3 tries=$4 try
	for ((try = 1; try <= tries; try++)); do
		: >"$WORK/out"
		if [ "$mode" = ours ]; then
			differences "$name" <"$(expected_of "$name")" >"$WORK/want"
		else
			cp "$(expected_of "$name")" "$WORK/want"
		fi
		run_once "$name" "$program" || [ "$mode" != ours ] || try=$tries
		any_order "$name"
		if cmp -s "$WORK/want" "$WORK/out"; then
			verdict "$name" "$way" ok
			return
		fi
	done
	verdict "$name" "$way" fail
	diff -U2 --label expected --label got "$WORK/want" "$WORK/out" | head -40
	head -5 "$WORK/err"
}

for name in "${names[@]}"; do
	if [ -e "f/$name.f" ] && [ -z "$have_fortran" ]; then
		continue
	fi
	if [ -z "$(source_of "$name")" ]; then
		echo "$name: no such program"
		failed=$((failed + 1)) faults=$((faults + 1))
		continue
	fi
	if ! is_console "$name" && ! compile "$name" "$WORK/$name" "$includes" "$libs" 2>"$WORK/err"; then
		verdict "$name" " (compile)" fail
		faults=$((faults + 1))
		head -20 "$WORK/err"
		continue
	fi
	case $mode in
	oracle)
		: >"$WORK/want" # nothing is expected
		run_once "$name" "$WORK/$name"
		record "$name"
		if grep -q -e '^gave up' -e '^exit status' "$WORK/out"; then
			verdict "$name" "" fail
		else
			verdict "$name" "" ok
		fi
		;;
	# The original's groups lose races on a busy computer: that is its own business.
	live) check "$name" "" "$WORK/$name" 4 ;;
	ours)
		# What a console tells unasked can come in two orders: such a script has a second try. Programs have none.
		tries=1
		! is_console "$name" || tries=2
		check "$name" "" "$WORK/$name" $tries
		# The binary linked with Debian's libraries, run with ours; on several hosts debian.sh shows that.
		if [ -z "$MACHINE_HOSTS" ] && ! is_console "$name" && [ -e "$DEBIAN_LIB/libpvm3.so" ] && compile "$name" "$WORK/$name.debian" /usr/include "$DEBIAN_LIB" 2>/dev/null; then
			(
				export LD_LIBRARY_PATH=$prefix/lib
				ldd "$WORK/$name.debian" | grep -q "$prefix/lib/libpvm3" || echo "$name: Debian's library is used" >&2
			)
			export LD_LIBRARY_PATH=$prefix/lib
			check "$name" " (Debian's binary)" "$WORK/$name.debian" 1
			unset LD_LIBRARY_PATH
		fi
		;;
	esac
	rm -f "$WORK/$name" "$WORK/$name.debian"
done
[ -e "$DEBIAN_LIB/libpvm3.so" ] || [ "$mode" != ours ] || echo "skipped: the binaries linked with Debian's libraries (apt install pvm-dev)"
machine_traced || failed=$((failed + 1)) faults=$((faults + 1))
echo "$passed passed, $failed failed"
tell_failed $faults
[ $failed -eq 0 ]
