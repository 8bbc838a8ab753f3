/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * compare: the measured loops, the same for every system (calls.h).
 *
 *     compare pingpong BYTES packed|inplace SECONDS     one way, us: two tasks
 *     compare rate SECONDS                              8-byte messages a second, window 64: two tasks
 *     compare queued COUNT SECONDS                      8-byte ping-pong beside so many messages that nobody receives,
 *                                                       as a multiple of the time without them
 *     compare crowd SECONDS                             eight tasks, 8-byte ping-pong in pairs: one way, us
 *     compare barrier|broadcast BYTES|sum BYTES SECONDS four tasks, us for each operation
 *     compare spawn TASKS                               us for each trivial task, started and ended
 *
 * Task 0 prints one line, tab-separated: median, minimum, maximum over the batches, and their number. Data are
 * written before and compared after the loop; a difference ends the program with status 1.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "calls.h"

enum { BATCHES_MAX = 20000, WINDOW = 64 };

static double samples[BATCHES_MAX];
static int samples_count;
static int me;

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void report(void)
{
    qsort(samples, (size_t)samples_count, sizeof samples[0], ascending);
    printf("%.4f\t%.4f\t%.4f\t%d\n", samples[samples_count / 2], samples[0], samples[samples_count - 1],
           samples_count);
}

static void *filled(int bytes)
{
    int i, *data = malloc((size_t)bytes + 8);

    for (i = 0; i < bytes / 4; i++)
        data[i] = i & 0xffffff;
    data[bytes / 4] = 0;
    return data;
}

static int damaged(const int *data, int bytes)
{
    int i, wrong = 0;

    for (i = 0; i < bytes / 4; i++)
        wrong += data[i] != (i & 0xffffff);
    return wrong != 0;
}

static int batch_for(int bytes)
{
    return bytes <= 4000 ? 1000 : bytes <= 40000 ? 200 : bytes <= 400000 ? 40 : 8;
}

/*
 * The first of a pair measures and says after each batch whether there is another one: an int that travels as a
 * message of its own, outside of the measured time.
 */
static int another(int partner, int more)
{
    if (me < partner)
        calls_send(PACKED, partner, &more, sizeof more);
    else
        calls_receive(PACKED, partner, &more, sizeof more);
    return more;
}

static int pingpong(int partner, int bytes, enum mode mode, double seconds, int batch)
{
    void *data = filled(bytes), *place = malloc((size_t)bytes + 8);
    double end = now_s() + seconds, begin;
    int i, round = 0, bad = 0;

    memcpy(place, data, (size_t)bytes);
    do {
        begin = now_s();
        for (i = 0; i < batch; i++) {
            if (me < partner) {
                calls_send(mode, partner, i & 1 ? place : data, bytes);
                calls_receive(mode, partner, i & 1 ? data : place, bytes);
            } else {
                calls_receive(mode, partner, i & 1 ? data : place, bytes);
                calls_send(mode, partner, i & 1 ? data : place, bytes);
            }
        }
        if (round++ > 0 && samples_count < BATCHES_MAX)
            samples[samples_count++] = 1e6 * (now_s() - begin) / (2.0 * batch);
    } while (another(partner, now_s() < end || round < 3));
    bad = damaged(data, bytes);
    free(data);
    free(place);
    return bad;
}

static int rate(double seconds)
{
    int data[2] = {1, 2}, partner = !me, i, round = 0;
    double end = now_s() + seconds, begin;

    do {
        begin = now_s();
        for (i = 0; i < 100 * WINDOW; i++) {
            if (me < partner)
                calls_send(PACKED, partner, data, sizeof data);
            else
                calls_receive(PACKED, partner, data, sizeof data);
            if (i % WINDOW == WINDOW - 1) {
                if (me < partner)
                    calls_receive(PACKED, partner, data, 4);
                else
                    calls_send(PACKED, partner, data, 4);
            }
        }
        if (round++ > 0 && samples_count < BATCHES_MAX)
            samples[samples_count++] = 100 * WINDOW / (now_s() - begin);
    } while (another(partner, now_s() < end || round < 3));
    return data[0] != 1;
}

