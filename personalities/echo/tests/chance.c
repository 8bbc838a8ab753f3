/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* chance SEED [OPERATIONS]: ../../tests/chance.h by the calls of whichever interface's header there is. */
#define EITHER 0
#define HANDLERS 0
#define POST_THREADS 0
#define OWN 1
#define RECEIVES 2

#if __has_include(<mpl.h>)
#include <mpl.h>
#define ANY_TYPE 1
#define SENDS 2
#define ACKNOWLEDGED (-1)
#define ALL_SENDS 0
#define POSTS 2
#define POST_ANY 1
#define TOGETHERS 2
#include "../../tests/chance.h"

static void enter(int argc, char **argv)
{
    (void)argc, (void)argv;
    MUST_BE(mpc_environ(&all, &me), 0);
}

static void send_one(int how, int to, int type, char *data, int bytes)
{
    int id = -5;
    size_t sent = 0;
    if (how == 0) {
        MUST_BE(mpc_bsend(data, (size_t)bytes, to, type), 0);
        return;
    }
    MUST_BE(mpc_send(data, (size_t)bytes, to, type, &id), 0);
    MUST_BE(mpc_wait(&id, &sent), 0);
}

static struct came receive_one(int how, struct wanted wanted, char *data, int room)
{
    size_t bytes = 0, probed = (size_t)-1;
    for (;;) {
        if (how == 1)
            MUST_BE(mpc_probe(&wanted.source, &wanted.type, &probed), 0);
        if (how == 0 || probed != (size_t)-1)
            break;
    }
    MUST_BE(mpc_brecv(data, (size_t)room, &wanted.source, &wanted.type, &bytes), 0);
    MUST(how == 0 || probed == bytes);
    return (struct came){wanted.source, wanted.type, (int)bytes};
}

static int ids[POSTED_MAX], hows[POSTED_MAX], sources[POSTED_MAX], types[POSTED_MAX];

static void post_one(int how, int slot, struct wanted wanted, char *data, int room)
{
    hows[slot] = how;
    sources[slot] = wanted.source;
    types[slot] = wanted.type;
    MUST_BE(mpc_recv(data, (size_t)room, &sources[slot], &types[slot], &ids[slot]), 0);
}

static struct came finish_posted(int slot)
{
    size_t bytes = 0;
    int status = -1;
    if (hows[slot] == 0) {
        MUST_BE(mpc_wait(&ids[slot], &bytes), 0);
    } else {
        while ((status = mpc_status(ids[slot])) < 0)
            MUST_BE(mperrno, 0);
        bytes = (size_t)status;
    }
    return (struct came){sources[slot], types[slot], (int)bytes};
}

static void barrier(void)
{
    MUST_BE(mpc_sync(ALLGRP), 0);
}

static void together(int which, struct dice *dice, int round)
{
    static char data[LENGTH_MAX];
    int root = (int)roll(dice, (uint32_t)all), bytes = length_of(dice);
    if (which == 0) {
        barrier();
        return;
    }
    if (me == root)
        fill(data, bytes, (uint32_t)round);
    MUST_BE(mpc_bcast(data, (size_t)bytes, root, ALLGRP), 0);
    check_bytes(data, bytes, (uint32_t)round);
}
#elif __has_include(<cmmd.h>)
#include <cmmd.h>
#define ANY_TYPE 1
#define SENDS 2
#define ACKNOWLEDGED 2
#define ALL_SENDS 0
#define POSTS 1
#define POST_ANY 1
#define TOGETHERS 4
#include "../../tests/chance.h"

static void enter(int argc, char **argv)
{
    (void)argc, (void)argv;
    me = CMMD_self_address();
    all = CMMD_partition_size();
}

static void send_one(int how, int to, int type, char *data, int bytes)
{
    if (how == 2)
        MUST_BE(CMMD_send_block(to, type, data, bytes), 0);
    else if (how == 1)
        MUST_BE(CMMD_msg_wait(CMMD_send_async(to, type, data, bytes)), 1);
    else
        MUST_BE(CMMD_send_noblock(to, type, data, bytes), 0);
}

static struct came told(void)
{
    return (struct came){CMMD_msg_sender(), CMMD_msg_tag(), CMMD_bytes_received()};
}

static struct came receive_one(int how, struct wanted wanted, char *data, int room)
{
    while (how == 1 && !CMMD_msg_pending(wanted.source, wanted.type))
        ;
    MUST_BE(CMMD_receive_block(wanted.source, wanted.type, data, room), 0);
    return told();
}

static CMMD_mcb ids[POSTED_MAX];

