/* outlive exit|return|kill: 1000 messages are read after their sender has called pvm_exit, has ended
   without it, or was killed. */
#include "e2e.h"

#define MESSAGES 1000

static void writer(const char *mode, const char *done)
{
	int i, parent = CALL(pvm_parent());
	for (i = 0; i < MESSAGES; i++)
		send_numbered(parent, 7, i);
	write_file(done, getpid());
	if (strcmp(mode, "exit") == 0)
		pvm_exit();
	if (strcmp(mode, "kill") == 0)
		while (1)
			pause();
	_exit(0);
}

int main(int argc, char **argv)
{
	int i, pid, tid;
	char *done;
	if (argc > 2) {
		writer(argv[1], argv[2]);
	}
	CALL(pvm_mytid());
	done = own_path(argv[1]);
	tid = spawn_one("outlive", argv[1], done, 0);
	pid = await_file(done);
	if (strcmp(argv[1], "kill") == 0)
		CHECK(kill(pid, SIGKILL) == 0);
	await_end(pid);
	/* The host deals with the death. */
	for (i = 0; i < 10000 && pvm_pstat(tid) != PvmNoTask; i++)
		pause_ms(10);
	CHECK(pvm_pstat(tid) == PvmNoTask);
	for (i = 0; i < MESSAGES; i++)
		receive_numbered(i % 2 ? tid : -1, i % 3 ? 7 : -1, i);
	CHECK(pvm_nrecv(-1, -1) == 0);
	pvm_exit();
	return 0;
}
