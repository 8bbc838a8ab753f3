/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * line SECONDS: two processes hand one number to and fro through shared memory, each on what the scheduler gives it.
 *
 * Nothing is packed, matched or checked: what is left is the way of a cache line from one core to the other, which no
 * message between two tasks can undercut. Prints like compare: median, minimum, maximum, number of batches; us one way.
 */
#define _DEFAULT_SOURCE
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { BATCH = 1000, BATCHES_MAX = 20000 };

/* What the one writes and the other reads, each in a line (and its neighbour) of its own. */
struct place {
    _Alignas(128) _Atomic unsigned there;
    _Alignas(128) _Atomic unsigned back;
};

static double samples[BATCHES_MAX];

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

static void wait_for(_Atomic unsigned *word, unsigned value)
{
    while (atomic_load_explicit(word, memory_order_acquire) != value)
        ;
}

/* The second process: answers until it is told 0. */
static void answer(struct place *place)
{
    unsigned value = 1;

    for (;;) {
        unsigned seen = atomic_load_explicit(&place->there, memory_order_acquire);
        if (seen == 0)
            return;
        if (seen == value)
            atomic_store_explicit(&place->back, value++, memory_order_release);
    }
}

int main(int argc, char **argv)
{
    double seconds = argc == 2 ? atof(argv[1]) : 0.5, end;
    int count = 0, i;
    unsigned value = 0;
    pid_t child;
    struct place *place = mmap(NULL, sizeof *place, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (place == MAP_FAILED) {
        perror("line: mmap");
        return 1;
    }
    /* Not 0, which ends it, and not the first number. */
    atomic_store(&place->there, ~0u);
    child = fork();
    if (child < 0) {
        perror("line: fork");
        return 1;
    }
    if (child == 0) {
        answer(place);
        _exit(0);
    }
    for (end = now_s() + seconds; now_s() < end && count < BATCHES_MAX;) {
        double began = now_s();
        for (i = 0; i < BATCH; i++) {
            atomic_store_explicit(&place->there, ++value, memory_order_release);
            wait_for(&place->back, value);
        }
        samples[count++] = 1e6 * (now_s() - began) / BATCH / 2;
    }
    atomic_store(&place->there, 0);
    waitpid(child, NULL, 0);
    qsort(samples, (size_t)count, sizeof samples[0], ascending);
    printf("%.4f\t%.4f\t%.4f\t%d\n", samples[count / 2], samples[0], samples[count - 1], count);
    return 0;
}
