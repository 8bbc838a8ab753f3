/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Receives that were posted before, of a few types, some of them from anybody: while messages come, each goes to the
 * earliest that wants it, and a receive or probe in between gets none that was posted for. */
#include "check.h"
#include "tcgmsg.h"

enum { MANY = 3000, TYPES = 7, ROUNDS = 4 };

static long me, all;
static long numbers[MANY];

/* From anybody and from node 1 in turns: neither wants all that the other wants. */
static long wanted_node(long at)
{
    return at / TYPES % 2 ? 1 : -1;
}

static void post_all(int is_mixed)
{
    long got, from;
    for (long at = 0; at < MANY; at++) {
        numbers[at] = -1;
        tcg_rcv(100 + at % TYPES, &numbers[at], sizeof *numbers, &got, is_mixed ? wanted_node(at) : 1, &from, 0);
    }
}

static void send_all(void)
{
    for (long at = 0; at < MANY; at++)
        tcg_snd(100 + at % TYPES, &at, sizeof at, 0, 1);
}

static void one_more(void)
{
    long value = -1, got, from;
    tcg_rcv(100, &value, sizeof value, &got, -1, &from, 1);
    CHECK(value == MANY);
    CHECK(tcg_probe(100, -1) == 0);
}

static void round_of(int is_mixed)
{
    long last = MANY;
    if (me == 1) {
        send_all();
        tcg_snd(100, &last, sizeof last, 0, 1);
    }
    if (me == 0) {
        post_all(is_mixed);
        one_more();
        tcg_waitcom(-1);
        for (long at = 0; at < MANY; at++)
            CHECK(numbers[at] == at);
    }
    tcg_synch(1);
}

int main(int argc, char **argv)
{
    tcg_pbegin(argc, argv);
    me = tcg_nodeid();
    all = tcg_nnodes();
    for (int round = 0; round < ROUNDS && all > 1; round++)
        round_of(round % 2);
    if (me == 0)
        puts("ok");
    tcg_pend();
    return 0;
}
