/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Very many messages that rcvmulti has put aside are found by their types: eight times as many take eight times as long.
 * They took 64 times as long.
 */
#include <pvmuser.h>
#include <time.h>
#include "check.h"

enum { SMALL = 3000, TIMES = 8, FIRST = 100, MARK = 7, TRIES = 20 };

static void send_number(int type, int number)
{
    CHECK_IS(initsend(), PvmOk);
    CHECK_IS(putnint(&number, 1), PvmOk);
    CHECK_IS(snd("aside", 0, type), PvmOk);
}

static void receive_number(int type, int expected)
{
    int number = -1;

    CHECK_IS(rcv(type), type);
    CHECK_IS(getnint(&number, 1), PvmOk);
    CHECK_IS(number, expected);
}

/* Two of each type, to be received in their order, types in the opposite one. */
static double seconds_of(int count)
{
    int at, types[2] = {MARK, MARK + 1};
    clock_t began;

    for (at = 0; at < count; at++)
        send_number(FIRST + at % (count / 2), at);
    send_number(MARK, 0);
    began = clock();
    CHECK_IS(rcvmulti(2, types), MARK);
    for (at = count / 2 - 1; at >= 0; at--) {
        CHECK_IS(probe(FIRST + at), FIRST + at);
        receive_number(FIRST + at, at);
        receive_number(FIRST + at, at + count / 2);
    }
    CHECK_IS(probe(-1), PvmNoMsg);
    return (double)(clock() - began) / CLOCKS_PER_SEC;
}

int main(void)
{
    double small, large;
    int tries = 0;

    CHECK_IS(enroll("aside"), 0);
    /* Of some tries on a busy computer one is fair. */
    do {
        small = seconds_of(SMALL);
        large = seconds_of(SMALL * TIMES);
    } while (large > 3 * TIMES * small && ++tries < TRIES);
    if (tries == TRIES)
        fprintf(stderr, "%d take %.4f s, %d %.4f s\n", SMALL, small, SMALL * TIMES, large);
    CHECK(tries < TRIES);
    return leave();
}
