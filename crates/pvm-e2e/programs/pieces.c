/* pieces HOW COUNT: COUNT messages of 16 MB to another task, which waits for each in pvm_precv and
   first says that it is ready. HOW is memory (its host), daemons or direct (another host). */
#include "e2e.h"

#define BYTES (16 << 20)

static char data[BYTES];

/* Small messages to and fro, until both have a direct route and have used it: the first ones behind
   its notices still go by the daemons. */
#define ROUTE_ADDED 70
#define WARM 2
#define WARM_ANSWER 4
#define TRIPS 20

static void warm_up(int to)
{
	int i, here = 0, trips = 0;
	for (i = 0; trips < TRIPS; i++) {
		CHECK(i < 12000);
		send_int(to, WARM, 0);
		here |= CALL(pvm_nrecv(pvm_mytid(), ROUTE_ADDED)) > 0;
		trips += receive_int(to, WARM_ANSWER) && here;
		pause_ms(5);
	}
	send_int(to, WARM, 1);
}

static void be_warmed_up(int from)
{
	int here = 0;
	while (receive_int(from, WARM) == 0) {
		here |= CALL(pvm_nrecv(pvm_mytid(), ROUTE_ADDED)) > 0;
		send_int(from, WARM_ANSWER, here);
	}
}

/* The receiver gets into its call; within a host it looks there for a moment, and still is to. */
static void let_it_wait(int look, int i)
{
	double end = now() + i % 40 * 5e-6;
	if (!look)
		pause_ms(20);
	else
		while (now() < end)
			;
}

int main(int argc, char **argv)
{
	int parent, other, i, tid, tag, length, count = atoi(argv[2]);
	CALL(pvm_mytid());
	parent = pvm_parent();
	if (!strcmp(argv[1], "direct")) {
		CALL(pvm_notify(PvmRouteAdd, ROUTE_ADDED, -1, 0));
		pvm_setopt(PvmRoute, PvmRouteDirect);
	}
	if (parent < 0) {
		if (strcmp(argv[1], "memory")) {
			struct pvmhostinfo *hosts;
			int n, here = pvm_tidtohost(pvm_mytid());
			CALL(pvm_config(&n, 0, &hosts));
			for (i = 0; i < n && hosts[i].hi_tid == here; i++)
				;
			CHECK(i < n);
			CHECK(pvm_spawn("pieces", argv + 1, PvmTaskHost, hosts[i].hi_name, 1, &other) == 1);
		} else
			CHECK(pvm_spawn("pieces", argv + 1, PvmTaskHost, ".", 1, &other) == 1);
		if (!strcmp(argv[1], "direct"))
			warm_up(other);
		for (i = 0; i < count; i++) {
			receive_int(other, 1);
			let_it_wait(!strcmp(argv[1], "memory"), i);
			CALL(pvm_psend(other, 3, data, BYTES, PVM_BYTE));
		}
		receive_int(other, 1);
		printf("sent %d of %d bytes\n", count, BYTES);
	} else {
		if (!strcmp(argv[1], "direct"))
			be_warmed_up(parent);
		for (i = 0; i < count; i++) {
			send_int(parent, 1, i);
			CALL(pvm_precv(parent, 3, data, BYTES, PVM_BYTE, &tid, &tag, &length));
			CHECK(length == BYTES);
		}
		send_int(parent, 1, i);
	}
	pvm_exit();
	return 0;
}
