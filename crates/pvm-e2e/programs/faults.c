/* faults WHAT [..]: what tasks see while hosts, daemons and links fail. All ends with standard input.
   watch: tells of hosts that come and go and of the end of a task on each: "MOMENT host-delete NAME"
   pair HOST ROUTE SECONDS: a small message to and fro; "stall MOMENT SECONDS" beyond 10 ms, at the end "trips N" and
       the times in us
   stream HOST ROUTE SECONDS: numbered messages of all sizes, both ways at once; at the end "messages N"
   spray HOST: small messages to a task that never reads
   exits COUNT: so many tasks on all hosts end at once; "last MS" behind the last notice
   flood HOST ROUTE MIB: that much for a task that sleeps; "wrong N" when it has read it all
   ROUTE is daemon, direct or mixed, which changes all the time. Moments are seconds of the monotonic clock. */
#include "e2e.h"
#include <poll.h>

enum { GO = 1, EXIT = 2, DELETED = 3, ADDED = 4, DATA = 5, DONE = 6, HOSTS_MAX = 64, TRIPS_MAX = 2000000 };

static struct { int dtid, task; char name[64]; } known[HOSTS_MAX];
static int known_count;
static float trip_us[TRIPS_MAX];

/* True once standard input has ended. */
static int over(void)
{
	struct pollfd input = {0, POLLIN, 0};
	char byte;
	return poll(&input, 1, 0) > 0 && read(0, &byte, 1) <= 0;
}

static void set_route(const char *route, int round)
{
	int way = strcmp(route, "daemon") == 0 ? PvmDontRoute : PvmRouteDirect;
	if (strcmp(route, "mixed") == 0)
		way = round / 20 % 2 ? PvmDontRoute : PvmRouteDirect;
	CALL(pvm_setopt(PvmRoute, way));
}

static int start_on(const char *host, char *what, const char *b, const char *c)
{
	char *args[] = {what, (char *)b, (char *)c, 0};
	int tid = 0;
	return pvm_spawn("faults", args, PvmTaskHost, (char *)host, 1, &tid) == 1 ? tid : 0;
}

/* A task on each host that has none yet, with a notice of its end and of its host's. */
static void learn(void)
{
	struct pvmhostinfo *hosts;
	int count, i, j;
	CALL(pvm_config(&count, 0, &hosts));
	for (i = 0; i < count; i++) {
		for (j = 0; j < known_count && known[j].dtid != hosts[i].hi_tid; j++)
			;
		if (j < known_count)
			continue;
		CHECK(known_count < HOSTS_MAX);
		known[j].dtid = hosts[i].hi_tid;
		snprintf(known[j].name, sizeof known[j].name, "%s", hosts[i].hi_name);
		CALL(pvm_notify(PvmHostDelete, DELETED, 1, &known[j].dtid));
		known[j].task = start_on(hosts[i].hi_name, "sit", 0, 0);
		if (known[j].task)
			CALL(pvm_notify(PvmTaskExit, EXIT, 1, &known[j].task));
		known_count++;
	}
}

static void watch(void)
{
	struct timeval moment = {0, 2000};
	int tag, id, i;
	CALL(pvm_notify(PvmHostAdd, ADDED, -1, 0));
	learn();
	printf("ready\n");
	while (!over()) {
		if (CALL(pvm_trecv(-1, -1, &moment)) == 0)
			continue;
		CALL(pvm_bufinfo(pvm_getrbuf(), 0, &tag, 0));
		if (tag == ADDED) {
			learn();
			printf("%.6f host-add\n", now());
			continue;
		}
		CALL(pvm_upkint(&id, 1, 1));
		for (i = 0; i < known_count; i++)
			if (id == (tag == EXIT ? known[i].task : known[i].dtid))
				printf("%.6f %s %s\n", now(), tag == EXIT ? "task-exit" : "host-delete", known[i].name);
	}
	for (i = 0; i < known_count; i++)
		pvm_kill(known[i].task);
}

static int ascending(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;
	return (x > y) - (x < y);
}

/* The other end of `pair`: gives back what it gets until that is negative. */
static void echo(const char *route)
{
	int numbers[25];
	do {
		CALL(pvm_recv(pvm_parent(), DATA));
		CALL(pvm_upkint(numbers, 25, 1));
		set_route(route, numbers[0]);
		CALL(pvm_initsend(PvmDataDefault));
		CALL(pvm_pkint(numbers, 25, 1));
		CALL(pvm_send(pvm_parent(), DATA));
	} while (numbers[0] >= 0);
}

