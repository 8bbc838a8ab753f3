/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The calls of calls.h that echo.c makes by those of Meiko's MPSC. */
#include <mpsc.h>
#include "pairs.h"

int calls_begin(int *argc, char ***argv, int tasks, enum route route)
{
    (void)argc, (void)argv, (void)route;
    me = mpsc_node();
    all = mpsc_count();
    check_tasks(tasks);
    return me;
}

void calls_end(void)
{
    mpsc_barrier();
}

void calls_send(enum mode mode, int to, const void *data, int bytes)
{
    (void)mode;
    mpsc_send(to, TYPE, data, bytes);
}

void calls_receive(enum mode mode, int from, void *data, int bytes)
{
    (void)mode;
    int type = TYPE;
    mpsc_receive(&from, &type, data, bytes);
}
