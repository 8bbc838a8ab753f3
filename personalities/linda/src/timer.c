/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* timer.c - start_timer, timer_split and print_times. */
#include "linda.h"
#include "../include/linda.h"
#include <stdio.h>
#include <time.h>

/* Later splits are counted only. */
#define SPLITS 256

static struct timespec begun;
static struct {
    char name[64];
    double at;
} splits[SPLITS];
static int count, lost;

static double now(void)
{
    struct timespec at;

    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)(at.tv_sec - begun.tv_sec) + (double)(at.tv_nsec - begun.tv_nsec) * 1e-9;
}

EXPORT void start_timer(void)
{
    clock_gettime(CLOCK_MONOTONIC, &begun);
    count = lost = 0;
}

EXPORT void timer_split(char *name)
{
    if (count == SPLITS) {
        lost++;
        return;
    }
    splits[count].at = now();
    snprintf(splits[count++].name, sizeof splits[0].name, "%s", name ? name : "");
}

EXPORT void print_times(void)
{
    double before = 0;
    int i;

    printf("%-32s %12s %12s\n", "split", "since start", "since split");
    for (i = 0; i < count; i++) {
        printf("%-32s %12.6f %12.6f\n", splits[i].name, splits[i].at, splits[i].at - before);
        before = splits[i].at;
    }
    if (lost)
        printf("%d more splits were not kept\n", lost);
}
