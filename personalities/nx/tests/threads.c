/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Two threads of node 1 receive beside each other: one by a type in each of three ways, the other one by a set of types,
 * for which it takes all that comes. What it does not want waits in a queue, which the first thread must look into.
 * In a program of one node the handler of a message answers it while the program waits for the answer.
 * Argument: the number of rounds.
 */
#include "check.h"
#include "nx.h"

#include <pthread.h>
#include <stdlib.h>

enum { ONE = 5, OF_SET = 3, ONE_HEARD = 7, SET_HEARD = 8 };
#define SET ((long)0x80000000 | 1L << OF_SET | 1L << 4)

static int rounds;

static void *hear_set(void *none)
{
    int at, got = -1;
    for (at = 0; at < 3 * rounds; at++) {
        crecv(SET, (char *)&got, sizeof got);
        CHECK(got == at);
        csend(SET_HEARD, (char *)&got, sizeof got, 0, 0);
    }
    return none;
}

static void hear_one(int at)
{
    int got = -1;
    switch (at / rounds) {
    case 0:
        crecv(ONE, (char *)&got, sizeof got);
        break;
    case 1:
        msgwait(irecv(ONE, (char *)&got, sizeof got));
        break;
    default:
        cprobe(ONE);
        crecv(ONE, (char *)&got, sizeof got);
    }
    CHECK(got == at);
    csend(ONE_HEARD, (char *)&got, sizeof got, 0, 0);
}

static void hear(void)
{
    pthread_t thread;
    int at;
    CHECK(pthread_create(&thread, NULL, hear_set, NULL) == 0);
    for (at = 0; at < 3 * rounds; at++)
        hear_one(at);
    CHECK(pthread_join(thread, NULL) == 0);
}

static void tell(void)
{
    int at, heard;
    for (at = 0; at < 3 * rounds; at++) {
        csend(at % 2 ? ONE : OF_SET, (char *)&at, sizeof at, 1, 0);
        csend(at % 2 ? OF_SET : ONE, (char *)&at, sizeof at, 1, 0);
        crecv(ONE_HEARD, (char *)&heard, sizeof heard);
        CHECK(heard == at);
        crecv(SET_HEARD, (char *)&heard, sizeof heard);
        CHECK(heard == at);
    }
}

static void answer(long type, long count, long node, long pid)
{
    int again = 2;
    (void)type, (void)count, (void)pid;
    csend(ONE_HEARD, (char *)&again, sizeof again, node, 0);
}

static void ask(void)
{
    int word = 1, answered = 0;
    hrecv(ONE, (char *)&word, sizeof word, answer);
    csend(ONE, (char *)&word, sizeof word, mynode(), 0);
    crecv(ONE_HEARD, (char *)&answered, sizeof answered);
    CHECK(answered == 2);
}

int main(int argc, char **argv)
{
    rounds = argc > 1 ? atoi(argv[1]) : 100;
    if (numnodes() == 1)
        ask();
    else if (mynode() == 0)
        tell();
    else if (mynode() == 1)
        hear();
    gsync();
    printf("ok %ld\n", mynode());
    return 0;
}
