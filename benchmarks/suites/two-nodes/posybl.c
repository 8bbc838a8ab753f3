/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* posybl WORKER ITERATIONS SIZE...: the master of the report's POSYBL, table A.5. WORKER is posybl_worker.c's program. */
#include <posybl.h>
#include <stdio.h>
#include <stdlib.h>
#include "../measure.h"

/* A buffer comes in memory of its own, which POSYBL's programs give back. */
static int *ping(int iterations, int *buffer, int count, double *times)
{
    int iters, len, *old;

    for (iters = 0; iters < iterations; iters++) {
        double t0 = measure_now_ns();

        old = buffer;
        out(lstring("ping"), lnint(buffer, count));
        in(lstring("pong"), qlnint(&buffer, &len));
        times[iters] = measure_now_ns() - t0;
        free(old);
    }
    return buffer;
}

static void measure(char *worker, char *iterations, char *size)
{
    int *buffer = measure_filled(atoi(size)), count = atoi(size) / (int)sizeof *buffer, is_it_alive;
    double *times = calloc((size_t)atoi(iterations), sizeof *times);
    char place[4096];

    snprintf(place, sizeof place, "#2/%s", worker);
    if (eval_l(place, iterations, NULL) < 0) {
        fprintf(stderr, "posybl: %s does not start\n", worker);
        exit(1);
    }
    in(lstring("Worker alive?"), qlint(&is_it_alive));
    buffer = ping(atoi(iterations), buffer, count, times);
    measure_check(buffer, atoi(size));
    measure_row("kernel", atoi(size), "ns", times, atoi(iterations));
    free(times);
    free(buffer);
}

int main(int argc, char **argv)
{
    int i;

    if (argc < 4) {
        fprintf(stderr, "posybl: see the head of two-nodes/posybl.c\n");
        return 2;
    }
    measure_clock();
    for (i = 3; i < argc; i++)
        measure(argv[1], argv[2], argv[i]);
    return 0;
}
