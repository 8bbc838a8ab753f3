/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Every call of MPL, on any number of tasks. */
#include <errno.h>
#include <mpl.h>
#include "../../pvm2/tests/check.h"

/* Fortran's spelling, which no header declares. */
int mp_environ_(int *, int *);
int mp_bsend_(void *, int *, int *, int *);
int mp_brecv_(void *, int *, int *, int *, int *);
int mp_bsendrecv_(void *, int *, int *, int *, void *, int *, int *, int *);
int mp_send_(void *, int *, int *, int *, int *);
int mp_recv_(void *, int *, int *, int *, int *);
int mp_status_(int *);
int mp_wait_(int *, int *);
int mp_probe_(int *, int *, int *);
int mp_sync_(int *);
int mp_bcast_(void *, int *, int *, int *);
int mp_stopall_(int *);

static int tasks, me, right, left, group = ALLGRP;

static void blocking(void)
{
    int from = DONTCARE, type = DONTCARE, out = me, in = -1;
    size_t bytes = 77;

    CHECK_IS(mpc_bsend(&out, sizeof out, right, 5), 0);
    CHECK_IS(mpc_brecv(&in, sizeof in, &from, &type, &bytes), 0);
    CHECK(in == left && from == left && type == 5 && bytes == sizeof in);
    CHECK_IS(mpc_bsend(NULL, 0, right, 6), 0);
    type = 6;
    CHECK_IS(mpc_brecv(NULL, 0, &from, &type, &bytes), 0);
    CHECK_IS(bytes, 0);
    from = left;
    CHECK_IS(mpc_bsendrecv(&out, sizeof out, right, 7, &in, sizeof in, &from, &bytes), 0);
    CHECK(in == left && bytes == sizeof in);
    CHECK_IS(mpc_sync(ALLGRP), 0);
}

static void under_way(void)
{
    int from = DONTCARE, type = 8, out = me + 100, in = -1, id = 0, sent = 0, any = DONTCARE;
    size_t bytes = 0;

    CHECK_IS(mpc_recv(&in, sizeof in, &from, &type, &id), 0);
    CHECK(mpc_status(id) == -1 && mperrno == 0);
    CHECK_IS(mpc_sync(ALLGRP), 0);
    CHECK_IS(mpc_send(&out, sizeof out, right, 8, &sent), 0);
    CHECK_IS(mpc_wait(&sent, &bytes), 0);
    CHECK_IS(mpc_wait(&id, &bytes), 0);
    CHECK(in == left + 100 && from == left && bytes == sizeof in);
    CHECK(mpc_wait(&id, &bytes) == -1 && mperrno == EINVAL);
    from = DONTCARE;
    CHECK_IS(mpc_recv(&in, sizeof in, &from, &type, &id), 0);
    CHECK_IS(mpc_bsend(&out, sizeof out, right, 8), 0);
    CHECK_IS(mpc_wait(&any, &bytes), 0);
    CHECK(any == id && from == left);
    from = DONTCARE;
    CHECK_IS(mpc_recv(&in, sizeof in, &from, &type, &id), 0);
    CHECK_IS(mpc_bsend(&out, sizeof out, right, 8), 0);
    CHECK_SOON((bytes = (size_t)mpc_status(id)) == sizeof in);
}

/* Of many that are posted the one that is done first is told, wherever it stands among them. The order of the last few,
 * which may have come at once, is not said. */
static void whichever_is_first(void)
{
    enum { POSTED = 3000, LAST = 16 };
    static int ins[POSTED], froms[POSTED], types[POSTED], ids[POSTED];
    int at, which, any;
    size_t bytes;

    for (at = 0; at < POSTED; at++) {
        froms[at] = left;
        types[at] = 100 + at;
        CHECK_IS(mpc_recv(&ins[at], sizeof ins[at], &froms[at], &types[at], &ids[at]), 0);
    }
    /* What comes before its receive is posted is done when that is. */
    CHECK_IS(mpc_sync(ALLGRP), 0);
    for (at = 0; at < POSTED; at++) {
        int out = at * 7919 % POSTED; /* in an order of its own */
        CHECK_IS(mpc_bsend(&out, sizeof out, right, 100 + out), 0);
    }
    for (at = 0; at < POSTED; at++) {
        any = DONTCARE;
        CHECK_IS(mpc_wait(&any, &bytes), 0);
        for (which = at * 7919 % POSTED; at >= POSTED - LAST && ids[which] != any;)
            which = (which + 1) % POSTED;
        CHECK(any == ids[which] && ins[which] == which && bytes == sizeof(int));
    }
    any = DONTCARE;
    CHECK(mpc_wait(&any, &bytes) == -1 && mperrno == EINVAL);
}

static void looking(void)
{
    int from = DONTCARE, type = 9, value = me;
    size_t bytes = 0;

    CHECK_IS(mpc_probe(&from, &type, &bytes), 0);
    CHECK(bytes == (size_t)-1);
    CHECK_IS(mpc_sync(ALLGRP), 0);
    CHECK_IS(mpc_bsend(&value, sizeof value, right, 9), 0);
    CHECK_SOON((from = DONTCARE, type = 9, mpc_probe(&from, &type, &bytes)) == 0 && bytes == sizeof value);
    CHECK_IS(from, left);
    CHECK_IS(mpc_brecv(&value, sizeof value, &from, &type, &bytes), 0);
    CHECK_IS(mpc_bcast(&value, sizeof value, 0, ALLGRP), 0);
    CHECK_IS(value, tasks - 1);
}