static void pair(const char *host, const char *route, double seconds)
{
	int numbers[25] = {0}, to = start_on(host, "echo", route, 0), trips = 0;
	double end = now() + seconds, start, spent;
	CHECK(to > 0);
	printf("ready\n");
	for (numbers[0] = 0; numbers[0] >= 0;) {
		int sent = numbers[0] + 1;
		/* The last one is negative and ends the partner. */
		numbers[0] = now() > end || over() ? -1 : sent;
		if (numbers[0] < 0)
			sent = -1;
		set_route(route, trips);
		start = now();
		CALL(pvm_initsend(PvmDataDefault));
		CALL(pvm_pkint(numbers, 25, 1));
		CALL(pvm_send(to, DATA));
		CALL(pvm_recv(to, DATA));
		spent = now() - start;
		CALL(pvm_upkint(numbers, 25, 1));
		CHECK(numbers[0] == sent);
		if (spent > 0.01)
			printf("stall %.6f %.6f\n", start, spent);
		/* Neither the route's making nor a full clock's worth. */
		if (trips < TRIPS_MAX)
			trip_us[trips++] = (float)(spent * 1e6);
		pause_ms(1);
	}
	qsort(trip_us, (size_t)trips, sizeof trip_us[0], ascending);
	printf("trips %d\n", trips);
	printf("p50 %.1f\np99 %.1f\nmax %.1f\n", trip_us[trips / 2], trip_us[(int)(trips * 0.99)], trip_us[trips - 1]);
}

static void stream(int other, const char *route, double seconds, int leads)
{
	double end = now() + seconds;
	int i, n = 0, go = 1;
	while (go) {
		if (leads) {
			go = now() < end && !over();
			send_int(other, GO, go);
		} else {
			go = receive_int(other, GO);
		}
		set_route(route, n / 5);
		for (i = 0; i < 5; i++)
			send_numbered(other, DATA, n + i);
		for (i = 0; i < 5; i++)
			receive_numbered(other, DATA, n + i);
		n += 5;
	}
	if (leads)
		printf("messages %d\n", 2 * n);
}

static void exits(int count)
{
	struct pvmhostinfo *hosts;
	int n, i, started = 0, *tids = calloc((size_t)count, sizeof *tids);
	char *args[] = {"brief", 0};
	double start;
	CALL(pvm_config(&n, 0, &hosts));
	for (i = 0; i < n; i++) {
		int part = i + 1 < n ? count / n : count - started;
		CHECK(pvm_spawn("faults", args, PvmTaskHost, hosts[i].hi_name, part, tids + started) == part);
		started += part;
	}
	CALL(pvm_notify(PvmTaskExit, EXIT, count, tids));
	for (i = 0; i < count; i++)
		CALL(pvm_recv(-1, DONE));
	CALL(pvm_initsend(PvmDataDefault));
	start = now();
	CALL(pvm_mcast(tids, count, GO));
	for (i = 0; i < count; i++)
		CALL(pvm_recv(-1, EXIT));
	printf("last %.3f\n", (now() - start) * 1e3);
}

static void flood(const char *host, const char *route, int mib)
{
	char amount[20];
	int i, to, *data = malloc(1 << 20);
	snprintf(amount, sizeof amount, "%d", mib);
	to = start_on(host, "sleeper", amount, 0);
	CHECK(to > 0);
	set_route(route, 0);
	for (i = 0; i < mib; i++) {
		fill((unsigned *)data, 1 << 18, (unsigned)i);
		CALL(pvm_initsend(PvmDataRaw));
		CALL(pvm_pkint(data, 1 << 18, 1));
		CALL(pvm_send(to, DATA));
	}
	printf("sent\n");
	printf("wrong %d\n", receive_int(to, DONE));
}

static void sleeper(int mib)
{
	int i, wrong = 0, *data = malloc(1 << 20);
	pause_ms(4000);
	for (i = 0; i < mib; i++) {
		CALL(pvm_recv(pvm_parent(), DATA));
		CALL(pvm_upkint(data, 1 << 18, 1));
		wrong += !is_filled((unsigned *)data, 1 << 18, (unsigned)i);
	}
	send_int(pvm_parent(), DONE, wrong);
}

int main(int argc, char **argv)
{
	const char *what = argv[1], *a = argc > 2 ? argv[2] : "", *b = argc > 3 ? argv[3] : "", *c = argc > 4 ? argv[4] : "";
	int to;
	CALL(pvm_mytid());
	if (strcmp(what, "sit") == 0)
		pvm_recv(-1, GO);
	else if (strcmp(what, "watch") == 0)
		watch();
	else if (strcmp(what, "echo") == 0)
		echo(a);
	else if (strcmp(what, "pair") == 0)
		pair(a, b, atof(c));
	else if (strcmp(what, "reader") == 0)
		stream(pvm_parent(), a, 1e9, 0);
	else if (strcmp(what, "stream") == 0) {
		CHECK((to = start_on(a, "reader", b, 0)) > 0);
		printf("ready\n");
		stream(to, b, atof(c), 1);
	} else if (strcmp(what, "spray") == 0) {
		CHECK((to = start_on(a, "sit", 0, 0)) > 0);
		printf("ready\n");
		for (; !over(); pause_ms(1))
			send_int(to, DATA, 0);
	} else if (strcmp(what, "exits") == 0)
		exits(atoi(a));
	else if (strcmp(what, "brief") == 0) {
		send_int(pvm_parent(), DONE, 0);
		pvm_recv(pvm_parent(), GO);
	} else if (strcmp(what, "flood") == 0)
		flood(a, b, atoi(c));
	else if (strcmp(what, "sleeper") == 0)
		sleeper(atoi(a));
	else
		CHECK(!"a known word");
	pvm_exit();
	return 0;
}
