/* Receiving by source and tag with wildcards: recv, nrecv, trecv, probe, between three tasks. */
#include "common.h"

/* Sends five messages with tags 1 2 3 1 2, then what it is told to. */
static void sender(void)
{
	static int tags[] = { 1, 2, 3, 1, 2 };
	int k, parent = pvm_parent();

	for (k = 0; k < 5; k++)
		send_int(parent, tags[k], 10 * tags[k] + k);
	send_int(parent, 50, 0);
	recv_int(parent, 60);
	send_int(parent, 61, 61);
	pvm_exit();
}

static void show(char *what, int bufid)
{
	int tag, src, value = -1;

	if (bufid <= 0) {
		printf("%s: %s\n", what, code(bufid));
		return;
	}
	pvm_bufinfo(bufid, (int *)0, &tag, &src);
	pvm_upkint(&value, 1, 1);
	printf("%s: tag %d from %s value %d\n", what, tag, who(src), value);
}

int main(int argc, char **argv)
{
	int kids[2], id, k, tag, src, bytes;
	struct timeval tv;

	if (*begin(argc, argv)) {
		sender();
		return 0;
	}
	who(pvm_mytid());
	spawn_self("sender", 2, kids);
	who(kids[0]);
	who(kids[1]);
	/* Once each one's tag 50 is here, everything of it is. */
	recv_int(kids[0], 50);
	recv_int(kids[1], 50);

	show("nrecv(second, 9)", pvm_nrecv(kids[1], 9));
	SHOW(pvm_probe(kids[0], 9));
	id = pvm_probe(kids[1], 2);
	printf("probe(second, 2): %s\n", handle(id));
	SHOW(pvm_bufinfo(id, &bytes, &tag, &src));
	printf("tag %d bytes %d from %s, current receive buffer %s\n", tag, bytes, who(src), code(pvm_getrbuf()));
	show("recv(second, 3)", pvm_recv(kids[1], 3));
	show("recv(second, -1)", pvm_recv(kids[1], -1));
	show("nrecv(second, 2)", pvm_nrecv(kids[1], 2));
	show("recv(first, 2)", pvm_recv(kids[0], 2));
	tv.tv_sec = 5;
	tv.tv_usec = 0;
	show("trecv(first, -1)", pvm_trecv(kids[0], -1, &tv));
	show("recv(-1, 3)", pvm_recv(-1, 3));
	show("trecv(first, -1, forever)", pvm_trecv(kids[0], -1, (struct timeval *)0));
	show("recv(first, 2)", pvm_recv(kids[0], 2));
	show("recv(-1, 1)", pvm_recv(-1, 1));
	show("recv(-1, -1)", pvm_recv(-1, -1));
	show("nrecv(-1, -1)", pvm_nrecv(-1, -1));
	tv.tv_sec = 0;
	tv.tv_usec = 50000;
	show("trecv(-1, -1, 50 ms)", pvm_trecv(-1, -1, &tv));
	SHOW(pvm_getrbuf());

	/* A receive that has to wait. */
	for (k = 0; k < 2; k++) {
		send_int(kids[k], 60, 0);
		show("waited", pvm_recv(kids[k], 61));
	}
	pvm_exit();
	return 0;
}
