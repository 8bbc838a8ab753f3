/* routes HOSTS: two tasks on every host; each sends to each other under every route, under routes that differ, and with a
   route that changes in the middle. Messages of a pair stay in order; large and small, multicast, psend, group calls. */
#include "e2e.h"

#define ROUNDS 60
#define EACH_ITS_OWN 4
#define CHANGING 5

static int tids[64], count, me;
static int routes[] = {PvmDontRoute, PvmAllowDirect, PvmRouteDirect};

static void choose(int route, int i)
{
	if (route == EACH_ITS_OWN)
		route = routes[me % 3];
	if (route == CHANGING)
		route = routes[i / 7 % 3];
	CALL(pvm_setopt(PvmRoute, route));
}

static void to_each_other(int route)
{
	int i, k;
	for (i = 0; i < ROUNDS; i++) {
		choose(route, i);
		for (k = 0; k < count; k++)
			if (k != me)
				send_numbered(tids[k], 20, i * 13 % 100 + i);
	}
	for (k = 0; k < count; k++)
		for (i = 0; k != me && i < ROUNDS; i++)
			receive_numbered(tids[k], 20, i * 13 % 100 + i);
}

static void in_groups(int route)
{
	int k, value, from, tag, length;
	choose(route, 0);
	for (k = 0; k < count; k++)
		if (k != me)
			CALL(pvm_psend(tids[k], 21, &me, 1, PVM_INT));
	for (k = 0; k < count; k++)
		if (k != me) {
			CALL(pvm_precv(tids[k], 21, &value, 1, PVM_INT, &from, &tag, &length));
			CHECK(value == k && from == tids[k] && tag == 21);
		}
	fill(words, 20000, me);
	CALL(pvm_initsend(PvmDataDefault));
	CALL(pvm_pkint((int *)words, 20000, 1));
	CALL(pvm_mcast(tids, count, 22));
	for (k = 0; k < count; k++)
		if (k != me) {
			CALL(pvm_recv(tids[k], 22));
			CALL(pvm_upkint((int *)words, 20000, 1));
			CHECK(is_filled(words, 20000, k));
		}
	value = 1;
	CALL(pvm_barrier("routes", count));
	CALL(pvm_reduce(PvmSum, &value, 1, PVM_INT, 23, "routes", 0));
	CHECK(pvm_getinst("routes", pvm_mytid()) != 0 || value == count);
	CALL(pvm_barrier("routes", count));
}

static void worker(void)
{
	int parent = CALL(pvm_parent()), route;
	CALL(pvm_recv(parent, 1));
	CALL(pvm_upkint(&route, 1, 1));
	CALL(pvm_upkint(&count, 1, 1));
	CALL(pvm_upkint(tids, count, 1));
	for (me = 0; tids[me] != pvm_mytid();)
		me++;
	CALL(pvm_joingroup("routes"));
	CALL(pvm_barrier("routes", count));
	to_each_other(route);
	in_groups(route);
	CALL(pvm_lvgroup("routes"));
	send_int(parent, 2, me);
	pvm_exit();
	exit(0);
}

static void lead(char *what, int route)
{
	struct pvmhostinfo *host;
	char *args[] = {"worker", 0};
	double start = now();
	int hosts, h;
	CALL(pvm_config(&hosts, 0, &host));
	for (count = h = 0; h < hosts; h++, count += 2)
		CHECK(pvm_spawn("routes", args, PvmTaskHost, host[h].hi_name, 2, tids + count) == 2);
	CALL(pvm_notify(PvmTaskExit, 9, count, tids));
	CALL(pvm_initsend(PvmDataDefault));
	CALL(pvm_pkint(&route, 1, 1));
	CALL(pvm_pkint(&count, 1, 1));
	CALL(pvm_pkint(tids, count, 1));
	CALL(pvm_mcast(tids, count, 1));
	for (h = 0; h < count; h++)
		CHECK(receive_int(tids[h], 2) == h);
	for (h = 0; h < count; h++)
		receive_int(-1, 9);
	printf("%s: %d tasks, %.2f s\n", what, count, now() - start);
}

int main(int argc, char **argv)
{
	int hosts;
	if (argc > 1 && strcmp(argv[1], "worker") == 0)
		worker();
	CALL(pvm_mytid());
	CALL(pvm_config(&hosts, 0, 0));
	CHECK(hosts == atoi(argv[1]));
	lead("through the daemons", PvmDontRoute);
	lead("direct if asked", PvmAllowDirect);
	lead("direct", PvmRouteDirect);
	lead("each its own", EACH_ITS_OWN);
	lead("changing", CHANGING);
	pvm_exit();
	return 0;
}
