/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A solver as they were written: its own dozen wrappers over one machine's calls (here MPL), and nothing else of that
 * machine below. Jacobi's method for -u'' = 1 with u(0) = u(1) = 0, cells divided among the tasks, compared with what is known.
 */
#include <math.h>
#include <mpl.h>
#include "../../pvm2/tests/check.h"

enum { CELLS = 63 }; /* at most: `solver [CELLS]` */

static int my_task, task_count;

static void par_begin(void)
{
    CHECK_IS(mpc_environ(&task_count, &my_task), 0);
}

static void par_send(int to, int type, double *data, int count)
{
    CHECK_IS(mpc_bsend(data, (size_t)count * sizeof *data, to, type), 0);
}

static void par_receive(int from, int type, double *data, int count)
{
    size_t bytes = 0;

    CHECK_IS(mpc_brecv(data, (size_t)count * sizeof *data, &from, &type, &bytes), 0);
    CHECK_IS(bytes, (size_t)count * sizeof *data);
}

/* Over task 0, in the order of tasks. */
static double par_max(double value)
{
    double other;
    int task;

    for (task = 1; my_task == 0 && task < task_count; task++) {
        par_receive(task, 1, &other, 1);
        value = other > value ? other : value;
    }
    if (my_task != 0)
        par_send(0, 1, &value, 1);
    CHECK_IS(mpc_bcast(&value, sizeof value, 0, ALLGRP), 0);
    return value;
}

/* The cells beside mine. */
static void par_edges(double *u, int count)
{
    if (my_task > 0)
        par_send(my_task - 1, 2, u + 1, 1);
    if (my_task < task_count - 1) {
        par_send(my_task + 1, 3, u + count, 1);
        par_receive(my_task + 1, 2, u + count + 1, 1);
    }
    if (my_task > 0)
        par_receive(my_task - 1, 3, u, 1);
}

int main(int argc, char **argv)
{
    int sweep, i, first, count, cells = argc > 1 ? atoi(argv[1]) : CELLS;
    double u[CELLS + 2] = {0}, next[CELLS + 2] = {0}, h = 1.0 / (cells + 1), worst = 0;

    CHECK(cells >= 1 && cells <= CELLS);
    par_begin();
    first = my_task * cells / task_count;
    count = (my_task + 1) * cells / task_count - first;
    for (sweep = 0; sweep < 3 * cells * cells; sweep++) {
        par_edges(u, count);
        for (i = 1; i <= count; i++)
            next[i] = (u[i - 1] + u[i + 1] + h * h) / 2;
        memcpy(u + 1, next + 1, (size_t)count * sizeof *u);
    }
    for (i = 1; i <= count; i++) {
        double x = (first + i) * h, error = fabs(u[i] - x * (1 - x) / 2);

        worst = error > worst ? error : worst;
    }
    worst = par_max(worst);
    if (my_task == 0)
        printf("largest error %g\n", worst);
    CHECK(worst < 1e-6);
    return 0;
}
