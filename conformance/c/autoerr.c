/* PvmAutoErr 2: which results below zero end the program, and with which status. */
#include "common.h"
#include <fcntl.h>
#include <sys/wait.h>

static int n = 1;

static int refuse(int buffer, int tid, int tag)
{
	(void)buffer, (void)tid, (void)tag;
	return -77;
}

static void make(char *call)
{
	int kid = 0;
	char *args[1];

	args[0] = (char *)0;
	pvm_mytid();
	pvm_initsend(PvmDataDefault);
	pvm_setopt(PvmAutoErr, 2);
	if (!strcmp(call, "send")) pvm_send(-1, 1);
	if (!strcmp(call, "tasks")) pvm_tasks(-1, &n, (struct pvmtaskinfo **)0);
	if (!strcmp(call, "setopt")) pvm_setopt(PvmPollType, 0);
	if (!strcmp(call, "setsbuf")) pvm_setsbuf(4711);
	if (!strcmp(call, "upkint")) pvm_upkint(&n, 1, 1);
	if (!strcmp(call, "reduce")) pvm_reduce(PvmSum, &n, 1, PVM_INT, 1, "none", 0);
	if (!strcmp(call, "archcode")) pvm_archcode("none");
	if (!strcmp(call, "delmhf")) pvm_delmhf(4711);
	if (!strcmp(call, "joingroup")) pvm_joingroup("");
	if (!strcmp(call, "gettid")) pvm_gettid("none", 0);
	if (!strcmp(call, "lookup")) pvm_lookup("none", -1, &n);
	if (!strcmp(call, "delete")) pvm_delete("none", 0);
	if (!strcmp(call, "delinfo")) pvm_delinfo("none", 0, 0);
	if (!strcmp(call, "recvinfo")) pvm_recvinfo("none", 0, 0);
	if (!strcmp(call, "mstat")) pvm_mstat("none.invalid");
	if (!strcmp(call, "pstat")) pvm_pstat(0x40fff);
	if (!strcmp(call, "upkmesg")) pvm_upkmesg();
	if (!strcmp(call, "pkmesg")) pvm_pkmesg(4711);
	if (!strcmp(call, "parent")) pvm_parent();
	if (!strcmp(call, "matcher")) {
		/* The program's own matching gives up. */
		pvm_initsend(PvmDataRaw);
		pvm_send(pvm_mytid(), 1);
		usleep(100000);
		pvm_recvf(refuse);
		pvm_recv(-1, 1);
	}
	if (!strcmp(call, "spawn")) pvm_spawn("none", args, 0, "", 1, &kid);
	pvm_exit();
	exit(0);
}

static char *calls[] = {
	"send", "tasks", "setopt", "setsbuf", "upkint", "reduce", "archcode", "delmhf", "joingroup", "gettid", "lookup", "delete",
	"delinfo", "recvinfo", "mstat", "pstat", "upkmesg", "pkmesg", "parent", "spawn", "matcher"
};

int main(int argc, char **argv)
{
	unsigned k;
	int status;
	char command[600];

	if (begin(argc, argv)[0])
		make(argv[1]);
	for (k = 0; k < sizeof calls / sizeof calls[0]; k++) {
		sprintf(command, "%s %s 2>/dev/null", argv[0], calls[k]);
		status = system(command);
		printf("%s: exit %d\n", calls[k], WIFEXITED(status) ? WEXITSTATUS(status) : -1);
	}
	return 0;
}
