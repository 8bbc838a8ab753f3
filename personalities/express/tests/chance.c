/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* chance SEED [OPERATIONS]: ../../tests/chance.h by the calls of the Express-style interface. */
#include <sched.h>

#include "express.h"

#define OWN 1
#define ANY_TYPE 1
#define EITHER 0
#define SENDS 3
#define ACKNOWLEDGED (-1)
#define ALL_SENDS 1
#define RECEIVES 3
#define POSTS 1
#define POST_ANY 1
#define HANDLERS 1
#define POST_THREADS 1
#define TOGETHERS 4
#include "../../tests/chance.h"

static void enter(int argc, char **argv)
{
    struct nodenv env;
    (void)argc, (void)argv;
    exparam(&env);
    me = env.procnum;
    all = env.nprocs;
}

static void leave(void)
{
}

static void send_one(int how, int to, int type, char *data, int bytes)
{
    int status = -5, node = to == -1 ? ALLNODES : to;
    if (how == 1 && to != -1) {
        MUST_BE(exsend(data, bytes, &node, &type, &status), 0);
        MUST_BE(status, bytes);
    } else if (how == 2) {
        MUST_BE(exvwrite(data, 1, 1, bytes, &node, &type), bytes);
    } else {
        MUST_BE(exwrite(data, bytes, &node, &type), bytes);
    }
}

static struct came receive_one(int how, struct wanted wanted, char *data, int room)
{
    int source = wanted.source, type = wanted.type, probed = -1, bytes = -5;
    while (how == 1 && (probed = extest(&source, &type)) < 0)
        sched_yield();
    if (how == 2)
        bytes = exvread(data, 1, 1, room, &source, &type);
    else
        bytes = exread(data, room, &source, &type);
    MUST(probed < 0 || probed == bytes);
    return (struct came){source, type, bytes};
}

static struct {
    int source, type;
    volatile int status;
} waited[POSTED_MAX];

static void post_one(int how, int slot, struct wanted wanted, char *data, int room)
{
    (void)how;
    waited[slot].source = wanted.source;
    waited[slot].type = wanted.type;
    MUST_BE(exreceive(data, room, &waited[slot].source, &waited[slot].type, (int *)&waited[slot].status), 0);
}

static struct came finish_posted(int slot)
{
    while (waited[slot].status < 0)
        sched_yield();
    return (struct came){waited[slot].source, waited[slot].type, waited[slot].status};
}

static int handler(char *data, int bytes, int source, int type)
{
    handled((struct came){source, type, bytes}, data);
    return 0;
}

static void post_handler(int type)
{
    int any = DONTCARE;
    exhandle(handler, &any, &type);
}

static void barrier(void)
{
    exsync();
}

/* Some of the nodes in some order, or all: how many, or ALLNODES. */
static int some_nodes(struct dice *dice, int *list)
{
    if (roll(dice, 3) == 0) {
        for (int at = 0; at < all; at++)
            list[at] = at;
        return ALLNODES;
    }
    for (int at = 0; at < all; at++) {
        int other = (int)roll(dice, (uint32_t)at + 1);
        list[at] = list[other];
        list[other] = at;
    }
    return 1 + (int)roll(dice, (uint32_t)all);
}

static int place_in(const int *list, int count)
{
    for (int at = 0; at < (count == ALLNODES ? all : count); at++)
        if (list[at] == me)
            return at;
    return -1;
}

static const int *given(const int *list, int count)
{
    return count == ALLNODES ? NULLPTR : list;
}

static void broadcast(struct dice *dice, int round)
{
    static char data[LENGTH_MAX];
    int list[RANKS_MAX], count = some_nodes(dice, list), origin = (int)roll(dice, (uint32_t)all), type = 50, result = -5;
    int bytes = length_of(dice);
    if (place_in(list, count) < 0 && me != origin)
        return;
    if (me == origin)
        fill(data, bytes, (uint32_t)round);
    MUST_BE(exbroadcast(data, origin, bytes, count, given(list, count), &result, &type), bytes);
    check_bytes(data, bytes, (uint32_t)round);
}

static int add(void *one, void *other, int size)
{
    MUST_BE(size, sizeof(long));
    *(long *)one += *(long *)other;
    return 0;
}

static void combined(struct dice *dice, int round)
{
    static long x[3000];
    int list[RANKS_MAX], count = some_nodes(dice, list), type = 51;
    int items = 1 + (int)roll(dice, roll(dice, 10) == 0 ? 3000 : 30);
    if (place_in(list, count) < 0)
        return;
    long members = count == ALLNODES ? all : count, numbers = 0;
    for (int at = 0; at < members; at++)
        numbers += list[at];
    for (int at = 0; at < items; at++)
        x[at] = (long)me + at + round;
    MUST_BE(excombine(x, add, sizeof *x, items, count, given(list, count), &type), 0);
    for (int at = 0; at < items; at++)
        MUST_BE(x[at], numbers + members * (at + (long)round));
}

static void joined(struct dice *dice, int round)
{
    static char mine[500], everybody[500 * RANKS_MAX];
    int list[RANKS_MAX], count = some_nodes(dice, list), type = 52, lengths[RANKS_MAX], sizes[RANKS_MAX], total = 0;
    int members = count == ALLNODES ? all : count, place = place_in(list, count);
    for (int at = 0; at < members; at++)
        total += lengths[at] = (int)roll(dice, 500);
    if (place < 0)
        return;
    fill(mine, lengths[place], (uint32_t)(round + me));
    MUST_BE(exconcat(mine, lengths[place], everybody, sizeof everybody, sizes, count, given(list, count), &type), total);
    char *at = everybody;
    for (int member = 0; member < members; member++) {
        MUST_BE(sizes[member], lengths[member]);
        check_bytes(at, lengths[member], (uint32_t)(round + list[member]));
        at += lengths[member];
    }
}

static void together(int which, struct dice *dice, int round)
{
    switch (which) {
    case 0: broadcast(dice, round); break;
    case 1: combined(dice, round); break;
    case 2: joined(dice, round); break;
    default: exsync();
    }
}
