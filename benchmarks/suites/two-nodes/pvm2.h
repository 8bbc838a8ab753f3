/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What master and worker of PVM 2.4 agree on. */
#ifndef TWO_NODES_PVM2_H
#define TWO_NODES_PVM2_H

#include <stdio.h>
#include <stdlib.h>

#define MSGTYPE 1000

/* Goes to the worker before each size; no iterations end it. */
struct plan {
    int direct, packed, iterations;
};

/* Ends the program where a call has failed. */
static inline void must(int code, const char *call)
{
    if (code >= 0)
        return;
    fprintf(stderr, "%s: code %d\n", call, code);
    exit(1);
}

#endif