static void post_one(int how, int slot, struct wanted wanted, char *data, int room)
{
    (void)how;
    ids[slot] = CMMD_receive_async(wanted.source, wanted.type, data, room);
    MUST(ids[slot] > 0);
}

static struct came finish_posted(int slot)
{
    if (slot & 1)
        MUST_BE(CMMD_msg_wait(ids[slot]), 1);
    else
        while (CMMD_msg_done(ids[slot]) != 1)
            ;
    return told();
}

static void barrier(void)
{
    CMMD_sync_with_nodes();
}

static void together(int which, struct dice *dice, int round)
{
    static char data[LENGTH_MAX];
    int root = (int)roll(dice, (uint32_t)all), bytes = length_of(dice);
    if (which == 0) {
        barrier();
    } else if (which == 1) {
        MUST_BE(CMMD_reduce_int(me + round, CMMD_combiner_add), all * round + all * (all - 1) / 2);
        MUST_BE(CMMD_reduce_uint(1u << me, CMMD_combiner_ior), (1u << all) - 1);
    } else if (which == 2) {
        MUST(CMMD_reduce_double(me + 0.5, CMMD_combiner_max) == all - 0.5);
        MUST(CMMD_reduce_float((float)me, CMMD_combiner_min) == 0);
    } else {
        if (me == root)
            fill(data, bytes, (uint32_t)round);
        MUST_BE(me == root ? CMMD_bc_to_nodes(data, bytes) : CMMD_receive_bc_from_node(data, bytes), 0);
        check_bytes(data, bytes, (uint32_t)round);
    }
}
#elif __has_include(<vertex.h>)
#include <vertex.h>
#define ANY_TYPE 0 /* or what the barrier below sends would be taken */
#define SENDS 1
#define ACKNOWLEDGED (-1)
#define ALL_SENDS 1
#define POSTS 0
#define POST_ANY 0
#define TOGETHERS 0
#include "../../tests/chance.h"

static void enter(int argc, char **argv)
{
    int process, host, dimension;
    (void)argc, (void)argv;
    whoami(&me, &process, &host, &dimension);
    all = host;
}

static void send_one(int how, int to, int type, char *data, int bytes)
{
    int flag = -5;
    (void)how;
    MUST_BE(nwrite(data, bytes, to == -1 ? VERTEX_ALL : to, type, &flag), 0);
    MUST_BE(flag, 0);
}

static struct came receive_one(int how, struct wanted wanted, char *data, int room)
{
    int flag, probed = -1;
    while (how == 1 && (probed = ntest(&wanted.source, &wanted.type)) < 0)
        ;
    int bytes = nread(data, room, &wanted.source, &wanted.type, &flag);
    MUST(how == 0 || probed == bytes);
    return (struct came){wanted.source, wanted.type, bytes};
}

/* Vertex has none: one is made of its messages. */
static void barrier(void)
{
    int flag, type = 5000, from, word = 0;
    for (from = 1; from < all && me == 0; from++)
        MUST_BE(nread(&word, sizeof word, &from, &type, &flag), 4);
    if (me == 0)
        MUST_BE(all > 1 ? nwrite(&word, 4, VERTEX_ALL, type, &flag) : 0, 0);
    from = 0;
    if (me != 0) {
        nwrite(&word, 4, 0, type, &flag);
        MUST_BE(nread(&word, sizeof word, &from, &type, &flag), 4);
    }
}

static void together(int which, struct dice *dice, int round)
{
    (void)which, (void)dice, (void)round;
}
#else
#include <mpsc.h>
#define ANY_TYPE 1
#define SENDS 1
#define ACKNOWLEDGED (-1)
#define ALL_SENDS 0
#define POSTS 0
#define POST_ANY 0
#define TOGETHERS 1
#include "../../tests/chance.h"

static void enter(int argc, char **argv)
{
    (void)argc, (void)argv;
    me = mpsc_node();
    all = mpsc_count();
}

static void send_one(int how, int to, int type, char *data, int bytes)
{
    (void)how;
    MUST_BE(mpsc_send(to, type, data, bytes), 0);
}

static struct came receive_one(int how, struct wanted wanted, char *data, int room)
{
    int probed = -1;
    while (how == 1 && (probed = mpsc_test(&wanted.source, &wanted.type)) < 0)
        ;
    int bytes = mpsc_receive(&wanted.source, &wanted.type, data, room);
    MUST(how == 0 || probed == bytes);
    return (struct came){wanted.source, wanted.type, bytes};
}

static void barrier(void)
{
    MUST_BE(mpsc_barrier(), 0);
}

static void together(int which, struct dice *dice, int round)
{
    (void)which, (void)dice, (void)round;
    barrier();
}
#endif

static void leave(void)
{
}
