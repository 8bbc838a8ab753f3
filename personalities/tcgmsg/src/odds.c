/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Clocks, statistics, logs and sizes. */
#include "calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

struct tcg_counts call_counts;
long call_debug;

double call_time(void)
{
    static double first;
    double now = job_seconds();
    if (first == 0)
        first = now;
    return now - first;
}

long call_mtime(void)
{
    return (long)(call_time() * 100);
}

void call_stats(void)
{
    const struct tcg_counts *counts = &call_counts;
    must_have_begun("STATS");
    printf("node %ld: %lu SND with %lu bytes, %lu RCV with %lu bytes, %lu calls of all nodes, %lu NXTVAL, "
           "%.2f s, of them %.2f s computing\n",
           (long)job_rank(), counts->sent, counts->sent_bytes, counts->received, counts->received_bytes,
           counts->together, counts->numbers, call_time(), job_cpu_seconds());
    fflush(stdout);
}

void call_llog(void)
{
    char name[32];
    must_have_begun("LLOG");
    snprintf(name, sizeof name, "log.%d", (int)job_rank());
    fflush(NULL);
    if (freopen(name, "w", stdout) == NULL || dup2(fileno(stdout), 2) < 0)
        job_fatal(1, "LLOG: %s cannot be written", name);
}

void call_setdbg(long on)
{
    call_debug = on;
}

void call_nice(long increment)
{
    int now = getpriority(PRIO_PROCESS, 0);
    /* Who may not be nicer to itself stays as it is. */
    (void)!setpriority(PRIO_PROCESS, 0, now + (int)increment);
}

long call_to_bytes(const char *call, long count, long each)
{
    if (count < 0 || count > INT64_MAX / each)
        job_fatal(1, "%s: %ld items", call, count);
    return count * each;
}

/* How many things of `into` bytes are room for `count` things of `from` bytes. */
long call_fits(const char *call, long count, long from, long into)
{
    return (call_to_bytes(call, count, from) + into - 1) / into;
}
