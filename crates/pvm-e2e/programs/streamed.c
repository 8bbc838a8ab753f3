/* streamed: a task sends for ever what nobody asks for. A look for something else ends nevertheless, of each kind. A second
   task sends something else now and then, and a receive of that ends, too, where a thread sleeps in a call meanwhile, and where
   the program has asked for its descriptor. */
#include "e2e.h"
#include <poll.h>
#include <pthread.h>

enum { UNWANTED = 2, WANTED = 3, NEVER = 4 };

static void stream(int parent, int tag, int pause)
{
	int number;
	for (number = 0; pvm_parent() > 0; number++) {
		CALL(pvm_initsend(PvmDataRaw));
		CALL(pvm_pkint(&number, 1, 1));
		CALL(pvm_send(parent, tag));
		if (pause)
			pause_ms(pause);
	}
}

static int start(const char *way)
{
	char *args[] = {(char *)way, 0};
	int child;
	CALL(pvm_spawn("streamed", args, PvmTaskDefault, "", 1, &child));
	return child;
}

static void *sleep_in_a_call(void *unused)
{
	pvm_recv(-1, NEVER);
	return unused;
}

static void receive_some(int from)
{
	int i;
	for (i = 0; i < 3; i++)
		CALL(pvm_recv(from, WANTED));
}

int main(int argc, char **argv)
{
	int parent = pvm_parent(), busy, other, *fds;
	struct timeval limit = {0, 1000};
	struct pollfd all;
	pthread_t thread;
	if (parent > 0) {
		CHECK(argc == 2);
		stream(parent, argv[1][0] == 'b' ? UNWANTED : WANTED, argv[1][0] == 'b' ? 0 : 5);
		return 0;
	}
	CALL(pvm_mytid());
	busy = start("busy");
	CALL(pvm_recv(busy, UNWANTED));
	CHECK(pvm_nrecv(-1, WANTED) == 0);
	CHECK(pvm_probe(-1, WANTED) == 0);
	CHECK(pvm_trecv(-1, WANTED, &limit) == 0);
	other = start("other");
	receive_some(other);
	CHECK(CALL(pvm_getfds(&fds)) == 1);
	receive_some(-1);
	/* What a look has left where it was is there for the next one, and the descriptor says so. */
	all.fd = fds[0];
	all.events = POLLIN;
	CHECK(poll(&all, 1, 100000) == 1);
	CHECK(pthread_create(&thread, 0, sleep_in_a_call, 0) == 0);
	receive_some(other);
	CALL(pvm_kill(busy));
	CALL(pvm_kill(other));
	pvm_exit();
	return 0;
}
