/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * master_worker: counts the primes below LIMIT with a pool of workers.
 *
 *     master_worker [WORKERS [LIMIT]]          the defaults are one worker per host and 2000000
 *
 * Most PVM programs follow this pattern: the master distributes pieces of work, and a worker that
 * returns a result gets the next piece, so fast hosts do more. The master also requests a notice
 * when a worker dies, and gives its piece to another one: if a worker or a whole host is killed,
 * the result is still correct.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include "pvm3.h"

enum { WORK = 1, RESULT = 2, WORKER_GONE = 3, PIECES = 64 };

static int count_primes(int from, int to)
{
    int n, d, count = 0;

    for (n = from < 2 ? 2 : from; n < to; n++) {
        for (d = 2; d <= n / d && n % d; d++)
            ;
        count += d > n / d;
    }
    return count;
}

/* A worker: it receives pieces until the master sends "from 0 to 0". */
static void work(int master)
{
    int range[2], count;

    for (;;) {
        pvm_recv(master, WORK);
        pvm_upkint(range, 2, 1);
        if (range[1] == 0)
            return;
        count = count_primes(range[0], range[1]);
        pvm_initsend(PvmDataDefault);
        pvm_pkint(&count, 1, 1);
        pvm_send(master, RESULT);
    }
}

struct worker { int tid, piece, done; };            /* piece: -1 while the worker is idle */

static int open_pieces[PIECES], open_count;         /* pieces that no worker has */

static void hand_out(struct worker *w, int limit)
{
    int range[2], piece;

    if (w->tid == 0 || w->piece >= 0 || open_count == 0)
        return;
    piece = open_pieces[--open_count];
    range[0] = (int)((long long)limit * piece / PIECES);
    range[1] = (int)((long long)limit * (piece + 1) / PIECES);
    pvm_initsend(PvmDataDefault);
    pvm_pkint(range, 2, 1);
    pvm_send(w->tid, WORK);
    w->piece = piece;
}

static struct worker *find(struct worker *workers, int count, int tid)
{
    int i;

    for (i = 0; i < count; i++)
        if (workers[i].tid == tid)
            return &workers[i];
    return NULL;
}

/* Returns the number of primes, or -1 if every worker has died. */
static int farm_out(struct worker *workers, int count, int limit)
{
    int i, tag, from, result, primes = 0, done = 0, alive = count;
    struct worker *w;

    while (done < PIECES && alive > 0) {
        for (i = 0; i < count; i++)
            hand_out(&workers[i], limit);
        pvm_bufinfo(pvm_recv(-1, -1), NULL, &tag, &from);
        pvm_upkint(&result, 1, 1);
        w = find(workers, count, tag == WORKER_GONE ? result : from);
        if (!w)
            continue;
        if (tag == RESULT) {
            primes += result;
            w->done++;
            done++;
        } else {
            printf("worker t%x is gone\n", (unsigned)w->tid);
            if (w->piece >= 0)
                open_pieces[open_count++] = w->piece;
            w->tid = 0;
            alive--;
        }
        w->piece = -1;
    }
    return done == PIECES ? primes : -1;
}

static int lead(const char *program, int count, int limit)
{
    struct worker *workers = calloc((size_t)count, sizeof *workers);
    int *tids = calloc((size_t)count, sizeof *tids);
    int i, primes, end[2] = {0, 0};
    char path[PATH_MAX];

    if (!realpath(program, path))
        snprintf(path, sizeof path, "%s", program);
    i = pvm_spawn(path, NULL, PvmTaskDefault, "", count, tids);
    if (i < count)
        fprintf(stderr, "master_worker: %d of %d workers started\n", i < 0 ? 0 : i, count);
    count = i;
    for (open_count = 0; open_count < PIECES; open_count++)
        open_pieces[open_count] = open_count;
    if (count > 0)
        pvm_notify(PvmTaskExit, WORKER_GONE, count, tids);
    for (i = 0; i < count; i++)
        workers[i] = (struct worker){tids[i], -1, 0};

    primes = count > 0 ? farm_out(workers, count, limit) : -1;
    for (i = 0; i < count; i++) {
        if (workers[i].tid == 0)
            continue;
        printf("worker t%x did %d of %d pieces\n", (unsigned)workers[i].tid, workers[i].done, PIECES);
        pvm_initsend(PvmDataDefault);
        pvm_pkint(end, 2, 1);
        pvm_send(workers[i].tid, WORK);
    }
    if (primes >= 0)
        printf("%d primes below %d\n", primes, limit);
    else
        fprintf(stderr, "master_worker: no worker is left\n");
    free(tids);
    free(workers);
    return primes < 0;
}

int main(int argc, char **argv)
{
    int hosts = 1, status = 0, workers, limit;

    if (pvm_mytid() < 0)
        return 1;
    if (pvm_parent() > 0) {
        work(pvm_parent());
    } else {
        pvm_config(&hosts, NULL, NULL);
        workers = argc > 1 ? atoi(argv[1]) : hosts;
        limit = argc > 2 ? atoi(argv[2]) : 2000000;
        status = workers < 1 || limit < 1 ? 2 : lead(argv[0], workers, limit);
        if (status == 2)
            fprintf(stderr, "usage: master_worker [WORKERS [LIMIT]]\n");
    }
    pvm_exit();
    return status;
}
