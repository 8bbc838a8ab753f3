/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* p4. */
#include <p4.h>
#include <stddef.h>
#include <string.h>

#include "speed.h"

void enter(int argc, char **argv)
{
    p4_initenv(&argc, argv);
    p4_create_procgroup();
    me = p4_get_my_id();
    all = p4_num_total_ids();
    data = p4_msg_alloc(MOST);
    memset(data, 0, MOST);
}

void finish(void)
{
    p4_wait_for_end();
}

static void send_to(int to, int bytes)
{
    p4_sendb(5, to, data, bytes);
}

static void take(int from, int bytes)
{
    int type = 5;
    p4_recv(&type, &from, &data, &bytes);
}

static void meet(void)
{
    p4_global_barrier(6);
}

static void sum(double *x, int count)
{
    p4_global_op(7, x, count, sizeof *x, p4_dbl_sum_op, P4DBL);
}

static void broadcast(int root, int bytes)
{
    int type = 8;
    if (me == root)
        p4_broadcast(8, data, bytes);
    else
        p4_recv(&type, &root, &data, &bytes);
}

const struct way own = {"own", NULL, send_to, take, meet, sum, broadcast};
const char *const beside = "raw items";

/* A lock is taken, a number in shared memory raised, and the lock given back, by one process. */
void extra(const char *what)
{
    struct shared { p4_lock_t lock; volatile long number; } *shared;
    double best = 1e30;
    if (strcmp(what, "locks") != 0)
        return;
    shared = (struct shared *)p4_shmalloc(sizeof *shared);
    p4_lock_init(&shared->lock);
    for (int batch = 0; batch < 30; batch++) {
        double begin = now();
        for (int turn = 0; turn < 10000; turn++) {
            p4_lock(&shared->lock);
            shared->number++;
            p4_unlock(&shared->lock);
        }
        double took = (now() - begin) / 10000;
        best = took < best ? took : best;
    }
    tell("lock", "own", best, best, 0);
}
