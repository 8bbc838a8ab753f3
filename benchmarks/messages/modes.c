/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * modes: does a test of small messages stay fast, and does it become fast again behind a disturbance?
 *
 *     modes stream|pingpong|barrier|broadcast|fifty|sum|pairs SECONDS [none|stop|burst]
 *
 * Built with benchmarks/compare/calls.h, so for each system that it knows. The tasks run one operation in short batches; every
 * 100 ms a helper process stops the last task for 5 ms (stop), or computes for 5 ms (burst). Task 0 prints one
 * line, tab-separated (fifty: broadcasts of task 0, fifty in a row, to tasks that had nothing to do for 2 ms):
 *
 *     median, worst tenth   us for an operation (stream: for a message); of the batches' time, the slowest tenth begins here
 *     mean                  us for an operation over the whole time
 *     first, back           ms from the start, and from a disturbance's end (the longest), until two batches in a row take less than
 *                           twice what the best tenth takes
 *     sleeps, switches      of all tasks, for each operation, as the kernel counts them: given away to wait, and otherwise
 *     together              share of the time in which all tasks ended their batch on one core
 */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "../compare/calls.h"

enum { BATCHES_MAX = 40000, WINDOW = 64 };

static const double every_s = 0.1, lasts_s = 0.005;
static double began[BATCHES_MAX], took[BATCHES_MAX], sorted[BATCHES_MAX];
static int cores[BATCHES_MAX], others[BATCHES_MAX];
static char apart[BATCHES_MAX];
static int batches, me, tasks;
static double numbers[1];

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void sleep_s(double seconds)
{
    struct timespec t = {.tv_sec = 0, .tv_nsec = (long)(1e9 * seconds)};
    nanosleep(&t, NULL);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* One direction between this task and its partner, the lower one sending. */
static void move(int partner, int bytes)
{
    static int data[2] = {1, 2};

    if (me < partner)
        calls_send(PACKED, partner, data, bytes);
    else
        calls_receive(PACKED, partner, data, bytes);
}

static void answer(int partner, int bytes)
{
    static int data[2] = {1, 2};

    if (me < partner)
        calls_receive(PACKED, partner, data, bytes);
    else
        calls_send(PACKED, partner, data, bytes);
}

static void batch(const char *what, int count)
{
    static int data[2];
    int i, k;

    for (i = 0; i < count; i++) {
        if (!strcmp(what, "stream")) {
            for (k = 0; k < WINDOW; k++)
                move(!me, 8);
            answer(!me, 4);
        } else if (!strcmp(what, "pingpong") || !strcmp(what, "pairs")) {
            move(me ^ 1, 8);
            answer(me ^ 1, 8);
        } else if (!strcmp(what, "barrier")) {
            calls_barrier();
        } else if (!strcmp(what, "broadcast")) {
            calls_broadcast(i % tasks, data, 8);
        } else {
            calls_sum(numbers, 1);
            calls_barrier();
        }
    }
}

/* Broadcasts to tasks that sleep, or would: seconds until the last one was sent, and all have them behind it. */
static double fifty(int count)
{
    static int data[2];
    double start;
    int i;

    if (me == 0)
        sleep_s(0.002);
    start = now_s();
    for (i = 0; i < count; i++)
        calls_broadcast(0, data, 8);
    start = now_s() - start;
    calls_barrier();
    return start;
}

/* Task 0 says whether there is another batch. */
static int another(int more)
{
    int i;

    if (me)
        calls_receive(PACKED, 0, &more, sizeof more);
    else
        for (i = 1; i < tasks; i++)
            calls_send(PACKED, i, &more, sizeof more);
    return more;
}

/* The helper: writes when each disturbance was over. */
static void disturb(int out, pid_t victim, double until)
{
    double end;

    for (;;) {
        sleep_s(every_s);
        if (now_s() > until)
            _exit(0);
        if (victim)
            kill(victim, SIGSTOP);
        end = now_s() + lasts_s;
        if (victim)
            sleep_s(lasts_s);
        while (now_s() < end)
            ;
        if (victim)
            kill(victim, SIGCONT);
        end = now_s();
        if (write(out, &end, sizeof end) != sizeof end)
            _exit(1);
    }
}

/* When the times are normal again behind a moment: two batches in a row that begin behind it. */
static double back_ms(double mark, double limit)
{
    int i, good = 0;

    for (i = 0; i < batches; i++) {
        if (began[i] < mark)
            continue;
        good = took[i] < limit ? good + 1 : 0;
        if (good == 2)
            return 1e3 * (began[i - 1] - mark);
    }
    return 1e3 * (began[batches - 1] - mark);
}

static void report(int in, int each, const int *switches)
{
    double mark, back = 0, first, ms, whole = 0, spent = 0, together = 0, tenth = 0;
    long operations = (long)batches * each;
    int i;

    memcpy(sorted, took, sizeof took);
    qsort(sorted, (size_t)batches, sizeof sorted[0], ascending);
    for (i = 0; i < batches; i++) {
        whole += took[i];
        together += apart[i] ? 0 : took[i];
    }
    for (i = batches - 1; i >= 0 && spent < whole / 10; i--)
        spent += tenth = sorted[i];
    first = back_ms(began[0], 2 * sorted[batches / 10]);
    while (in >= 0 && read(in, &mark, sizeof mark) == sizeof mark) {
        ms = back_ms(mark, 2 * sorted[batches / 10]);
        back = ms > back ? ms : back;
    }
    printf("%.4f\t%.4f\t%.4f\t%.1f\t%.1f\t%.4f\t%.4f\t%.2f\n", 1e6 * sorted[batches / 2] / each,
           1e6 * tenth / each, 1e6 * whole / (double)operations, first, back, switches[0] / (double)operations,
           switches[1] / (double)operations, together / whole);
}

static void collect(int *switches)
{
    struct rusage usage;
    int i, k, own[2], got[2];

    getrusage(RUSAGE_SELF, &usage);
    own[0] = (int)usage.ru_nvcsw - switches[0];
    own[1] = (int)usage.ru_nivcsw - switches[1];
    memcpy(switches, own, sizeof own);
    if (me) {
        calls_send(PACKED, 0, own, sizeof own);
        calls_send(PACKED, 0, cores, batches * (int)sizeof cores[0]);
        return;
    }
    for (i = 1; i < tasks; i++) {
        calls_receive(PACKED, i, got, sizeof got);
        switches[0] += got[0];
        switches[1] += got[1];
        calls_receive(PACKED, i, others, batches * (int)sizeof others[0]);
        for (k = 0; k < batches; k++)
            apart[k] |= others[k] != cores[k];
    }
}

int main(int argc, char **argv)
{
    const char *what = argc > 2 ? argv[1] : "", *how = argc > 3 ? argv[3] : "none";
    int stream = !strcmp(what, "stream"), each = stream ? 16 : 50, victim = 0, switches[2], ends[2] = {-1, -1};
    struct rusage usage;
    double seconds = argc > 2 ? atof(argv[2]) : 0, start, end;
    pid_t helper = 0;

    tasks = stream || !strcmp(what, "pingpong") ? 2 : !strcmp(what, "pairs") ? 8 : 4;
    if (argc < 3)
        return 2;
    me = calls_begin(&argc, &argv, tasks);
    if (me == tasks - 1) {
        victim = getpid();
        calls_send(PACKED, 0, &victim, sizeof victim);
    }
    if (me == 0) {
        calls_receive(PACKED, tasks - 1, &victim, sizeof victim);
        if (strcmp(how, "none") && (pipe(ends) || (helper = fork()) == 0))
            disturb(ends[1], strcmp(how, "stop") ? 0 : victim, now_s() + seconds);
        close(ends[1]);
    }
    getrusage(RUSAGE_SELF, &usage);
    switches[0] = (int)usage.ru_nvcsw;
    switches[1] = (int)usage.ru_nivcsw;
    end = now_s() + seconds;
    do {
        start = now_s();
        began[batches] = start;
        if (!strcmp(what, "fifty")) {
            took[batches] = fifty(each);
        } else {
            batch(what, each);
            took[batches] = now_s() - start;
        }
        cores[batches++] = sched_getcpu();
    } while (another(batches < BATCHES_MAX && now_s() < end));
    collect(switches);
    if (helper)
        waitpid(helper, NULL, 0);
    if (me == 0)
        report(ends[0], stream ? each * WINDOW : each, switches);
    calls_end();
    return 0;
}
