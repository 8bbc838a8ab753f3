/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Programs that look for a message again and again where they could wait. */
#include "state.h"

#include <sched.h>
#include <time.h>

/* The number of looks without success, some microseconds, after which the core is given to
 * others, which may be about to send. */
#define LOOKS_IN_VAIN 64
/* If the core was away for longer, programs that compute had it. Beside such programs a process
 * that yields waits for all of them. */
#define AWAY_NS 500000
/* The time for which no thread yields then, but sleeps: a thread that wakes up precedes threads
 * that compute. */
#define PAUSE_NS 32000000
#define NAP_NS 50000

int job_yield(void)
{
    int64_t before = job_now_ns();
    sched_yield();
    return job_now_ns() - before <= AWAY_NS;
}

static void give_core_away(void)
{
    static _Thread_local int64_t naps_until;
    const struct timespec nap = {0, NAP_NS};
    if (job_now_ns() < naps_until)
        nanosleep(&nap, NULL);
    else if (!job_yield())
        naps_until = job_now_ns() + PAUSE_NS;
}

int job_looked(int status)
{
    static _Thread_local unsigned in_vain;
    if (status != JOB_NONE)
        in_vain = 0;
    else if (++in_vain % LOOKS_IN_VAIN == 0)
        give_core_away();
    return status;
}
