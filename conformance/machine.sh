# One virtual machine of its own for each run: sourced by run.sh and debian.sh.
#
#   machine_init KIND [PREFIX]   KIND is "original" or "ours"; makes $WORK, a private folder
#   machine_start                starts a daemon in it and waits until it is ready
#   machine_run SECONDS CMD...   runs CMD beside the machine, with a time limit
#   machine_stop                 halts the machine and kills what is left of it
#   machine_end                  machine_stop, and removes $WORK
#
# The folder and the environment are testbed's, so any number of runs can go on at once, and a run
# that is killed leaves nothing.
#
# MACHINE_TRACED=1 has all tasks of each machine recorded: the answers must be the same. What was recorded is
# counted in $WORK/recordings.log, a line a machine; what is wrong with a trace stands in $WORK/unreadable after
# machine_stop, and the test that ran on the machine fails.
#
# MACHINE_HERE=1 leaves the daemon in the caller's session, where `pvm up` leaves it. Linux schedules the processes of a
# session as one group: with it, the program and the tasks that the daemon starts share the processors as a user's do.
#
# MACHINE_HOSTS="h2 h3" has the machine spread over these hosts, too: this runs on h1 of xtask/hosts.sh then (see spread.sh).

MACHINE_TOOLS=$(cd "$(dirname "${BASH_SOURCE[0]}")/../xtask" && pwd)
# shellcheck source=crates/testbed/testbed.sh
. "$MACHINE_TOOLS/../crates/testbed/testbed.sh"

machine_init() {
	KIND=$1
	PREFIX=${2:-}
	MACHINE_HOSTS=${MACHINE_HOSTS:-}
	# The hosts of a spread machine share all folders but /tmp.
	[ -z "$MACHINE_HOSTS" ] || export TMPDIR=$HOSTS_DIR
	testbed_up 0
	WORK=$TESTBED
	[ -z "$MACHINE_HOSTS" ] || export PVM_TMP=/tmp PVM_RSH=/usr/bin/ssh
	if [ "$KIND" = original ]; then
		# With our libraries in the loader's way, as users of ours set it, its programs die.
		unset LD_LIBRARY_PATH
		export PVM_ROOT=/usr/lib/pvm3
		PVMD=/usr/bin/pvmd
		CONSOLE=/usr/bin/pvm
		# Debian leaves the group server out of the spawn path.
		ln -s /usr/bin/pvmgs "$HOME/pvm3/bin/$PVM_ARCH/pvmgs"
	else
		export PVM_ROOT=$PREFIX
		PVMD=$PREFIX/bin/pvmd
		CONSOLE=$PREFIX/bin/pvm
	fi
	STARTED=
	MACHINES=0
}

