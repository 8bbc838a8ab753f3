/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* chance SEED [OPERATIONS]: ../../tests/chance.h by the calls of NX. */
#include "nx.h"

#define OWN 1
#define ANY_TYPE 1
#define EITHER 1
#define SENDS 4
#define ACKNOWLEDGED (-1)
#define ALL_SENDS 1
#define RECEIVES 4
#define POSTS 2
#define POST_ANY 1
#define HANDLERS 1
#define POST_THREADS 0
#define TOGETHERS 6
#include "../../tests/chance.h"

static volatile long told; /* sends whose handlers have run */
static long told_wanted;

static void enter(int argc, char **argv)
{
    (void)argc, (void)argv;
    me = (int)mynode();
    all = (int)numnodes();
}

static void leave(void)
{
    while (told < told_wanted)
        flick();
}

static void sent(long type, long count, long node, long ptype)
{
    (void)type, (void)count, (void)ptype;
    MUST_BE(node, me);
    told = told + 1;
}

static void send_one(int how, int to, int type, char *data, int bytes)
{
    if (how == 1) {
        msgwait(isend(type, data, bytes, to, 0));
    } else if (how == 2) {
        msgignore(isend(type, data, bytes, to, 0));
    } else if (how == 3 && threads && to >= 0) {
        told_wanted++;
        hsend(type, data, bytes, to, 0, sent);
    } else if (how == 3 && to >= 0) {
        long nodes[1] = {to};
        gsendx(type, data, bytes, nodes, 1);
    } else {
        csend(type, data, bytes, to, 0);
    }
}

static int bit_of(int type)
{
    return type <= 30;
}

static long typesel_of(struct wanted wanted)
{
    if (wanted.type == -1 || wanted.other == -1 || !bit_of(wanted.type) || !bit_of(wanted.other))
        return wanted.type;
    return (long)(0x80000000u | 1u << wanted.type | 1u << wanted.other);
}

static struct came received(void)
{
    return (struct came){(int)infonode(), (int)infotype(), (int)infocount()};
}

static struct came receive_one(int how, struct wanted wanted, char *data, int room)
{
    long typesel = typesel_of(wanted), info[8] = {-5, -5, -5};
    if (how == 0 && wanted.source == -1) {
        crecv(typesel, data, room);
        return received();
    }
    if (how == 1) {
        cprobex(typesel, wanted.source, -1, info);
        typesel = info[0], wanted.source = (int)info[2];
    } else if (how == 2) {
        while (!iprobex(typesel, wanted.source, -1, info))
            flick();
        MUST(infotype() == info[0] && infocount() == info[1] && infonode() == info[2]);
        typesel = info[0], wanted.source = (int)info[2];
    }
    long probed = info[1];
    crecvx(typesel, data, room, wanted.source, -1, info);
    MUST(probed < 0 || probed == info[1]);
    return (struct came){(int)info[2], (int)info[0], (int)info[1]};
}

static long ids[POSTED_MAX], hows[POSTED_MAX];

static void post_one(int how, int slot, struct wanted wanted, char *data, int room)
{
    hows[slot] = how;
    ids[slot] = wanted.source == -1 ? irecv(wanted.type, data, room)
                                    : irecvx(wanted.type, data, room, wanted.source, -1, NULL);
}

static struct came finish_posted(int slot)
{
    if (hows[slot])
        msgwait(ids[slot]);
    else
        while (!msgdone(ids[slot]))
            flick();
    return received();
}

static char for_handler[LENGTH_MAX];

static void handler(long type, long count, long node, long ptype)
{
    (void)ptype;
    handled((struct came){(int)node, (int)type, (int)count}, for_handler);
    hrecv(type, for_handler, sizeof for_handler, handler);
}

static void post_handler(int type)
{
    hrecv(type, for_handler, sizeof for_handler, handler);
}

static void barrier(void)
{
    gsync();
}

static void sums(struct dice *dice, int round)
{
    static double x[3000], work[3000];
    int count = 1 + (int)roll(dice, roll(dice, 10) == 0 ? 3000 : 30);
    for (int at = 0; at < count; at++)
        x[at] = me + at * 2.0 + round;
    gdsum(x, count, work);
    for (int at = 0; at < count; at++)
        MUST(x[at] == all * (at * 2.0 + round) + all * (all - 1) / 2);
}

static void bits(struct dice *dice, int round)
{
    long x[4] = {1L << me, round + me, round + me, (long)roll(dice, 2)}, work[4];
    gior(x, 1, work);
    gihigh(x + 1, 1, work);
    gilow(x + 2, 1, work);
    glor(x + 3, 1, work);
    MUST(x[0] == (1L << all) - 1 && x[1] == round + all - 1 && x[2] == round);
}

/* Each node's bytes are as many as the plan says. */
static void collected(struct dice *dice, int round)
{
    static char mine[500], everybody[500 * RANKS_MAX];
    long lengths[RANKS_MAX], total = 0, count = -5;
    int known = (int)roll(dice, 2);
    for (int node = 0; node < all; node++)
        total += lengths[node] = roll(dice, 500);
    fill(mine, (int)lengths[me], (uint32_t)(round + me));
    if (known)
        gcolx(mine, lengths, everybody);
    else
        gcol(mine, lengths[me], everybody, sizeof everybody, &count);
    MUST(known || count == total);
    char *at = everybody;
    for (int node = 0; node < all; node++, at += lengths[node - 1])
        check_bytes(at, (int)lengths[node], (uint32_t)(round + node));
}

static void largest(void *x, void *other)
{
    long *mine = x, *theirs = other;
    if (theirs[0] > mine[0])
        memcpy(mine, theirs, 2 * sizeof *mine);
}

static void own_function(struct dice *dice)
{
    long pair[2], work[2], best = -1, where = -1;
    for (int node = 0; node < all; node++) {
        long value = roll(dice, 1000) * RANKS_MAX + node;
        if (node == me)
            pair[0] = value, pair[1] = node;
        if (value > best)
            best = value, where = node;
    }
    gopf((char *)pair, sizeof pair, (char *)work, largest);
    MUST(pair[0] == best && pair[1] == where);
}

/* While handlers are held, none runs. */
static void masked(void)
{
    long before = told, was = masktrap(1);
    gsync();
    MUST_BE(was, 0);
    before = told;
    flick();
    MUST_BE(told, before);
    MUST_BE(masktrap(0), 1);
}

static void together(int which, struct dice *dice, int round)
{
    switch (which) {
    case 0: sums(dice, round); break;
    case 1: bits(dice, round); break;
    case 2: collected(dice, round); break;
    case 3: own_function(dice); break;
    case 4: masked(); break;
    default: gsync();
    }
}
