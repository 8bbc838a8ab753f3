/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The calls of PVM 3 and of neopvm.h, within the same processes as the calls of the interface that is measured. PVM is
 * `raw`, `default` (PvmDataDefault, the one encoding that PVM 2.4 has) or `daemons` (that with PvmDontRoute); `items`
 * are the calls of neopvm.h on which the interfaces stand. The receives of `any`, `anybody` (PVM, raw) and
 * `default-any` name no sender, as NX's crecv and PVM 2.4's rcv do not.
 */
#include <neopvm.h>
#include <pvm3.h>
#include <stdint.h>
#include <string.h>

#include "speed.h"

#define GROUP "speed"

static int tids[RANKS_MOST], encoding;

int pvm_own_tid(void)
{
    return pvm_mytid();
}

/* Rank 0 becomes instance 0, which is the root of sums. */
void pvm_learn(const int *list)
{
    memcpy(tids, list, (size_t)all * sizeof *tids);
    if (!own.sum)
        return;
    if (me == 0)
        pvm_joingroup(GROUP);
    own.meet();
    if (me != 0)
        pvm_joingroup(GROUP);
    own.meet();
    pvm_freezegroup(GROUP, all);
}

static void be_raw(void)
{
    pvm_setopt(PvmRoute, PvmAllowDirect);
    encoding = PvmDataRaw;
}

static void be_default(void)
{
    pvm_setopt(PvmRoute, PvmAllowDirect);
    encoding = PvmDataDefault;
}

static void be_daemons(void)
{
    pvm_setopt(PvmRoute, PvmDontRoute);
    encoding = PvmDataDefault;
}

static void send_to(int to, int bytes)
{
    pvm_initsend(encoding);
    pvm_pkbyte(data, bytes, 1);
    pvm_send(tids[to], 5);
}

static void take(int from, int bytes)
{
    pvm_recv(tids[from], 5);
    pvm_upkbyte(data, bytes, 1);
}

static void take_of_anybody(int from, int bytes)
{
    (void)from;
    pvm_recv(-1, 5);
    pvm_upkbyte(data, bytes, 1);
}

static void meet(void)
{
    pvm_barrier(GROUP, all);
}

static void sum(double *x, int count)
{
    pvm_reduce(PvmSum, x, count, PVM_DOUBLE, 6, GROUP, 0);
    if (me == 0) {
        pvm_initsend(PvmDataRaw);
        pvm_pkdouble(x, count, 1);
        pvm_bcast(GROUP, 7);
    } else {
        pvm_recv(tids[0], 7);
        pvm_upkdouble(x, count, 1);
    }
}

static void broadcast(int root, int bytes)
{
    if (me == root) {
        pvm_initsend(PvmDataRaw);
        pvm_pkbyte(data, bytes, 1);
        pvm_bcast(GROUP, 8);
    } else {
        pvm_recv(tids[root], 8);
        pvm_upkbyte(data, bytes, 1);
    }
}

static void send_items(int to, int bytes)
{
    neopvm_send_items(NEOPVM_RAW, NEOPVM_BYTE, data, (uint64_t)bytes, tids[to], 5, 0);
}

static void take_items_of(int tid, int bytes)
{
    struct neopvm_received got;
    neopvm_receive_items(tid, 5, 0, -1, &got);
    if (got.buffer == 0) {
        memcpy(data, got.items, (size_t)bytes);
        return;
    }
    neopvm_unpack(got.buffer, NEOPVM_BYTE, data, (uint64_t)bytes, 1);
    neopvm_free(got.buffer);
}

static void take_items(int from, int bytes)
{
    take_items_of(tids[from], bytes);
}

static void take_any(int from, int bytes)
{
    (void)from;
    take_items_of(NEOPVM_ANY, bytes);
}

const struct way *pvm_way(const char *name)
{
    static const struct way ways[] = {
        {"raw", be_raw, send_to, take, meet, sum, broadcast},
        {"anybody", be_raw, send_to, take_of_anybody, NULL, NULL, NULL},
        {"default", be_default, send_to, take, NULL, NULL, NULL},
        {"default-any", be_default, send_to, take_of_anybody, NULL, NULL, NULL},
        {"daemons", be_daemons, send_to, take, NULL, NULL, NULL},
        {"items", be_raw, send_items, take_items, NULL, NULL, NULL},
        {"any", be_raw, send_items, take_any, NULL, NULL, NULL},
    };
    size_t at = 0;
    while (strcmp(ways[at].name, name) != 0)
        at++;
    return &ways[at];
}