machine_start() {
	local name=()
	RECORDER=
	rm -f "$WORK/ready"
	if [ -n "$MACHINE_HOSTS" ]; then
		# Hosts that are still ending know another machine than the next one.
		MACHINES=$((MACHINES + 1))
		export PVM_VMID=${WORK##*/}-$MACHINES
		bash "$MACHINE_TOOLS/hosts.sh" env HOME="$HOME" PATH="$PVM_ROOT/bin:$PATH" LC_ALL=C PVM_ROOT="$PVM_ROOT" PVM_TMP=/tmp \
			PVM_VMID="$PVM_VMID" PVM_ARCH="$PVM_ARCH" PVM_ALLOW_ROOT=1 PVM_RSH="$PVM_RSH" ${LD_LIBRARY_PATH:+LD_LIBRARY_PATH="$LD_LIBRARY_PATH"}
		# The original asks for the name by which the other hosts know it.
		[ "$KIND" = ours ] || name=(-n"$(hostname)")
	fi
	if [ -n "${MACHINE_HERE:-}" ]; then
		# The leader of a process group cannot leave the session.
		set -m
		"$PVMD" "${name[@]}" </dev/null >"$WORK/ready" 2>"$WORK/pvmd.err" &
		set +m
	else
		setsid timeout -k 1 "${MACHINE_LIMIT:-300}" "$PVMD" "${name[@]}" </dev/null >"$WORK/ready" 2>"$WORK/pvmd.err" &
	fi
	STARTED=$!
	disown $STARTED # or the shell would report how it ended
	local i
	for ((i = 0; i < 6000; i++)); do
		[ -s "$WORK/ready" ] && { machine_spread && machine_record; return; }
		kill -0 $STARTED 2>/dev/null || break
		sleep 0.01
	done
	echo "the daemon $PVMD did not start:" >&2
	cat "$WORK/pvmd.err" >&2
	return 1
}

# Adds the other hosts, one after the other, so that their numbers are in order.
machine_spread() {
	[ -n "$MACHINE_HOSTS" ] || return 0
	# shellcheck disable=SC2086
	{ printf 'add %s\n' $MACHINE_HOSTS && echo quit; } | timeout -k 1 60 stdbuf -oL "$CONSOLE" >"$WORK/added" 2>&1
	[ "$(grep -c '^1 successful' "$WORK/added")" = "$(wc -w <<<"$MACHINE_HOSTS")" ] && return 0
	echo "the hosts $MACHINE_HOSTS could not be added:" >&2
	cat "$WORK/added" >&2
	return 1
}

# Records all tasks from now on.
machine_record() {
	[ -n "${MACHINE_TRACED:-}" ] || return 0
	local i
	# Also the words of the recording before: the new one's process may begin after the first look at them.
	rm -f "$WORK/recorded.trace" "$WORK/recording.err"
	setsid "$PREFIX/bin/pvm" trace record --all -o "$WORK/recorded.trace" </dev/null >/dev/null 2>"$WORK/recording.err" &
	RECORDER=$!
	disown $RECORDER
	for ((i = 0; i < 6000; i++)); do
		! grep -qs "recording into" "$WORK/recording.err" || return 0
		kill -0 $RECORDER 2>/dev/null || break
		sleep 0.01
	done
	echo "nothing is recorded:" >&2
	cat "$WORK/recording.err" >&2
	return 1
}

# Ends the recording, and looks at the trace. A program that has ended its machine has ended the recording, too.
machine_recorded() {
	rm -f "$WORK/unreadable"
	[ -n "${MACHINE_TRACED:-}" ] && [ -n "$RECORDER" ] || return 0
	local i
	! kill -0 "$STARTED" 2>/dev/null || kill -INT $RECORDER 2>/dev/null
	for ((i = 0; i < 6000; i++)); do
		kill -0 $RECORDER 2>/dev/null || break
		sleep 0.01
	done
	if "$PREFIX/bin/pvm" trace profile --json "$WORK/recorded.trace" >"$WORK/recorded.profile" 2>&1 &&
		"$PREFIX/bin/pvm" trace show --json "$WORK/recorded.trace" >"$WORK/recorded.shown" 2>&1; then
		grep -o "\"records\":[0-9]*" "$WORK/recorded.shown" >>"$WORK/recordings.log"
	else
		{
			ls -l "$WORK/recorded.trace"
			tail -n 5 "$WORK/recorded.profile" "$WORK/recorded.shown" "$WORK/recording.err"
		} >"$WORK/unreadable" 2>&1
	fi
}

# The number of machines and records; fails if nothing was recorded.
machine_traced() {
	[ -n "${MACHINE_TRACED:-}" ] || return 0
	awk -F: '{ machines++; records += $2 }
		END {
			printf "%d machines recorded, %d records\n", machines, records
			if (records == 0) { print "FAIL recordings: no record"; exit 1 }
		}' "$WORK/recordings.log"
}

machine_run() {
	local limit=$1
	shift
	timeout -k 1 "$limit" "$@"
}

# Ends every process that was started beside or in the machine.
machine_kill() { testbed clear; }

machine_stop() {
	[ -n "$STARTED" ] || return 0
	# The original's daemon does not end behind a resource manager (plug_rm), however long one waits.
	local i gone=0 patience=60
	[ "$KIND" = ours ] || patience=5
	machine_recorded
	if [ -x "$CONSOLE" ]; then
		# The original's console ends by SIGTERM, which the shell would report.
		{ echo halt | timeout -k 1 $patience "$CONSOLE"; } >/dev/null 2>&1
		# Several hosts take longer to end on a busy computer; what is killed below leaves its files. A program may have
		# ended the machine and started another one: then it is not the one that was started here.
		for ((i = 0; i < patience * 100 && gone < ${MACHINE_HOSTS:+8}00 + 200; i++)); do
			if ! kill -0 "$STARTED" 2>/dev/null; then
				[ -e "$PVM_TMP/neopvm-$(id -u)/$PVM_VMID" ] || break
				gone=$((gone + 1))
			fi
			sleep 0.01
		done
	fi
	machine_kill
	STARTED=
	if [ -n "$MACHINE_HOSTS" ]; then
		return # the next one has a name of its own
	fi
	rm -rf "$PVM_TMP"
	mkdir -m 700 "$PVM_TMP"
}

machine_end() {
	machine_stop
	testbed down
}
