/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Messages of all lengths, out of order, from anybody, and receives that were posted before. */
#include "check.h"
#include "tcgmsg.h"
#include <string.h>

static long me, all;

static unsigned char byte_of(long type, long at)
{
    return (unsigned char)(type * 7 + at);
}

static unsigned char *made(long type, long length)
{
    unsigned char *data = malloc((size_t)length + 1);
    for (long at = 0; at < length; at++)
        data[at] = byte_of(type, at);
    return data;
}

static void check_made(const unsigned char *data, long type, long length)
{
    for (long at = 0; at < length; at++)
        CHECK(data[at] == byte_of(type, at));
}

static const long lengths[] = {0, 1, 63, 64, 65, 1000, 4096, 4097, 65536, 1000000, 5000000};
enum { LENGTHS = sizeof lengths / sizeof *lengths };

/* The last that was sent is received first. */
static void out_of_order(void)
{
    for (long at = 0; at < LENGTHS && me == 1; at++) {
        unsigned char *data = made(at, lengths[at]);
        tcg_snd(100 + at, data, lengths[at], 0, 1);
        memset(data, 0xff, (size_t)lengths[at]);
        free(data);
    }
    for (long at = LENGTHS - 1; at >= 0 && me == 0; at--) {
        unsigned char *data = malloc((size_t)lengths[at] + 1);
        long got = -5, from = -5;
        tcg_rcv(100 + at, data, lengths[at], &got, 1, &from, 1);
        CHECK(got == lengths[at] && from == 1);
        check_made(data, at, got);
        free(data);
    }
}

/* Of one type, they are received in the order in which they were sent, whichever way. */
static void in_order(void)
{
    enum { MANY = 500 };
    static long numbers[MANY];
    for (long at = 0; at < MANY && me == 1; at++)
        tcg_snd(7, &at, sizeof at, 0, at & 1);
    for (long at = 0; at < MANY && me == 0; at += 2) {
        long got, from;
        tcg_rcv(7, &numbers[at], sizeof *numbers, &got, at & 2 ? 1 : -1, &from, 0);
        tcg_rcv(7, &numbers[at + 1], sizeof *numbers, &got, 1, &from, 1);
    }
    tcg_waitcom(-1);
    for (long at = 0; at < MANY && me == 0; at++)
        CHECK(numbers[at] == at);
}

static void from_anybody(void)
{
    enum { EACH = 50 };
    long seen[64] = {0}, got, from, value;
    if (me != 0)
        for (long at = 0; at < EACH; at++)
            tcg_snd(8, &at, sizeof at, 0, 1);
    for (long at = 0; at < EACH * (all - 1) && me == 0; at++) {
        tcg_rcv(8, &value, sizeof value, &got, -1, &from, 1);
        CHECK(from > 0 && from < all && value == seen[from]);
        seen[from]++;
    }
}

/* A posted receive keeps its message from one that is called later. */
static void posted_first(void)
{
    long first = 0, second = 0, got, from;
    tcg_synch(1);
    if (me == 0)
        tcg_rcv(9, &first, sizeof first, &got, -1, &from, 0);
    tcg_synch(1);
    for (long value = 1; value <= 2 && me == 1; value++)
        tcg_snd(9, &value, sizeof value, 0, 1);
    if (me == 0) {
        tcg_rcv(9, &second, sizeof second, &got, 1, &from, 1);
        tcg_waitcom(1);
        CHECK(first == 1 && second == 2);
    }
}

int main(int argc, char **argv)
{
    tcg_pbegin(argc, argv);
    me = tcg_nodeid(), all = tcg_nnodes();
    out_of_order();
    in_order();
    from_anybody();
    posted_first();
    tcg_synch(1);
    if (me == 0)
        printf("ok\n");
    tcg_pend();
    return 0;
}
