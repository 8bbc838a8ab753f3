/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include "calls.h"

#define TAG 7

const char calls_name[] = "mpi";

int calls_begin(int *argc, char ***argv, int tasks)
{
    int me, all;

    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &all);
    if (all != tasks) {
        fprintf(stderr, "compare: %d tasks were asked for, %d were started\n", tasks, all);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return me;
}

void calls_end(void)
{
    MPI_Finalize();
}

void calls_send(enum mode mode, int to, const void *data, int bytes)
{
    (void)mode;
    MPI_Send(data, bytes / 4, MPI_INT, to, TAG, MPI_COMM_WORLD);
}

void calls_receive(enum mode mode, int from, void *data, int bytes)
{
    (void)mode;
    MPI_Recv(data, bytes / 4, MPI_INT, from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

void calls_send_unwanted(int to)
{
    MPI_Send(NULL, 0, MPI_INT, to, TAG + 1, MPI_COMM_WORLD);
}

void calls_barrier(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

void calls_broadcast(int from, void *data, int bytes)
{
    MPI_Bcast(data, bytes / 4, MPI_INT, from, MPI_COMM_WORLD);
}

void calls_sum(double *data, int count)
{
    int me;

    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Reduce(me ? data : MPI_IN_PLACE, data, count, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
}

double calls_spawn_s(int tasks)
{
    (void)tasks;
    return -1; /* measured from outside: mpirun */
}
