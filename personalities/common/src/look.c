/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Programs that look for a message again and again where they could wait. */
#include "state.h"

#include <sched.h>

/* So many looks in vain take some microseconds: the core is given to others, who may be about to send. */
#define LOOKS_IN_VAIN 64

int job_looked(int status)
{
    static _Thread_local unsigned in_vain;
    if (status != JOB_NONE)
        in_vain = 0;
    else if (++in_vain % LOOKS_IN_VAIN == 0)
        sched_yield();
    return status;
}
