/* cost: what recording costs a program. A call noted and not noted (the best of many rounds), and 8 bytes
   one way between two tasks, probes on and off in alternating rounds.

   cost calls                 ns a call: off, on
   cost messages ROUNDS       us one way: off, on, on less off; five calls a message */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "neopvm.h"
#include "pvm3.h"

#define CALLS 16000
#define ROOM 70000

static struct neopvm_record records[ROOM];

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

static void drain(int tid)
{
	uint64_t count = 1, dropped;
	while (neopvm_read_records(tid, records, ROOM, &count, &dropped) == 0 && count)
		;
}

static double calls(void)
{
	double start = now();
	int i;
	for (i = 0; i < CALLS; i++)
		pvm_initsend(PvmDataRaw);
	return (now() - start) / CALLS * 1e9;
}

static double packs(void)
{
	double start;
	int i, value = 1;
	start = now();
	for (i = 0; i < CALLS; i++) {
		if (i % 64 == 0)
			pvm_initsend(PvmDataRaw);
		pvm_pkint(&value, 1, 1);
	}
	return (now() - start) / CALLS * 1e9;
}

static void measure(const char *what, double (*run)(void))
{
	double best[2] = {1e9, 1e9}, took;
	int i, me = pvm_mytid();
	for (i = 0; i < 100; i++) {
		neopvm_set_probes(me, i & 1);
		took = run();
		if (took < best[i & 1])
			best[i & 1] = took;
		neopvm_set_probes(me, 0);
		drain(me);
	}
	printf("%-14s off %6.1f ns   on %6.1f ns   noted %6.1f ns\n", what, best[0], best[1], best[1] - best[0]);
}

/* One way in us: half of there and back, each with five calls. */
static double ping(int peer, int rounds)
{
	double start, data = 1;
	int i;
	start = now();
	for (i = 0; i < rounds; i++) {
		pvm_initsend(PvmDataRaw);
		pvm_pkdouble(&data, 1, 1);
		pvm_send(peer, 1);
		pvm_recv(peer, 1);
		pvm_upkdouble(&data, 1, 1);
	}
	return (now() - start) / rounds / 2 * 1e6;
}

static int compare(const void *a, const void *b)
{
	double d = *(const double *)a - *(const double *)b;
	return d < 0 ? -1 : d > 0;
}

static void echo(int parent)
{
	double data;
	for (;;) {
		pvm_recv(parent, -1);
		pvm_upkdouble(&data, 1, 1);
		if (data == 0)
			break;
		pvm_initsend(PvmDataRaw);
		pvm_pkdouble(&data, 1, 1);
		pvm_send(parent, 1);
	}
}

static void messages(int rounds)
{
	static double took[2][200];
	double zero = 0;
	int child, i, n = 40, me = pvm_mytid();
	if (pvm_spawn("cost", 0, 0, 0, 1, &child) != 1)
		exit(1);
	ping(child, rounds);
	for (i = 0; i < 2 * n; i++) {
		neopvm_set_probes(child, i & 1);
		neopvm_set_probes(me, i & 1);
		ping(child, 100);
		took[i & 1][i / 2] = ping(child, rounds);
		neopvm_set_probes(me, 0);
		neopvm_set_probes(child, 0);
		drain(me);
		drain(child);
	}
	qsort(took[0], n, sizeof(double), compare);
	qsort(took[1], n, sizeof(double), compare);
	printf("one way, best    off %.3f us   on %.3f us   more %.3f us\n", took[0][0], took[1][0], took[1][0] - took[0][0]);
	printf("one way, median  off %.3f us   on %.3f us   more %.3f us\n", took[0][n / 2], took[1][n / 2],
	       took[1][n / 2] - took[0][n / 2]);
	pvm_initsend(PvmDataRaw);
	pvm_pkdouble(&zero, 1, 1);
	pvm_send(child, 1);
}

int main(int argc, char **argv)
{
	int parent = pvm_parent();
	if (parent > 0 && argc < 2)
		echo(parent);
	else if (argc > 1 && !strcmp(argv[1], "messages"))
		messages(argc > 2 ? atoi(argv[2]) : 5000);
	else {
		measure("pvm_initsend", calls);
		measure("pvm_pkint", packs);
	}
	pvm_exit();
	return 0;
}
