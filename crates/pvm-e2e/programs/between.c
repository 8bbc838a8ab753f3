/* between ROUNDS: while a task waits for any message, its signal handler receives another one at the worst moment: the task
   has said that it sleeps, and is about to. Prints how many waits slept over their message: such a wait ends after ten
   seconds, when a sleeper looks at all lanes. */
#define _GNU_SOURCE
#include "e2e.h"
#include <poll.h>
#include <sys/syscall.h>

enum { GO = 1, AWAITED, ASKED, OTHER };

static int child, rounds_handled;
static volatile sig_atomic_t is_due, is_handling;

static void receive_other(int signal)
{
	(void)signal;
	is_handling = 1;
	CALL(pvm_recv(child, OTHER));
	is_handling = 0;
	rounds_handled++;
	send_int(child, GO, 0);
}

/* In place of the C library's: the library sleeps by it. */
int ppoll(struct pollfd *list, nfds_t count, const struct timespec *limit, const sigset_t *mask)
{
	struct timespec left = limit ? *limit : (struct timespec){0, 0};
	if (is_handling) {
		is_handling = 0;
		send_int(child, ASKED, 0); /* The handler sleeps, too, and is woken. */
	} else if (is_due) {
		is_due = 0;
		raise(SIGUSR1);
	}
	return syscall(SYS_ppoll, list, count, limit ? &left : 0, mask, 8);
}

static void answer(void)
{
	int parent = CALL(pvm_parent()), i, rounds = receive_int(parent, GO);
	for (i = 0; i < rounds; i++) {
		receive_int(parent, ASKED);
		send_int(parent, OTHER, i);
		receive_int(parent, GO);
		send_int(parent, AWAITED, i);
	}
}

int main(int argc, char **argv)
{
	int rounds, i, overslept = 0;
	double begin;
	struct sigaction action = {.sa_handler = receive_other};
	(void)argc;
	CALL(pvm_mytid());
	if (strcmp(argv[1], "answer") == 0) {
		answer();
	} else {
		rounds = atoi(argv[1]);
		child = spawn_one("between", "answer", 0, 0);
		CHECK(sigaction(SIGUSR1, &action, 0) == 0);
		send_int(child, GO, rounds);
		for (i = 0; i < rounds; i++) {
			is_due = 1;
			begin = now();
			CHECK(receive_int(-1, AWAITED) == i);
			overslept += now() - begin > 9;
		}
		CHECK(rounds_handled == rounds);
		printf("overslept %d\n", overslept);
	}
	CALL(pvm_exit());
	return 0;
}
