/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * lu TASKS ORDER REPETITIONS
 *
 * LU factorization with partial pivoting by TASKS tasks. Task t has the columns t, t + TASKS, ...; whoever has the next one
 * finds its pivot and sends the column to all, and all bring their columns up to date. Each of the REPETITIONS is timed
 * between two barriers; what is told is Mflop/s. Afterwards L times U times a vector is compared with the permuted A times
 * the vector: the program ends with status 1 if they differ by more than rounding.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "calls/calls.h"
#include "measure.h"

enum { REPETITIONS_MAX = 1000 };

static int me, tasks, order;

/* The entry of A, which each task can work out for itself: between -0.5 and 0.5. */
static double entry(int row, int column)
{
    unsigned x = (unsigned)row * 2654435761u ^ ((unsigned)column * 40503u + 12345u) * 2246822519u;

    x ^= x >> 15;
    x *= 2246822519u;
    x ^= x >> 13;
    x *= 3266489917u;
    x ^= x >> 16;
    return x / 4294967296.0 - 0.5;
}

static double *own(double *columns, int column)
{
    return columns + (size_t)(column / tasks) * (size_t)order;
}

/* At the front of the message: which row is the pivot. Behind it the column below the diagonal, divided by the pivot. */
static void prepare(double *columns, double *message, int k)
{
    double *column = own(columns, k), kept;
    int i, best = k;

    for (i = k + 1; i < order; i++)
        if (fabs(column[i]) > fabs(column[best]))
            best = i;
    kept = column[k];
    column[k] = column[best];
    column[best] = kept;
    for (i = k + 1; i < order; i++)
        column[i] /= column[k];
    message[0] = best;
    memcpy(message + 1, column + k + 1, (size_t)(order - k - 1) * sizeof *message);
}

static void apply(double *restrict column, const double *restrict message, int k)
{
    int i, best = (int)message[0];
    double kept = column[best];

    column[best] = column[k];
    column[k] = kept;
    for (i = k + 1; i < order; i++)
        column[i] -= kept * message[i - k];
}

/* The exchange of two rows in a column left of the pivot's. */
static void exchange(double *column, int best, int k)
{
    double kept = column[best];

    column[best] = column[k];
    column[k] = kept;
}

static void factor(double *columns, double *message, int *pivots)
{
    int j, k;

    for (k = 0; k < order; k++) {
        if (k % tasks == me)
            prepare(columns, message, k);
        calls_broadcast(k % tasks, message, (order - k) * (int)sizeof *message);
        pivots[k] = (int)message[0];
        for (j = me; j < order; j += tasks)
            if (j > k)
                apply(own(columns, j), message, k);
            else if (j < k)
                exchange(own(columns, j), pivots[k], k);
    }
}

/* With x all ones: U x by columns, then L of that by columns; the tasks add up what their columns give. */
static void check(double *columns, const int *pivots)
{
    double *ux = calloc((size_t)order, sizeof *ux), *lux = calloc((size_t)order, sizeof *lux);
    double *ax = calloc((size_t)order, sizeof *ax), worst = 0;
    int i, j, k;

    for (j = me; j < order; j += tasks)
        for (i = 0; i <= j; i++)
            ux[i] += own(columns, j)[i];
    calls_sum(ux, order);
    for (j = me; j < order; j += tasks) {
        lux[j] += ux[j];
        for (i = j + 1; i < order; i++)
            lux[i] += own(columns, j)[i] * ux[j];
    }
    calls_sum(lux, order);
    for (i = 0; i < order; i++)
        for (j = 0; j < order; j++)
            ax[i] += entry(i, j);
    for (k = 0; k < order; k++)
        exchange(ax, pivots[k], k);
    for (i = 0; i < order; i++)
        worst = fmax(worst, fabs(lux[i] - ax[i]));
    if (!(worst < 1e3 * order * DBL_EPSILON)) {
        fprintf(stderr, "the factors are wrong by %g\n", worst);
        exit(1);
    }
    free(ux);
    free(lux);
    free(ax);
}

static double once(double *columns, double *message, int *pivots)
{
    double begin;
    int i, j;

    for (j = me; j < order; j += tasks)
        for (i = 0; i < order; i++)
            own(columns, j)[i] = entry(i, j);
    calls_barrier();
    begin = measure_now_ns();
    factor(columns, message, pivots);
    calls_barrier();
    return 1e3 * 2 / 3 * order * order * (double)order / (measure_now_ns() - begin);
}

int main(int argc, char **argv)
{
    static double rates[REPETITIONS_MAX];
    double *columns, *message;
    int i, repetitions, *pivots;

    if (argc != 4 || (tasks = atoi(argv[1])) < 1 || (order = atoi(argv[2])) < 2) {
        fprintf(stderr, "lu: see the head of lu.c\n");
        return 2;
    }
    repetitions = atoi(argv[3]) < REPETITIONS_MAX ? atoi(argv[3]) : REPETITIONS_MAX;
    me = calls_begin(&argc, &argv, tasks, DIRECT);
    columns = malloc((size_t)(order / tasks + 1) * (size_t)order * sizeof *columns);
    message = malloc((size_t)(order + 1) * sizeof *message);
    pivots = malloc((size_t)order * sizeof *pivots);
    if (!columns || !message || !pivots) {
        fprintf(stderr, "no memory for order %d\n", order);
        exit(1);
    }
    for (i = 0; i < repetitions; i++)
        rates[i] = once(columns, message, pivots);
    check(columns, pivots);
    if (me == 0)
        measure_row("factorization", order, "Mflop/s", rates, repetitions);
    free(columns);
    free(message);
    free(pivots);
    calls_end();
    return 0;
}
