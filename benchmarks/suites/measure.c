/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "measure.h"

double measure_now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

void measure_clock(void)
{
    double sum = 0, begin;
    int i;

    for (i = 0; i < 100; i++) {
        begin = measure_now_ns();
        sum += measure_now_ns() - begin;
    }
    printf("clock\t%.1f\n", sum / 100);
}

void measure_row(const char *test, long size, const char *unit, const double *values, int count)
{
    int i;

    printf("row\t%s\t%ld\t%s\t", test, size, unit);
    for (i = 0; i < count; i++)
        printf(i ? " %.7g" : "%.7g", values[i]);
    putchar('\n');
    fflush(stdout);
}

static int pattern(int i)
{
    return (int)((unsigned)i * 2654435761u >> 1);
}

int *measure_filled(int bytes)
{
    int i, *data = malloc((size_t)bytes + 8);

    if (!data) {
        fprintf(stderr, "no memory for %d bytes\n", bytes);
        exit(1);
    }
    for (i = 0; i < bytes / 4; i++)
        data[i] = pattern(i);
    return data;
}

void measure_check(const int *data, int bytes)
{
    int i;

    for (i = 0; i < bytes / 4; i++) {
        if (data[i] != pattern(i)) {
            fprintf(stderr, "the data are damaged at byte %d of %d\n", 4 * i, bytes);
            exit(1);
        }
    }
}
