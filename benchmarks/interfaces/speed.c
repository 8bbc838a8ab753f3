/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What messages, sums, broadcasts, barriers, numbers, locks and handlers cost by the calls of an interface: OF_PVM,
 * OF_DEFAULT (the same with PvmDataDefault, the one encoding that PVM 2.4 has), OF_DAEMONS (that with PvmDontRoute),
 * OF_ITEMS (neopvm.h, on which the others stand; with OF_ANY its receives name no sender, as NX's crecv), OF_TCGMSG (built
 * with Debian's, too), OF_P4, OF_NX, OF_VSND or OF_SND (PVM 2.4, one-way alone). Rank 0 prints lines `KEY NANOSECONDS`,
 * the best of BATCHES each.
 *
 *     speed one-way | together | numbers | locks | handler | meet
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 1000000, BATCHES = 30 };

static int me, all;
static char *data;

static void enter(int argc, char **argv);
static void finish(void);
static void send_to(int to, int bytes);
static void take(int from, int bytes);
static void meet(void);
static void sum(double *x, int count);
static void broadcast(int root, int bytes);

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

#if defined OF_PVM || defined OF_DEFAULT || defined OF_DAEMONS || defined OF_ITEMS
#include <pvm3.h>
#ifdef OF_PVM
#define ENCODING PvmDataRaw
#else
#define ENCODING PvmDataDefault
#endif
#ifdef OF_ITEMS
#include <neopvm.h>
#endif

static int tids[64];

static void enter(int argc, char **argv)
{
    (void)argc, (void)argv;
#ifdef OF_DAEMONS
    pvm_setopt(PvmRoute, PvmDontRoute);
#endif
    me = pvm_joingroup("speed");
    all = atoi(getenv("SPEED_RANKS"));
    pvm_barrier("speed", all);
    for (int at = 0; at < all; at++)
        tids[at] = pvm_gettid("speed", at);
    pvm_freezegroup("speed", all);
}

static void finish(void)
{
    pvm_barrier("speed", all);
    pvm_exit();
}

#ifdef OF_ITEMS
static void send_to(int to, int bytes)
{
    neopvm_send_items(NEOPVM_RAW, NEOPVM_BYTE, data, (uint64_t)bytes, tids[to], 5, 0);
}

static void take(int from, int bytes)
{
    struct neopvm_received got;
#ifdef OF_ANY
    neopvm_receive_items(NEOPVM_ANY, 5, 0, -1, &got);
#else
    neopvm_receive_items(tids[from], 5, 0, -1, &got);
#endif
    if (got.buffer == 0) {
        memcpy(data, got.items, (size_t)bytes);
        return;
    }
    neopvm_unpack(got.buffer, NEOPVM_BYTE, data, (uint64_t)bytes, 1);
    neopvm_free(got.buffer);
}
#else
static void send_to(int to, int bytes)
{
    pvm_initsend(ENCODING);
    pvm_pkbyte(data, bytes, 1);
    pvm_send(tids[to], 5);
}

static void take(int from, int bytes)
{
    pvm_recv(tids[from], 5);
    pvm_upkbyte(data, bytes, 1);
}
#endif

static void meet(void)
{
    pvm_barrier("speed", all);
}

static void sum(double *x, int count)
{
    pvm_reduce(PvmSum, x, count, PVM_DOUBLE, 6, "speed", 0);
    if (me == 0) {
        pvm_initsend(ENCODING);
        pvm_pkdouble(x, count, 1);
        pvm_bcast("speed", 7);
    } else {
        pvm_recv(tids[0], 7);
        pvm_upkdouble(x, count, 1);
    }
}

static void broadcast(int root, int bytes)
{
    if (me == root) {
        pvm_initsend(ENCODING);
        pvm_pkbyte(data, bytes, 1);
        pvm_bcast("speed", 8);
    } else {
        pvm_recv(tids[root], 8);
        pvm_upkbyte(data, bytes, 1);
    }
}
#elif defined OF_VSND || defined OF_SND
#include <pvmuser.h>

static char *name;

/* The first one starts the other, on SPEED_HOST where that is set. */
static void enter(int argc, char **argv)
{
    (void)argc;
    name = strrchr(argv[0], '/') + 1;
    all = 2;
    me = enroll(name);
    if (me == 0 && (getenv("SPEED_HOST") ? initiateM(argv[0], getenv("SPEED_HOST")) : initiate(argv[0], NULL)) < 0)
        exit(1);
}

static void finish(void)
{
    meet();
    leave();
}

static void send_to(int to, int bytes)
{
    initsend();
    putbytes(data, bytes);
#ifdef OF_VSND
    vsnd(name, to, 5);
#else
    snd(name, to, 5);
#endif
}

static void take(int from, int bytes)
{
    (void)from;
#ifdef OF_VSND
    vrcv(5);
#else
    rcv(5);
#endif
    getbytes(data, bytes);
}

static void meet(void)
{
    barrier(name, all);
}

static void sum(double *x, int count)
{
    (void)x, (void)count;
}

static void broadcast(int root, int bytes)
{
    (void)root, (void)bytes;
}
#elif defined OF_TCGMSG
#include <tcgmsg.h>

static void enter(int argc, char **argv)
{
    tcg_pbegin(argc, argv);
    me = (int)tcg_nodeid();
    all = (int)tcg_nnodes();
}

static void finish(void)
{
    tcg_pend();
}

static void send_to(int to, int bytes)
{
    tcg_snd(5, data, bytes, to, 1);
}

