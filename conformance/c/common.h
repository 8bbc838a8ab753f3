/*
 * The common parts of the conformance programs. Each program is one executable: started without arguments it
 * is the examiner, which prints; started by spawn_self() it plays the role in argv[1] and is silent.
 * Output never shows task ids, process ids or times, so that it can be compared between machines.
 */
#ifndef CONFORMANCE_COMMON_H
#define CONFORMANCE_COMMON_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/types.h>
#include "pvm3.h"

#define UNUSED __attribute__((unused))

static char *my_path;
static int roles[64];
static int nroles;

/* The role name of a task id: T1, T2 ... in the order in which ids were first shown. */
static UNUSED char *who(int tid)
{
	static char text[8][16];
	static int turn;
	int i;

	turn = (turn + 1) % 8;
	if (tid <= 0) {
		sprintf(text[turn], "%d", tid);
		return text[turn];
	}
	for (i = 0; i < nroles && roles[i] != tid; i++)
		;
	if (i == nroles)
		roles[nroles++] = tid;
	sprintf(text[turn], "T%d", i + 1);
	return text[turn];
}

/* The name of a negative result; other results as numbers. */
static UNUSED char *code(int cc)
{
	static struct { int number; char *name; } names[] = {
		{ PvmBadParam, "PvmBadParam" }, { PvmMismatch, "PvmMismatch" }, { PvmOverflow, "PvmOverflow" },
		{ PvmNoData, "PvmNoData" }, { PvmNoHost, "PvmNoHost" }, { PvmNoFile, "PvmNoFile" },
		{ PvmDenied, "PvmDenied" }, { PvmNoMem, "PvmNoMem" }, { PvmBadMsg, "PvmBadMsg" },
		{ PvmSysErr, "PvmSysErr" }, { PvmNoBuf, "PvmNoBuf" }, { PvmNoSuchBuf, "PvmNoSuchBuf" },
		{ PvmNullGroup, "PvmNullGroup" }, { PvmDupGroup, "PvmDupGroup" }, { PvmNoGroup, "PvmNoGroup" },
		{ PvmNotInGroup, "PvmNotInGroup" }, { PvmNoInst, "PvmNoInst" }, { PvmHostFail, "PvmHostFail" },
		{ PvmNoParent, "PvmNoParent" }, { PvmNotImpl, "PvmNotImpl" }, { PvmDSysErr, "PvmDSysErr" },
		{ PvmBadVersion, "PvmBadVersion" }, { PvmOutOfRes, "PvmOutOfRes" }, { PvmDupHost, "PvmDupHost" },
		{ PvmCantStart, "PvmCantStart" }, { PvmAlready, "PvmAlready" }, { PvmNoTask, "PvmNoTask" },
		{ PvmNotFound, "PvmNotFound" }, { PvmExists, "PvmExists" }, { PvmHostrNMstr, "PvmHostrNMstr" },
		{ PvmParentNotSet, "PvmParentNotSet" }, { PvmIPLoopback, "PvmIPLoopback" }
	};
	static char text[8][24];
	static int turn;
	unsigned i;

	for (i = 0; i < sizeof names / sizeof names[0]; i++)
		if (names[i].number == cc)
			return names[i].name;
	turn = (turn + 1) % 8;
	sprintf(text[turn], "%d", cc);
	return text[turn];
}

/* A result that is a handle: only its sign is promised. */
static UNUSED char *handle(int cc)
{
	return cc > 0 ? "id" : code(cc);
}

/* SHOW(call) prints the call as written and its result; SHOWID does so for calls that return handles. */
#define SHOW(call) printf("%s = %s\n", #call, code(call))
#define SHOWID(call) printf("%s = %s\n", #call, handle(call))

/* To be called first. Returns the role of this task, "" for the examiner. */
static UNUSED char *begin(int argc, char **argv)
{
	my_path = argv[0];
	alarm(80);
	setvbuf(stdout, (char *)0, _IOLBF, 0);
	pvm_setopt(PvmAutoErr, 0);
	return argc > 1 ? argv[1] : "";
}

static UNUSED void die(char *text)
{
	printf("gave up: %s\n", text);
	pvm_exit();
	exit(1);
}

/* Starts n tasks of this program in a role. */
static UNUSED void spawn_self(char *role, int n, int *tids)
{
	char *args[2];

	args[0] = role;
	args[1] = (char *)0;
	if (pvm_spawn(my_path, args, PvmTaskDefault, "", n, tids) != n)
		die("cannot spawn");
}

/* Waits until the task is gone (it must not be one that never ends). */
static UNUSED void wait_gone(int tid)
{
	if (pvm_notify(PvmTaskExit, 999999, 1, &tid) >= 0)
		pvm_freebuf(pvm_recv(-1, 999999));
}

/* Waits until a task in a "rest" role is told to end. */
static UNUSED void rest_until_told(void)
{
	pvm_recv(pvm_parent(), 424242);
}

static UNUSED void tell_end(int tid)
{
	pvm_initsend(PvmDataDefault);
	pvm_send(tid, 424242);
}

static UNUSED void send_int(int tid, int tag, int value)
{
	pvm_initsend(PvmDataDefault);
	pvm_pkint(&value, 1, 1);
	pvm_send(tid, tag);
}

static UNUSED int recv_int(int tid, int tag)
{
	int value = -1;

	pvm_recv(tid, tag);
	pvm_upkint(&value, 1, 1);
	return value;
}

static UNUSED int length_of(int bufid)
{
	int bytes = -1;

	pvm_bufinfo(bufid, &bytes, (int *)0, (int *)0);
	return bytes;
}

/* Copies text to stdout with every tXXXXX (hexadecimal task id) replaced by its role. */
static UNUSED void print_normalised(char *text)
{
	while (*text) {
		char *end;
		long tid;

		if (*text == 't' && (tid = strtol(text + 1, &end, 16)) >= 0x40000 && end - text >= 6) {
			fputs(who((int)tid), stdout);
			text = end;
		} else
			putchar(*text++);
	}
}

#endif
