/* pvm_kill and pvm_sendsig: what the task sees, how it ends, tasks that are not enrolled. */
#include "common.h"
#include <errno.h>

static volatile int seen;

static void note(int sig)
{
	seen = sig;
}

/* Waits for a signal; one that does not come is told by what is printed then. */
static void await_signal(void)
{
	int k;

	for (k = 0; k < 1000 && !seen; k++)
		usleep(10000);
}

static void child(char *role)
{
	int k;

	signal(SIGUSR1, note);
	signal(SIGUSR2, note);
	if (!strcmp(role, "stubborn"))
		signal(SIGTERM, note);
	pvm_mytid();
	send_int(pvm_parent(), 1, 0);
	for (;;) {
		for (k = 0; k < 1500 && !seen; k++)
			usleep(10000);
		k = seen;
		seen = 0;
		send_int(pvm_parent(), 2, k);
	}
}

int main(int argc, char **argv)
{
	char *role = begin(argc, argv);
	int kid, me;

	if (*role) {
		child(role);
		return 0;
	}
	me = pvm_mytid();
	spawn_self("plain", 1, &kid);
	recv_int(kid, 1);
	SHOW(pvm_sendsig(kid, SIGUSR1));
	printf("got signal 1: %d\n", recv_int(kid, 2) == SIGUSR1);
	SHOW(pvm_sendsig(kid, SIGUSR2));
	printf("got signal 2: %d\n", recv_int(kid, 2) == SIGUSR2);
	SHOW(pvm_sendsig(kid, 0));
	usleep(20000);
	printf("signal 0 does nothing: %s\n", code(pvm_pstat(kid)));
	SHOW(pvm_kill(kid));
	wait_gone(kid);
	printf("killed: %s\n", code(pvm_pstat(kid)));
	SHOW(pvm_kill(kid));
	SHOW(pvm_sendsig(kid, SIGUSR1));

	spawn_self("stubborn", 1, &kid);
	recv_int(kid, 1);
	SHOW(pvm_kill(kid));
	printf("a task may catch it: %d, lives: %s\n", recv_int(kid, 2) == SIGTERM, code(pvm_pstat(kid)));
	SHOW(pvm_sendsig(kid, SIGKILL));
	wait_gone(kid);
	printf("gone: %s\n", code(pvm_pstat(kid)));

	{
		static char *args[] = { "20", (char *)0 };

		SHOW(pvm_spawn("/bin/sleep", args, PvmTaskDefault, "", 1, &kid));
		printf("not enrolled, pstat: %s\n", code(pvm_pstat(kid)));
		SHOW(pvm_kill(kid));
		wait_gone(kid);
		printf("gone: %s\n", code(pvm_pstat(kid)));
	}
	signal(SIGUSR1, note);
	SHOW(pvm_sendsig(me, SIGUSR1));
	await_signal();
	printf("to myself: %d\n", seen == SIGUSR1);
	signal(SIGTERM, note);
	seen = 0;
	SHOW(pvm_kill(me));
	await_signal();
	printf("kill myself: %d\n", seen == SIGTERM);
	pvm_exit();
	return 0;
}
