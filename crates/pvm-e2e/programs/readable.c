/* readable: the descriptor of pvm_getfds is readable while a message waits, also when that one came while this task waited in
   a call that looks for no message: a barrier, a question to the machine, a send that finds no credit. The task waits asleep, so that the
   message's ring is taken off the doorbell; another message comes behind the call, and rings again. */
#include "e2e.h"
#include <poll.h>

#define BIG 1000000
#define COUNT 60

static int descriptor;

static void expect(int tag)
{
	struct pollfd look = {descriptor, POLLIN, 0};
	if (poll(&look, 1, 100000) != 1)
		printf("silent before message %d\n", tag);
	CHECK(look.revents & POLLIN);
	CHECK(pvm_nrecv(-1, tag) > 0);
	/* Now it is not. */
	CHECK(pvm_nrecv(-1, -1) == 0);
}

static char big[BIG];

static void peer(void)
{
	int parent = CALL(pvm_parent()), i;
	CALL(pvm_joingroup("readable"));
	send_int(parent, 1, 0);
	/* The barrier. */
	receive_int(parent, 2);
	pause_ms(300);
	send_int(parent, 5, 0);
	pause_ms(300);
	CALL(pvm_barrier("readable", 2));
	receive_int(parent, 2);
	send_int(parent, 6, 0);
	/* The question. */
	receive_int(parent, 2);
	pause_ms(300);
	send_int(parent, 7, 0);
	pause_ms(300);
	CALL(pvm_initsend(PvmDataDefault));
	CALL(pvm_putinfo("readable", pvm_getsbuf(), PvmMboxDefault));
	receive_int(parent, 2);
	send_int(parent, 8, 0);
	/* The send: nothing is read before that message is there. */
	receive_int(parent, 2);
	pause_ms(300);
	send_int(parent, 9, 0);
	pause_ms(300);
	for (i = 0; i < COUNT; i++)
		CALL(pvm_recv(parent, 3));
	receive_int(parent, 2);
	send_int(parent, 10, 0);
	pvm_exit();
	exit(0);
}

int main(int argc, char **argv)
{
	char *args[] = {"peer", 0};
	int tid, *fds, i, buffer;
	if (argc > 1 && strcmp(argv[1], "peer") == 0)
		peer();
	setenv("PVM_SPILL", "block", 1);
	CALL(pvm_mytid());
	CALL(pvm_joingroup("readable"));
	CHECK(pvm_spawn("readable", args, PvmTaskDefault, "", 1, &tid) == 1);
	receive_int(tid, 1);
	CHECK(pvm_getfds(&fds) == 1);
	descriptor = fds[0];
	send_int(tid, 2, 0);
	CALL(pvm_barrier("readable", 2));
	expect(5);
	send_int(tid, 2, 0);
	expect(6);
	send_int(tid, 2, 0);
	buffer = CALL(pvm_recvinfo("readable", 0, PvmMboxWaitForInfo));
	CALL(pvm_freebuf(buffer));
	expect(7);
	send_int(tid, 2, 0);
	expect(8);
	send_int(tid, 2, 0);
	for (i = 0; i < COUNT; i++) {
		CALL(pvm_initsend(PvmDataRaw));
		CALL(pvm_pkbyte(big, BIG, 1));
		CALL(pvm_send(tid, 3));
	}
	expect(9);
	send_int(tid, 2, 0);
	expect(10);
	printf("readable each time\n");
	pvm_exit();
	return 0;
}
