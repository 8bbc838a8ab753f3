/* paced MESSAGES: two tasks that send 8 bytes to and fro, with a millisecond of computing before each
   message, and tell how long that took. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "pvm3.h"

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

/* As much work each time, however often this process is interrupted. */
static void compute(long steps)
{
	volatile double value = 1;
	while (steps-- > 0)
		value = value * 1.0000001 + 1e-9;
}

static long steps_of_a_millisecond(void)
{
	double begun, best = 1e9;
	int i;
	for (i = 0; i < 20; i++) {
		begun = now();
		compute(100000);
		if (now() - begun < best)
			best = now() - begun;
	}
	return (long)(100000 * 1e-3 / best);
}

int main(int argc, char **argv)
{
	int messages = argc > 1 ? atoi(argv[1]) : 2000, parent, other, i;
	long steps = argc > 2 ? atol(argv[2]) : steps_of_a_millisecond();
	char words[2][32], *arguments[] = {words[0], words[1], NULL};
	double value = 0, begun;
	pvm_mytid();
	parent = pvm_parent();
	snprintf(words[0], sizeof words[0], "%d", messages);
	snprintf(words[1], sizeof words[1], "%ld", steps);
	if (parent < 0 && pvm_spawn("paced", arguments, PvmTaskDefault, "", 1, &other) != 1)
		return 1;
	if (parent >= 0)
		other = parent;
	begun = now();
	for (i = 0; i < messages; i++) {
		if ((i % 2 == 0) == (parent < 0)) {
			compute(steps);
			pvm_initsend(PvmDataRaw);
			pvm_pkdouble(&value, 1, 1);
			pvm_send(other, 1);
		} else {
			pvm_recv(other, 1);
			pvm_upkdouble(&value, 1, 1);
		}
	}
	if (parent < 0)
		printf("seconds %.6f steps %ld\n", now() - begun, steps);
	pvm_exit();
	return 0;
}
