/* meanwhile ROUNDS: while a task waits for a message of one sender, its signal handler receives one
   of another, and looks at the lanes of both. Prints how many waits slept over their message: such
   a wait ends after ten seconds, when a sleeper looks at all lanes. */
#include "e2e.h"

enum { READY = 1, AWAITED, ASKED, OTHER, GO };

static int other;
static volatile sig_atomic_t got_other, is_handled;

/* Refused where the signal has interrupted the library. */
static void receive_other(int signal)
{
	if (pvm_recv(other, OTHER) > 0)
		got_other = 1;
	is_handled = 1;
}

/* Child: interrupts the parent's wait, sends what the parent waits for, then has the other one send. */
static void interrupt(void)
{
	int parent = CALL(pvm_parent()), i, rounds, pid;
	CALL(pvm_recv(parent, GO));
	CALL(pvm_upkint(&rounds, 1, 1));
	CALL(pvm_upkint(&pid, 1, 1));
	CALL(pvm_upkint(&other, 1, 1));
	for (i = 0; i < rounds; i++) {
		CHECK(receive_int(parent, READY) == i);
		CHECK(kill(pid, SIGUSR1) == 0);
		send_int(parent, AWAITED, i);
		send_int(other, ASKED, i);
	}
}

/* Child: sends when the first one asks for it. */
static void answer(void)
{
	int parent = CALL(pvm_parent()), i, rounds;
	CALL(pvm_recv(parent, GO));
	CALL(pvm_upkint(&rounds, 1, 1));
	for (i = 0; i < rounds; i++) {
		CHECK(receive_int(-1, ASKED) == i);
		send_int(parent, OTHER, i);
	}
}

int main(int argc, char **argv)
{
	int rounds, pid = getpid(), i, first, handled = 0, overslept = 0;
	double begin;
	struct sigaction action = {0};
	CALL(pvm_mytid());
	if (strcmp(argv[1], "interrupt") == 0) {
		interrupt();
	} else if (strcmp(argv[1], "answer") == 0) {
		answer();
	} else {
		rounds = atoi(argv[1]);
		CALL(pvm_setopt(PvmAutoErr, 0));
		first = spawn_one("meanwhile", "interrupt", 0, 0);
		other = spawn_one("meanwhile", "answer", 0, 0);
		action.sa_handler = receive_other;
		CHECK(sigaction(SIGUSR1, &action, 0) == 0);
		CALL(pvm_initsend(PvmDataDefault));
		CALL(pvm_pkint(&rounds, 1, 1));
		CALL(pvm_pkint(&pid, 1, 1));
		CALL(pvm_pkint(&other, 1, 1));
		CALL(pvm_mcast((int[]){first, other}, 2, GO));
		for (i = 0; i < rounds; i++) {
			got_other = is_handled = 0;
			begin = now();
			send_int(first, READY, i);
			CHECK(receive_int(first, AWAITED) == i);
			overslept += now() - begin > 9;
			/* The signal was sent before that message, and may come behind it: from one processor to
			   another it goes as an interrupt. */
			while (!is_handled)
				pause_ms(0);
			handled += got_other;
			if (!got_other)
				CHECK(receive_int(other, OTHER) == i);
		}
		fprintf(stderr, "%d of %d in the handler\n", handled, rounds);
		printf("overslept %d\n", overslept);
	}
	CALL(pvm_exit());
	return 0;
}
