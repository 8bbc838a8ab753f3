/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Plain tasks of PVM 3, to compare what pvm.c measures within other programs. */
#include <pvm3.h>
#include <stdlib.h>

#include "speed.h"

static int tids[RANKS_MOST];

void enter(int argc, char **argv)
{
    (void)argc, (void)argv;
    me = pvm_joingroup("tasks");
    all = atoi(getenv("SPEED_RANKS"));
    pvm_barrier("tasks", all);
    for (int at = 0; at < all; at++)
        tids[at] = pvm_gettid("tasks", at);
    pvm_freezegroup("tasks", all);
}

static void meet(void)
{
    pvm_barrier("tasks", all);
}

void finish(void)
{
    meet();
    pvm_exit();
}

static void send_to(int to, int bytes)
{
    pvm_psend(tids[to], 5, data, bytes, PVM_BYTE);
}

static void take(int from, int bytes)
{
    pvm_precv(tids[from], 5, data, bytes, PVM_BYTE, NULL, NULL, NULL);
}

static void sum(double *x, int count)
{
    pvm_way("raw")->sum(x, count);
}

static void broadcast(int root, int bytes)
{
    pvm_way("raw")->broadcast(root, bytes);
}

const struct way own = {"own", NULL, send_to, take, meet, sum, broadcast};
const char *const beside = "raw default daemons items any";

void extra(const char *what)
{
    (void)what;
}
