/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <time.h>

#include "export.h"
#include "process.h"

/* Microseconds come back to 0 after this many, as p4's did. */
#define ROLLOVER 10000000000ul

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

double clock_seconds(void)
{
    return seconds_now();
}

static unsigned long long nanoseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (unsigned long long)now.tv_sec * 1000000000ull + (unsigned long long)now.tv_nsec;
}

/* From the first call on, so that an int has room for 24 days. */
int clock_milliseconds(void)
{
    static unsigned long long begin;
    unsigned long long now = nanoseconds() / 1000000;
    if (begin == 0)
        begin = now - 1;
    return (int)((now - begin) & 0x7fffffff);
}

unsigned long clock_microseconds(void)
{
    return (unsigned long)(nanoseconds() / 1000 % ROLLOVER);
}

P4_API int p4_clock(void)
{
    return clock_milliseconds();
}

P4_API unsigned long p4_ustimer(void)
{
    return clock_microseconds();
}

P4_API unsigned long p4_usrollover(void)
{
    return ROLLOVER;
}

P4_API double p4_usclock(void)
{
    return clock_seconds();
}
