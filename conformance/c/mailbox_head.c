/* What pvm_bufinfo says of a message from a mailbox, and the receive buffer after a search for nothing. */
#include "common.h"

static void show(char *what, int id, int me)
{
	int bytes = -1, tag = -1, tid = -1;

	pvm_bufinfo(id, &bytes, &tag, &tid);
	printf("%s: %s %d bytes tag %d of %s\n", what, handle(id), bytes, tag, tid == me ? "self" : who(tid));
}

static int from_mailbox(int b)
{
	int got;

	pvm_putinfo("head", b, 0);
	got = pvm_recvinfo("head", 0, 0);
	pvm_delinfo("head", 0, 0);
	return got;
}

int main(int argc, char **argv)
{
	char *role = begin(argc, argv);
	int me = pvm_mytid(), kid, b, n = 5;

	if (*role) {
		send_int(pvm_parent(), 51, 7);
		pvm_recv(pvm_parent(), 52);
		send_int(pvm_parent(), 53, pvm_recvinfo("kept", 0, PvmMboxReadAndDelete));
		send_int(pvm_parent(), 53, pvm_upkint(&n, 1, 1));
		pvm_exit();
		return 0;
	}
	b = pvm_mkbuf(PvmDataDefault);
	pvm_setsbuf(b);
	pvm_pkint(&n, 1, 1);
	show("a new one", from_mailbox(b), me);
	pvm_send(me, 5);
	show("sent before", from_mailbox(b), me);
	show("received", b = pvm_recv(me, 5), me);
	pvm_setrbuf(0);
	show("received before", from_mailbox(b), me);
	spawn_self("sender", 1, &kid);
	show("of another", b = pvm_recv(kid, 51), me);
	pvm_setrbuf(0);
	show("of another before", from_mailbox(b), me);
	SHOW(pvm_upkint(&n, 1, 1));
	send_int(me, 6, 6);
	pvm_recv(me, 6);
	SHOW(pvm_recvinfo("nothing", 0, 0));
	printf("a receive buffer %d\n", pvm_getrbuf() > 0);
	SHOW(pvm_upkint(&n, 1, 1));
	SHOW(pvm_recvinfo("", 0, 0));
	SHOW(pvm_recvinfo("nothing", -1, 0));
	pvm_setsbuf(b = pvm_mkbuf(PvmDataDefault));
	pvm_pkint(&n, 1, 1);
	SHOW(pvm_putinfo("kept", b, PvmMboxDefault));
	send_int(kid, 52, 7);
	for (b = 0; b < 2; b++) {
		pvm_recv(kid, 53);
		pvm_upkint(&n, 1, 1);
		printf("another one %s it: %s\n", b ? "reads" : "takes", code(n));
	}
	pvm_exit();
	return 0;
}
