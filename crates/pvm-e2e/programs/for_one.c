/* for_one COUNT [MS]: a task waits for a message of one sender, which waits for a third task, which first sends the waiting
   task COUNT messages that it does not wait for: more than lanes hold. With MS a timer interrupts the wait each so many
   milliseconds. */
#include "e2e.h"

enum { BYTES = 4000, GO = 1, LATER, DONE, AWAITED };

static char data[BYTES];

static void send_number(int to, int tag, int number)
{
	memset(data, number, BYTES);
	CALL(pvm_initsend(PvmDataRaw));
	CALL(pvm_pkint(&number, 1, 1));
	CALL(pvm_pkbyte(data, BYTES, 1));
	CALL(pvm_send(to, tag));
}

static void take_number(int from, int tag, int number)
{
	int found;
	CALL(pvm_recv(from, tag));
	CALL(pvm_upkint(&found, 1, 1));
	CALL(pvm_upkbyte(data, BYTES, 1));
	CHECK(found == number && data[BYTES - 1] == (char)number);
}

static void nothing(int signal)
{
	(void)signal;
}

static void interrupt_each(int ms)
{
	struct sigaction action = {.sa_handler = nothing};
	struct itimerval often = {{0, ms * 1000}, {0, ms * 1000}};
	CHECK(sigaction(SIGALRM, &action, 0) == 0);
	CHECK(setitimer(ITIMER_REAL, &often, 0) == 0);
}

int main(int argc, char **argv)
{
	int parent, awaited, third, count, i;
	CALL(pvm_mytid());
	parent = pvm_parent();
	if (parent > 0) {
		CALL(pvm_recv(parent, GO));
		CALL(pvm_upkint(&awaited, 1, 1));
		CALL(pvm_upkint(&third, 1, 1));
		CALL(pvm_upkint(&count, 1, 1));
		if (pvm_mytid() == awaited) {
			take_number(third, DONE, 0);
			send_number(parent, AWAITED, 0);
		} else {
			for (i = 0; i < count; i++)
				send_number(parent, LATER, i);
			send_number(awaited, DONE, 0);
		}
	} else {
		count = atoi(argv[1]);
		awaited = spawn_one("for_one", "child", 0, 0);
		third = spawn_one("for_one", "child", 0, 0);
		CALL(pvm_initsend(PvmDataDefault));
		CALL(pvm_pkint(&awaited, 1, 1));
		CALL(pvm_pkint(&third, 1, 1));
		CALL(pvm_pkint(&count, 1, 1));
		CALL(pvm_mcast((int[]){awaited, third}, 2, GO));
		if (argc > 2)
			interrupt_each(atoi(argv[2]));
		take_number(awaited, AWAITED, 0);
		for (i = 0; i < count; i++)
			take_number(third, LATER, i);
		puts("all");
	}
	CALL(pvm_exit());
	return 0;
}
