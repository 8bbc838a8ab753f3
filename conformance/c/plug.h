/*
 * The messages between daemons and the tasks that do a part of their work (pvmsdpro.h, which
 * Debian does not install). Programs that include this find the fields of each in facts.md.
 */
#ifndef CONFORMANCE_PLUG_H
#define CONFORMANCE_PLUG_H

#include <fcntl.h>
#include <sys/wait.h>
#include "common.h"

#define SM_FIRST ((int)0x80040001)
#define SM_SPAWN (SM_FIRST + 0)
#define SM_EXEC (SM_FIRST + 1)
#define SM_EXECACK (SM_FIRST + 2)
#define SM_TASK (SM_FIRST + 3)
#define SM_CONFIG (SM_FIRST + 4)
#define SM_ADDHOST (SM_FIRST + 5)
#define SM_DELHOST (SM_FIRST + 6)
#define SM_ADD (SM_FIRST + 7)
#define SM_ADDACK (SM_FIRST + 8)
#define SM_NOTIFY (SM_FIRST + 9)
#define SM_TASKX (SM_FIRST + 10)
#define SM_HOSTX (SM_FIRST + 11)
#define SM_SCHED (SM_FIRST + 13)
#define SM_STHOST (SM_FIRST + 14)
#define SM_STHOSTACK (SM_FIRST + 15)
#define SM_STTASK (SM_FIRST + 16)

/* "My daemon". */
#define DAEMON ((int)0x80000000)

static UNUSED char *tag_name(int tag)
{
	static char *names[] = { "SM_SPAWN", "SM_EXEC", "SM_EXECACK", "SM_TASK", "SM_CONFIG", "SM_ADDHOST", "SM_DELHOST",
		"SM_ADD", "SM_ADDACK", "SM_NOTIFY", "SM_TASKX", "SM_HOSTX", "SM_HANDOFF", "SM_SCHED", "SM_STHOST",
		"SM_STHOSTACK", "SM_STTASK" };

	return tag >= SM_FIRST && tag <= SM_STTASK ? names[tag - SM_FIRST] : "ordinary";
}

static UNUSED int get_int(void)
{
	int value = -4711;

	pvm_upkint(&value, 1, 1);
	return value;
}

/* The next string, in memory of its own. */
static UNUSED char *get_text(void)
{
	char text[4000];

	strcpy(text, "(none)");
	pvm_upkstr(text);
	return strcpy(malloc(strlen(text) + 1), text);
}

static UNUSED void put_int(int value)
{
	pvm_pkint(&value, 1, 1);
}

/* True once the current message holds nothing more. */
static UNUSED int at_end(void)
{
	int value;

	return pvm_upkint(&value, 1, 1) == PvmNoData;
}

/* The number that an answer must carry. */
static UNUSED int wait_id(int bufid)
{
	struct pvmminfo info;

	pvm_getminfo(bufid, &info);
	return info.wid;
}

static UNUSED int source(int bufid)
{
	int tid = -1;

	pvm_bufinfo(bufid, (int *)0, (int *)0, &tid);
	return tid;
}

static UNUSED void send_with(int wid, int tid, int tag)
{
	struct pvmminfo info;

	pvm_getminfo(pvm_getsbuf(), &info);
	info.wid = wid;
	pvm_setminfo(pvm_getsbuf(), &info);
	if (pvm_send(tid, tag) != 0)
		printf("send of %s failed\n", tag_name(tag));
}

/* Starts this program as a process of its own, with up to two words; it is no task until it enrols. */
static UNUSED int start_process(char *role, char *word, char **environment)
{
	char *args[4];
	int pid, fd;

	fflush(stdout);
	if ((pid = fork()) != 0)
		return pid;
	/* Whatever of ours stayed open would keep us alive for the daemon. */
	for (fd = 3; fd < 256; fd++)
		fcntl(fd, F_SETFD, FD_CLOEXEC);
	args[0] = my_path;
	args[1] = role;
	args[2] = word;
	args[3] = (char *)0;
	while (environment && *environment)
		putenv(*environment++);
	execv(my_path, args);
	_exit(99);
	return 0;
}

/* The exit status of a process that ends by itself. */
static UNUSED int status_of(int pid)
{
	int status = -1;

	waitpid(pid, &status, 0);
	return status;
}

/* The flags that pvm_tasks shows of a task; -1 if it is not there. */
static UNUSED int flags_of(int tid)
{
	struct pvmtaskinfo *tasks;
	int i, n = 0;

	if (pvm_tasks(0, &n, &tasks) < 0)
		return -2;
	for (i = 0; i < n; i++)
		if (tasks[i].ti_tid == tid)
			return tasks[i].ti_flag;
	return -1;
}

#endif
