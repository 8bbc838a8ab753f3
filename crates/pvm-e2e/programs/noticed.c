/* noticed ROUNDS KEEP: a task on each host watches one task after the other that is killed on one host after the other.
   KEEP is "names" where each puts a message under a name and joins a group before, "nothing" where it does not. Who is
   told of its end looks for both at once: "wrong N" is how often anything of it was still there. Every watcher is told
   once; "p50", "p99" and "max" are microseconds from before the kill to after the notice. */
#include "e2e.h"

enum { READY = 1, WATCH = 2, WATCHED = 3, TOLD = 4, GONE = 5, OVER = 6, HOSTS_MAX = 16 };

#define GROUP "noticed"

static char *name_of(int tid)
{
	static char name[32];
	snprintf(name, sizeof name, "noticed-%x", tid);
	return name;
}

static void victim(const char *keep)
{
	int me = pvm_mytid(), parent = CALL(pvm_parent());
	if (strcmp(keep, "names") == 0) {
		CALL(pvm_initsend(PvmDataDefault));
		CALL(pvm_pkint(&me, 1, 1));
		CALL(pvm_putinfo(name_of(me), pvm_getsbuf(), PvmMboxDefault));
		CALL(pvm_joingroup(GROUP));
	}
	send_int(parent, READY, me);
	for (;;)
		pause();
}

/* What of a task is still there: 1 its message, 2 its place in the group. */
static int left_of(int tid)
{
	int message = pvm_recvinfo(name_of(tid), 0, PvmMboxDefault), place = pvm_getinst(GROUP, tid);
	CHECK(message >= 0 || message == PvmNotFound);
	CHECK(place >= 0 || place == PvmNotInGroup || place == PvmNoGroup);
	return (message >= 0) + 2 * (place >= 0);
}

static void watcher(void)
{
	int parent = CALL(pvm_parent()), tid, tag, left;
	double moment;
	CALL(pvm_setopt(PvmRoute, PvmDontRoute));
	send_int(parent, READY, 0);
	for (;;) {
		CALL(pvm_recv(-1, -1));
		CALL(pvm_bufinfo(pvm_getrbuf(), 0, &tag, 0));
		if (tag == OVER)
			break;
		CALL(pvm_upkint(&tid, 1, 1));
		if (tag == WATCH) {
			CALL(pvm_notify(PvmTaskExit, GONE, 1, &tid));
			send_int(parent, WATCHED, tid);
			continue;
		}
		moment = now();
		CHECK(tag == GONE);
		left = left_of(tid);
		CALL(pvm_initsend(PvmDataDefault));
		CALL(pvm_pkint(&tid, 1, 1));
		CALL(pvm_pkint(&left, 1, 1));
		CALL(pvm_pkdouble(&moment, 1, 1));
		CALL(pvm_send(parent, TOLD));
	}
	pvm_exit();
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	char *as_watcher[] = {"watcher", 0}, *as_victim[3] = {"victim", 0, 0};
	struct pvmhostinfo *hosts;
	int watchers[HOSTS_MAX], count, rounds, round, i, victim_tid, tid, left, wrong = 0, told = 0;
	double *times, before, moment;
	if (argc > 2 && strcmp(argv[1], "victim") == 0)
		victim(argv[2]);
	if (argc > 1 && strcmp(argv[1], "watcher") == 0) {
		watcher();
		return 0;
	}
	CHECK(argc == 3);
	rounds = atoi(argv[1]);
	as_victim[1] = argv[2];
	CALL(pvm_mytid());
	CALL(pvm_config(&count, 0, &hosts));
	CHECK(count <= HOSTS_MAX);
	times = calloc((size_t)rounds * count, sizeof *times);
	CHECK(times);
	for (i = 0; i < count; i++)
		CHECK(pvm_spawn("noticed", as_watcher, PvmTaskHost, hosts[i].hi_name, 1, &watchers[i]) == 1);
	for (i = 0; i < count; i++)
		receive_int(watchers[i], READY);
	for (round = 0; round < rounds; round++) {
		char *host = hosts[round % count].hi_name;
		CHECK(pvm_spawn("noticed", as_victim, PvmTaskHost, host, 1, &victim_tid) == 1);
		receive_int(victim_tid, READY);
		for (i = 0; i < count; i++)
			send_int(watchers[i], WATCH, victim_tid);
		for (i = 0; i < count; i++)
			receive_int(watchers[i], WATCHED);
		before = now();
		CALL(pvm_kill(victim_tid));
		for (i = 0; i < count; i++) {
			CALL(pvm_recv(watchers[i], TOLD));
			CALL(pvm_upkint(&tid, 1, 1));
			CALL(pvm_upkint(&left, 1, 1));
			CALL(pvm_upkdouble(&moment, 1, 1));
			CHECK(tid == victim_tid);
			wrong += left != 0;
			times[told++] = (moment - before) * 1e6;
		}
	}
	/* A second notice would have come long before. */
	pause_ms(300);
	CHECK(pvm_nrecv(-1, TOLD) == 0);
	for (i = 0; i < count; i++)
		send_int(watchers[i], OVER, 0);
	qsort(times, told, sizeof *times, compare);
	printf("notices %d\nwrong %d\np50 %.0f\np99 %.0f\nmax %.0f\n", told, wrong, times[told / 2],
		times[told * 99 / 100], times[told - 1]);
	pvm_exit();
	return 0;
}