/* A program whose count is an int keeps what lies behind it. */
static void told_in_ints(void)
{
    struct { int bytes, behind; } told = {77, 4711};
    int from = left, type = 12, value = me, id = 0;
    size_t wide = 77;

    CHECK_IS(mpc_probe(&from, &type, &told.bytes), 0);
    CHECK(told.bytes == -1 && told.behind == 4711);
    CHECK_IS(mpc_sync(ALLGRP), 0);
    CHECK_IS(mpc_bsend(&value, sizeof value, right, 12), 0);
    CHECK_IS(mpc_brecv(&value, sizeof value, &from, &type, &told.bytes), 0);
    CHECK(told.bytes == 4 && told.behind == 4711);
    CHECK_IS(mpc_bsendrecv(&value, 3, right, 12, &value, sizeof value, &from, &told.bytes), 0);
    CHECK(told.bytes == 3 && told.behind == 4711);
    CHECK_IS(mpc_send(&value, 2, right, 12, &id), 0);
    CHECK_IS(mpc_wait(&id, &told.bytes), 0);
    CHECK(told.bytes == 2 && told.behind == 4711);
    CHECK_IS((mpc_brecv)(&value, sizeof value, &from, &type, &wide), 0);
    CHECK_IS(wide, 2);
    CHECK_IS(mpc_bsend(&value, sizeof value, right, 13), 0);
    type = 13;
    CHECK_IS(mpc_brecv(&value, sizeof value, &from, &type, (long long *)&wide), 0);
    CHECK_IS(wide, 4);
    CHECK_IS(mpc_bsend(&value, 1, right, 14), 0);
    type = 14;
    CHECK_IS(mpc_brecv(&value, sizeof value, &from, &type, (size_t *)NULL), 0);
}

static void refused(void)
{
    int from = DONTCARE, type = 10, value = 0, big[2] = {1, 2};
    size_t bytes = 0;

    CHECK(mpc_bsend(&value, 4, tasks, 1) == -1 && mperrno == EINVAL);
    CHECK(mpc_bsend(&value, 4, -1, 1) == -1 && mperrno == EINVAL);
    CHECK(mpc_bsend(&value, 4, me, -1) == -1 && mperrno == EINVAL);
    CHECK(mpc_bsend(NULL, 4, me, 1) == -1 && mperrno == EINVAL);
    CHECK(mpc_brecv(&value, 4, NULL, &type, &bytes) == -1 && mperrno == EINVAL);
    CHECK(mpc_sync(3) == -1 && mperrno == EINVAL);
    CHECK(mpc_status(12345) == -1 && mperrno == EINVAL);
    CHECK_IS(mpc_bsend(big, sizeof big, right, 10), 0);
    CHECK(mpc_brecv(&value, sizeof value, &from, &type, &bytes) == -1 && mperrno == EMSGSIZE);
    value = -1;
    type = 10;
    CHECK(mp_bsend(big, &value, &right, &type) == -1 && mperrno == EINVAL);
}

/* The two spellings with addresses are one. */
static void by_address(void)
{
    int from = left, type = 11, out = me, in = -1, four = 4, bytes = 0, id = 0, zero = 0, n = 0, who = -1;

    CHECK_IS(mp_environ(&n, &who), 0);
    CHECK_IS(mp_environ_(&n, &who), 0);
    CHECK(n == tasks && who == me);
    CHECK_IS(mp_bsend(&out, &four, &right, &type), 0);
    CHECK_IS(mp_brecv_(&in, &four, &from, &type, &bytes), 0);
    CHECK(in == left && bytes == 4);
    CHECK_IS(mp_bsend_(&out, &four, &right, &type), 0);
    CHECK_IS(mp_brecv(&in, &four, &from, &type, &bytes), 0);
    CHECK_IS(mp_bsendrecv(&out, &four, &right, &type, &in, &four, &from, &bytes), 0);
    CHECK_IS(mp_bsendrecv_(&out, &four, &right, &type, &in, &four, &from, &bytes), 0);
    CHECK_IS(mp_recv(&in, &four, &from, &type, &id), 0);
    CHECK_IS(mp_send_(&out, &four, &right, &type, &n), 0);
    CHECK_IS(mp_wait(&n, &bytes), 0);
    CHECK_IS(mp_wait_(&id, &bytes), 0);
    CHECK_IS(mp_recv_(&in, &four, &from, &type, &id), 0);
    CHECK_IS(mp_send(&out, &four, &right, &type, &n), 0);
    CHECK_SOON(mp_status(&n) == 4 || mp_status_(&n) == 4);
    CHECK_SOON(mp_status_(&id) == 4);
    CHECK_IS(mp_probe(&from, &type, &bytes), 0);
    CHECK_IS(mp_probe_(&from, &type, &bytes), 0);
    CHECK_IS(bytes, -1);
    CHECK_IS(mp_bcast(&in, &four, &zero, &group), 0);
    CHECK_IS(mp_bcast_(&in, &four, &zero, &group), 0);
    CHECK_IS(mp_sync(&group), 0);
    CHECK_IS(mp_sync_(&group), 0);
}

/* Ends the whole job with this code. */
static void stop(const char *how)
{
    int code = 7;

    if (me != tasks - 1)
        pause();
    if (!strcmp(how, "mpc"))
        mpc_stopall(code);
    if (!strcmp(how, "mp"))
        mp_stopall(&code);
    mp_stopall_(&code);
}

int main(int argc, char **argv)
{
    CHECK_IS(mpc_environ(&tasks, &me), 0);
    right = (me + 1) % tasks;
    left = (me + tasks - 1) % tasks;
    if (argc > 1)
        stop(argv[1]);
    blocking();
    under_way();
    whichever_is_first();
    looking();
    told_in_ints();
    refused();
    by_address();
    return 0;
}
