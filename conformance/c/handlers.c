/* Message handlers: addmhf, delmhf, what a handler sees, when it runs, what it may do. */
#include "common.h"

static int calls, last_tag, last_value, seen_context, buffers_kept, me;

static int note(int id)
{
	int value = -1, tag = -1;

	calls++;
	pvm_bufinfo(id, (int *)0, &tag, (int *)0);
	pvm_upkint(&value, 1, 1); /* it is the current receive buffer */
	last_tag = tag;
	last_value = value;
	seen_context = pvm_getcontext();
	buffers_kept = pvm_getrbuf() == id;
	return 0;
}

static int reply(int id)
{
	int value = 0;

	calls++;
	pvm_upkint(&value, 1, 1);
	value++;
	pvm_packf("%+ %d", PvmDataDefault, value);
	pvm_send(me, 77);
	pvm_freebuf(pvm_setsbuf(0));
	return 0;
}

static int other(int id)
{
	calls += 100;
	return 0;
}

/*
 * The partner sends what it is told to, with a last message behind it. (Not self sends: a message that comes
 * in while one is going out escapes the original's handlers.)
 */
static int partner;

static void obey(void)
{
	int ctx, tag, value;

	for (;;) {
		pvm_recv(pvm_parent(), 1);
		pvm_upkint(&ctx, 1, 1);
		pvm_upkint(&tag, 1, 1);
		pvm_upkint(&value, 1, 1);
		if (tag == 0)
			break;
		pvm_setcontext(ctx);
		if (tag > 0)
			send_int(pvm_parent(), tag, value);
		pvm_setcontext(0);
		usleep(2000);
		send_int(pvm_parent(), 4443, 0);
	}
	pvm_exit();
}

static void order(int ctx, int tag, int value)
{
	pvm_initsend(PvmDataDefault);
	pvm_pkint(&ctx, 1, 1);
	pvm_pkint(&tag, 1, 1);
	pvm_pkint(&value, 1, 1);
	pvm_send(partner, 1);
}

/* Has a message sent and reads it; twice to the end, as a handler may run only in a later call. */
static void have(int ctx, int tag, int value)
{
	calls = 0;
	order(ctx, tag, value);
	recv_int(partner, 4443);
	order(0, -1, 0);
	recv_int(partner, 4443);
}

static void try(char *what, int ctx, int tag, int value)
{
	have(ctx, tag, value);
	printf("%s: calls %d tag %d value %d\n", what, calls, last_tag, last_value);
}

int main(int argc, char **argv)
{
	int a, b, c, ctx, sbuf, k;
	struct timeval tv;

	if (*begin(argc, argv)) {
		obey();
		return 0;
	}
	me = pvm_mytid();
	spawn_self("partner", 1, &partner);
	a = pvm_addmhf(-1, 5, -1, note);
	printf("addmhf %s\n", a >= 0 ? "id" : code(a));
	SHOW(pvm_addmhf(-1, 5, -1, note));
	SHOW(pvm_addmhf(-1, 5, -1, other));
	SHOW(pvm_addmhf(partner, 5, 0, note)); /* lies within the first */
	SHOW(pvm_addmhf(-1, -1, -1, note));

	order(0, 5, 1);
	sbuf = pvm_getsbuf();
	recv_int(partner, 4443);
	tv.tv_sec = 0;
	tv.tv_usec = 1000;
	pvm_trecv(-1, 6, &tv);
	printf("send buffer kept: %d, receive buffer %s\n", sbuf == pvm_getsbuf(), code(pvm_getrbuf()));
	printf("a handled message: calls %d tag %d value %d\n", calls, last_tag, last_value);
	printf("is current receive buffer: %d\n", buffers_kept);
	SHOW(pvm_nrecv(-1, 5));

	try("a message for no handler", 0, 6, 2);
	printf("is received: %d\n", recv_int(-1, 6));

	/* Handlers see messages of any context if asked to. */
	ctx = pvm_newcontext();
	try("other context", ctx, 5, 3);
	printf("context in the handler: own %d, message's %d\n", seen_context == 0, seen_context == ctx);
	printf("context afterwards: %d\n", pvm_getcontext());

	/* Narrower handlers beside a wider one. */
	b = pvm_addmhf(partner, 8, 0, note);
	c = pvm_addmhf(-1, 9, ctx, note);
	printf("two more: %d\n", b >= 0 && c >= 0 && b != c);
	try("by source, tag and context", 0, 8, 4);
	try("context does not match", 0, 9, 5);
	printf("is received: %d\n", recv_int(-1, 9));

	/* A receive waits on while handlers run; a handler may send. */
	SHOW(pvm_delmhf(b));
	b = pvm_addmhf(-1, 10, -1, reply);
	have(0, 10, 41);
	printf("reply %d after calls %d\n", recv_int(-1, 77), calls);
	calls = 0;
	order(0, 5, 6);
	tv.tv_sec = 0;
	tv.tv_usec = 300000;
	SHOW(pvm_trecv(-1, 6, &tv));
	/* On a busy computer the partner needs longer. */
	for (k = 0; k < 40 && !calls; k++)
		pvm_trecv(-1, 6, &tv);
	printf("trecv beside a handler: calls %d\n", calls);
	calls = 0;
	order(0, 5, 7);
	for (k = 0; k < 12000 && !calls; k++) {
		pvm_probe(-1, 6);
		usleep(1000);
	}
	printf("probe runs handlers: calls %d\n", calls);
	recv_int(partner, 4443);
	recv_int(partner, 4443);

	/* Handlers run for messages that come in, not for those in the queue when they were added. */
	have(0, 11, 8);
	pvm_addmhf(-1, 11, -1, note);
	try("added too late", 0, -1, 0);
	SHOWID(pvm_nrecv(-1, 11));

	/* What has come and nobody has looked at is the handler's. */
	calls = 0;
	order(0, 12, 9);
	usleep(300000);
	b = pvm_addmhf(-1, 12, -1, note);
	for (k = 0; k < 12000 && !calls; k++) {
		pvm_nrecv(-1, 6);
		usleep(1000);
	}
	printf("added before anybody looked: calls %d\n", calls);
	recv_int(partner, 4443);

	SHOW(pvm_delmhf(a));
	SHOW(pvm_delmhf(a));
	SHOW(pvm_delmhf(12345));
	SHOW(pvm_delmhf(-1));
	try("deleted", 0, 5, 10);
	printf("is received: %d\n", recv_int(-1, 5));
	a = pvm_addmhf(-1, 5, -1, other);
	printf("again %s\n", a >= 0 ? "id" : code(a));
	try("the other one", 0, 5, 11);
	order(0, 0, 0);
	pvm_exit();
	return 0;
}
