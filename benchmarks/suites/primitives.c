/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * primitives TEST TASKS EXPERIMENTS REPETITIONS SECONDS SIZE...
 *
 * One of the five patterns of communication among TASKS tasks: exchange (with a neighbour, both ways at once), broadcast
 * (the sender changes from one to the next, so that nobody runs ahead), sum (SIZE doubles, every task gets the sums),
 * ring (a message goes on to the next task, TASKS - 1 times), complete (every task has another block for each other).
 *
 * An experiment is a loop of REPETITIONS between two barriers; what is told is the time of one repetition, a value for
 * each of the EXPERIMENTS. One experiment that is not told comes first. SECONDS bounds what an experiment takes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "calls/calls.h"
#include "measure.h"

enum { REPETITIONS_MIN = 1, EXPERIMENTS_MAX = 1000 };

static int me, tasks;
static char *out, *in;
static double *numbers;

static void once(const char *test, int size, int round)
{
    int step;

    if (!strcmp(test, "exchange")) {
        calls_shift(me ^ 1, out, me ^ 1, in, size);
    } else if (!strcmp(test, "broadcast")) {
        calls_broadcast(round % tasks, in, size);
    } else if (!strcmp(test, "sum")) {
        calls_sum(numbers, size);
    } else if (!strcmp(test, "ring")) {
        for (step = 1; step < tasks; step++)
            calls_shift((me + 1) % tasks, step & 1 ? out : in, (me + tasks - 1) % tasks, step & 1 ? in : out, size);
    } else {
        calls_exchange_all(out, in, size);
    }
}

static double loop_ns(const char *test, int size, int repetitions)
{
    double begin;
    int i;

    calls_barrier();
    begin = measure_now_ns();
    for (i = 0; i < repetitions; i++)
        once(test, size, i);
    calls_barrier();
    return (measure_now_ns() - begin) / repetitions;
}

/* Task 0 decides, all follow. */
static int repetitions(double one_ns, int most, double seconds)
{
    int n = one_ns * most > 1e9 * seconds ? (int)(1e9 * seconds / one_ns) : most;

    if (n < REPETITIONS_MIN)
        n = REPETITIONS_MIN;
    calls_broadcast(0, &n, sizeof n);
    return n;
}

/* Sums of ones have grown after a repetition, so they begin anew; the first sum is compared. */
static void check_sum(int size)
{
    int i;

    for (i = 0; i < size; i++)
        numbers[i] = me;
    calls_sum(numbers, size);
    for (i = 0; i < size; i++) {
        if (numbers[i] != tasks * (tasks - 1) / 2.0) {
            fprintf(stderr, "a sum is wrong\n");
            exit(1);
        }
        numbers[i] = 0;
    }
}

static void prepare(const char *test, int size)
{
    int is_sum = !strcmp(test, "sum"), is_all = !strcmp(test, "complete"), i;
    int bytes = is_sum ? 0 : is_all ? size * tasks : size;

    out = (char *)measure_filled(bytes);
    in = (char *)measure_filled(bytes);
    if (is_all) /* each block is a pattern of its own beginning */
        for (i = 0; i < tasks; i++)
            memcpy(out + (size_t)i * (size_t)size, in, (size_t)size);
    numbers = calloc((size_t)(is_sum ? size : 0) + 1, sizeof *numbers);
    if (is_sum)
        check_sum(size);
}

static void measure(const char *test, int experiments, int most, double seconds, int size)
{
    static double times[EXPERIMENTS_MAX];
    int i, n, bytes = strcmp(test, "sum") ? size : 0;

    prepare(test, size);
    n = repetitions(loop_ns(test, size, REPETITIONS_MIN), most, seconds);
    for (i = 0; i < experiments; i++)
        times[i] = loop_ns(test, size, n);
    measure_check((int *)in, bytes);
    if (me == 0)
        measure_row(test, size, "ns", times, experiments);
    free(out);
    free(in);
    free(numbers);
}

int main(int argc, char **argv)
{
    int i, experiments;

    if (argc < 7 || (tasks = atoi(argv[2])) < 2 || (tasks & 1)) {
        fprintf(stderr, "primitives: see the head of primitives.c\n");
        return 2;
    }
    experiments = atoi(argv[3]) < EXPERIMENTS_MAX ? atoi(argv[3]) : EXPERIMENTS_MAX;
    me = calls_begin(&argc, &argv, tasks, DIRECT);
    if (me == 0)
        measure_clock();
    for (i = 6; i < argc; i++)
        measure(argv[1], experiments, atoi(argv[4]), atof(argv[5]), atoi(argv[i]));
    calls_end();
    return 0;
}
