/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * echo ROUTE MODE WARM_UP REPETITIONS SECONDS SIZE...
 *
 * The echo test: task 0 sends SIZE bytes, task 1 sends them back; each round trip is timed. ROUTE is direct or daemons,
 * MODE raw, encoded, inplace or unpacked. WARM_UP round trips come first and are not told. SECONDS bounds what one size
 * takes (not below 20 round trips); 0 is no bound, and then there are exactly REPETITIONS.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "calls/calls.h"
#include "measure.h"

enum { REPETITIONS_MIN = 20 };

static int me;

static double round_trip(enum mode mode, int *out, int *in, int bytes)
{
    double begin = measure_now_ns();

    if (me == 0) {
        calls_send(mode, 1, out, bytes);
        calls_receive(mode, 1, in, bytes);
    } else {
        calls_receive(mode, 0, in, bytes);
        calls_send(mode, 0, in, bytes);
    }
    return measure_now_ns() - begin;
}

/* So many that the time is kept; task 0 decides. */
static int repetitions(double one_ns, int most, double seconds)
{
    int n = most;

    if (me == 0 && seconds > 0 && one_ns * most > 1e9 * seconds)
        n = (int)(1e9 * seconds / one_ns);
    if (seconds > 0 && n < REPETITIONS_MIN)
        n = REPETITIONS_MIN;
    if (me == 0)
        calls_send(RAW, 1, &n, sizeof n);
    else
        calls_receive(RAW, 0, &n, sizeof n);
    return n;
}

static void measure(enum mode mode, int warm_up, int most, double seconds, int bytes)
{
    int i, n, *out = measure_filled(bytes), *in = measure_filled(bytes);
    double *times = calloc((size_t)most + REPETITIONS_MIN, sizeof *times), one = 0;

    for (i = 0; i < warm_up; i++)
        one = round_trip(mode, out, in, bytes);
    n = repetitions(one, most, seconds);
    if (mode != UNPACKED)
        memset(in, 0, (size_t)bytes);
    for (i = 0; i < n; i++)
        times[i] = round_trip(mode, out, in, bytes);
    measure_check(in, bytes);
    if (me == 0)
        measure_row("echo", bytes, "ns", times, n);
    free(times);
    free(in);
    free(out);
}

int main(int argc, char **argv)
{
    enum route route;
    enum mode mode;
    int i;

    if (argc < 7) {
        fprintf(stderr, "echo: see the head of echo.c\n");
        return 2;
    }
    route = strcmp(argv[1], "daemons") ? DIRECT : DAEMONS;
    mode = !strcmp(argv[2], "inplace") ? IN_PLACE : !strcmp(argv[2], "encoded") ? ENCODED
           : !strcmp(argv[2], "unpacked") ? UNPACKED : RAW;
    me = calls_begin(&argc, &argv, 2, route);
    if (me == 0)
        measure_clock();
    for (i = 6; i < argc; i++)
        measure(mode, atoi(argv[3]), atoi(argv[4]), atof(argv[5]), atoi(argv[i]) / 4 * 4);
    calls_end();
    return 0;
}
