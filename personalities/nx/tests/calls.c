/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Every call of a node, on any number of nodes; twins.c compiles this for the spelling with an underscore. */
#include "check.h"
#include "nx.h"
#include <string.h>
#include <unistd.h>

#ifndef N
#define N(name) name
#endif

static long me, all;

static void blocking(void)
{
    char out[100], in[100];
    long info[8] = {0}, next = (me + 1) % all, previous = (me + all - 1) % all;
    memset(out, (int)me, sizeof out);
    N(csend)(5, out, sizeof out, next, 0);
    N(cprobe)(5);
    CHECK(N(iprobe)(5) == 1 && N(infocount)() == 100 && N(infotype)() == 5 && N(infonode)() == previous);
    CHECK(N(iprobe)(99) == 0 && N(infopid)() == 0 && N(infoptype)() == 0);
    N(crecv)(-1, in, sizeof in);
    CHECK(in[99] == (char)previous && N(infocount)() == 100);
    N(csend)(6, out, 10, next, 0);
    N(cprobex)(6, previous, -1, info);
    CHECK(info[0] == 6 && info[1] == 10 && info[2] == previous);
    CHECK(N(iprobex)(6, previous, 0, info) == 1);
    memset(info, -1, sizeof info);
    N(crecvx)(6, in, sizeof in, previous, 0, info);
    CHECK(info[0] == 6 && info[1] == 10 && info[2] == previous);
    CHECK(N(csendrecv)(7, out, 20, next, 0, 7, in, sizeof in) == 20);
    /* By a mask: of 3, 4 and 40 the third does not fit, and stays. */
    N(csend)(40, out, 1, next, 0);
    N(csend)(4, out, 2, next, 0);
    N(csend)(3, out, 3, next, 0);
    N(crecv)((long)(0x80000000u | 1u << 3 | 1u << 4), in, sizeof in);
    CHECK(N(infotype)() == 4 && N(infocount)() == 2);
    N(crecv)((int)(0x80000000u | 1u << 3), in, sizeof in);
    CHECK(N(infotype)() == 3);
    CHECK(N(iprobe)(-1) == 1 && N(infotype)() == 40);
    N(flushmsg)(40, -1, -1);
    CHECK(N(iprobe)(-1) == 0);
    N(gsync)();
}

static void later(void)
{
    char out[64], one[64], two[64], three[64];
    long info[8] = {0}, next = (me + 1) % all, previous = (me + all - 1) % all;
    memset(out, 'a' + (int)me, sizeof out);
    long first = N(irecv)(11, one, sizeof one), second = N(irecvx)(12, two, sizeof two, previous, -1, info);
    CHECK(first > 0 && second > 0);
    long both = N(msgmerge)(N(msgmerge)(-1, first), second);
    N(msgwait)(N(isend)(12, out, 8, next, 0));
    long sent = N(isend)(11, out, 64, next, 0);
    CHECK(N(msgdone)(sent) == 1);
    N(msgwait)(both);
    CHECK(one[63] == 'a' + previous && info[1] == 8 && info[2] == previous);
    long id = N(isendrecv)(13, out, 16, next, 0, 13, three, sizeof three);
    while (N(msgdone)(id) == 0)
        N(flick)();
    CHECK(three[15] == 'a' + previous);
    id = N(irecv)(15, one, sizeof one);
    N(msgcancel)(id);
    N(msgignore)(N(isend)(14, out, 1, next, 0));
    N(crecv)(14, one, sizeof one);
    N(gsync)();
}

static volatile long heard[4], turns;

static void handler(long type, long count, long node, long pid)
{
    (void)pid;
    heard[0] = type, heard[1] = count, heard[2] = node;
    heard[3]++;
}

static void wait_heard(long count)
{
    /* The program computes. */
    for (long at = 0; at < 20000000000 && heard[3] < count; at++)
        turns = turns + 1;
    CHECK(heard[3] == count);
}

