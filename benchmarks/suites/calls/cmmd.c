/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The calls of calls.h that echo.c makes by those of Thinking Machines' CMMD: a send without waiting for the receiver, as the others'. */
#include <cmmd.h>
#include "pairs.h"

int calls_begin(int *argc, char ***argv, int tasks, enum route route)
{
    (void)argc, (void)argv, (void)route;
    me = CMMD_self_address();
    all = CMMD_partition_size();
    check_tasks(tasks);
    return me;
}

void calls_end(void)
{
    CMMD_sync_with_nodes();
}

void calls_send(enum mode mode, int to, const void *data, int bytes)
{
    (void)mode;
    CMMD_send_noblock(to, TYPE, (void *)data, bytes);
}

void calls_receive(enum mode mode, int from, void *data, int bytes)
{
    (void)mode;
    CMMD_receive_block(from, TYPE, data, bytes);
}
