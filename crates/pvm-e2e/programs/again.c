/* again: task ids of another host come again, and who has talked with the old tasks talks with the new ones: one by the
   daemons, one by a direct route. Each side numbers its messages, and nothing of the old pairs counts for the new ones. */
#include "e2e.h"

#define MESSAGES 20
/* What one call may start, and an id that its host gives out only once for each time round. */
#define AT_ONCE 16384
#define LOCAL 0x3ffff

static int waited(int from, int tag)
{
	struct timeval limit = {20, 0};
	int value, got = CALL(pvm_trecv(from, tag, &limit));
	if (got == 0)
		printf("nothing came from t%x\n", from);
	CHECK(got > 0);
	CALL(pvm_upkint(&value, 1, 1));
	return value;
}

static void worker(int direct)
{
	int parent = CALL(pvm_parent()), i;
	if (direct)
		CALL(pvm_setopt(PvmRoute, PvmRouteDirect));
	for (i = 0; i < MESSAGES; i++) {
		CHECK(waited(parent, 1) == i);
		send_int(parent, 2, i);
		pause_ms(1);
	}
	pvm_exit();
	exit(0);
}

static void talk(int tid)
{
	int i;
	for (i = 0; i < MESSAGES; i++) {
		send_int(tid, 1, i);
		CHECK(waited(tid, 2) == i);
	}
	CHECK(waited(-1, 9) == tid);
}

/* A worker of this id, or of the next one that its host gives out. */
static int begin(char *host, char *direct)
{
	char *args[3] = {"worker", direct, 0};
	int tid;
	CHECK(pvm_spawn("again", args, PvmTaskHost, host, 1, &tid) == 1);
	CALL(pvm_notify(PvmTaskExit, 9, 1, &tid));
	return tid;
}

int main(int argc, char **argv)
{
	static int tids[AT_ONCE];
	struct pvmhostinfo *host;
	int hosts, old[2], i, n, left;
	double start;
	if (argc > 2)
		worker(atoi(argv[2]));
	CALL(pvm_mytid());
	CALL(pvm_config(&hosts, 0, &host));
	CHECK(hosts == 2);
	CALL(pvm_setopt(PvmRoute, PvmRouteDirect));
	for (i = 0; i < 2; i++) {
		CALL(pvm_setopt(PvmRoute, i ? PvmRouteDirect : PvmDontRoute));
		talk(old[i] = begin(host[1].hi_name, i ? "1" : "0"));
	}
	CHECK(old[1] == old[0] + 1);
	start = now();
	for (left = LOCAL - 2; left > 0; left -= n) {
		n = left < AT_ONCE ? left : AT_ONCE;
		CHECK(pvm_spawn("/no/such/program", 0, PvmTaskHost, host[1].hi_name, n, tids) == 0);
	}
	printf("round in %.1f s\n", now() - start);
	for (i = 0; i < 2; i++) {
		CALL(pvm_setopt(PvmRoute, i ? PvmRouteDirect : PvmDontRoute));
		n = begin(host[1].hi_name, i ? "1" : "0");
		if (n != old[i])
			printf("t%x instead of t%x\n", n, old[i]);
		CHECK(n == old[i]);
		talk(n);
	}
	printf("all came\n");
	pvm_exit();
	return 0;
}
