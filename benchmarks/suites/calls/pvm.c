/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "pvm3.h"
#ifdef NEOPVM
#include "neopvm.h"
#endif
#include "calls.h"

enum { TAG = 7, ROSTER = 8, TASKS_MAX = 64 };

static char group[] = "benchmark";

static int tids[TASKS_MAX], count, me;
static char program[PATH_MAX];

static void fail(const char *what, int code)
{
    fprintf(stderr, "%s: code %d\n", what, code);
    pvm_exit();
    exit(1);
}

static void check(const char *what, int code)
{
    if (code < 0)
        fail(what, code);
}

/* Polled, as a group has no message that tells of its growth. */
static void wait_for_members(int members)
{
    int size;

    while ((size = pvm_gsize(group)) != members && !(members == 0 && size == PvmNoGroup))
        usleep(500);
}

/* The first task starts the others with its own arguments, host after host, and tells all their ids. */
static void lead(char **argv, int tasks)
{
    struct pvmhostinfo *hosts;
    int hosts_count, i, home = 0, started, daemon = pvm_tidtohost(pvm_mytid());

    check("no hosts", pvm_config(&hosts_count, NULL, &hosts));
    for (i = 0; i < hosts_count; i++)
        if (hosts[i].hi_tid == daemon)
            home = i;
    tids[0] = pvm_mytid();
    for (i = 1; i < tasks; i++) {
        started = pvm_spawn(program, argv + 1, hosts_count > 1 ? PvmTaskHost : PvmTaskDefault,
                            hosts_count > 1 ? hosts[(home + i) % hosts_count].hi_name : "", 1, tids + i);
        if (started != 1)
            fail("cannot start the other tasks", started < 0 ? started : tids[i]);
    }
    if (tasks > 1) {
        pvm_initsend(PvmDataDefault);
        pvm_pkint(tids, tasks, 1);
        check("cannot tell the other tasks", pvm_mcast(tids + 1, tasks - 1, ROSTER));
    }
}

void calls_partner(const char *other)
{
    snprintf(program, sizeof program, "%s", other);
}

int calls_begin(int *argc, char ***argv, int tasks, enum route route)
{
    int tid = pvm_mytid();

    (void)argc;
    if (tid < 0 || tasks > TASKS_MAX)
        fail("no task", tid);
    if (!*program && !realpath((*argv)[0], program))
        snprintf(program, sizeof program, "%s", (*argv)[0]);
    pvm_setopt(PvmRoute, route == DIRECT ? PvmRouteDirect : PvmDontRoute);
    count = tasks;
    if (pvm_parent() == PvmNoParent) {
        lead(*argv, tasks);
    } else {
        check("no roster", pvm_recv(pvm_parent(), ROSTER));
        pvm_upkint(tids, tasks, 1);
    }
    for (me = 0; me < tasks && tids[me] != tid;)
        me++;
    /* A group's numbers are given in the order of joining: this one makes them the roster's. */
    if (tasks > 2) {
        wait_for_members(me);
        check("cannot join the group", pvm_joingroup(group));
        wait_for_members(tasks);
    }
    return me;
}

void calls_end(void)
{
    pvm_exit();
}

/* The buffer of UNPACKED: filled when the size changes. */
static int kept(const void *data, int bytes)
{
    static int buffer, kept_bytes = -1;
    int before;

    if (kept_bytes != bytes) {
        if (kept_bytes >= 0)
            pvm_freebuf(buffer);
        buffer = pvm_mkbuf(PvmDataRaw);
        before = pvm_setsbuf(buffer);
        pvm_pkint((int *)data, bytes / 4, 1);
        pvm_setsbuf(before);
        kept_bytes = bytes;
    }
    return buffer;
}

static void send_kept(int to, const void *data, int bytes)
{
    int before = pvm_setsbuf(kept(data, bytes));

    check("send", pvm_send(tids[to], TAG));
    pvm_setsbuf(before);
}

void calls_send(enum mode mode, int to, const void *data, int bytes)
{
    if (mode == UNPACKED) {
        send_kept(to, data, bytes);
        return;
    }
    pvm_initsend(mode == IN_PLACE ? PvmDataInPlace : mode == RAW ? PvmDataRaw : PvmDataDefault);
    if (bytes)
        pvm_pkint((int *)data, bytes / 4, 1);
    check("send", pvm_send(tids[to], TAG));
}

void calls_receive(enum mode mode, int from, void *data, int bytes)
{
    check("receive", pvm_recv(tids[from], TAG));
    if (bytes && mode != UNPACKED)
        pvm_upkint(data, bytes / 4, 1);
}

void calls_shift(int to, const void *out, int from, void *in, int bytes)
{
    calls_send(RAW, to, out, bytes);
    calls_receive(RAW, from, in, bytes);
}

void calls_barrier(void)
{
    char word = 0;

    if (count > 2) {
        check("barrier", pvm_barrier(group, count));
    } else if (count == 2) {
        calls_shift(!me, &word, !me, &word, 0);
    }
}

void calls_broadcast(int from, void *data, int bytes)
{
    if (me != from) {
        calls_receive(RAW, from, data, bytes);
    } else if (count > 2) {
        pvm_initsend(PvmDataRaw);
        pvm_pkint(data, bytes / 4, 1);
        check("broadcast", pvm_bcast(group, TAG));
    } else if (count == 2) {
        calls_send(RAW, !me, data, bytes);
    }
}

/* PVM's reduction ends at one task. */
void calls_sum(double *data, int n)
{
    if (count > 2) {
        check("sum", pvm_reduce(PvmSum, data, n, PVM_DOUBLE, TAG + 2, group, 0));
    } else if (me == 1) {
        calls_send(RAW, 0, data, 8 * n);
    } else if (count == 2) {
        double *other = malloc(8 * (size_t)n);
        int i;
        calls_receive(RAW, 1, other, 8 * n);
        for (i = 0; i < n; i++)
            data[i] += other[i];
        free(other);
    }
    calls_broadcast(0, data, 8 * n);
}

void calls_exchange_all(const char *out, char *in, int bytes)
{
    int step, to, from;

    memcpy(in + (size_t)me * (size_t)bytes, out + (size_t)me * (size_t)bytes, (size_t)bytes);
    for (step = 1; step < count; step++) {
        to = (me + step) % count;
        calls_send(RAW, to, out + (size_t)to * (size_t)bytes, bytes);
    }
    for (step = 1; step < count; step++) {
        from = (me + count - step) % count;
        calls_receive(RAW, from, in + (size_t)from * (size_t)bytes, bytes);
    }
}

#ifdef NEOPVM
enum { EXPOSED = 1 };

static int owner_now;

void calls_expose(int owner, const void *data, int bytes)
{
    void *memory;

    owner_now = owner;
    if (me == owner) {
        check("expose", neopvm_expose(EXPOSED, (uint64_t)bytes, NEOPVM_MAY_READ, &memory));
        memcpy(memory, data, (size_t)bytes);
    }
    calls_barrier();
}

void calls_get(int owner, void *data, int bytes)
{
    check("get", neopvm_get_memory(tids[owner], EXPOSED, 0, data, (uint64_t)bytes));
}

void calls_withdraw(void)
{
    calls_barrier();
    if (me == owner_now)
        check("withdraw", neopvm_withdraw(EXPOSED));
}
#else
void calls_expose(int owner, const void *data, int bytes)
{
    (void)owner, (void)data, (void)bytes;
    fail("this system exposes no memory", PvmNotImpl);
}

void calls_get(int owner, void *data, int bytes)
{
    calls_expose(owner, data, bytes);
}

void calls_withdraw(void)
{
}
#endif
