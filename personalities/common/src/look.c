/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Programs that look for a message again and again where they could wait. */
#include "state.h"

#include <sched.h>
#include <time.h>

/* So many looks in vain take some microseconds: the core is given to others, who may be about to send. */
#define LOOKS_IN_VAIN 64
/* A core that was away for longer went to programs that compute: beside these, who yields waits for all of them. */
#define AWAY_NS 500000
/* So long nobody yields then, but sleeps, as who is woken goes ahead of who computes. */
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
