/* shown ROUNDS: one thread shows its messages to a matching function, which refuses them, and
   receives them afterwards, while another one frees the first one's receive buffer. */
#include "e2e.h"
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#define MESSAGES 8

static atomic_int current, is_busy, is_over;

static int refuse(int id, int tid, int tag)
{
	return 0;
}

/* Thread: frees whatever the other one has received. */
static void *free_received(void *argument)
{
	while (!atomic_load(&is_over)) {
		int id;
		atomic_store(&is_busy, 1);
		id = atomic_load(&current);
		if (id > 0)
			pvm_freebuf(id);
		atomic_store(&is_busy, 0);
	}
	return 0;
}

/* Receives in each way that gives up the old receive buffer. */
static int receive_one(int i, int tag)
{
	struct timeval second = {1, 0};
	switch (i % 3) {
	case 0:
		return CALL(pvm_recv(-1, tag));
	case 1:
		return CALL(pvm_nrecv(-1, tag));
	default:
		return CALL(pvm_trecv(-1, tag, &second));
	}
}

int main(int argc, char **argv)
{
	int me = CALL(pvm_mytid()), rounds = atoi(argv[1]), round, i;
	pthread_t thread;
	CALL(pvm_setopt(PvmAutoErr, 0));
	CHECK(pthread_create(&thread, 0, free_received, 0) == 0);
	for (round = 0; round < rounds; round++) {
		for (i = 0; i < MESSAGES; i++)
			send_int(me, 10 + i, i);
		pvm_recvf(refuse);
		CHECK(pvm_nrecv(-1, -1) == 0);
		pvm_recvf(0);
		for (i = 0; i < MESSAGES; i++) {
			int id = receive_one(i, 10 + i);
			CHECK(id > 0);
			atomic_store(&current, id);
		}
		/* The next messages that are shown may get these numbers. */
		atomic_store(&current, 0);
		while (atomic_load(&is_busy))
			sched_yield();
	}
	atomic_store(&is_over, 1);
	pthread_join(thread, 0);
	CHECK(pvm_probe(-1, -1) == 0);
	CALL(pvm_exit());
	return 0;
}
