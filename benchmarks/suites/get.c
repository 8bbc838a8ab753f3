/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * get READERS WARM_UP REPETITIONS SECONDS SIZE...
 *
 * Task 1 holds SIZE bytes that the others, the READERS, want. "get": each takes them out of exposed memory while
 * their owner sleeps. "ask": each asks by an empty message, and the owner sends them, to one after the other. All read at the
 * same time; task 0 tells the times of groups of ten, so that one of them is a tenth. REPETITIONS is of groups; SECONDS bounds what one size
 * takes (not below 5 groups).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "calls/calls.h"
#include "measure.h"

enum { GROUP = 10, GROUPS_MIN = 5, OWNER = 1 };

static int me, readers;

static void get(int *data, int bytes)
{
    calls_get(OWNER, data, bytes);
}

static void ask(int *data, int bytes)
{
    calls_send(RAW, OWNER, data, 0);
    calls_receive(RAW, OWNER, data, bytes);
}

static void answer(int groups, const int *data, int bytes)
{
    int i, reader;

    for (i = 0; i < groups * GROUP; i++) {
        for (reader = 0; reader <= readers; reader++) {
            if (reader == OWNER)
                continue;
            calls_receive(RAW, reader, NULL, 0);
            calls_send(RAW, reader, data, bytes);
        }
    }
}

/* The first reader tells what it takes. */
static void read_groups(void (*one)(int *, int), int groups, int *data, int bytes, double *times)
{
    double begin;
    int i, k;

    for (i = 0; i < groups; i++) {
        begin = measure_now_ns();
        for (k = 0; k < GROUP; k++)
            one(data, bytes);
        times[i] = measure_now_ns() - begin;
    }
}

/* A round of groups by all; the last of the times of the first reader is what it returns there. */
static double round_of(void (*one)(int *, int), int groups, int *data, int bytes, double *times)
{
    calls_barrier();
    if (me != OWNER)
        read_groups(one, groups, data, bytes, times);
    else if (one == ask)
        answer(groups, data, bytes);
    calls_barrier();
    return me != OWNER ? times[groups - 1] : 0;
}

static void measure(const char *test, void (*one)(int *, int), int warm_up, int most, double seconds, int bytes)
{
    double *times = calloc((size_t)most + GROUPS_MIN + (size_t)warm_up + 1, sizeof *times), last;
    int *data = measure_filled(bytes), n = most;

    if (!times)
        exit(1);
    if (one == get)
        calls_expose(OWNER, data, bytes);
    if (me != OWNER)
        memset(data, 0, (size_t)bytes);
    last = round_of(one, warm_up / GROUP + 1, data, bytes, times);
    if (last * most > 1e9 * seconds)
        n = (int)(1e9 * seconds / last);
    if (n < GROUPS_MIN)
        n = GROUPS_MIN;
    calls_broadcast(0, &n, sizeof n);
    round_of(one, n, data, bytes, times);
    measure_check(data, bytes);
    if (me == 0)
        measure_row(test, bytes, "ns", times, n);
    if (one == get)
        calls_withdraw();
    free(data);
    free(times);
}

int main(int argc, char **argv)
{
    int i;

    if (argc < 6 || (readers = atoi(argv[1])) < 1) {
        fprintf(stderr, "get: see the head of get.c\n");
        return 2;
    }
    me = calls_begin(&argc, &argv, readers + 1, DIRECT);
    if (me == 0)
        measure_clock();
    for (i = 5; i < argc; i++) {
        measure("get", get, atoi(argv[2]), atoi(argv[3]), atof(argv[4]), atoi(argv[i]) / 4 * 4);
        measure("ask", ask, atoi(argv[2]), atoi(argv[3]), atof(argv[4]), atoi(argv[i]) / 4 * 4);
    }
    calls_end();
    return 0;
}
