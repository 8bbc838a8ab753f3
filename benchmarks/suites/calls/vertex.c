/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The calls of calls.h that echo.c makes by those of nCUBE's Vertex, which numbers the nodes of a cube. */
#include <vertex.h>
#include "pairs.h"

int calls_begin(int *argc, char ***argv, int tasks, enum route route)
{
    (void)argc, (void)argv, (void)route;
    int process, host, dimension;
    whoami(&me, &process, &host, &dimension);
    all = 1 << dimension;
    check_tasks(tasks);
    return me;
}

void calls_end(void)
{
    /* Vertex has no call for all nodes: a message and its answer. */
    int flag, type = TYPE, from = 1 - me;
    nwrite(&flag, 0, from, TYPE, &flag);
    nread(&flag, 0, &from, &type, &flag);
}

void calls_send(enum mode mode, int to, const void *data, int bytes)
{
    (void)mode;
    int flag;
    nwrite((void *)data, bytes, to, TYPE, &flag);
}

void calls_receive(enum mode mode, int from, void *data, int bytes)
{
    (void)mode;
    int flag, type = TYPE;
    nread(data, bytes, &from, &type, &flag);
}
