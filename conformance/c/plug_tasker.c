/*
 * A tasker: what it is told when tasks are to be started, who is taken for such a task, and what
 * its own words do. The examiner is the tasker.
 */
#include "plug.h"

static char *path, *environment[64];
static int task;

/* Prints an SM_STTASK; what is needed to obey it is kept. */
static void told(int expected)
{
	int i, n, flags;

	pvm_recv(-1, SM_STTASK);
	task = get_int();
	flags = get_int();
	path = get_text();
	printf("SM_STTASK: task %s, flags %d, path %s\n", task == expected ? "as spawned" : "another", flags,
	    strcmp(path, my_path) ? "another" : "ours");
	n = get_int();
	for (i = 0; i < n; i++) {
		char *word = get_text();
		printf("  argument %s\n", strcmp(word, my_path) ? word : "path");
	}
	n = get_int();
	for (i = 0; i < n && i < 63; i++) {
		environment[i] = get_text();
		if (!strncmp(environment[i], "PVMEPID=", 8))
			printf("  PVMEPID %s\n", atoi(environment[i] + 8) >= 10000000 ? "is no process" : "may be a process");
		else if (!strncmp(environment[i], "PVMTMASK=", 9))
			printf("  PVMTMASK\n");
		else
			printf("  %s\n", environment[i]);
	}
	environment[i] = (char *)0;
	printf("  number %d", get_int());
	printf(" of %d,", get_int());
	printf(" %d;", get_int());
	printf(" %s\n", at_end() ? "no more" : "more");
}

static void ended(int tid, int status)
{
	int times[4] = { 0, 0, 0, 0 };

	pvm_initsend(PvmDataDefault);
	put_int(tid);
	put_int(status);
	pvm_pkint(times, 4, 1);
	pvm_send(DAEMON, SM_TASKX);
}

static void spawn(int n, char *role, char *word, int flags, char *where, int *tids)
{
	char *args[3];

	args[0] = role;
	args[1] = word;
	args[2] = (char *)0;
	printf("spawn %d: %d\n", n, pvm_spawn(my_path, args, flags, where, n, tids));
}

static void kid(void)
{
	int *tids;

	pvm_initsend(PvmDataDefault);
	put_int(pvm_parent());
	put_int(pvm_siblings(&tids));
	pvm_send(pvm_parent() > 0 ? pvm_parent() : atoi(getenv("TASKER")), 7);
	if (pvm_parent() > 0)
		rest_until_told();
}

static void show_kid(char *what, int tid, int me)
{
	int parent, from, siblings, bufid = pvm_recv(-1, 7);

	from = source(bufid);
	parent = get_int();
	siblings = get_int();
	printf("%s: %s, parent %s, siblings %d, flags %x\n", what, from == tid ? "as spawned" : "a stranger",
	    parent == me ? "me" : code(parent), siblings, from == tid ? flags_of(from) : 0);
}

int main(int argc, char **argv)
{
	char *role = begin(argc, argv), tasker[40];
	int me, i, tids[4], pids[4], other;

	if (!strcmp(role, "kid")) {
		kid();
		pvm_exit();
		return 3;
	}
	if (!strcmp(role, "second"))
		return -pvm_reg_tasker();
	me = pvm_mytid();
	sprintf(tasker, "TASKER=%d", me);
	putenv(tasker);
	pvm_setopt(PvmResvTids, 1);
	SHOW(pvm_reg_tasker());
	printf("flags %x\n", flags_of(me));
	/* A second call takes it back. */
	SHOW(pvm_reg_tasker());
	printf("flags %x\n", flags_of(me));
	SHOW(pvm_reg_tasker());
	printf("flags %x\n", flags_of(me));
	other = start_process("second", (char *)0, (char **)0);
	printf("another tasker: %s\n", code(-(status_of(other) >> 8)));

	printf("-- two tasks, started\n");
	spawn(2, "kid", "a b", PvmTaskHost, ".", tids);
	for (i = 0; i < 2; i++) {
		told(tids[i]);
		printf("flags before it starts %x, pstat %s\n", flags_of(task), code(pvm_pstat(task)));
		pvm_notify(PvmTaskExit, 8, 1, &tids[i]);
		pids[i] = start_process("kid", "a b", environment);
		show_kid("it has enrolled", tids[i], me);
	}
	for (i = 0; i < 2; i++) {
		tell_end(tids[i]);
		other = status_of(pids[i]);
		ended(tids[i], other);
		pvm_recv(-1, 8);
		printf("it has ended: status %x, notice %s, pstat %s\n", other, get_int() == tids[i] ? "ok" : "of another",
		    code(pvm_pstat(tids[i])));
	}

	printf("-- one that is refused\n");
	spawn(1, "kid", (char *)0, PvmTaskHost, ".:/usr", tids);
	told(tids[0]);
	pvm_notify(PvmTaskExit, 8, 1, tids);
	SHOW(pvm_kill(tids[0]));
	ended(tids[0] + 5000, 0);
	printf("after the end of another, pstat %s\n", code(pvm_pstat(tids[0])));
	ended(tids[0], 256);
	pvm_recv(-1, 8);
	printf("notice %s, pstat %s\n", get_int() == tids[0] ? "ok" : "of another", code(pvm_pstat(tids[0])));

	printf("-- one that says hello with another number\n");
	putenv("WHAT=ever");
	pvm_export("WHAT");
	spawn(1, "kid", (char *)0, PvmTaskHost | PvmTaskDebug, ".", tids);
	pvm_unexport("WHAT");
	told(tids[0]);
	for (i = 0; environment[i]; i++)
		if (!strncmp(environment[i], "PVMEPID=", 8))
			environment[i] = "PVMEPID=1234567";
	pids[0] = start_process("kid", (char *)0, environment);
	show_kid("it has enrolled", tids[0], me);
	printf("status %x\n", status_of(pids[0]));
	printf("the other one: pstat %s\n", code(pvm_pstat(tids[0])));
	/* Only the id need be there. */
	pvm_initsend(PvmDataDefault);
	put_int(tids[0]);
	pvm_notify(PvmTaskExit, 8, 1, tids);
	pvm_send(DAEMON, SM_TASKX);
	pvm_recv(-1, 8);
	printf("notice %s\n", get_int() == tids[0] ? "ok" : "of another");

	printf("-- no such program\n");
	i = pvm_spawn("/no/such/program", (char **)0, PvmTaskHost, ".", 1, tids);
	printf("spawn 1: %d %s, told %s\n", i, code(tids[0]), pvm_nrecv(-1, SM_STTASK) > 0 ? "yes" : "no");

	printf("-- the tasker leaves\n");
	SHOW(pvm_exit());
	me = pvm_mytid();
	printf("flags %x\n", flags_of(me));
	spawn(1, "kid", (char *)0, PvmTaskHost, ".", tids);
	show_kid("it has enrolled", tids[0], me);
	tell_end(tids[0]);
	pvm_exit();
	return 0;
}
