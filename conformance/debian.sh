#!/bin/bash
# Debian's own PVM programs on ours: unmodified binaries, then their sources compiled against our headers
# and libraries, shared and static, in the old orders of libraries.
#
#   debian.sh PREFIX      on the installation in PREFIX
#   debian.sh original    on Debian's own PVM, to try out this script
#   debian.sh WHERE NAME...   only the checks whose name contains one of NAME
#
# What is not installed is named as skipped. Ends with "N passed, N failed".

set -u
shopt -s nullglob
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 2
. ./machine.sh
. ./compiled.sh
. ../xtask/failed.sh

[ $# -gt 0 ] || { sed -n '5,7s/^#   //p' debian.sh >&2; exit 2; }
where=$1
shift
only=("$@")
if [ "$where" = original ]; then
	machine_init original
	includes=/usr/include
	libs=/usr/lib/$(gcc -print-multiarch)
else
	prefix=$(cd "$where" && pwd) || exit 2
	machine_init ours "$prefix"
	includes=$prefix/include
	libs=$prefix/lib
	# The binaries are linked with Debian's libraries; they shall find ours.
	export LD_LIBRARY_PATH=$libs
fi
trap machine_end EXIT
trap 'exit 130' INT TERM

# What the programs say depends on how many hosts there are; ids of the first begin with t4.
hosts=$((1 + $(wc -w <<<"$MACHINE_HOSTS")))
of_any=t4
[ $hosts = 1 ] || of_any='t[48c]'

bin=$HOME/pvm3/bin/$PVM_ARCH
cd "$HOME" || exit 2
passed=0
failed=0
faults=0 # of no test

wanted() {
	local part
	[ ${#only[@]} -gt 0 ] || return 0
	for part in "${only[@]}"; do
		[[ $1 == *"$part"* ]] && return 0
	done
	return 1
}

# missing FILE PACKAGE WHAT: says that WHAT is skipped if FILE is not there
missing() {
	[ -e "$1" ] && return 1
	echo "skipped: $3 (apt install $2)"
}

# judge NAME REGEX...: every expression must be found in $WORK/out
judge() {
	local name=$1 regex
	shift
	for regex; do
		if ! grep -Eq -- "$regex" "$WORK/out"; then
			refuse "$name" "no line like: $regex"
			return
		fi
	done
	if [ -e "$WORK/unreadable" ]; then
		refuse "$name" "its trace is unreadable"
		sed 's/^/    /' "$WORK/unreadable"
		return
	fi
	passed=$((passed + 1))
	echo "$name: ok"
}

# refuse NAME WHY: a test that failed, with the end of what it wrote
refuse() {
	failed=$((failed + 1))
	has_failed "$1"
	echo "$1: FAIL ($2)"
	head -c 3000 "$WORK/out" | head -25 | sed 's/^/    /'
	[ ! -s "$WORK/log" ] || tail -5 "$WORK/log" | sed 's/^/    log: /'
}

# complain NAME: what did not compile
complain() {
	failed=$((failed + 1)) faults=$((faults + 1))
	echo "$1: FAIL"
	head -10 "$WORK/out" | sed 's/^/    /'
}

# on_machine EXPRESSION COMMAND...: runs a shell function on a fresh machine; on the original once more if
# its output lacks EXPRESSION
on_machine() {
	local tries=1 expression=$1
	shift
	[ "$where" = original ] && tries=2
	while :; do
		machine_start || { machine_stop && echo "no machine" >"$WORK/out" && return; }
		"$@" >"$WORK/out" 2>&1 </dev/null
		cat "$PVM_TMP"/pvml.* >"$WORK/log" 2>/dev/null
		machine_stop
		tries=$((tries - 1))
		[ $tries -gt 0 ] && ! grep -Eq -- "$expression" "$WORK/out" || return
	done
}

# check NAME LIMIT INPUT REGEX... -- COMMAND...: from the shell. No program needs LIMIT seconds on a computer of its own; a
# busy one may take PATIENCE times as long.
PATIENCE=5
check() {
	local name=$1 limit=$(($2 * PATIENCE)) input=$3 regexes=()
	shift 3
	while [ "$1" != -- ]; do
		regexes+=("$1")
		shift
	done
	shift
	wanted "$name" || return 0
	from_shell() { printf "$input" | machine_run "$limit" stdbuf -oL "$@"; }
	on_machine "${regexes[-1]}" from_shell "$@"
	judge "$name" "${regexes[@]}"
}

# console NAME LIMIT "spawn ..." REGEX...: spawned by the console, output to the console
console() {
	local name=$1 limit=$(($2 * PATIENCE)) command=$3
	shift 3
	wanted "$name" || return 0
	from_console() {
		: >"$WORK/raw"
		{
			echo "$command"
			local i
			for ((i = 0; i < limit * 10; i++)); do
				grep -q '^\(pvm> \)*\[1\] finished' "$WORK/raw" && break
				sleep 0.1
			done
			echo quit
		} | machine_run $((limit + 5)) stdbuf -oL "$CONSOLE" >"$WORK/raw" 2>&1
		cat "$WORK/raw"
	}
	on_machine "${*: -1}" from_console
	judge "$name" "$@"
}

# await_name NAME: waits until a task has put a message under that name
await_name() {
	local i
	for ((i = 0; i < 300; i++)); do
		echo names | timeout 20 "$CONSOLE" 2>/dev/null | grep -qw -- "$1" && return
		sleep 0.1
	done
	echo "nobody has put $1"
}
export -f await_name
export CONSOLE

link_all() { # puts the programs into the spawn path
	rm -rf "$bin"
	mkdir -p "$bin"
	[ $# -eq 0 ] || ln -s "$@" "$bin/"
	[ "$KIND" != original ] || ln -sf /usr/bin/pvmgs "$bin/pvmgs"
}

# frsg adds each member's part of the sum into a variable that it never sets (valgrind names it, with the original's library,
# too). It lies on the program's stack and holds what the loader has left there before main: mostly, but not always, 0. The
# program's own start clears that place here, so that any other sum is ours to explain.
on_clean_stack() { # PROGRAM
	if [ ! -e "$WORK/clean_stack.so" ]; then
		gcc -shared -fPIC -o "$WORK/clean_stack.so" -x c - -ldl <<-'C' || exit 2
			#define _GNU_SOURCE
			#include <dlfcn.h>
			static void clear(void)
			{
			    volatile char below[1 << 16];
			    for (unsigned i = 0; i < sizeof below; i++) below[i] = 0;
			}
			void _gfortran_set_args(int count, char **words)
			{
			    ((void (*)(int, char **)) dlsym(RTLD_NEXT, "_gfortran_set_args"))(count, words);
			    clear();
			}
			void _gfortran_set_options(int count, int *options)
			{
			    ((void (*)(int, int *)) dlsym(RTLD_NEXT, "_gfortran_set_options"))(count, options);
			    clear();
			}
		C
	fi
	mv "$bin/$1" "$bin/$1.program"
	printf '#!/bin/sh\nLD_PRELOAD=%s exec %s "$@"\n' "$WORK/clean_stack.so" "$bin/$1.program" >"$bin/$1"
	chmod +x "$bin/$1"
}

# ------------------------------------------------------------------ the programs of pvm-examples

# examples SUFFIX LIST: all example programs; LIST says which there are
examples() {
	local way=$1
	console_groups=('Using 3 processors' 'The 1-Norm is 5050' 'product of column 1 is 9.33262e\+157')

	has hello.pvm && check "hello$way" 10 '' "i'm t4" "from $of_any.*: hello, world from" -- "$bin/hello.pvm"
	has master1 && check "master1$way" 10 '' 'I got 100.000000 from 1' "I got $((300 * hosts - 100)).000000 from 0" 'I got 300.000000 from 2' -- "$bin/master1"
	has fmaster1 && check "fmaster1$way" 10 '' 'SUCCESSFUL' 'I got +100.0+ from +1' "I got +$((300 * hosts - 100)).0+ from +0" 'I got +300.0+ from +2' -- "$bin/fmaster1"
	has spmd && console "spmd$way" 10 'spawn -4 -> spmd' 'through the +4 tid ring' '[0-9]+( -> +[0-9]+){4}' 'token ring done' '\[1\] finished'
	has fspmd && console "fspmd$way" 10 'spawn -4 -> fspmd' 'through the +4 +tid ring' '[0-9]+( -> +[0-9]+){4}' 'token ring done' '\[1\] finished'
	local test
	for test in dbwtest ibwtest pbwtest rbwtest; do
		has $test && console "$test$way" 15 "spawn -2 -> $test" 'I am the master' 'I am the slave' \
			'100000 doubles received correctly' 'Data size: 800000' '\[1\] finished'
	done
	has timing && check "timing$way" 20 '' 'RTT Avg uSec' 'Message size 1000000' 'done' -- "$bin/timing"
	has hitc && check "hitc$way" 15 '' "$hosts +hosts detected" 'I got result from' 'task of size: +-1' 'Program Finished' -- "$bin/hitc"
	has gexample && check "gexample$way" 15 '10\n3\n' 'Using 3 processors' 'The 1-Norm is 55' 'product of column 1 is 3.6288e\+06' -- "$bin/gexample"
	has gexample && console "gexample by console$way" 15 'spawn -3 -> gexample' "${console_groups[@]}" '\[1\] finished'
	has fgexample && check "fgexample$way" 15 '' "using +$((2 * hosts)) +processors" 'The 1-Norm is +5050' 'product of column 1 is +9.33262154439441' -- "$bin/fgexample"
	has frsg && on_clean_stack frsg
	has frsg && check "frsg$way" 15 '4\n5\n' 'Sum of Squares of first +20 +integers is +2870' 'Test O[Kk].*5.0+.*2.0+' -- "$bin/frsg"
	has frsg && console "frsg by console$way" 15 'spawn -> frsg' 'Sum of Squares of first +20 +integers is +2870' '\[1\] finished'
	has trsg && check "trsg$way" 15 '4\n5\n' 'Test OK: Sum of Squares of first 20 integers is 2870' 'Test Ok' -- "$bin/trsg"
	has gexamp && check "gexamp$way" 15 '' 'gexamp 0x.* 0$' ': sync' -- "$bin/gexamp" 4
	has joinleave && check "joinleave$way" 15 '' 'Joined 500 times' -- "$bin/joinleave" 500
	has thb && check "thb$way" 15 '' 'joined group0' 'joined group31' -- "$bin/thb" 3
	has tjf && check "tjf$way" 10 '' 'joined group31' -- "$bin/tjf"
	has tjl && check "tjl$way" 10 '' 'joined group31' -- "$bin/tjl"
	has tst && check "tst$way" 10 '' 'joined prognosis 0, negative 0' 'left prognosis 0, negative 0' -- "$bin/tst"
	has ge && check "ge$way" 10 '' 'group ge size 3 gid 0: sync' 'done' -- "$bin/ge" 3
	has inherita && check "inherita inherit1$way" 10 '' 'I just spawned inherit2' 'END - sent from inherit1' 'original context 0' -- "$bin/inherita" inherit1
	has inherita && check "inherita inherit3$way" 10 '' 'I just spawned inherit2' 'END - sent from inherit3' 'original context 0' -- "$bin/inherita" inherit3
	has inheritb && check "inheritb$way" 10 '' 'received from 2nd inherit2' 'received from 1st inherit2' -- "$bin/inheritb"
	has lmbi && check "lmbi gmbi rme$way" 20 '' 'just inserted entry .*lmbi2> at index 0' '4 mbox entries returned' 'owner_tid <t0>' -- \
		bash -c "cd $bin; ./lmbi 3 m e; ./lmbi 4 p e; ./gmbi; true"
	has task0 && check "task0 task1 task_end$way" 20 '' 'just inserted service name <svc> at index 0' 'you are service request number 1' \
		'handled 2 service requests' -- bash -c "cd $bin; stdbuf -oL ./task0 svc d & await_name svc; ./task1 svc 0 d; ./task_end svc 0; wait"
	has mhf_server && check "mhf_server mhf_tickle$way" 20 '' 'just inserted server <mhf_server>' 'Message Handler Trial Options' 'startup\.\.\.' -- \
		bash -c "cd $bin; stdbuf -oL ./mhf_server & await_name mhf_server; printf '0\n9\n8\n' | timeout 25 ./mhf_tickle; sleep 0.3; kill %1; true"
}

has() { [ -e "$bin/$1" ]; }

if ! missing /usr/bin/hello.pvm pvm-examples "the programs of pvm-examples"; then
	programs=()
	while read -r file; do
		programs+=("$file")
	done < <(dpkg -L pvm-examples | grep '^/usr/bin/')
	link_all "${programs[@]}"
	examples ""
	# With several hosts the original's daemons never answer this manager, which chooses the second host.
	srm='\[1:t4.*\] by the resource manager'
	[ $hosts = 1 ] || srm='Host selected: h2'
	has srm.pvm && check "srm.pvm" 15 '' 'Connecting to PVMD' "$srm" -- \
		bash -c "$bin/srm.pvm & sleep 0.7; { echo 'spawn -> /bin/echo by the resource manager'; sleep 1; echo quit; } | $CONSOLE; kill %1; true"
	# xep and mtile (its slave) need a display; gs.pvm waits for ever on the original, too.
fi

# ------------------------------------------------------------------ other packages' programs

if ! missing /usr/bin/tablix2 tablix2 "tablix2"; then
	link_all /usr/lib/pvm3/bin/LINUX64/tablix2_kernel
	cat >"$WORK/school.xml" <<-'XML'
		<?xml version="1.0" encoding="UTF-8"?>
		<ttm version="0.2.0">
		<info><title>A small school</title><address>Nowhere</address><author>Nobody</author></info>
		<modules>
		<module name="sametime.so" weight="60" mandatory="yes"/>
		<module name="timeplace.so" weight="60" mandatory="yes"/>
		</modules>
		<resources>
		<constant>
		<resourcetype type="teacher"><resource name="Ada"/><resource name="Carl"/></resourcetype>
		<resourcetype type="class"><resource name="1"/><resource name="2"/></resourcetype>
		</constant>
		<variable>
		<resourcetype type="time"><matrix width="5" height="4"/></resourcetype>
		<resourcetype type="room"><linear name="#" from="1" to="3"/></resourcetype>
		</variable>
		</resources>
		<events>
		<event name="algebra" repeats="3"><resource type="teacher" name="Ada"/><resource type="class" name="1"/></event>
		<event name="algebra" repeats="3"><resource type="teacher" name="Ada"/><resource type="class" name="2"/></event>
		<event name="music" repeats="2"><resource type="teacher" name="Carl"/><resource type="class" name="1"/></event>
		<event name="music" repeats="2"><resource type="teacher" name="Carl"/><resource type="class" name="2"/></event>
		</events>
		</ttm>
	XML
	check "tablix2 with 4 kernels" 25 '' 'A small school' '<event ' 'room' 'fitness' -- \
		bash -c "cd $WORK && tablix2 -n 4 -t 1 -o $WORK/school_ $WORK/school.xml; cat $WORK/school_result*.xml"
fi

if ! missing /usr/bin/slsh slsh "slang-pvm" && ! missing /usr/share/slsh/local-packages/pvm.sl slang-pvm "slang-pvm"; then
	link_all
	cat >"$bin/sldouble" <<-'SLANG'
		#!/usr/bin/slsh
		require ("pvm");
		define slsh_main ()
		{
		   variable parent = pvm_parent ();
		   () = pvm_recv (parent, 1);
		   variable a = pvm_unpack (Double_Type, 3);
		   pvm_psend (parent, 2, 2 * a);
		   pvm_exit ();
		}
	SLANG
	cat >"$WORK/slmaster" <<-'SLANG'
		require ("pvm");
		define slsh_main ()
		{
		   variable me = pvm_mytid ();
		   variable kids = pvm_spawn (__argv[1], PvmTaskDefault, "", 2);
		   variable k, sum = 0.0;
		   foreach k (kids)
		     pvm_psend (k, 1, [1.0, 2.0, 3.5]);
		   foreach k (kids)
		     {
		        () = pvm_recv (k, 2);
		        variable a = pvm_unpack (Double_Type, 3);
		        sum += a[0] + a[1] + a[2];
		     }
		   vmessage ("sum %g of %d hosts", sum, length (pvm_config ()));
		   pvm_exit ();
		}
	SLANG
	chmod +x "$bin/sldouble"
	check "slsh with slang-pvm" 15 '' 'sum 26 of 1 hosts' -- slsh "$WORK/slmaster" "$bin/sldouble"
fi

if ! missing /usr/bin/NPpvm netpipe-pvm "NPpvm"; then
	link_all
	check "NPpvm" 20 '' '[0-9] bytes +[0-9]+ times --> +[0-9.]+ Mbps' '64 bytes' -- \
		bash -c "cd $WORK; NPpvm -l 1 -u 64 -n 20 & sleep 0.5; NPpvm -h localhost -l 1 -u 64 -n 20; wait"
fi

# ------------------------------------------------------------------ the examples' sources

# What a static libpvm3.a needs besides.
needs="-lpthread -ldl -lm -lrt"
ways="shared static"
if [ "$KIND" = original ]; then
	needs="-ltirpc $needs"
	[ -e "$libs/libtirpc.so" ] || ways=shared # Debian's libpvm3.a needs libtirpc-dev
fi

# build TARGET LIBRARIES SOURCE FLAGS...: compiles in $WORK/src; LIBRARIES are "shared" or "static"
build() {
	local target=$1 way=$2 source=$3 link compiler libraries="-lgpvm3 -lpvm3"
	shift 3
	[[ $source == *.f ]] && libraries="-lfpvm3 -lgpvm3 -lpvm3"
	case $source in
	*.f) compiler="gfortran -std=legacy -w" ;;
	*) compiler="gcc -std=gnu89 -fcommon -w" ;;
	esac
	if [ "$way" = static ]; then
		link="-L$libs -Wl,-Bstatic $libraries -Wl,-Bdynamic $needs"
	else
		link="-L$libs $libraries -lm"
	fi
	if ! compiled "$bin/$target" $compiler -O1 "$@" -I"$includes" $source $link >"$WORK/out" 2>&1; then
		complain "$target compiled $way"
		rm -f "$bin/$target"
	fi
}

sources=/usr/share/doc/pvm-examples
if ! missing $sources/examples.tar.gz pvm-examples "the examples' sources" && ! missing /usr/bin/gfortran gfortran "the Fortran examples' sources"; then
	mkdir -p "$WORK/src"
	tar xzf $sources/examples.tar.gz -C "$WORK/src"
	tar xzf $sources/gexamples.tar.gz -C "$WORK/src"
	for way in $ways; do
		[ $way = shared ] || unset LD_LIBRARY_PATH
		[ $way = shared ] && [ "$KIND" = ours ] && export LD_LIBRARY_PATH=$libs
		link_all
		cd "$WORK/src/examples" || exit 2
		# target names are those of Debian's binaries; taskf.c is shared by the mailbox programs
		for pair in hello.pvm:hello.c hello_other:hello_other.c master1:master1.c slave1:slave1.c spmd:spmd.c timing:timing.c \
			timing_slave:timing_slave.c gexample:gexample.c inherit1:inherit1.c inherit2:inherit2.c inherit3:inherit3.c \
			inherita:inherita.c inheritb:inheritb.c gmbi:gmbi.c+taskf.c lmbi:lmbi.c+taskf.c rme:rme.c+taskf.c task0:task0.c+taskf.c task1:task1.c+taskf.c task_end:task_end.c+taskf.c \
			mhf_server:mhf_server.c mhf_tickle:mhf_tickle.c fmaster1:master1.f fslave1:slave1.f fspmd:spmd.f fgexample:gexample.f \
			hitc:hitc.f hitc_slave:hitc_slave.f; do
			source=${pair##*:}
			build "${pair%%:*}" $way "${source//+/ }"
		done
		for target in mbox ptest; do # need a person, or several hosts (starter.c calls exit() in a way that no gcc takes)
			build $target $way $target.c
			[ ! -e "$bin/$target" ] || { passed=$((passed + 1)) && echo "$target compiles, $way: ok"; }
		done
		build dbwtest $way bwtest.c -DPACKDEFAULT
		build ibwtest $way bwtest.c -DPACKINPLACE
		build pbwtest $way bwtest.c -DUSE_PSEND
		build rbwtest $way bwtest.c -DPACKRAW
		cd "$WORK/src/gexamples" || exit 2
		for source in *.c *.f; do
			target=${source%.*}
			build "$target" $way "$source"
		done
		cd "$HOME" || exit 2
		examples " from source, $way"
	done
fi

# ------------------------------------------------------------------ C++ and K&R callers

[ "$KIND" = ours ] && export LD_LIBRARY_PATH=$libs
link_all
if ! missing "$(command -v g++ || echo /usr/bin/g++)" g++ "the C++ program" && ! missing "$includes/pvm3.h" pvm-dev "the C++ program"; then
	cat >"$WORK/cxx.cc" <<-'CXX'
		#include <cstdio>
		#include <cstdlib>
		#include <string>
		#include <vector>
		#include "pvm3.h"
		int main(int argc, char **argv)
		{
			int me = pvm_mytid(), parent = pvm_parent();
			if (parent < 0) {
				int tid, n;
				std::vector<double> v;
				if (pvm_spawn(argv[0], 0, PvmTaskDefault, const_cast<char *>(""), 1, &tid) != 1) return 1;
				pvm_recv(tid, 5);
				pvm_upkint(&n, 1, 1);
				v.resize(n);
				pvm_upkdouble(&v[0], n, 1);
				double sum = 0;
				for (int i = 0; i < n; i++) sum += v[i];
				std::printf("sum %g\n", sum);
			} else {
				std::vector<double> v(100, 0.5);
				int n = v.size();
				pvm_packf("%+ %d %*lf", PvmDataRaw, n, n, &v[0]);
				pvm_send(parent, 5);
			}
			pvm_exit();
			return me > 0 ? 0 : 1;
		}
	CXX
	for way in $ways; do
		link="-lgpvm3 -lpvm3"
		[ $way = shared ] || link="-Wl,-Bstatic $link -Wl,-Bdynamic $needs"
		name="C++ $way"
		if g++ -fpermissive -w -I"$includes" -o "$bin/cxx" "$WORK/cxx.cc" -L"$libs" $link >"$WORK/out" 2>&1; then
			check "$name" 10 '' '^sum 50$' -- "$bin/cxx"
		else
			complain "$name compiled"
		fi
	done
	cat >"$WORK/knr.c" <<-'KNR'
		#include <stdio.h>
		#include "pvm3.h"
		int (*old)();
		main(argc, argv)
			char **argv;
		{
			char text[100];
			int tid;
			if (pvm_parent() == PvmNoParent) {
				pvm_catchout(stdout);
				pvm_spawn(argv[0], (char **)0, 0, "", 1, &tid);
				pvm_recv(-1, -1);
				pvm_upkstr(text);
				printf("got %s\n", text);
				fflush(stdout);
			} else {
				printf("a child\n");
				pvm_initsend(PvmDataDefault);
				pvm_pkstr("old C");
				pvm_send(pvm_parent(), 1);
			}
			pvm_exit();
			exit(0);
		}
	KNR
	if gcc -std=gnu89 -traditional-cpp -fcommon -w -I"$includes" -o "$bin/knr" "$WORK/knr.c" -L"$libs" -lgpvm3 -lpvm3 >"$WORK/out" 2>&1 ||
		gcc -std=gnu89 -fcommon -w -I"$includes" -o "$bin/knr" "$WORK/knr.c" -L"$libs" -lgpvm3 -lpvm3 >"$WORK/out" 2>&1; then
		check "K&R C" 10 '' 'got old C' '\[t[0-9a-f]+\] a child' -- "$bin/knr"
	else
		complain "K&R C compiled"
	fi
fi

machine_traced || failed=$((failed + 1)) faults=$((faults + 1))
echo "$passed passed, $failed failed"
tell_failed $faults
[ $failed -eq 0 ]
