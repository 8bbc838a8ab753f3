/* handlers jump|call: longjmp out of a blocking receive from a signal handler; calls from a handler that
   interrupts the program anywhere. */
#include "e2e.h"
#include "neopvm.h"
#include <setjmp.h>

static sigjmp_buf out;
static volatile sig_atomic_t blocked;
static volatile int sent, refused, calls, busy;
static int peer;

static void arm(int us, int again)
{
	struct itimerval timer = {{0, again}, {0, us}};
	CHECK(setitimer(ITIMER_REAL, &timer, 0) == 0);
}

/* Leaves a receive that waits. One that is about to wait, or that looks at the messages, is in the midst of its
   work, which the library says to who asks: then a little later. */
static void jump(int signal)
{
	int saved = errno, buffer;
	if (!blocked)
		return;
	buffer = pvm_mkbuf(PvmDataRaw);
	if (buffer == PvmAlready) {
		busy++;
		arm(50, 0);
		errno = saved;
		return;
	}
	CHECK(buffer > 0 && pvm_freebuf(buffer) == 0);
	blocked = 0;
	siglongjmp(out, 1);
}

/* A receive of either header. */
static void wait_in_vain(int by_handle)
{
	neopvm_buffer buffer;
	if (by_handle)
		neopvm_receive(peer, 77, NEOPVM_CURRENT_CONTEXT, NEOPVM_FOREVER, &buffer);
	else
		pvm_recv(peer, 77);
	CHECK(!"a message that nobody sent");
}

static void jumps(void)
{
	volatile int round;
	CALL(pvm_setopt(PvmAutoErr, 0));
	signal(SIGALRM, jump);
	for (round = 0; round < 300; round++) {
		if (sigsetjmp(out, 1) == 0) {
			/* Spinning, falling asleep, sleeping: wherever the wait is. */
			blocked = 1;
			arm(100 + round * 7919 % 6000, 0);
			wait_in_vain(round % 2);
		}
		send_numbered(peer, 1, round % 98);
		receive_numbered(peer, 1, round % 98);
	}
	printf("jumps %d, too early %d\n", round, busy);
}

/* Sends a number from the handler. */
static void call(int signal)
{
	int saved = errno, buffer, old, result, number = sent;
	calls++;
	buffer = pvm_mkbuf(PvmDataRaw);
	if (buffer == PvmAlready) {
		refused++;
		errno = saved;
		return;
	}
	CHECK(buffer > 0);
	old = pvm_setsbuf(buffer);
	CHECK(old >= 0);
	CHECK(pvm_pkint(&number, 1, 1) == 0);
	result = pvm_send(peer, 8);
	if (result == 0)
		sent++;
	else
		CHECK(result == PvmAlready);
	CHECK(pvm_setsbuf(old) == buffer);
	CHECK(pvm_freebuf(buffer) == 0);
	/* A receive that finds nothing frees the current buffer; the program's own is put aside. */
	old = pvm_setrbuf(0);
	CHECK(old >= 0);
	CHECK(pvm_nrecv(-1, 999) == 0);
	CHECK(pvm_setrbuf(old) == 0);
	errno = saved;
}

static void called(void)
{
	int i;
	CALL(pvm_setopt(PvmAutoErr, 0));
	signal(SIGALRM, call);
	arm(300, 300);
	for (i = 0; i < 4000; i++) {
		send_numbered(peer, 1, i % 98);
		receive_numbered(peer, 1, i % 98);
	}
	for (i = 0; i < 100000; i++) {
		CALL(pvm_initsend(PvmDataDefault));
		CALL(pvm_pkint(&i, 1, 1));
	}
	arm(0, 0);
	printf("calls %d refused %d sent %d\n", calls, refused, sent);
	CHECK(calls > 100 && sent > 0);
}

static void partner(void)
{
	int parent = CALL(pvm_parent()), tag, i, next = 0, count = 0;
	for (;;) {
		CALL(pvm_recv(parent, -1));
		CALL(pvm_bufinfo(pvm_getrbuf(), 0, &tag, 0));
		if (tag == 1) {
			unpack_numbered(count % 98);
			send_numbered(parent, 1, count % 98);
			count++;
			continue;
		}
		CALL(pvm_upkint(&i, 1, 1));
		if (tag == 8)
			CHECK(i == next++);
		if (tag == 9) {
			CHECK(i == next);
			send_int(parent, 9, next);
			return;
		}
	}
}

int main(int argc, char **argv)
{
	if (strcmp(argv[1], "partner") == 0) {
		partner();
		pvm_exit();
		return 0;
	}
	CALL(pvm_mytid());
	peer = spawn_one("handlers", "partner", 0, 0);
	if (strcmp(argv[1], "jump") == 0)
		jumps();
	else
		called();
	send_int(peer, 9, sent);
	CHECK(receive_int(peer, 9) == sent);
	pvm_exit();
	return 0;
}