/* The samples become one: the ratio of the two medians. */
static int queued(int count, double seconds)
{
    int partner = !me, i, bad;
    double without;

    bad = pingpong(partner, 8, PACKED, seconds, 20);
    qsort(samples, (size_t)samples_count, sizeof samples[0], ascending);
    without = samples[samples_count / 2];
    for (i = 0; i < count; i++) {
        calls_send_unwanted(partner);
        if (i % 1000 == 999) /* so that nobody runs far ahead */
            bad |= pingpong(partner, 8, PACKED, 0, 1);
    }
    samples_count = 0;
    bad |= pingpong(partner, 8, PACKED, seconds, 20);
    if (me == 0) {
        qsort(samples, (size_t)samples_count, sizeof samples[0], ascending);
        samples[0] = samples[samples_count / 2] / without;
        samples_count = 1;
    }
    return bad;
}

static int group(const char *what, int bytes, double seconds, int tasks)
{
    void *data = filled(bytes);
    double *numbers = calloc((size_t)bytes / 8 + 1, sizeof *numbers);
    double end = now_s() + seconds, begin;
    int i, k, more, round = 0, bad = 0, batch = bytes > 100000 ? 10 : 200;

    for (i = 0; i < bytes / 8; i++)
        numbers[i] = 1;
    calls_barrier();
    do {
        begin = now_s();
        for (i = 0; i < batch; i++) {
            if (!strcmp(what, "barrier"))
                calls_barrier();
            else if (!strcmp(what, "broadcast"))
                calls_broadcast(i % tasks, data, bytes); /* in turn: nobody can run ahead */
            else
                calls_sum(numbers, bytes / 8);
        }
        calls_barrier();
        if (me == 0 && round > 0 && samples_count < BATCHES_MAX)
            samples[samples_count++] = 1e6 * (now_s() - begin) / batch;
        if (round == 0 && me == 0 && !strcmp(what, "sum"))
            bad = numbers[0] <= 1;
        for (k = 0; k < bytes / 8; k++)
            numbers[k] = 1;
        round++;
        more = now_s() < end || round < 3;
        calls_broadcast(0, &more, sizeof more);
    } while (more);
    bad |= damaged(data, bytes);
    free(data);
    free(numbers);
    return bad;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int bytes, bad, tasks = !strcmp(what, "crowd") ? 8
              : !strcmp(what, "barrier") || !strcmp(what, "broadcast") || !strcmp(what, "sum") ? 4
              : !strcmp(what, "spawn") || !strcmp(what, "trivial") ? 1 : 2;

    me = calls_begin(&argc, &argv, tasks);
    if (!strcmp(what, "trivial")) {
        calls_end();
        return 0;
    }
    if (!strcmp(what, "pingpong") && argc == 5) {
        bytes = atoi(argv[2]) / 4 * 4;
        bad = pingpong(!me, bytes, strcmp(argv[3], "inplace") ? PACKED : IN_PLACE, atof(argv[4]),
                       batch_for(bytes));
    } else if (!strcmp(what, "rate") && argc == 3) {
        bad = rate(atof(argv[2]));
    } else if (!strcmp(what, "queued") && argc == 4) {
        bad = queued(atoi(argv[2]), atof(argv[3]));
    } else if (!strcmp(what, "crowd") && argc == 3) {
        bad = pingpong(me ^ 1, 8, PACKED, atof(argv[2]), 200);
    } else if (tasks == 4 && argc == 4) {
        bad = group(what, atoi(argv[2]) / 8 * 8, atof(argv[3]), tasks);
    } else if (!strcmp(what, "spawn") && argc == 3) {
        samples[samples_count++] = 1e6 * calls_spawn_s(atoi(argv[2])) / atoi(argv[2]);
        bad = samples[0] < 0;
    } else {
        fprintf(stderr, "compare: see the head of compare.c\n");
        bad = 2;
    }
    if (me == 0 && !bad)
        report();
    if (bad == 1)
        fprintf(stderr, "compare: the data are damaged\n");
    calls_end();
    return bad;
}
