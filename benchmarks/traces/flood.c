/* flood SECONDS RATE: makes so many calls a second, each of which is one record where it is recorded,
   in bursts of a millisecond, and tells how many they were. */
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

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 10, rate = argc > 2 ? atof(argv[2]) : 125000, begun;
	struct timespec pause = {0, 1000000};
	long made = 0;
	pvm_mytid();
	begun = now();
	while (now() - begun < seconds) {
		long due = (long)((now() - begun) * rate);
		for (; made < due; made++)
			pvm_initsend(PvmDataRaw);
		nanosleep(&pause, NULL);
	}
	printf("calls %ld\n", made);
	pvm_exit();
	return 0;
}
