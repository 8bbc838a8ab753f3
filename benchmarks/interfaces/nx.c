/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* NX. Its receives name no sender. */
#define _GNU_SOURCE
#include <nx.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "speed.h"

void enter(int argc, char **argv)
{
    (void)argc, (void)argv;
    me = (int)mynode();
    all = (int)numnodes();
}

void finish(void)
{
    gsync();
}

static void send_to(int to, int bytes)
{
    csend(5, data, bytes, to, 0);
}

static void take(int from, int bytes)
{
    (void)from;
    crecv(5, data, bytes);
}

static void meet(void)
{
    gsync();
}

static void sum(double *x, int count)
{
    static double work[1000];
    gdsum(x, count, work);
}

static void broadcast(int root, int bytes)
{
    if (me == root)
        csend(8, data, bytes, -1, 0);
    else
        crecv(8, data, bytes);
}

const struct way own = {"own", NULL, send_to, take, meet, sum, broadcast};
const char *const beside = "raw anybody any";

enum { HANDLED = 1000 };
static double sent_at, delays[HANDLED];
static volatile long handled_count;

static void handler(long type, long count, long node, long ptype)
{
    (void)type, (void)count, (void)node, (void)ptype;
    delays[handled_count] = now() - sent_at;
    hrecv(9, (char *)&sent_at, sizeof sent_at, handler);
    handled_count = handled_count + 1;
}

static int compare(const void *one, const void *other)
{
    double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

/* From before the send until the handler begins, while the program computes. */
void extra(const char *what)
{
    volatile double work = 1;
    if (strcmp(what, "handler") != 0)
        return;
    if (me == 0)
        hrecv(9, (char *)&sent_at, sizeof sent_at, handler);
    meet();
    for (int at = 0; at < HANDLED; at++) {
        if (me == 1) {
            usleep(500);
            double begin = now();
            csend(9, (char *)&begin, sizeof begin, 0, 0);
        }
        while (me == 0 && handled_count == at)
            work = work * 1.0000001;
    }
    if (me == 0) {
        qsort(delays, HANDLED, sizeof *delays, compare);
        tell("handler", "own", delays[HANDLED / 2], delays[0], 0);
        tell("handler-99", "own", delays[HANDLED * 99 / 100], delays[0], 0);
    }
    meet();
}
