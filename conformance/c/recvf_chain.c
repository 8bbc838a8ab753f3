/*
 * pvm_recvf: the function that it gives back can be called, pvm_precv asks the program's matching, each message is shown once
 * in a receive, and what was refused is gone after pvm_exit.
 */
#include "common.h"

static int (*other)(int, int, int);
static int calls, last_tid, last_tag;

static int chained(int id, int tid, int tag)
{
	calls++;
	last_tid = tid;
	last_tag = tag;
	return other(id, tid, tag);
}

static int everything(int id, int tid, int tag)
{
	calls++;
	last_tid = tid;
	last_tag = tag;
	return 1;
}

static int nothing(int id, int tid, int tag)
{
	calls++;
	return 0;
}

static int last_of_four(int id, int tid, int tag)
{
	return ++calls >= 4;
}

static int tag_of(int id)
{
	int tag = -1;

	if (id > 0)
		pvm_bufinfo(id, (int *)0, &tag, (int *)0);
	return tag;
}

static void show(char *what, int id)
{
	printf("%s: %s tag %d, calls %d\n", what, handle(id), tag_of(id), calls);
	calls = 0;
}

/* Sends to oneself that are in the queue when this returns. */
static void queue(int me, int first, int count)
{
	int k;

	for (k = 0; k < count; k++)
		send_int(me, first + k, first + k);
	while (!pvm_probe(me, first + count - 1))
		usleep(1000);
}

static void chaining(int me)
{
	int b, context;

	queue(me, 1, 3);
	other = pvm_recvf(chained);
	printf("the default can be called %d\n", other != 0);
	show("nothing fits", pvm_nrecv(-1, 7));
	show("by tag", pvm_nrecv(-1, 2));
	printf("asked for tag %d of %d\n", last_tag, last_tid);
	show("by sender", pvm_nrecv(me, -1));
	show("of another", pvm_nrecv(0x40fff, -1));
	show("probed", pvm_probe(-1, -1));
	context = pvm_setcontext(77);
	show("another context", pvm_nrecv(-1, -1));
	pvm_setcontext(context);
	b = pvm_recv(-1, -1);
	show("the rest", b);
	printf("the default says %d %d %d %d %d\n", other(b, -1, -1), other(b, me, 3), other(b, me, 4), other(b, 0x40fff, -1),
		other(b, -1, 3));
	printf("gives back mine %d\n", pvm_recvf((int (*)(int, int, int))0) == chained);
	printf("and the default again %d\n", pvm_recvf(other) == other);
	printf("and again %d\n", pvm_recvf((int (*)(int, int, int))0) == other);
	queue(me, 1, 1);
	show("without", pvm_nrecv(-1, 1));
}

static void precv(int me)
{
	int value = -1, tid, tag, length, kept;

	calls = 0;
	pvm_psend(me, 6, (char *)&me, 1, PVM_INT);
	pvm_psend(me, 7, (char *)&me, 1, PVM_INT);
	while (!pvm_probe(me, 7))
		usleep(1000);
	pvm_recvf(everything);
	kept = pvm_getrbuf();
	SHOW(pvm_precv(-1, 99, (char *)&value, 1, PVM_INT, &tid, &tag, &length));
	printf("asked for tag %d, value %d tag %d from self %d, length %d, calls %d\n", last_tag, value == me, tag, tid == me, length, calls);
	printf("receive buffer kept %d\n", pvm_getrbuf() == kept);
	pvm_recvf((int (*)(int, int, int))0);
	SHOW(pvm_precv(-1, -1, (char *)&value, 1, PVM_INT, &tid, &tag, &length));
	printf("tag %d\n", tag);
	calls = 0;
}

/* How often messages are shown to a receive that waits. */
static void waiting(int me)
{
	int kid;
	struct timeval tv;

	queue(me, 20, 5);
	pvm_recvf(nothing);
	calls = 0;
	tv.tv_sec = 0;
	tv.tv_usec = 1000;
	show("five are there", pvm_trecv(-1, -1, &tv));
	show("once more", pvm_nrecv(-1, -1));
	pvm_recvf((int (*)(int, int, int))0);
	spawn_self("sender", 1, &kid);
	pvm_recv(kid, 30);
	pvm_recvf(last_of_four);
	calls = -5;
	show("three more, one by one", pvm_recv(-1, -1));
	pvm_recvf((int (*)(int, int, int))0);
	wait_gone(kid);
	while (pvm_nrecv(-1, -1) > 0)
		;
}

static void sender(void)
{
	int k;

	for (k = 30; k < 35; k++) {
		send_int(pvm_parent(), k, k);
		usleep(k == 30 ? 300000 : 30000);
	}
}

static void next_life(int me)
{
	queue(me, 40, 3);
	pvm_recvf(nothing);
	show("refused", pvm_nrecv(-1, -1));
	pvm_recvf((int (*)(int, int, int))0);
	pvm_exit();
	pvm_mytid();
	usleep(100000);
	show("in the next life", pvm_nrecv(-1, -1));
}

int main(int argc, char **argv)
{
	char *role = begin(argc, argv);
	int me = pvm_mytid();

	if (!strcmp(role, "sender"))
		sender();
	else {
		chaining(me);
		precv(me);
		waiting(me);
		next_life(me);
	}
	pvm_exit();
	return 0;
}
