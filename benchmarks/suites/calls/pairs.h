/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What is alike in the calls of all interfaces whose programs are jobs of ranks, where only messages between two ranks are
 * measured (echo.c): such a file defines calls_begin, calls_end, calls_send and calls_receive.
 */
#ifndef PAIRS_H
#define PAIRS_H

#include <stdio.h>
#include <stdlib.h>
#include "calls.h"

#define TYPE 7

/* calls_begin sets both. */
static int me, all;

static void check_tasks(int tasks)
{
    if (all == tasks)
        return;
    fprintf(stderr, "%d tasks were asked for, %d were started\n", tasks, all);
    exit(1);
}

#endif
