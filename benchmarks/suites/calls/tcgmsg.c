/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The calls of calls.h by those of TCGMSG. */
#include <tcgmsg.h>

#define INTERFACE "TCGMSG"
#include "ranks.h"

int calls_begin(int *argc, char ***argv, int tasks, enum route route)
{
    (void)route;
    tcg_pbegin(*argc, *argv);
    me = (int)tcg_nodeid();
    all = (int)tcg_nnodes();
    check_tasks(tasks);
    return me;
}

void calls_end(void)
{
    fflush(stdout);
    tcg_pend();
}

void calls_send(enum mode mode, int to, const void *data, int bytes)
{
    (void)mode;
    tcg_snd(TYPE, (void *)data, bytes, to, 1);
}

void calls_receive(enum mode mode, int from, void *data, int bytes)
{
    long got, who;
    (void)mode;
    tcg_rcv(TYPE, data, bytes, &got, from, &who, 1);
}

void calls_shift(int to, const void *out, int from, void *in, int bytes)
{
    tcg_snd(TYPE, (void *)out, bytes, to, 0);
    calls_receive(RAW, from, in, bytes);
    tcg_waitcom(-1);
}

void calls_barrier(void)
{
    tcg_synch(TYPE + 1);
}

void calls_broadcast(int from, void *data, int bytes)
{
    tcg_brdcst(TYPE + 2, data, bytes, from);
}

void calls_sum(double *data, int count)
{
    tcg_dgop(TYPE + 3, data, count, "+");
}
