/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* cps ITERATIONS SIZE...: the program of the report's CPS 2.7.2, table A.1. */
#include <cps.h>
#include <stdio.h>
#include <stdlib.h>
#include "../measure.h"

static int buffer_no[] = {1, 2};
static int *buffer;
static int iterations;
static double *times;

static void post(int pgm, int size)
{
    int p1 = 2 - pgm; /* processes are 1 and 2: the other one */
    int p3 = size, p4 = buffer_no[1 - pgm], p5 = 0;

    acp_send(&p1, buffer, &p3, &p4, &p5);
}

static void take(int pgm)
{
    int p1 = 1, p2 = buffer_no[pgm];

    acp_wait_for_data(&p1, &p2);
}

static void ping(int pgm, int size)
{
    int iters;

    for (iters = 0; iters < iterations; iters++) {
        double t0 = measure_now_ns();

        post(pgm, size);
        take(pgm);
        times[iters] = measure_now_ns() - t0;
    }
}

static void pong(int pgm, int size)
{
    int iters;

    for (iters = iterations; iters-- > 0;) {
        take(pgm);
        post(pgm, size);
    }
}

static void measure(int pgm, int size)
{
    int p1 = ACP_ALL_PROCESSES, p2 = 3;

    acp_sync(&p1, &p2);
    if (pgm == 0)
        ping(pgm, size);
    else
        pong(pgm, size);
    measure_check(buffer, size);
    if (pgm == 0)
        measure_row("kernel", size, "ns", times, iterations);
}

int main(int argc, char **argv)
{
    int i, p1, p2, pgm, count, largest = 0;

    if (argc < 3) {
        fprintf(stderr, "cps: see the head of two-nodes/cps.c\n");
        return 2;
    }
    iterations = atoi(argv[1]);
    times = calloc((size_t)iterations, sizeof *times);
    for (i = 2; i < argc; i++)
        largest = atoi(argv[i]) > largest ? atoi(argv[i]) : largest;
    buffer = measure_filled(largest);
    acp_init();
    acp_my_process(&pgm, &count);
    pgm--;
    p1 = largest;
    p2 = buffer_no[pgm];
    acp_declare_block(buffer, &p1, &p2);
    if (pgm == 0)
        measure_clock();
    for (i = 2; i < argc; i++)
        measure(pgm, atoi(argv[i]));
    p1 = ACP_ALL_PROCESSES;
    p2 = 3;
    acp_sync(&p1, &p2);
    return pgm == 0 ? acp_stop_process() : acp_stop_job();
}
