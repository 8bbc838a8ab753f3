/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The calls of calls.h by those of p4. */
#include <p4.h>

#define INTERFACE "p4"
#include "ranks.h"

int calls_begin(int *argc, char ***argv, int tasks, enum route route)
{
    (void)route;
    p4_initenv(argc, *argv);
    p4_create_procgroup();
    me = p4_get_my_id();
    all = p4_num_total_ids();
    check_tasks(tasks);
    return me;
}

void calls_end(void)
{
    p4_wait_for_end();
}

void calls_send(enum mode mode, int to, const void *data, int bytes)
{
    (void)mode;
    p4_send(TYPE, to, data, bytes);
}

/* A buffer of p4's own: the data are copied out of it, as programs did. */
static void take(int type, int from, void *data, int bytes)
{
    char *message = NULL;
    p4_recv(&type, &from, &message, &bytes);
    memcpy(data, message, (size_t)bytes);
    p4_msg_free(message);
}

void calls_receive(enum mode mode, int from, void *data, int bytes)
{
    (void)mode;
    take(TYPE, from, data, bytes);
}

void calls_shift(int to, const void *out, int from, void *in, int bytes)
{
    p4_send(TYPE, to, out, bytes);
    take(TYPE, from, in, bytes);
}

void calls_barrier(void)
{
    p4_global_barrier(TYPE + 1);
}

void calls_broadcast(int from, void *data, int bytes)
{
    if (me == from)
        p4_broadcast(TYPE + 2, data, bytes);
    else
        take(TYPE + 2, from, data, bytes);
}

void calls_sum(double *data, int count)
{
    p4_global_op(TYPE + 3, data, count, sizeof *data, p4_dbl_sum_op, P4DBL);
}