static void take(int from, int bytes)
{
    long got, who;
    tcg_rcv(5, data, bytes, &got, from, &who, 1);
}

static void meet(void)
{
    tcg_synch(6);
}

static void sum(double *x, int count)
{
    tcg_dgop(7, x, count, "+");
}

static void broadcast(int root, int bytes)
{
    tcg_brdcst(8, data, bytes, root);
}
#elif defined OF_P4
#include <p4.h>

static char *message;

static void enter(int argc, char **argv)
{
    p4_initenv(&argc, argv);
    p4_create_procgroup();
    me = p4_get_my_id();
    all = p4_num_total_ids();
    message = p4_msg_alloc(MOST);
}

static void finish(void)
{
    p4_wait_for_end();
}

static void send_to(int to, int bytes)
{
    p4_sendb(5, to, message, bytes);
}

static void take(int from, int bytes)
{
    int type = 5;
    p4_recv(&type, &from, &message, &bytes);
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
        p4_broadcast(8, message, bytes);
    else
        p4_recv(&type, &root, &message, &bytes);
}
#elif defined OF_NX
#include <nx.h>

static void enter(int argc, char **argv)
{
    (void)argc, (void)argv;
    me = (int)mynode();
    all = (int)numnodes();
}

static void finish(void)
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
#endif

static void tell(const char *key, double nanoseconds)
{
    if (me == 0)
        printf("%s %.1f\n", key, nanoseconds);
}

/* Half of a round trip between ranks 0 and 1. */
static void one_way(void)
{
    static const int sizes[] = {8, 1000, 10000, 100000, 1000000};
    for (int at = 0; at < 5; at++) {
        int bytes = sizes[at], turns = bytes <= 1000 ? 1000 : bytes <= 10000 ? 200 : 20;
        double best = 1e30;
        char key[32];
        for (int batch = 0; batch < BATCHES; batch++) {
            double begin = now();
            for (int turn = 0; turn < turns; turn++) {
                if (me == 0)
                    send_to(1, bytes);
                take(1 - me, bytes);
                if (me == 1)
                    send_to(0, bytes);
            }
            double took = (now() - begin) / turns / 2;
            best = took < best ? took : best;
        }
        snprintf(key, sizeof key, "one-way-%d", bytes);
        tell(key, best);
    }
}

static void measure(const char *key, void (*call)(int), int what, int turns)
{
    double best = 1e30;
    for (int batch = 0; batch < BATCHES; batch++) {
        meet();
        double begin = now();
        for (int turn = 0; turn < turns; turn++)
            call(what);
        double took = (now() - begin) / turns;
        best = took < best ? took : best;
    }
    tell(key, best);
}

static void call_barrier(int what)
{
    (void)what;
    meet();
}

static void call_sum(int count)
{
    static double x[1000];
    sum(x, count);
}

/* The root changes, so nobody runs ahead. */
static void call_broadcast(int bytes)
{
    for (int root = 0; root < all; root++)
        broadcast(root, bytes);
}

static void together(void)
{
    measure("barrier", call_barrier, 0, 200);
    measure("sum-1", call_sum, 1, 200);
    measure("sum-1000", call_sum, 1000, 100);
    measure("broadcasts-8", call_broadcast, 8, 50);
    measure("broadcasts-10000", call_broadcast, 10000, 30);
}

/* A number of NXTVAL, for all ranks together. */
static void numbers(void)
{
#ifdef OF_TCGMSG
    double best = 1e30;
    for (int batch = 0; batch < BATCHES; batch++) {
        tcg_synch(9);
        double begin = now();
        for (int turn = 0; turn < 2000; turn++)
            tcg_nxtval(all);
        tcg_synch(9);
        double took = (now() - begin) / 2000 / all;
        best = took < best ? took : best;
        tcg_nxtval(-all);
    }
    tell("number", best);
#endif
}

/* A lock is taken, a number in shared memory raised, and the lock given back, by one process. */
static void locks(void)
{
#ifdef OF_P4
    struct shared { p4_lock_t lock; volatile long number; } *shared = p4_shmalloc(sizeof *shared);
    double best = 1e30;
    p4_lock_init(&shared->lock);
    for (int batch = 0; batch < BATCHES; batch++) {
        double begin = now();
        for (int turn = 0; turn < 10000; turn++) {
            p4_lock(&shared->lock);
            shared->number++;
            p4_unlock(&shared->lock);
        }
        double took = (now() - begin) / 10000;
        best = took < best ? took : best;
    }
    tell("lock", best);
#endif
}

#ifdef OF_NX
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
#endif

/* From before the send until the handler begins, while the program computes. */
static void handlers(void)
{
#ifdef OF_NX
    volatile double work = 1;
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
        tell("handler-median", delays[HANDLED / 2]);
        tell("handler-99", delays[HANDLED * 99 / 100]);
    }
    meet();
#endif
}

int main(int argc, char **argv)
{
    data = calloc(MOST, 1);
    enter(argc, argv);
    const char *what = argc > 1 ? argv[1] : "one-way";
    meet();
    if (strcmp(what, "one-way") == 0)
        one_way();
    else if (strcmp(what, "together") == 0)
        together();
    else if (strcmp(what, "numbers") == 0)
        numbers();
    else if (strcmp(what, "locks") == 0)
        locks();
    else if (strcmp(what, "handler") == 0)
        handlers();
    fflush(stdout);
    finish();
    return 0;
}
