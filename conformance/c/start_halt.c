/* pvm_halt and pvm_start_pvmd: what the caller and another task see, calls without a daemon, a new machine. */
#include "common.h"
#include <sys/wait.h>

/* Runs this program again in a role, not spawned but as from a shell. */
static int run_beside(char *role, int fd)
{
	int pid;
	char number[12];

	sprintf(number, "%d", fd);
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		execl("/proc/self/exe", my_path, role, number, (char *)0);
		_exit(9);
	}
	return pid;
}

static void say(char *what, int status)
{
	if (WIFSIGNALED(status))
		printf("%s ended by signal %d\n", what, WTERMSIG(status));
	else
		printf("%s ended with status %d\n", what, WEXITSTATUS(status));
}

int main(int argc, char **argv)
{
	char *role = begin(argc, argv);
	int waiter, halter, status, fds[2];
	char c;

	if (!strcmp(role, "wait")) {
		pvm_mytid();
		write(atoi(argv[2]), "x", 1);
		SHOW(pvm_recv(-1, -1));
		SHOW(pvm_exit());
		return 5;
	}
	if (!strcmp(role, "halt")) {
		pvm_mytid();
		SHOW(pvm_halt());
		return 6;
	}
	pipe(fds);
	waiter = run_beside("wait", fds[1]);
	read(fds[0], &c, 1);
	halter = run_beside("halt", fds[1]);
	waitpid(halter, &status, 0);
	say("the halting one", status);
	waitpid(waiter, &status, 0);
	say("the waiting one", status);
	sleep(1); /* What was halted has ended. */
	SHOW(pvm_mytid());
	SHOW(pvm_parent());
	SHOW(pvm_pstat(0x40001));
	SHOW(pvm_exit());
	SHOW(pvm_start_pvmd(0, (char **)0, 1));
	printf("enrolled %s\n", handle(pvm_mytid()));
	send_int(pvm_mytid(), 1, 7);
	printf("works %d\n", recv_int(-1, 1));
	SHOW(pvm_start_pvmd(0, (char **)0, 1));
	pvm_exit();
	return 0;
}
