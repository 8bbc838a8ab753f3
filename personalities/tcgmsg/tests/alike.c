/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * alike: what it prints is the same on every TCGMSG, with 1 node and more. debian.sh compares it with Debian's, which is over
 * MPI. Only node 0 prints; all numbers are whole, so no order of operations shows.
 */
#include "tcgmsg.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 200000 };

static long me, all;
static unsigned char data[MOST], other[MOST];

static unsigned long sum_of(const unsigned char *bytes, long count)
{
    unsigned long sum = 5381;
    for (long at = 0; at < count; at++)
        sum = sum * 33 + bytes[at];
    return sum;
}

static void fill(long seed, long count)
{
    for (long at = 0; at < count; at++)
        data[at] = (unsigned char)(seed * 31 + at * 7);
}

/* From each node to the next, in every length; node 0 tells the sums of all. */
static void ring(void)
{
    static const long lengths[] = {0, 1, 8, 100, 4096, 5000, MOST};
    long next = (me + 1) % all, previous = (me + all - 1) % all, got = -1, from = -1;
    for (int at = 0; at < 7 && all > 1; at++) {
        long length = lengths[at], sums[2];
        fill(me + at, length);
        if (me % 2 == 0)
            tcg_snd(11, data, length, next, 1);
        tcg_rcv(11, other, MOST, &got, previous, &from, 1);
        if (me % 2 != 0)
            tcg_snd(11, data, length, next, 1);
        sums[0] = (long)(sum_of(other, got) % 1000003);
        sums[1] = got * 1000 + from;
        tcg_igop(12, sums, 2, "+");
        if (me == 0)
            printf("ring of %ld: %ld %ld\n", length, sums[0], sums[1]);
    }
}

/* Types in another order than they were sent in, and posted before they come. */
static void selection(void)
{
    long value, got, from, values[5] = {0}, gots[5], froms[5];
    for (long node = 1; node < all; node++) {
        for (long type = 1; type <= 5 && me == node; type++) {
            value = node * 100 + type;
            tcg_snd(type, &value, sizeof value, 0, 1);
        }
        for (long type = 5; type >= 1 && me == 0; type--) {
            tcg_rcv(type, &value, sizeof value, &got, node, &from, 1);
            printf("type %ld of node %ld: %ld, %ld bytes of %ld\n", type, node, value, got, from);
        }
    }
    tcg_synch(13);
    for (long type = 1; type <= 5 && me == 0 && all > 1; type++)
        tcg_rcv(20 + type, &values[type - 1], sizeof value, &gots[type - 1], 1, &froms[type - 1], 0);
    for (long type = 5; type >= 1 && me == 1; type--)
        tcg_snd(20 + type, &type, sizeof type, 0, 1);
    tcg_waitcom(-1);
    for (int at = 0; at < 5 && me == 0; at++)
        printf("posted %d: %ld\n", at, values[at]);
}

/* Whoever was first. */
static void any(void)
{
    long value = me * me, got, from, sum = 0, nodes = 0;
    if (me != 0)
        tcg_snd(31, &value, sizeof value, 0, 1);
    for (long node = 1; node < all && me == 0; node++) {
        tcg_rcv(31, &value, sizeof value, &got, -1, &from, 1);
        sum += value;
        nodes |= 1L << from;
    }
    if (me == 0)
        printf("from any: %ld %ld, probe %ld\n", sum, nodes, tcg_probe(31, -1));
}

static void operations(void)
{
    static char *names[] = {"+", "*", "max", "min", "absmax", "absmin", "or", "&&", "||", "&", "|", "land", "lor", "band", "bor"};
    for (int at = 0; at < 15; at++) {
        long i[3] = {me + 1, me % 2 + 1, 5 - me};
        double x[3] = {(double)me + 1, -(double)(me % 3) - 1, 4 - (double)me};
        /* What an operation makes of one node's numbers is not the same everywhere. */
        if (all > 1)
            tcg_igop(41, i, 3, names[at]);
        if (all > 1 && at < 6)
            tcg_dgop(42, x, 3, names[at]);
        if (me == 0 && all > 1)
            printf("%s: %ld %ld %ld, %.0f %.0f %.0f\n", names[at], i[0], i[1], i[2], x[0], x[1], x[2]);
    }
}

static void large(void)
{
    static double x[20000];
    long root = all / 2, length = 160000;
    for (int at = 0; at < 20000; at++)
        x[at] = (double)(me + at);
    tcg_dgop(51, x, 20000, "+");
    if (me == 0)
        printf("20000 sums: %.0f %.0f\n", x[0], x[19999]);
    fill(me, length);
    tcg_brdcst(52, data, length, root);
    if (me == 0)
        printf("broadcast: %lu\n", sum_of(data, length) % 1000003);
}

static void numbers(void)
{
    long sum = 0;
    for (int turn = 0; turn < 3; turn++) {
        for (long at = 0; at < 10 + me; at++)
            sum += tcg_nxtval(all);
        tcg_nxtval(-all);
    }
    tcg_igop(61, &sum, 1, "+");
    if (me == 0)
        printf("numbers: %ld\n", sum);
}

int main(int argc, char **argv)
{
    tcg_pbegin(argc, argv);
    me = tcg_nodeid();
    all = tcg_nnodes();
    if (me == 0)
        printf("%ld nodes; %ld %ld %ld %ld\n", all, tcg_mitob(3), tcg_mdtob(3), tcg_mitod(3), tcg_mdtoi(3));
    ring();
    selection();
    any();
    operations();
    large();
    numbers();
    tcg_synch(71);
    if (me == 0)
        printf("ok\n");
    fflush(stdout);
    tcg_pend();
    return 0;
}