static void handlers(void)
{
    static char in[50], more[50];
    long next = (me + 1) % all, previous = (me + all - 1) % all;
    heard[3] = 0;
    N(hrecv)(21, in, sizeof in, handler);
    N(gsync)();
    N(csend)(21, "handled", 8, next, 0);
    wait_heard(1);
    CHECK(heard[0] == 21 && heard[1] == 8 && heard[2] == previous && strcmp(in, "handled") == 0);
    CHECK(N(masktrap)(1) == 0);
    N(hrecvx)(22, more, sizeof more, previous, -1, handler);
    N(gsync)();
    N(csend)(22, "held", 5, next, 0);
    N(gsync)();
    usleep(20000);
    CHECK(heard[3] == 1);
    CHECK(N(masktrap)(0) == 1);
    wait_heard(2);
    CHECK(strcmp(more, "held") == 0);
    N(hsend)(23, in, 4, next, 0, handler);
    wait_heard(3);
    CHECK(heard[0] == 23);
    N(crecv)(23, in, sizeof in);
    N(hsendrecv)(24, in, 9, next, 0, 24, more, sizeof more, handler);
    wait_heard(4);
    CHECK(heard[0] == 24 && heard[1] == 9);
    N(gsync)();
}

static void larger(void *x, void *other)
{
    double *mine = x, *theirs = other;
    if (theirs[0] > mine[0])
        memcpy(mine, theirs, 2 * sizeof *mine);
}

#define SUMS(letter, type)                                               \
    do {                                                                 \
        type x[2] = {(type)(me + 1), 1}, work[2];                        \
        N(g##letter##sum)(x, 2, work);                                   \
        CHECK(x[0] == (type)(all * (all + 1) / 2) && x[1] == (type)all); \
        x[0] = 2, x[1] = (type)me;                                       \
        N(g##letter##prod)(x, 1, work);                                  \
        CHECK(x[0] == (type)(1L << all));                                \
        x[0] = x[1] = (type)me;                                          \
        N(g##letter##high)(x, 1, work);                                  \
        N(g##letter##low)(x + 1, 1, work);                               \
        CHECK(x[0] == (type)(all - 1) && x[1] == 0);                     \
    } while (0)

static void together(void)
{
    long bits[5] = {1L << me, 1L << me, 1, me, me}, work[5], count = 0, lengths[64], nodes[64];
    double pair[2] = {(double)me, (double)-me}, room[2];
    char mine[8], everybody[512];
    SUMS(d, double);
    SUMS(s, float);
    SUMS(i, long);
    N(gior)(bits, 1, work);
    N(gixor)(bits + 1, 1, work);
    N(giand)(bits + 2, 1, work);
    N(gland)(bits + 3, 1, work);
    N(glor)(bits + 4, 1, work);
    CHECK(bits[0] == (1L << all) - 1 && bits[1] == bits[0] && bits[2] == 1);
    CHECK(all == 1 || (bits[3] == 0 && bits[4] == 1));
    N(gopf)((char *)pair, sizeof pair, (char *)room, larger);
    CHECK(pair[0] == (double)(all - 1) && pair[1] == (double)(1 - all));
    memset(mine, '0' + (int)me, sizeof mine);
    N(gcol)(mine, 1 + me % 2, everybody, sizeof everybody, &count);
    CHECK(count == all + all / 2 && everybody[0] == '0' && everybody[count - 1] == '0' + all - 1);
    for (long node = 0; node < all; node++)
        lengths[node] = 2, nodes[node] = node;
    N(gcolx)(mine, lengths, everybody);
    CHECK(everybody[2 * all - 1] == '0' + all - 1);
    if (me == 0)
        N(gsendx)(31, mine, 4, nodes, all);
    N(crecv)(31, everybody, sizeof everybody);
    CHECK(everybody[3] == '0');
    if (me == all - 1)
        N(csend)(32, mine, 5, -1, 0);
    else
        N(crecv)(32, everybody, sizeof everybody);
    N(gsync)();
}

int main(void)
{
    me = N(mynode)(), all = N(numnodes)();
    CHECK(me >= 0 && me < all && (1L << N(nodedim)()) >= all && N(myhost)() == all);
    N(setpid)(3);
    CHECK(N(mypid)() == 3 && N(setptype)(0) == 0 && N(myptype)() == 0 && _myphysnode() == me);
    blocking();
    later();
    handlers();
    together();
    N(led)(1);
    CHECK(N(mclock)() >= 0 && N(dclock)() > 0);
    N(gsync)();
    if (me == 0)
        printf("ok\n");
    return 0;
}
