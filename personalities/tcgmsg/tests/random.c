/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * random SEED [STEPS]: all nodes roll the same dice, so each knows what every message, sum and broadcast must be.
 */
#include "check.h"
#include "tcgmsg.h"
#include <stdint.h>
#include <string.h>

static uint64_t state;
static long me, all;
static unsigned char data[70000];

static long roll(long below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (long)(state % (uint64_t)below);
}

static void fill(long seed, long length)
{
    for (long at = 0; at < length; at++)
        data[at] = (unsigned char)(seed + at * 3);
}

static void check_fill(long seed, long length)
{
    for (long at = 0; at < length; at += 1 + length / 50)
        CHECK(data[at] == (unsigned char)(seed + at * 3));
}

static void one_message(long step)
{
    static const long sizes[] = {0, 8, 64, 100, 4000, 5000, 70000};
    long from = roll(all), to = roll(all), length = sizes[roll(7)], kind = roll(4), got = 0, source = 0;
    if (from == to)
        return;
    if (me == from) {
        fill(step, length);
        tcg_snd(step % 1000, data, length, to, kind & 1);
    }
    if (me != to)
        return;
    while (kind == 2 && !tcg_probe(step % 1000, from))
        ;
    tcg_rcv(step % 1000, data, sizeof data, &got, kind == 3 ? -1 : from, &source, kind != 1);
    if (kind == 1)
        tcg_waitcom(-1);
    else
        CHECK(got == length && source == from);
    check_fill(step, length);
}

/* A batch crosses in one order and is received in another. */
static void batch(long step)
{
    long from = roll(all), to = roll(all), count = 1 + roll(20), turn = roll(count), got, source, value;
    if (from == to)
        return;
    for (long at = 0; at < count && me == from; at++) {
        value = step + at;
        tcg_snd(2000 + at, &value, sizeof value, to, 1);
    }
    for (long at = 0; at < count && me == to; at++) {
        long which = (at + turn) % count;
        tcg_rcv(2000 + which, &value, sizeof value, &got, from, &source, 1);
        CHECK(value == step + which);
    }
}

static void sum(long step)
{
    double x[40];
    long count = 1 + roll(40);
    for (long at = 0; at < count; at++)
        x[at] = (double)(me * step + at);
    tcg_dgop(1, x, count, "+");
    for (long at = 0; at < count; at++)
        CHECK(x[at] == (double)(all * (all - 1) / 2 * step + at * all));
}

static void broadcast(long step)
{
    long root = roll(all), length = roll(70000);
    if (me == root)
        fill(step, length);
    tcg_brdcst(1, data, length, root);
    check_fill(step, length);
}

int main(int argc, char **argv)
{
    tcg_pbegin(argc, argv);
    state = argc > 1 ? strtoull(argv[1], NULL, 10) * 2654435769u + 88172645463325252u : 88172645463325252u;
    long steps = argc > 2 ? atol(argv[2]) : 3000;
    me = tcg_nodeid(), all = tcg_nnodes();
    for (long step = 0; step < steps; step++) {
        switch (roll(12)) {
        case 0: sum(step); break;
        case 1: broadcast(step); break;
        case 2: tcg_synch(1); break;
        case 3: CHECK(tcg_nxtval(all) >= 0); break;
        case 4: case 5: batch(step); break;
        default: one_message(step);
        }
    }
    tcg_synch(1);
    if (me == 0)
        printf("ok\n");
    tcg_pend();
    return 0;
}
