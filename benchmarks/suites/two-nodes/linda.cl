/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* linda ITERATIONS SIZE...: the program of the report's C-Linda, tables A.2 and A.3. */
#include <stdio.h>
#include <stdlib.h>
#include "../measure.h"

static int worker(int size, int iterations)
{
    int *buffer = measure_filled(size), iters;

    out(" Worker alive?", 1);
    for (iters = iterations; iters-- > 0;) {
        in("ping", ?buffer:);
        out("pong", buffer:size / (int)sizeof *buffer);
    }
    measure_check(buffer, size);
    free(buffer);
    return 0;
}

static void ping(int iterations, int *buffer, int size, double *times)
{
    int iters;

    for (iters = 0; iters < iterations; iters++) {
        double t0 = measure_now_ns();

        out("ping", buffer:size / (int)sizeof *buffer);
        in("pong", ?buffer:);
        times[iters] = measure_now_ns() - t0;
    }
}

static void measure(int iterations, int size)
{
    int *buffer = measure_filled(size), flag;
    double *times = calloc((size_t)iterations, sizeof *times);

    eval(" Timing worker", worker(size, iterations));
    in(" Worker alive?", ?flag);
    ping(iterations, buffer, size, times);
    in(" Timing worker", ?flag);
    measure_check(buffer, size);
    measure_row("kernel", size, "ns", times, iterations);
    free(times);
    free(buffer);
}

int real_main(int argc, char **argv)
{
    int i;

    if (argc < 3) {
        fprintf(stderr, "linda: see the head of two-nodes/linda.cl\n");
        return 2;
    }
    measure_clock();
    for (i = 2; i < argc; i++)
        measure(atoi(argv[1]), atoi(argv[i]));
    return 0;
}
