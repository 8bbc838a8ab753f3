/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* chance SEED [OPERATIONS]: ../../tests/chance.h by the calls of TCGMSG. */
#include "tcgmsg.h"

#define OWN 0
#define ANY_TYPE 0
#define EITHER 0
#define SENDS 2
#define ACKNOWLEDGED (-1)
#define ALL_SENDS 0
#define RECEIVES 2
#define POSTS 1
#define POST_ANY 0 /* an asynchronous RCV does not tell from whom it has received */
#define HANDLERS 0
#define POST_THREADS 0
#define TOGETHERS 5
#include "../../tests/chance.h"

static void enter(int argc, char **argv)
{
    tcg_pbegin(argc, argv);
    me = (int)tcg_nodeid();
    all = (int)tcg_nnodes();
}

static void leave(void)
{
    tcg_pend();
}

static void send_one(int how, int to, int type, char *data, int bytes)
{
    tcg_snd(type, data, bytes, to, how);
}

static struct came receive_one(int how, struct wanted wanted, char *data, int room)
{
    long bytes = -5, source = -5;
    while (how == 1 && !tcg_probe(wanted.type, wanted.source))
        ;
    tcg_rcv(wanted.type, data, room, &bytes, wanted.source, &source, 1);
    return (struct came){(int)source, wanted.type, (int)bytes};
}

static struct wanted of_slot[POSTED_MAX];

static void post_one(int how, int slot, struct wanted wanted, char *data, int room)
{
    static long bytes[POSTED_MAX], sources[POSTED_MAX];
    (void)how;
    of_slot[slot] = wanted;
    tcg_rcv(wanted.type, data, room, &bytes[slot], wanted.source, &sources[slot], 0);
}

/* WAITCOM waits for all of them. */
static struct came finish_posted(int slot)
{
    tcg_waitcom(of_slot[slot].source);
    return (struct came){of_slot[slot].source, of_slot[slot].type, -1};
}

static void barrier(void)
{
    tcg_synch(3);
}

static void doubles(struct dice *dice, int round)
{
    static double x[3000];
    int count = 1 + (int)roll(dice, roll(dice, 10) == 0 ? 3000 : 30), what = (int)roll(dice, 3);
    for (int at = 0; at < count; at++)
        x[at] = me * 3.0 + at + round;
    tcg_dgop(4, x, count, what == 0 ? "+" : what == 1 ? "max" : "min");
    for (int at = 0; at < count; at++) {
        double base = at + round, top = base + 3.0 * (all - 1);
        MUST(x[at] == (what == 0 ? all * base + 3.0 * all * (all - 1) / 2 : what == 1 ? top : base));
    }
}

static void integers(struct dice *dice, int round)
{
    static long x[3000];
    int count = 1 + (int)roll(dice, 40), is_or = (int)roll(dice, 2);
    for (int at = 0; at < count; at++)
        x[at] = is_or ? 1L << me : -(long)me * at - round;
    tcg_igop(5, x, count, is_or ? "or" : "absmax");
    for (int at = 0; at < count; at++)
        MUST_BE(x[at], is_or ? (1L << all) - 1 : (long)(all - 1) * at + round);
}

static void broadcast(struct dice *dice, int round)
{
    static char data[LENGTH_MAX];
    int root = (int)roll(dice, (uint32_t)all), bytes = length_of(dice);
    if (me == root)
        fill(data, bytes, (uint32_t)round);
    tcg_brdcst(6, data, bytes, root);
    check_bytes(data, bytes, (uint32_t)round);
}

/* All numbers from 0 to what was drawn in all, each once: so says their sum, and that of their squares. */
static void numbers(struct dice *dice)
{
    long sums[3] = {0, 0, 0};
    long mine = 0;
    for (int rank = 0; rank < all; rank++) {
        long count = roll(dice, 5);
        mine = rank == me ? count : mine;
    }
    for (long at = 0; at < mine; at++) {
        long value = tcg_nxtval(all);
        sums[0] += 1, sums[1] += value, sums[2] += value * value;
    }
    tcg_nxtval(-all);
    tcg_igop(7, sums, 3, "+");
    long n = sums[0];
    MUST_BE(sums[1], n * (n - 1) / 2);
    MUST_BE(sums[2], n * (n - 1) * (2 * n - 1) / 6);
}

static void together(int which, struct dice *dice, int round)
{
    switch (which) {
    case 0: doubles(dice, round); break;
    case 1: integers(dice, round); break;
    case 2: broadcast(dice, round); break;
    case 3: numbers(dice); break;
    default: tcg_synch(8);
    }
}
