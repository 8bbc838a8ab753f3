/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Calls that no good program makes: null for every pointer, counts without end, buffers freed while
 * they are current, very many of them, handlers that receive, a thread that leaves while others wait.
 * Each gets a result. Needs a machine, or, with the argument "alone", does what needs none.
 */
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "pvm3.h"
#include "pvmtev.h"

#define CHECK(condition)                                                        \
    do {                                                                        \
        if (!(condition)) {                                                     \
            printf("line %d: %s\n", __LINE__, #condition);                      \
            exit(1);                                                            \
        }                                                                       \
    } while (0)

static void buffers(int many)
{
    int *ids = malloc((size_t)many * sizeof *ids), i, number = 5;
    char text[8];

    for (i = 0; i < many; i++) {
        ids[i] = pvm_mkbuf(i % 3);
        CHECK(ids[i] > 0);
        pvm_setsbuf(ids[i]);
        CHECK(pvm_pkint(&number, 1, 1) == 0);
    }
    for (i = 0; i < many; i++)
        CHECK(pvm_freebuf(ids[i]) == 0);
    CHECK(pvm_freebuf(ids[0]) == PvmNoSuchBuf);
    free(ids);

    CHECK(pvm_getsbuf() == 0 && pvm_pkint(&number, 1, 1) == PvmNoBuf);
    CHECK(pvm_initsend(PvmDataRaw) > 0 && pvm_freebuf(pvm_getsbuf()) == 0);
    CHECK(pvm_send(0x40001, 1) == PvmNoBuf && pvm_pkstr("x") == PvmNoBuf);
    CHECK(pvm_upkint(&number, 1, 1) == PvmNoBuf && pvm_upkstr(text) == PvmNoBuf);

    CHECK(pvm_initsend(PvmDataDefault) > 0);
    CHECK(pvm_pkint(&number, INT_MIN, 1) == PvmBadParam && pvm_pkint(0, 1, 1) == PvmBadParam);
    CHECK(pvm_pkint(0, INT_MAX, INT_MIN) == PvmBadParam && pvm_pkstr(0) == PvmBadParam);
    CHECK(pvm_pkmesg(pvm_getsbuf()) == PvmBadParam && pvm_pkmesgbody(-4) == PvmBadParam);
    CHECK(pvm_packf(0) == PvmBadParam && pvm_packf("%") == PvmBadParam);
    CHECK(pvm_packf("%s", (char *)0) == PvmBadParam && pvm_packf("%3d", (int *)0) == PvmBadParam);
    CHECK(pvm_setrbuf(pvm_getsbuf()) >= 0 && pvm_upkint(0, 1, 1) == PvmBadParam);
    CHECK(pvm_upkdouble((double *)text, INT_MAX, 3) < 0 && pvm_upkstr(0) == PvmBadParam);
    CHECK(pvm_unpackf(0) == PvmBadParam && pvm_unpackf("%d", (int *)0) == PvmBadParam);
    CHECK(pvm_bufinfo(pvm_getrbuf(), 0, 0, 0) == 0 && pvm_getminfo(pvm_getrbuf(), 0) == PvmBadParam);
    CHECK(pvm_setminfo(pvm_getrbuf(), 0) == PvmBadParam && pvm_bufinfo(INT_MIN, 0, 0, 0) < 0);
    CHECK(pvm_freebuf(pvm_getrbuf()) == 0 && pvm_getrbuf() == 0);
}

static void nulls(int me)
{
    int type = PVM_INT, one = 1, info = 0;
    int bad = 0;

    bad += pvm_spawn(0, 0, 0, 0, 1, 0) == PvmBadParam;
    bad += pvm_spawn("nothing", 0, 0, 0, 0, 0) == PvmBadParam;
    bad += pvm_notify(PvmTaskExit, 1, 1, 0) == PvmBadParam;
    bad += pvm_notify(PvmTaskExit, 1, INT_MAX, 0) == PvmBadParam;
    bad += pvm_addhosts(0, 1, 0) == PvmBadParam && pvm_delhosts(0, 1, 0) == PvmBadParam;
    bad += pvm_addhosts(0, INT_MIN, 0) == PvmBadParam;
    bad += pvm_mstat(0) == PvmBadParam && pvm_archcode(0) == PvmBadParam;
    bad += pvm_putinfo(0, 1, 0) == PvmBadParam && pvm_recvinfo(0, 0, 0) == PvmBadParam;
    bad += pvm_delinfo(0, 0, 0) == PvmBadParam && pvm_putinfo("x", 77777, 0) < 0;
    bad += pvm_export(0) == PvmBadParam && pvm_unexport(0) == PvmBadParam;
    bad += pvm_settmask(0, 0) == PvmBadParam && pvm_gettmask(0, 0) == PvmBadParam;
    bad += pvm_addmhf(-1, 1, 0, 0) == PvmBadParam;
    bad += pvm_psend(me, 1, 0, 4, PVM_INT) == PvmBadParam;
    bad += pvm_precv(me, 1, 0, 4, PVM_INT, 0, 0, 0) == PvmBadParam;
    bad += pvm_mcast(0, 2, 1) == PvmNoBuf && pvm_mcast(0, -2, 1) == PvmNoBuf;
    CHECK(bad == 15);
    CHECK(pvm_config(0, 0, 0) == 0 && pvm_tasks(0, 0, 0) == 0 && pvm_siblings(0) >= 1);
    CHECK(pvm_getmboxinfo(0, 0, 0) == 0 && pvm_hostsync(pvm_tidtohost(me), 0, 0) == 0);
    CHECK(pvm_getfds(0) >= 1 && pvm_perror(0) == 0 && pvm_catchout(0) == 0);
    CHECK(pvm_joingroup(0) < 0 && pvm_lvgroup(0) < 0 && pvm_gsize(0) < 0 && pvm_gettid(0, 0) < 0);
    CHECK(pvm_barrier(0, 1) < 0 && pvm_bcast(0, 1) < 0 && pvm_getinst(0, 1) < 0);
    CHECK(pvm_reduce(0, 0, 1, PVM_INT, 1, "x", 0) == PvmBadParam);
    CHECK(pvm_reduce(PvmSum, 0, 1, PVM_INT, 1, "x", 0) == PvmBadParam);
    CHECK(pvm_gather(0, 0, 1, PVM_INT, 1, "x", 0) < 0 && pvm_scatter(0, 0, 1, PVM_INT, 1, "x", 0) < 0);
    CHECK(pvm_freezegroup(0, 1) < 0 && pvm_recv(-5, 1) == PvmBadParam && pvm_nrecv(-5, -7) == 0);
    PvmSum(&type, 0, 0, &one, &info);
    CHECK(info == PvmBadParam);
    PvmMax(0, 0, 0, 0, 0);
}

static int depth, deepest;

/* Receives in its handler what the handler itself takes. */
static int again(int id)
{
    int n = 0, me = pvm_mytid();

    if (++depth > deepest)
        deepest = depth;
    CHECK(pvm_upkint(&n, 1, 1) == 0);
    if (n > 0) {
        n--;
        pvm_initsend(PvmDataDefault);
        pvm_pkint(&n, 1, 1);
        CHECK(pvm_send(me, 50) == 0 && pvm_nrecv(-1, 50) == 0);
    }
    depth--;
    return id > 0;
}

static void handlers(int me)
{
    int number = pvm_addmhf(-1, 50, -1, again), n = 200;

    CHECK(number > 0 && pvm_initsend(PvmDataDefault) > 0 && pvm_pkint(&n, 1, 1) == 0);
    CHECK(pvm_send(me, 50) == 0 && pvm_nrecv(-1, 51) == 0);
    CHECK(deepest > 1 && depth == 0);
    CHECK(pvm_delmhf(number) == 0);
}

static atomic_int told;

static void *waiter(void *result)
{
    *(int *)result = pvm_recv(-1, 77);
    told++;
    return 0;
}

static void *worker(void *tid)
{
    int i, n, sum = 0, tag = 1000 + (int)((long)pthread_self() >> 12 & 0xffff), me = *(int *)tid;

    for (i = 0; i < 2000; i++) {
        if (pvm_initsend(i % 2) < 0 || pvm_pkint(&i, 1, 1) != 0 || pvm_send(me, tag) != 0)
            return (void *)1;
        if (pvm_recv(me, tag) <= 0 || pvm_upkint(&n, 1, 1) != 0)
            return (void *)2;
        sum += n;
    }
    return sum == 2000 * 1999 / 2 ? 0 : (void *)3;
}

/* Frees whatever has a number, while others use theirs. */
static void *freer(void *unused)
{
    int i;

    (void)unused;
    for (i = 0; i < 20000; i++)
        pvm_freebuf(1 + i % 20);
    return 0;
}

static void *careless(void *tid)
{
    int i, n, me = *(int *)tid;

    for (i = 0; i < 2000; i++) {
        pvm_initsend(i % 2);
        for (n = 0; n < 5; n++)
            pvm_pkint(&i, 1, 1);
        pvm_send(me, 40);
        pvm_nrecv(me, 40);
        pvm_upkint(&n, 1, 1);
    }
    return 0;
}

static void threads(int me)
{
    pthread_t all[4];
    int i, results[4];
    void *result;

    for (i = 0; i < 4; i++)
        CHECK(pthread_create(&all[i], 0, worker, &me) == 0);
    for (i = 0; i < 4; i++)
        CHECK(pthread_join(all[i], &result) == 0 && result == 0);
    for (i = 0; i < 3; i++)
        CHECK(pthread_create(&all[i], 0, careless, &me) == 0);
    CHECK(pthread_create(&all[3], 0, freer, 0) == 0);
    for (i = 0; i < 4; i++)
        CHECK(pthread_join(all[i], &result) == 0);

    for (i = 0; i < 4; i++)
        CHECK(pthread_create(&all[i], 0, waiter, &results[i]) == 0);
    usleep(50000);
    CHECK(pvm_exit() == 0);
    /* On a busy computer a thread begins to wait only then. It enrols the process anew, and the next exit tells it. */
    while (told < 4) {
        CHECK(pvm_mytid() > 0 && pvm_exit() == 0);
        usleep(1000);
    }
    for (i = 0; i < 4; i++)
        CHECK(pthread_join(all[i], &result) == 0 && results[i] == PvmSysErr);
}

int main(int argc, char **argv)
{
    int me;

    pvm_setopt(PvmAutoErr, 0);
    buffers(argc > 2 ? atoi(argv[2]) : 100000);
    if (argc > 1 && strcmp(argv[1], "alone") == 0)
        return 0;
    me = pvm_mytid();
    CHECK(me > 0);
    nulls(me);
    handlers(me);
    threads(me);
    return 0;
}
