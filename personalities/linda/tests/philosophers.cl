/* Dining philosophers: one ticket less than there are seats, so that nobody waits for ever. Arguments: seats, meals. */
#include <stdio.h>
#include <stdlib.h>

static int philosopher(int seat, int seats, int meals)
{
    int i, together = 0;
    for (i = 0; i < meals; i++) {
        in("room ticket");
        in("chopstick", seat);
        in("chopstick", (seat + 1) % seats);
        /* Neighbours never eat together. */
        together += rdp("eats", (seat + 1) % seats) + rdp("eats", (seat + seats - 1) % seats);
        out("eats", seat);
        in("eats", seat);
        out("chopstick", seat);
        out("chopstick", (seat + 1) % seats);
        out("room ticket");
    }
    return seats > 2 ? together : 0;
}

int real_main(int argc, char **argv)
{
    int seats = atoi(argv[1]), meals = atoi(argv[2]), i, together, bad = 0;
    (void)argc;
    for (i = 0; i < seats; i++) {
        out("chopstick", i);
        eval("philosopher", philosopher(i, seats, meals));
        if (i < seats - 1)
            out("room ticket");
    }
    for (i = 0; i < seats; i++) {
        in("philosopher", ?together);
        bad += together;
    }
    for (i = 0; i < seats; i++)
        bad += !inp("chopstick", i);
    printf("%s\n", bad ? "wrong" : "ok");
    return bad;
}
