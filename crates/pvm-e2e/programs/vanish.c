/* vanish: a task is killed while four others send to it; no send fails or takes long. */
#include "e2e.h"

#define SENDERS 4

static void sender(void)
{
	int parent = CALL(pvm_parent()), victim = receive_int(parent, 1), i = 0, failures = 0;
	double end = now() + 2.5, longest = 0, start, spent;
	while (now() < end) {
		start = now();
		send_numbered(victim, 3, i++ % 98);
		spent = now() - start;
		if (spent > longest)
			longest = spent;
		pause_ms(2);
	}
	send_int(parent, 4, (int)(longest * 1e6));
	CHECK(receive_int(parent, 5) == 0);
	pvm_exit();
}

int main(int argc, char **argv)
{
	int victim, senders[SENDERS], i, pid, longest = 0, least = 0, one;
	if (argc > 1 && strcmp(argv[1], "sender") == 0) {
		sender();
		return 0;
	}
	if (argc > 1) { /* The victim: reads the first ones, then leaves all in its queue. */
		send_int(CALL(pvm_parent()), 2, getpid());
		for (i = 0; i < 100; i++)
			CALL(pvm_recv(-1, 3));
		while (1)
			pause();
	}
	CALL(pvm_mytid());
	victim = spawn_one("vanish", "victim", 0, 0);
	pid = receive_int(victim, 2);
	for (i = 0; i < SENDERS; i++) {
		senders[i] = spawn_one("vanish", "sender", 0, 0);
		send_int(senders[i], 1, victim);
	}
	pause_ms(1000);
	CHECK(kill(pid, SIGKILL) == 0);
	for (i = 0; i < SENDERS; i++) {
		one = receive_int(senders[i], 4);
		if (one > longest)
			longest = one;
		if (i == 0 || one < least)
			least = one;
	}
	printf("longest send %d us\nat least %d us\nready\n", longest, least);
	fflush(stdout);
	getchar(); /* The test looks at the host's memory while the senders live. */
	for (i = 0; i < SENDERS; i++)
		send_int(senders[i], 5, 0);
	CALL(pvm_notify(PvmTaskExit, 6, SENDERS, senders));
	for (i = 0; i < SENDERS; i++)
		receive_int(-1, 6);
	pvm_exit();
	return 0;
}
