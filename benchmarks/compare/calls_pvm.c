/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>
#include "pvm3.h"
#include "calls.h"

enum { TAG = 7, ROSTER = 8, ENDED = 9, UNWANTED = 10, TASKS_MAX = 64 };

static char group[] = "compare";

static int tids[TASKS_MAX], count, me;
static char program[PATH_MAX];

#ifdef NEOPVM
const char calls_name[] = "neopvm";
#else
const char calls_name[] = "pvm";
#endif

static void fail(const char *what, int code)
{
    fprintf(stderr, "compare: %s: code %d\n", what, code);
    pvm_exit();
    exit(1);
}

/* Polled, as a group has no message that tells of its growth. */
static void wait_for_members(int members)
{
    int size;

    while ((size = pvm_gsize(group)) != members && !(members == 0 && size == PvmNoGroup))
        usleep(500);
}

/* The first task starts the others with its own arguments and tells all their ids. */
static void lead(char **argv, int tasks)
{
    int started;

    tids[0] = pvm_mytid();
    if (tasks > 1) {
        started = pvm_spawn(program, argv + 1, PvmTaskDefault, "", tasks - 1, tids + 1);
        if (started != tasks - 1)
            fail("cannot start the other tasks", started < 0 ? started : tids[started + 1]);
        pvm_initsend(PvmDataDefault);
        pvm_pkint(tids, tasks, 1);
        pvm_mcast(tids + 1, tasks - 1, ROSTER);
    }
}

int calls_begin(int *argc, char ***argv, int tasks)
{
    int tid = pvm_mytid();

    (void)argc;
    if (tid < 0 || tasks > TASKS_MAX)
        fail("no task", tid);
    if (!realpath((*argv)[0], program))
        snprintf(program, sizeof program, "%s", (*argv)[0]);
    pvm_setopt(PvmRoute, PvmRouteDirect);
    count = tasks;
    if (pvm_parent() == PvmNoParent) {
        lead(*argv, tasks);
    } else if (tasks == 1) {
        tids[0] = tid;
    } else {
        pvm_recv(pvm_parent(), ROSTER);
        pvm_upkint(tids, tasks, 1);
    }
    for (me = 0; me < tasks && tids[me] != tid;)
        me++;
    /* A group's numbers are given in the order of joining: this one makes them the roster's. */
    if (tasks > 2) {
        wait_for_members(me);
        pvm_joingroup(group);
        wait_for_members(tasks);
        pvm_freezegroup(group, tasks);
    }
    return me;
}

void calls_end(void)
{
    pvm_exit();
}

void calls_send(enum mode mode, int to, const void *data, int bytes)
{
    pvm_initsend(mode == IN_PLACE ? PvmDataInPlace : PvmDataRaw);
    if (bytes)
        pvm_pkint((int *)data, bytes / 4, 1);
    pvm_send(tids[to], TAG);
}

void calls_receive(enum mode mode, int from, void *data, int bytes)
{
    (void)mode;
    pvm_recv(tids[from], TAG);
    if (bytes)
        pvm_upkint(data, bytes / 4, 1);
}

void calls_send_unwanted(int to)
{
    pvm_initsend(PvmDataRaw);
    pvm_send(tids[to], UNWANTED);
}

void calls_barrier(void)
{
    pvm_barrier(group, count);
}

void calls_broadcast(int from, void *data, int bytes)
{
    if (me == from) {
        pvm_initsend(PvmDataRaw);
        pvm_pkint(data, bytes / 4, 1);
        pvm_bcast(group, TAG);
    } else {
        calls_receive(PACKED, from, data, bytes);
    }
}

void calls_sum(double *data, int n)
{
    pvm_reduce(PvmSum, data, n, PVM_DOUBLE, TAG, group, 0);
}

double calls_spawn_s(int tasks)
{
    static int all[4096];
    char *arguments[] = {"trivial", NULL};
    struct timeval begin, end;
    int i, started;

    gettimeofday(&begin, NULL);
    started = pvm_spawn(program, arguments, PvmTaskDefault, "", tasks, all);
    if (started != tasks)
        fail("cannot start the trivial tasks", started < 0 ? started : all[started]);
    pvm_notify(PvmTaskExit, ENDED, tasks, all);
    for (i = 0; i < tasks; i++)
        pvm_recv(-1, ENDED);
    gettimeofday(&end, NULL);
    return (double)(end.tv_sec - begin.tv_sec) + 1e-6 * (double)(end.tv_usec - begin.tv_usec);
}
