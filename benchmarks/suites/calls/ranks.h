/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What is alike in the calls of all interfaces whose programs are jobs of ranks. A file that gives such calls defines
 * INTERFACE, the interface's name in errors, and then includes this one.
 */
#ifndef RANKS_H
#define RANKS_H

#include <string.h>
#include "pairs.h"

void calls_partner(const char *program)
{
    fprintf(stderr, "all tasks run the same program, not %s\n", program);
    exit(1);
}

/* In as many steps as there are others, each with one to send to and one to receive from. */
void calls_exchange_all(const char *out, char *in, int bytes)
{
    memcpy(in + (long)me * bytes, out + (long)me * bytes, (size_t)bytes);
    for (int step = 1; step < all; step++) {
        int to = (me + step) % all, from = (me + all - step) % all;
        calls_shift(to, out + (long)to * bytes, from, in + (long)from * bytes, bytes);
    }
}

static void no_memory(void)
{
    fprintf(stderr, INTERFACE " has no memory that others read\n");
    exit(1);
}

void calls_expose(int owner, const void *data, int bytes)
{
    (void)owner, (void)data, (void)bytes;
    no_memory();
}

void calls_get(int owner, void *data, int bytes)
{
    (void)owner, (void)data, (void)bytes;
    no_memory();
}

void calls_withdraw(void)
{
    no_memory();
}

#endif
