/* endings: a master of three workers which end in three ways: one leaves and exits with 3, one exits with 4 without
   a word, one is killed. The master leaves and exits with 0. */
#include "e2e.h"

static void worker(int way)
{
	send_int(CALL(pvm_parent()), 1, way);
	if (way == 0) {
		CALL(pvm_exit());
		pause_ms(30);
		_exit(3);
	}
	if (way == 1)
		_exit(4);
	kill(getpid(), SIGKILL);
}

int main(int argc, char **argv)
{
	char *ways[] = {"0", "1", "2"};
	int i, tids[3];
	CALL(pvm_mytid());
	if (argc > 1) {
		worker(atoi(argv[1]));
		return 1;
	}
	for (i = 0; i < 3; i++)
		tids[i] = spawn_one("endings", ways[i], 0, 0);
	CALL(pvm_notify(PvmTaskExit, 2, 3, tids));
	for (i = 0; i < 3; i++) {
		receive_int(tids[i], 1);
		receive_int(-1, 2);
	}
	CALL(pvm_exit());
	return 0;
}
