/*
 * Readers and writers, in the order of their tickets: readers share, writers are alone, and nobody waits for ever.
 * Arguments: rounds, readers, writers.
 */
#include <stdio.h>
#include <stdlib.h>

static void enter(int writes)
{
    int ticket, readers;
    in("ticket", ?ticket);
    out("ticket", ticket + 1);
    in("turn", ticket);
    if (writes) {
        /* The next one's turn comes when this one is ready. */
        in("readers", 0);
        out("writer", ticket);
    } else {
        in("readers", ?readers);
        out("readers", readers + 1);
        out("turn", ticket + 1);
    }
}

static void leave(int writes)
{
    int readers, ticket;
    if (writes) {
        in("writer", ?ticket);
        out("readers", 0);
        out("turn", ticket + 1);
    } else {
        in("readers", ?readers);
        out("readers", readers - 1);
    }
}

static int reader(int rounds)
{
    int i, first, second, bad = 0;
    for (i = 0; i < rounds; i++) {
        enter(0);
        rd("value one", ?first);
        rd("value two", ?second);
        bad += first != second || rdp("writer", ?int);
        leave(0);
    }
    return bad;
}

static int writer(int rounds)
{
    int i, value, bad = 0;
    for (i = 0; i < rounds; i++) {
        enter(1);
        in("value one", ?value);
        out("value one", value + 1);
        in("value two", ?value);
        out("value two", value + 1);
        bad += rdp("readers", ?int);
        leave(1);
    }
    return bad;
}

int real_main(int argc, char **argv)
{
    int rounds = atoi(argv[1]), readers = atoi(argv[2]), writers = atoi(argv[3]), i, bad, sum = 0, value;
    (void)argc;
    out("ticket", 0);
    out("turn", 0);
    out("readers", 0);
    out("value one", 0);
    out("value two", 0);
    for (i = 0; i < readers; i++)
        eval("reader", reader(rounds));
    for (i = 0; i < writers; i++)
        eval("writer done", writer(rounds));
    for (i = 0; i < readers; i++) {
        in("reader", ?bad);
        sum += bad;
    }
    for (i = 0; i < writers; i++) {
        in("writer done", ?bad);
        sum += bad;
    }
    in("value one", ?value);
    sum += value != rounds * writers;
    in("turn", (readers + writers) * rounds);
    printf("%s, value %d\n", sum ? "wrong" : "ok", value);
    return sum != 0;
}
