/* The sleeping barber: customers come, wait if there is a chair, or go; everybody who has waited is served. Argument: customers. */
#include <stdio.h>
#include <stdlib.h>

#define CHAIRS 3

static int customer(int me)
{
    int taken;
    in("chairs", ?taken);
    if (taken == CHAIRS) {
        out("chairs", taken);
        return 0;
    }
    out("chairs", taken + 1);
    out("waits", me);
    in("served", me);
    return 1;
}

static int barber(void)
{
    int who, taken, served = 0;
    for (;;) {
        in("waits", ?who);
        if (who < 0)
            return served;
        in("chairs", ?taken);
        out("chairs", taken - 1);
        out("served", who);
        served++;
    }
}

int real_main(int argc, char **argv)
{
    int customers = atoi(argv[1]), i, served, all = 0, by_barber, chairs;
    (void)argc;
    out("chairs", 0);
    eval("barber", barber());
    for (i = 0; i < customers; i++)
        eval("customer", customer(i));
    for (i = 0; i < customers; i++) {
        in("customer", ?served);
        all += served;
    }
    out("waits", -1);
    in("barber", ?by_barber);
    in("chairs", ?chairs);
    i = all != by_barber || chairs != 0 || all < 1 || rdp("waits", ?int) || rdp("served", ?int);
    printf("%s, %d of %d served\n", i ? "wrong" : "ok", all, customers);
    return i;
}
