/* cancelled_in CALL [MS]: a thread is cancelled while it waits in a call that is no receive: a barrier, a question to the machine, a
   receive by the program's own matching, a reduction, a send that finds no room (which is finished before). It was the thread that
   sleeps on behalf of all: another one takes its place, and answers come when they come. */
#include "e2e.h"
#include "neopvm.h"
#include <pthread.h>

enum { BIG = 4000000, ROUNDS = 50, DRAIN = -1, GO = 1, ANSWER, NEVER };

static int child;

static int no_message(int id, int tid, int tag)
{
	(void)id, (void)tid, (void)tag;
	return 0;
}

static void *in_barrier(void *nothing)
{
	CALL(pvm_barrier("cancelled", 2));
	return nothing;
}

static void *in_question(void *nothing)
{
	CALL(pvm_recvinfo("cancelled, never put", 0, PvmMboxWaitForInfo));
	return nothing;
}

static void *in_matching(void *nothing)
{
	pvm_recvf(no_message);
	CALL(pvm_recv(-1, NEVER));
	return nothing;
}

static void *in_reduction(void *nothing)
{
	int number = 1;
	CALL(pvm_reduce(PvmSum, &number, 1, PVM_INT, NEVER, "cancelled", pvm_getinst("cancelled", pvm_mytid())));
	return nothing;
}

static void *in_send(void *nothing)
{
	char *data = calloc(1, BIG);
	CHECK(neopvm_when_full(NEOPVM_BLOCK, 0) == 0);
	for (;;) {
		CALL(pvm_initsend(PvmDataRaw));
		CALL(pvm_pkbyte(data, BIG, 1));
		CALL(pvm_send(child, NEVER));
		pthread_testcancel();
	}
	return nothing;
}

static void answer(int parent)
{
	int is_draining = 0;
	CALL(pvm_joingroup("cancelled"));
	send_int(parent, ANSWER, 0);
	for (;;) {
		int number = 0, tag;
		do {
			int id = CALL(pvm_recv(parent, is_draining ? -1 : GO));
			CALL(pvm_bufinfo(id, 0, &tag, 0));
			if (tag == GO)
				CALL(pvm_upkint(&number, 1, 1));
			is_draining |= number == DRAIN;
		} while (tag != GO || number == DRAIN);
		/* The other end sleeps by now. */
		pause_ms(20);
		send_int(parent, ANSWER, number);
	}
}

int main(int argc, char **argv)
{
	struct {
		const char *name;
		void *(*call)(void *);
	} calls[] = {{"barrier", in_barrier}, {"question", in_question}, {"matching", in_matching},
	             {"reduction", in_reduction}, {"send", in_send}};
	int i, prompt = 0, parent = pvm_parent();
	pthread_t thread;
	void *result;
	double begun;
	if (parent > 0)
		answer(parent);
	CHECK(argc > 1);
	CALL(pvm_mytid());
	CALL(pvm_joingroup("cancelled"));
	child = spawn_one("cancelled_in", 0, 0, 0);
	receive_int(child, ANSWER);
	for (i = 0; strcmp(calls[i].name, argv[1]); i++)
		;
	CHECK(pthread_create(&thread, 0, calls[i].call, 0) == 0);
	pause_ms(argc > 2 ? atoi(argv[2]) : 500);
	CHECK(pthread_cancel(thread) == 0);
	send_int(child, GO, DRAIN);
	CHECK(pthread_join(thread, &result) == 0);
	CHECK(result == PTHREAD_CANCELED);
	pvm_recvf(0);
	for (i = 0; i < ROUNDS; i++) {
		begun = now();
		send_int(child, GO, i);
		CHECK(receive_int(child, ANSWER) == i);
		prompt += now() - begun < 0.08;
	}
	/* The child pauses for 20 ms. With the place of the sleeper taken no answer is prompt: each is found by a look each 100 ms. A
	   busy computer makes others late, too, but not all. */
	fprintf(stderr, "%s: %d of %d answers at once\n", argv[1], prompt, ROUNDS);
	CHECK(prompt > 0);
	puts("each when it came");
	CALL(pvm_kill(child));
	CALL(pvm_exit());
	return 0;
}
