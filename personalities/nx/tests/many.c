/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Very many receives that are posted, merged, or looked for among messages that came early: eight times as many take eight
 * times as long. They took 64 times as long, and a wait for 60,000 merged ids had no room left on the stack.
 */
#include "check.h"
#include "nx.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { SMALL = 4000, TIMES = 8, MOST = SMALL * TIMES, DEEP = 60000, FIRST = 100, MARK = 7, TRIES = 20 };

static int values[DEEP];
static long ids[DEEP];

/* What waits for the program's own threads alone does not count here. */
static double processor_seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

static void send_all(int count, int same_type)
{
    for (int at = 0; at < count; at++)
        csend(same_type ? FIRST : FIRST + at, (char *)&at, sizeof at, mynode(), 0);
}

static void check_all(int count)
{
    for (int at = 0; at < count; at++) {
        CHECK(values[at] == at);
        values[at] = -1;
    }
}

static void post(int count, int same_type)
{
    for (int at = 0; at < count; at++)
        ids[at] = irecv(same_type ? FIRST : FIRST + at, (char *)&values[at], sizeof values[at]);
}

/* Waited for in the opposite order. */
static void of_many_types(int count)
{
    post(count, 0);
    send_all(count, 0);
    for (int at = count - 1; at >= 0; at--)
        msgwait(ids[at]);
}

static void of_one_type(int count)
{
    post(count, 1);
    send_all(count, 1);
    for (int at = count - 1; at >= 0; at--)
        msgwait(ids[at]);
}

/* A receive for a set of types takes all that has come from the core; the others are found where they are kept. */
static void early(int count)
{
    char mark = 0;
    send_all(count, 0);
    csend(MARK, &mark, sizeof mark, mynode(), 0);
    crecv((long)(0x80000000u | 1u << MARK), &mark, sizeof mark);
    for (int at = count - 1; at >= 0; at--)
        crecv(FIRST + at, (char *)&values[at], sizeof values[at]);
}

static void cancelled(int count)
{
    post(count, 0);
    for (int at = 0; at < count; at++)
        msgcancel(ids[at]);
    for (int at = 0; at < count; at++)
        values[at] = at;
}

static double seconds_of(void (*run)(int), int count)
{
    double before = processor_seconds();
    run(count);
    double after = processor_seconds();
    check_all(count);
    return after - before;
}

/* Of some tries on a busy computer one is fair; where each receive looks at all others, none is. */
static void must_be_linear(const char *name, void (*run)(int))
{
    double small, large;
    int tries = 0;
    do {
        small = seconds_of(run, SMALL);
        large = seconds_of(run, MOST);
    } while (large > 3 * TIMES * small && ++tries < TRIES);
    if (tries == TRIES)
        fprintf(stderr, "%s: %d take %.4f s, %d %.4f s\n", name, SMALL, small, MOST, large);
    CHECK(tries < TRIES);
}

static void merged(int is_left)
{
    long id = -1;
    post(DEEP, 0);
    for (int at = 0; at < DEEP; at++)
        id = is_left ? msgmerge(id, ids[at]) : msgmerge(ids[at], id);
    CHECK(msgdone(id) == 0);
    send_all(DEEP, 0);
    msgwait(id);
    check_all(DEEP);
}

/* The ids of a tree that is neither a list nor balanced. */
static void merged_in_pairs(void)
{
    int count = 1000;
    post(count, 0);
    for (int left = count; left > 1; left--) {
        int one = rand() % left, other = rand() % left;
        if (one == other)
            other = (one + 1) % left;
        ids[one] = msgmerge(ids[one], ids[other]);
        ids[other] = ids[left - 1];
    }
    send_all(count, 0);
    msgwait(ids[0]);
    check_all(count);
}

int main(void)
{
    must_be_linear("receives of many types", of_many_types);
    must_be_linear("receives of one type", of_one_type);
    must_be_linear("early messages", early);
    must_be_linear("cancelled receives", cancelled);
    merged(0);
    merged(1);
    merged_in_pairs();
    if (mynode() == 0)
        puts("ok");
    return 0;
}
