/* runner WHAT [ARGUMENT]: a program under `pvm run`. */
#include "e2e.h"

int main(int argc, char **argv)
{
	char line[1000];
	int tid, i;
	if (strcmp(argv[1], "status") == 0)
		return atoi(argv[2]);
	if (strcmp(argv[1], "signal") == 0) {
		raise(atoi(argv[2]));
		return 0;
	}
	if (strcmp(argv[1], "input") == 0) { /* Without PVM: only what comes in. */
		while (fgets(line, sizeof line, stdin))
			printf("got %s", line);
		return 0;
	}
	if (strcmp(argv[1], "master") == 0) {
		CALL(pvm_mytid());
		printf("parent %d\n", pvm_parent());
		printf("here %s\n", getcwd(line, sizeof line));
		printf("variable %s\n", getenv("E2E_VARIABLE"));
		tid = spawn_one(argv[0], "slave", 0, 0);
		printf("slave %d\n", receive_int(tid, 1));
		pvm_exit();
		return 0;
	}
	if (strcmp(argv[1], "slave") == 0) {
		send_int(CALL(pvm_parent()), 1, 42);
		pvm_exit();
		return 0;
	}
	if (strcmp(argv[1], "say") == 0) {
		CALL(pvm_mytid());
		for (i = 0; i < atoi(argv[2]); i++)
			printf("line %d of many\n", i);
		return 0;
	}
	/* Waits for ever, with a child of its own. */
	CALL(pvm_mytid());
	if (strcmp(argv[1], "wait") == 0)
		spawn_one(argv[0], "wait-too", 0, 0);
	printf("waiting\n");
	fflush(stdout);
	while (1)
		pvm_recv(-1, 1);
}
