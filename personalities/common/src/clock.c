/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Time, and texts of Fortran. */
#include "state.h"

#include <string.h>
#include <time.h>

static int64_t read_clock(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t job_now_ns(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

int64_t job_deadline(int64_t limit_ns)
{
    if (limit_ns < 0 || limit_ns > INT64_MAX / 2)
        return JOB_FOREVER;
    return limit_ns == 0 ? 0 : job_now_ns() + limit_ns;
}

int64_t job_left(int64_t deadline)
{
    if (deadline <= 0)
        return deadline;
    int64_t left = deadline - job_now_ns();
    return left > 0 ? left : 0;
}

double job_seconds(void)
{
    return (double)job_now_ns() * 1e-9;
}

double job_cpu_seconds(void)
{
    return (double)read_clock(CLOCK_PROCESS_CPUTIME_ID) * 1e-9;
}

char *job_fortran_text(const char *text, size_t length, char *room_text, size_t room)
{
    while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == 0))
        length--;
    if (length > room - 1)
        length = room - 1;
    memcpy(room_text, text, length);
    room_text[length] = 0;
    return room_text;
}
